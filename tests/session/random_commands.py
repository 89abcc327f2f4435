"""Random shell commands, and a folder in which they can be run for real without doing harm.

No program is the real one there: each writes down what it was asked to do. What the shell itself
does (redirections, substitutions, `cd`) is real.
"""

from __future__ import annotations

import os
import random
import stat
import subprocess
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_PROGRAMS = """ls cat head tail wc grep sort uniq find git pytest make diff stat cut tr du date
echo touch rm cp tee python3 sh bash env xargs sudo time timeout nice sed awk evil command"""
PROGRAMS = tuple(_PROGRAMS.split())
REAL = ("sh", "bash", "env", "timeout", "nice")
"""Do what they do, so that what they are to start is seen."""
_WORDS = r"""a.txt  sub  sub/b.txt  ./a.txt  .  ..  ../evil.txt  ../project-evil/x  link  link/x
sub/../../evil.txt  short  short/b.txt  .env  .git/config  ~/.ssh/id_rsa  ~  ~/x  $HOME  $X  ${X}
$(touch pwned)  `touch p`  'a b'  "a b"  a\ b  *.txt  s*b  {a.txt,../evil.txt}  -la  -n 3  -r  -o
--output=x  --output x  -o../x  --out=x  -delete  -exec touch {} \;  -name '*.py'  --oneline  -3
status  log  diff  show  -c 'touch pwned'  -C ..  --ext-diff  core.pager=evil  -f.env  --file=.env
HEAD:.env  x=../y  --  -  ''  ""  -I  X=1  LANG=C  PATH=.  <(touch p)  >(tee p)  a#b  #c  2  1
/dev/null  $'a\x2fb'  --compress-program=evil  -T..  -fprint  -x  {}  +  %  !!  ~+  ~root  [a]
?(a)  a.txt:../x  =..  "$(touch p)"  "../evil.txt"  '.'./evil.txt  ..""/evil.txt  \../evil.txt"""
_ARGUMENTS = tuple(_WORDS.replace("\n", "  ").split("  "))
_JOINTS = (" && ", " || ", "; ", " | ", "\n", " & ", " |& ", ";", "&&", "|", " \\\n ", "\t", " ")
_OPENED = """> x  > ../x  >> a.txt  2> x  &> x  >& x  2>&1  < a.txt  < ../evil.txt  < .env  >| x
<> x  > /dev/null  2>/dev/null  >out.txt  > sub/n.txt  > link/x  > $X  > .git/config  > ~/x
>'..'/x  3> x  &>> x  >&2  > "a b"  2>../x  >a.txt>../x"""
_REDIRECTS = tuple(_OPENED.replace("\n", "  ").split("  "))
_WRAPS: tuple[Callable[[str], str], ...] = (
    lambda c: f"({c})",
    lambda c: f"{{ {c}; }}",
    lambda c: f"if {c}; then ls; fi",
    lambda c: f"while {c}; do break; done",
    lambda c: f"for i in a b; do {c}; done",
    lambda c: f"f() {{ {c}; }}; f",
    lambda c: f"sh -c '{c}'",
    lambda c: f'bash -c "{c}"',
    lambda c: f"eval '{c}'",
    lambda c: f"cd sub && {c}",
    lambda c: f"cd ..; {c}",
    lambda c: f"cd link; {c}",
    lambda c: f"! {c}",
    lambda c: f"X=1 {c}",
    lambda c: f"LANG=C {c}",
    lambda c: f"env X=1 {c}",
    lambda c: f"timeout 2 {c}",
    lambda c: f"time {c}",
    lambda c: f"command {c}",
    lambda c: f"{c} # touch p",
    lambda c: f"echo $({c})",
    lambda c: f"cat <<E\n$({c})\nE",
    lambda c: f"cat <<'E' | {c}\nx\nE",
    lambda c: f"case a in a) {c};; esac",
    lambda c: f"alias ls='{c}'; ls",
    lambda c: f"{c} <<< a",
)
_SIGNS = "'\"\\`$(){}[]<>|&;#~*?!=:-./ \t\n0aX,\r\u00a0\u200b"


