"""Keys that take time to get: from a command of the person's, or from the system's keyring.

What they give is kept in memory until the program ends, and nowhere else. Neither is asked while
the environment has a key. The command has no terminal, so that a prompt for a passphrase cannot
draw over the screen.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress

from agent_tui.core.errors import ConfigError
from agent_tui.core.model import Model
from agent_tui.core.text import printable
from agent_tui.providers.keys import KEY_NAMES, clean_key, is_own_address, key_for

COMMAND_SECONDS = 10.0
"""How long a command may take to print a key."""
KEYRING_SECONDS = 30.0
"""The same for the keyring, which may ask the person to unlock it."""
SERVICE = "agent-tui"
"""The service under which keys are in the keyring; the user name is the provider's."""
_SAID = 200

_found: dict[str, str | None] = {}
"""What a command or the keyring gave, by what was asked."""
_asking: dict[tuple[asyncio.AbstractEventLoop, str], asyncio.Task[str | None]] = {}
"""Requests that need the same key at the same time ask once."""

Lookup = Callable[[str], str | None]


def has_keyring() -> bool:
    """Whether the optional package `keyring` is installed; loads nothing."""
    return importlib.util.find_spec("keyring") is not None


def keyring_key(provider: str) -> str | None:
    """The provider's key in the system's keyring, None if there is none. May block, and for long.

    Set one with `keyring set agent-tui PROVIDER`.
    """
    import keyring
    from keyring.errors import KeyringError

    try:
        key: str | None = keyring.get_password(SERVICE, provider)
    except KeyringError:
        return None
    return key


async def find_key(
    model: Model, environ: Mapping[str, str] | None = None, *, lookup: Lookup | None = None
) -> str | None:
    """The key to send to `model.base_url`, from wherever a person may keep it; None if nowhere.

    In this order: the variable that the settings name, their `api_key_command`, the provider's own
    variable, the keyring (`lookup`, by default the system's if the package is there). The last two
    count for the provider's own address only.

    Raises:
        ConfigError: The command fails, or what it prints can be no key.
    """
    command = str(model.compat.get("api_key_command") or "")
    named = model.compat.get("api_key_env")
    if command and not (named and key_for(model, environ)):
        return await _once(f"command {command}", _run(command, model.provider))
    if (key := key_for(model, environ)) is not None or named is not None:
        return key
    if model.provider not in KEY_NAMES or not is_own_address(model, environ):
        return None
    if lookup is None:
        if not has_keyring():
            return None
        lookup = keyring_key
    return await _once(f"keyring {model.provider}", _look_up(lookup, model.provider))


def forget_keys() -> None:
    """Ask again from now on."""
    _found.clear()


async def _once(name: str, work: Coroutine[None, None, str | None]) -> str | None:
    """What `work` gives, remembered by `name` and never awaited twice at a time."""
    if name in _found:
        work.close()
        return _found[name]
    place = (asyncio.get_running_loop(), name)
    if (asking := _asking.get(place)) is None:
        asking = _asking[place] = asyncio.ensure_future(work)
        asking.add_done_callback(lambda task: _remember(place, task))
    else:
        work.close()
    return await asyncio.shield(asking)


def _remember(place: tuple[asyncio.AbstractEventLoop, str], task: asyncio.Task[str | None]) -> None:
    del _asking[place]
    if not task.cancelled() and task.exception() is None:
        _found[place[1]] = task.result()


async def _run(command: str, provider: str) -> str:
    """The key that `command` prints: its first line that is not blank."""
    name = f"api_key_command of {provider}"
    process = await asyncio.create_subprocess_shell(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(COMMAND_SECONDS):
            out, err = await process.communicate()
    except TimeoutError:
        raise ConfigError(f"{name} gave no key within {COMMAND_SECONDS:g} s") from None
    finally:
        if process.returncode is None:
            _kill(process)
            await process.wait()
    if process.returncode != 0:
        said = printable(err.decode("utf-8", "replace")).strip().splitlines()
        why = f": {said[-1][:_SAID]}" if said else ""
        raise ConfigError(f"{name} ended with {process.returncode}{why}")
    lines = out.decode("utf-8", "replace").strip().splitlines()
    if not lines:
        raise ConfigError(f"{name} printed nothing")
    return clean_key(lines[0], f"what the {name} printed")


def _kill(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)


async def _look_up(lookup: Lookup, provider: str) -> str | None:
    """Ask in a thread that nobody waits for at the end: a locked keyring may never answer."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[str | None] = loop.create_future()

    def settle(key: str | None) -> None:
        if not answer.done():
            answer.set_result(key)

    def ask() -> None:
        try:
            key = lookup(provider)
        except Exception:  # any backend may be behind it, and none of them must stop a request
            key = None
        with suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(settle, key)

    threading.Thread(target=ask, name="keyring", daemon=True).start()
    try:
        async with asyncio.timeout(KEYRING_SECONDS):
            key = await answer
    except TimeoutError:
        raise ConfigError(f"the keyring did not answer within {KEYRING_SECONDS:g} s") from None
    return clean_key(key, f"the key of {provider} in the keyring") if key else None
