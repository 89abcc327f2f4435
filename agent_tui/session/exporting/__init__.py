"""A session in a form for people and for other programs: Markdown, HTML, JSON lines."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from agent_tui.core.errors import InvalidInputError, SessionError
from agent_tui.session.exporting.html import as_html
from agent_tui.session.exporting.markdown import as_markdown
from agent_tui.session.journal.reading import read_session

Format = Literal["md", "html", "jsonl"]
FORMATS: tuple[Format, ...] = ("md", "html", "jsonl")


def exported(session: Path, form: Format) -> str:
    """The session in that file: the conversation at its leaf, or with `jsonl` all of it.

    Raises:
        SessionError: It cannot be read.
    """
    file = read_session(session)
    if file is None:
        raise SessionError(f"{session} is empty", code="corrupt", path=str(session))
    match form:
        case "jsonl":
            return file.header.to_line() + "".join(entry.to_line() for entry in file.entries)
        case "html":
            return as_html(file.header, file.entries)
        case "md":
            return as_markdown(file.header, file.entries)


def write_export(session: Path, target: Path, form: Format) -> None:
    """Write that to a file that is not there yet.

    Raises:
        SessionError: The session cannot be read.
        InvalidInputError: The file is there, or cannot be written.
    """
    text = exported(session, form)
    try:
        with target.open("x", encoding="utf-8", errors="replace", newline="\n") as out:
            out.write(text)
    except FileExistsError:
        raise InvalidInputError(f"{target} is there: choose another name") from None
    except OSError as error:
        raise InvalidInputError(f"{target} cannot be written: {error.strerror}") from None