def random_command(dice: random.Random) -> str:
    """A command, right or broken, harmless or not."""
    command = _list(dice, 2)
    for _ in range(dice.choice((0, 0, 0, 1, 2))):
        place = dice.randrange(len(command) + 1)
        cut = dice.choice((0, 0, 1))
        command = command[:place] + dice.choice((*_SIGNS, "")) + command[place + cut :]
    return command


def _list(dice: random.Random, depth: int) -> str:
    command = _simple(dice)
    while dice.random() < 0.35:
        command += dice.choice(_JOINTS) + _simple(dice)
    if depth and dice.random() < 0.35:
        command = dice.choice(_WRAPS)(command)
        if dice.random() < 0.3:
            command += dice.choice(_JOINTS) + _list(dice, depth - 1)
    return command


def _simple(dice: random.Random) -> str:
    words = [dice.choice(PROGRAMS) if dice.random() < 0.5 else dice.choice(PROGRAMS[:18])]
    words += [dice.choice(_ARGUMENTS) for _ in range(dice.choice((0, 1, 1, 2, 3)))]
    if dice.random() < 0.15:
        words.insert(dice.randrange(len(words) + 1), dice.choice(_REDIRECTS))
    return " ".join(words)


@dataclass(frozen=True, slots=True)
class Ran:
    """A program that was started."""

    name: str
    words: tuple[str, ...]
    folder: str
    input: str
    """What its standard input is, as the system names it."""


class Yard:
    """A project with links, secrets and neighbours, and programs that only take notes."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.project = root / "project"
        self.home = root / "home"
        self._log = root / "log"
        self._bin = root / "bin"
        for folder in ("sub", "dir", ".git"):
            (self.project / folder).mkdir(parents=True)
        for name in ("a.txt", "sub/b.txt", ".env", ".git/config", ".git/HEAD", "a b"):
            (self.project / name).write_text("")
        for name in ("evil.txt", "project-evil/x", "outside/x", "home/.ssh/id_rsa", "home/x"):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text("")
        (self.project / "link").symlink_to(root / "outside")
        (self.project / "short").symlink_to(self.project / "sub")
        self._make_programs()

    def _make_programs(self) -> None:
        self._bin.mkdir()
        text = (
            "#!/bin/bash\n"
            f'exec 9>>"{self._log}"\n'
            "if [ -t 0 ]; then in=tty; else in=$(/usr/bin/readlink /proc/self/fd/0); fi\n"
            'printf \'%s\\0\' "${0##*/}" "$PWD" "$in" "$#" "$@" >&9\n'
        )
        for name in PROGRAMS:
            file = self._bin / name
            if name in REAL:
                file.symlink_to(f"/usr/bin/{name}")
                continue
            file.write_text(text)
            file.chmod(stat.S_IRWXU)

    def state(self, folder: Path) -> dict[str, tuple[bytes, float]]:
        """Every file below, with content and time."""
        return {
            str(path): (path.read_bytes(), path.stat().st_mtime_ns)
            for path in sorted(folder.rglob("*"))
            if path.is_file() and not path.is_symlink()
        }

    def run(self, command: str) -> list[Ran]:
        """Run the command for real; returns which programs it started."""
        self._log.write_bytes(b"")
        environ = {"PATH": str(self._bin), "HOME": str(self.home), "LANG": "C.UTF-8"}
        with suppress(subprocess.TimeoutExpired):
            subprocess.run(
                ["/bin/bash", "-c", command],
                cwd=self.project,
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=5,
                check=False,
            )
        return list(self._read_log())

    def _read_log(self) -> list[Ran]:
        fields = [os.fsdecode(each) for each in self._log.read_bytes().split(b"\0")]
        ran: list[Ran] = []
        place = 0
        while place + 3 < len(fields):
            name, folder, source, count = fields[place : place + 4]
            end = place + 4 + int(count)
            ran.append(Ran(name, tuple(fields[place + 4 : end]), folder, source))
            place = end
        return ran
