"""Pictures: named with @, dropped, pasted; sent along, shown, kept, and refused with a way out."""

from __future__ import annotations

import base64
import os
import stat
from pathlib import Path

import pytest

from agent_tui import ImageBlock, UserMessage
from agent_tui.core.messages import TextBlock
from agent_tui.core.model import Model
from agent_tui.core.pictures import label_of, type_of
from agent_tui.session.attachments import MOST_PICTURES, message_of, named_pictures
from agent_tui.testing import hang, text
from agent_tui.tui.clipboard import Clipboard
from agent_tui.tui.picture_verbs import dropped, mention
from tests.tui.chat import Chat, as_text, chat

PNG = (
    b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x04\xb0\x00\x00\x03\x20\x08\x02\x00\x00\x00"
    + b"x" * 3000
)
SEES = Model("test", "sees", images=True)
BLIND = Model("test", "blind")


def picture(folder: Path, name: str = "shot.png", data: bytes = PNG) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("start", "kind"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a\x10\x00\x20\x00", "image/gif"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "image/webp"),
        (b"%PDF-1.7", None),
        (b"", None),
    ],
)
def test_the_kind_is_told_by_the_content(start: bytes, kind: str | None) -> None:
    assert type_of(start) == kind


def test_a_picture_is_named_with_its_kind_and_size() -> None:
    block = ImageBlock(data=base64.b64encode(PNG).decode(), mime_type="image/png")

    assert label_of(block) == "[image · png · 1200×800 · 3 kB]"
    assert label_of(ImageBlock(data="", mime_type="image/jpeg")) == "[image · jpeg · 1 kB]"


def test_pictures_go_along_where_the_text_names_them(tmp_path: Path) -> None:
    picture(tmp_path)
    picture(tmp_path, "two words.png")
    (tmp_path / "notes.txt").write_text("no picture")
    said = 'see @shot.png, @"two words.png" and @notes.txt, @gone.png, a@shot.png; @shot.png again'

    message, notice = message_of(said, (), tmp_path, SEES)

    assert notice == ""
    kinds = [type(block) for block in message.content]
    assert kinds == [TextBlock, ImageBlock, ImageBlock]
    assert message.text == said
    assert [path.name for path in named_pictures(said, tmp_path)] == ["shot.png", "two words.png"]


def test_a_model_that_takes_none_is_said_and_the_name_stays(tmp_path: Path) -> None:
    picture(tmp_path)

    message, notice = message_of("see @shot.png", (), tmp_path, BLIND)

    assert message.content == "see @shot.png"
    assert "test/blind takes no pictures" in notice
    assert "/model" in notice


@pytest.mark.parametrize(
    ("data", "words"),
    [
        pytest.param(b"not a picture", "is no picture", id="another kind"),
        pytest.param(PNG + b"x" * 3_500_000, "3.5 MB", id="too large"),
    ],
)
async def test_what_cannot_be_sent_is_said_and_the_text_stays(
    tmp_path: Path, data: bytes, words: str
) -> None:
    picture(tmp_path, data=data)
    async with chat(text("x"), cwd=tmp_path, model=SEES) as c:
        await c.say("see @shot.png")

        assert words in c.line("hint")
        assert c.draft == "see @shot.png"
        assert c.requests == []


async def test_too_many_are_refused(tmp_path: Path) -> None:
    names = [picture(tmp_path, f"{n}.png").name for n in range(MOST_PICTURES + 1)]
    async with chat(text("x"), cwd=tmp_path, model=SEES) as c:
        await c.say(" ".join(f"@{name}" for name in names))

        assert "too many" in c.line("hint")


def images(message: object) -> int:
    content = getattr(message, "content", "")
    return sum(isinstance(block, ImageBlock) for block in content)


async def test_they_are_sent_steered_shown_and_named_in_the_strip(tmp_path: Path) -> None:
    picture(tmp_path)
    async with chat(hang(), text("ok"), cwd=tmp_path, model=SEES) as c:
        await c.say("what is @shot.png")
        await c.until(lambda: c.requests)
        [sent] = [m for m in c.requests[0].messages if isinstance(m, UserMessage)]
        assert images(sent) == 1
        assert any(
            "1200×800" in as_shown(c, place) for place in range(len(c.app.transcript.blocks))
        )
        await c.say("and @shot.png again")
        assert "[image · png · 1200×800" in as_text(c.app.strip.rows)
        [item] = c.session.agent.queued()
        assert images(item.message) == 1
        c.session.abort()
        await c.idle()


def as_shown(c: Chat, place: int) -> str:
    from agent_tui.tui.canvas import plain_canvas

    block = c.app.transcript.blocks[place]
    return "\n".join(line.text for line in block.lines(plain_canvas(80)))


@pytest.mark.parametrize(
    ("pasted", "draft"),
    [
        ("{0}/shot.png", "@{0}/shot.png "),
        ("'{0}/two words.png'", '@"{0}/two words.png" '),
        ("{0}/two\\ words.png ", '@"{0}/two words.png" '),
        ("file://{0}/two%20words.png", '@"{0}/two words.png" '),
        ("shot.png", "@shot.png "),
    ],
)
async def test_a_path_that_is_dropped_on_the_terminal_becomes_a_picture(
    tmp_path: Path, pasted: str, draft: str
) -> None:
    picture(tmp_path)
    picture(tmp_path, "two words.png")
    async with chat(cwd=tmp_path, model=SEES) as c:
        await c.gets(f"\x1b[200~{pasted.format(tmp_path)}\x1b[201~".encode())

        assert c.draft == draft.format(tmp_path)


@pytest.mark.parametrize("pasted", ["gone.png", "a.png b.png", "see shot.png", "'open.png", ""])
def test_other_pastes_stay_what_they_are(tmp_path: Path, pasted: str) -> None:
    picture(tmp_path)

    assert dropped(pasted, tmp_path) is None


def test_a_mention_is_quoted_where_there_is_a_blank() -> None:
    assert [mention(Path("a.png")), mention(Path("a b.png"))] == ["@a.png", '@"a b.png"']


def tool(folder: Path, script: str) -> dict[str, str]:
    """An environment in which `xclip` runs this script."""
    path = folder / "xclip"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return {"DISPLAY": ":0", "PATH": f"{folder}:{os.environ['PATH']}"}


async def test_a_picture_comes_from_the_clipboard_if_there_is_one(tmp_path: Path) -> None:
    (tmp_path / "clip").write_bytes(PNG)
    full = Clipboard(tool(tmp_path, f"cat {tmp_path}/clip"), lambda _: None)

    assert await full.picture() == PNG

    for script in ("echo text", "exit 1", "true"):
        assert await Clipboard(tool(tmp_path, script), lambda _: None).picture() is None
    assert not Clipboard({}, lambda _: None).can_read_pictures


async def test_paste_attaches_it_by_a_file_of_our_own_and_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "clip").write_bytes(PNG)
    async with chat(text("ok"), cwd=tmp_path, model=SEES) as c:
        await c.say("/paste")
        assert "Nothing here reads pictures" in c.line("hint")

        monkeypatch.setattr(
            c.app, "copier", Clipboard(tool(tmp_path, f"cat {tmp_path}/clip"), lambda _: None)
        )
        await c.press("ctrl+v")
        await c.until(lambda: c.draft)
        name = c.draft.strip()[1:]
        assert Path(name).read_bytes() == PNG
        await c.press("enter")
        await c.idle()
        assert images(c.requests[0].messages[0]) == 1
        Path(name).unlink()
