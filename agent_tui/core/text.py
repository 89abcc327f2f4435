"""Making untrusted text harmless, for storage and for a terminal, and fit for one line."""

from __future__ import annotations

import re

_SURROGATE = re.compile("[\ud800-\udfff]")
_SEQUENCE = re.compile(
    r"\x1b[PX^_][^\x1b\x07\x9c]*(?:\x1b\\|\x07|\x9c|$)"  # DCS, SOS, PM, APC with their text
    r"|\x1b\][^\x1b\x07\x9c]*(?:\x1b\\|\x07|\x9c|$)"  # OSC: title, clipboard, links
    r"|[\x90\x98\x9d-\x9f][^\x1b\x07\x9c]*(?:\x1b\\|\x07|\x9c|$)"  # the same in one C1 byte
    r"|(?:\x1b\[|\x9b)(?P<csi>[0-?]*[ -/]*[@-~])?"  # CSI: colours, cursor, modes
    r"|\x1b[ -/]*[0-~]?"  # charset, reset, save
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_CONTROL_BUT_CR = re.compile(r"[\x00-\x07\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f]")


def without_surrogates(text: str) -> str:
    """`text` with lone surrogates replaced by U+FFFD, so that it can be encoded."""
    return _SURROGATE.sub("\ufffd", text) if not text.isascii() else text


def printable(text: str) -> str:
    """`text` with every escape sequence and control character removed, newline and tab kept.

    The text inside OSC, DCS and APC sequences goes with them. Safe to write to a terminal.
    """
    if text.isprintable():
        return text
    return _CONTROL.sub("", _SEQUENCE.sub("", without_surrogates(text)))


def with_colours_only(text: str) -> str:
    """Like `printable`, but SGR colours, carriage returns and backspaces stay for later."""
    if text.isprintable():
        return text
    kept = _SEQUENCE.sub(
        lambda m: f"\x1b[{m['csi']}" if _is_sgr(m["csi"]) else "", without_surrogates(text)
    )
    return _CONTROL_BUT_CR.sub("", kept)


def one_line(text: str, limit: int = 80) -> str:
    """`text` with all white space joined, cut with `…` at `limit` characters."""
    flat = " ".join(text[: limit * 8].split())
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"


def _is_sgr(csi: str | None) -> bool:
    return csi is not None and re.fullmatch(r"[\d;:]*m", csi) is not None
