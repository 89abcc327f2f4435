"""Markdown that arrives piece by piece: the lines do not depend on the pieces."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from agent_tui.tui.canvas import plain_canvas
from agent_tui.tui.markdown import Markdown
from tests.tui.drawing import (
    Whole,
    all_lines,
    case,
    cut_at,
    markdown_rows,
    roles_canvas,
    set_in,
    styled_rows,
)

WORDS = (
    "alpha", "**bold**", "*em*", "`co de`", "~~gone~~", "[link](http://x.y/z)", "http://a.b/c.",
    "東京", "👩‍💻", "a|b", "<b>", "&amp;", "&#13;", "x" * 70,
    "$x*y*z$", r"\(a*b*c\)", r"\[", "$$",
    "\x1b[31mred\x1b[0m", "\t", "\x00", "\ud800",
)  # fmt: skip
CODE = ("x = 1", "def f():", '    """doc', "", "# note", "\treturn 'a'", "- no", "> no")
PROSE = st.lists(st.sampled_from(WORDS), min_size=1, max_size=25).map(" ".join)
BREAK = st.sampled_from(["\n\n", "\n", "\n\n\n", "\r\n\r\n"])


def _indented(text: str, first: str, other: str) -> str:
    head, *tail = text.split("\n")
    return "\n".join([first + head, *(other + line if line else line for line in tail)])


def _list(items: list[str], marker: str) -> str:
    return "\n".join(_indented(item, f"{marker} ", " " * (len(marker) + 1)) for item in items)


def _fence(lines: list[str], language: str, closed: bool) -> str:
    return "\n".join([f"```{language}", *lines, *(["```"] if closed else [])])


def _table(cells: list[list[str]], align: str) -> str:
    return "\n".join(
        ["|a|b|c|", f"|{align}|---|:-:|", *("|" + "|".join(row) + "|" for row in cells)]
    )


LEAF = st.one_of(
    PROSE,
    st.builds(lambda level, text: "#" * level + " " + text, st.integers(1, 6), PROSE),
    st.builds(lambda text, rule: f"{text}\n{rule}", PROSE, st.sampled_from(["---", "==="])),
    st.builds(
        _fence,
        st.lists(st.sampled_from(CODE), max_size=60),
        st.sampled_from(["", "python", "diff", "no such language"]),
        st.booleans(),
    ),
    st.builds(
        _table,
        st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4), max_size=45),
        st.sampled_from(["---", "--:"]),
    ),
    st.lists(st.sampled_from(["code", "", "more  code"]), min_size=1, max_size=30).map(
        lambda lines: "\n".join("    " + line for line in lines)
    ),
    st.sampled_from(["---", "***", "<div>\nhi\n</div>", "[x]: http://a.b", "-", "1.", "|a|", "> "]),
)


def _containers(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    several = st.lists(inner, min_size=1, max_size=3).map("\n\n".join)
    return st.one_of(
        st.builds(
            _list,
            st.lists(several, min_size=1, max_size=8),
            st.sampled_from(["-", "*", "1.", "10)"]),
        ),
        several.map(lambda text: _indented(text, "> ", "> ")),
    )


BLOCK = st.recursive(LEAF, _containers, max_leaves=12)
DOCUMENT = st.lists(st.tuples(BLOCK, BREAK).map("".join), min_size=1, max_size=8).map("".join)


@settings(deadline=None, max_examples=150)
@given(DOCUMENT, st.lists(st.integers(0, 6_000), max_size=40))
def test_any_split_gives_the_same_lines(text: str, places: list[int]) -> None:
    canvas = roles_canvas(60)

    at_once = all_lines(set_in([text]), canvas)
    in_pieces = all_lines(set_in(cut_at(text, places)), canvas)

    assert in_pieces == at_once


@settings(deadline=None, max_examples=25)
@given(DOCUMENT, st.integers(1, 7))
def test_tiny_deltas_give_the_same_lines(text: str, size: int) -> None:
    canvas = roles_canvas(60)

    at_once = all_lines(set_in([text]), canvas)
    bit_by_bit = all_lines(set_in(cut_at(text, range(0, len(text), size))), canvas)

    assert bit_by_bit == at_once


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=400), st.integers(1, 30))
def test_no_text_is_too_strange_and_no_row_too_wide(text: str, width: int) -> None:
    lines = [line for piece in set_in([text]).pieces() for line in piece.lines(plain_canvas(width))]

    assert [line.strip.cell_length for line in lines] == [width] * len(lines)
    assert not [line for line in lines if "\x1b" in line.strip.text or "\r" in line.strip.text]


LONG = {
    "list": "\n".join(f"- item {n} with **some** words in it" for n in range(300)),
    "nested list": "- top\n" + "\n".join(f"  - item {n}\n    - below {n}" for n in range(150)),
    "numbered list": "\n".join(f"{n}. item | with a bar" for n in range(1, 300)),
    "table": "|name|value|\n|---|---:|\n" + "\n".join(f"|row {n}|{n}|" for n in range(300)),
    "fence": "```python\n" + "\n".join(f"line_{n} = '''{n}" for n in range(300)) + "\n```",
    "fence in an item": "1. so:\n\n   ```js\n" + "\n".join(f"   f({n});" for n in range(300)),
    "quote": "\n".join(f"> said {n}" for n in range(600)),
    "paragraph of lines": "\n".join(f"line {n} of it" for n in range(600)),
    "paragraph": " ".join(f"word{n}" for n in range(3_000)),
    "one long word": "QUJD" * 3_000,
    "indented code": "\n".join(f"    code {n}" for n in range(300)),
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG.keys())
def test_long_blocks_are_cut_inside_and_look_whole(text: str) -> None:
    rng = random.Random(7)
    canvas = roles_canvas(60)

    at_once = set_in([text])
    in_pieces = set_in(cut_at(text, [rng.randrange(len(text)) for _ in range(200)]))

    assert len(in_pieces.pieces()) >= 2
    assert max(len(piece.lines(canvas)) for piece in in_pieces.pieces()) < 400
    assert all_lines(in_pieces, canvas) == all_lines(at_once, canvas)


def test_a_fence_keeps_all_its_lines() -> None:
    text = case("fence-stays-complete.md")

    shown = "\n".join(
        line.text
        for piece in set_in(cut_at(text, range(0, len(text), 7))).pieces()
        for line in piece.lines(plain_canvas())
    )

    assert all(f"line_{n} = {n}\n" in shown for n in range(60))
    assert shown.endswith("Done.")


@pytest.mark.parametrize("width", [20, 40, 80])
def test_the_borders_of_a_table_stand_in_one_column(width: int) -> None:
    rows = markdown_rows(case("wide-table.md"), width)

    assert len({cell_len(row) for row in rows}) == 1
    assert cell_len(rows[0]) <= width
    assert "".join(row[-1] for row in rows if row[-1] not in "┐┤┘") == "│" * (len(rows) - 3)
    assert all(sign in "".join(rows) for sign in "東京한국어👩💻🇳🇴🫠")


def test_the_widest_columns_of_a_table_give_way_first() -> None:
    rows = markdown_rows("|id|text|\n|--|--|\n|1|" + "many words " * 10 + "|", 40)

    assert rows[1] == "│ id │ text                            │"
    assert rows[3] == "│ 1  │ many words many words many      │"


def test_a_table_that_fits_nowhere_is_shown_as_text() -> None:
    rows = markdown_rows("|a|b|c|d|e|\n|-|-|-|-|-|\n|one|two|three|four|five|", 12)

    assert [row for row in rows if row] == ["a  b  c  d", "e", "one  two", "three  four", "five"]


def test_columns_stand_as_the_table_says() -> None:
    rows = markdown_rows("|left|right|middle|\n|:--|--:|:-:|\n|a|b|c|")

    assert rows[3] == "│ a    │     b │   c    │"


def test_headings_look_different_from_each_other() -> None:
    lines = styled_rows(Whole("# a\n\n## b\n\n### c\n\n#### d"))

    assert [line[0] for line in lines if line] == [
        ("a", "heading-1"),
        ("b", "heading-2"),
        ("c", "heading-3"),
        ("d", "heading-4"),
    ]


def test_lists_nest_and_keep_their_numbers() -> None:
    rows = markdown_rows("- a\n  - b\n    - c\n\n      more\n- d\n\n7. x\n8. y\n")

    assert rows == ["• a", "  ◦ b", "    ▪ c", "", "      more", "• d", "", "7. x", "8. y"]


def test_task_boxes_replace_the_bullet() -> None:
    rows = markdown_rows("- [ ] open\n- [x] done\n- [y] no box")

    assert rows == ["☐ open", "☑ done", "• [y] no box"]


def test_quotes_have_a_bar_at_every_row() -> None:
    rows = markdown_rows("> one two three\n>\n> - four\n>\n> > five", 12)

    assert rows == ["▎ one two", "▎ three", "▎ • four", "▎", "▎ ▎ five"]


def test_a_code_block_names_its_language_and_marks_wrapped_lines() -> None:
    rows = markdown_rows("```Python\nprint('hello world')\n```", 16)

    assert rows == ["│ python", "│ print('hello w", "┊ orld')"]


def test_html_is_text() -> None:
    assert markdown_rows("a <b>b</b> <script>alert(1)</script>") == [
        "a <b>b</b> <script>alert(1)</script>"
    ]
    assert markdown_rows("<!-- note -->\n<div>x</div>") == ["<!-- note -->", "<div>x</div>"]


def test_line_breaks_of_the_model_are_kept() -> None:
    assert markdown_rows("Name: x\nCity: y") == ["Name: x", "City: y"]


def test_square_brackets_are_no_markup() -> None:
    text = case("markup-like-text.txt")

    rows = markdown_rows(text, 200)

    assert rows == [text.rstrip("\n").replace("\\[", "[").replace("\\]", "]")]
    assert {role for row in styled_rows(Whole(text), 200) for _, role in row} == {"text"}


@pytest.mark.parametrize(
    "entity", ["&#13;", "&#27;[31m", "&#x9b;2J", "&#x202e;", "&#10;", "&#9;", "&#0;"]
)
def test_entities_cannot_smuggle_control_characters(entity: str) -> None:
    whole = Whole(f"a{entity}b `{entity}`\n\n|x{entity}|\n|-|\n|{entity}y|")

    text = "".join(line.strip.text for line in whole.lines(plain_canvas()))

    assert text.isprintable()


def test_terminal_commands_in_a_message_are_dropped() -> None:
    rows = markdown_rows(case("osc-and-friends.ansi"))

    assert [" ".join(row.split()) for row in rows] == ["before A B click me C D E FGH"]


def test_tabs_move_to_stops_of_four() -> None:
    rows = markdown_rows("a\tb\n\n```\nx\ty\n\tz\n東\ty\n```")

    assert rows == ["a   b", "", "│ x   y", "│     z", "│ 東  y"]


@pytest.mark.parametrize(
    ("text", "shown", "address"),
    [
        pytest.param("[here](https://a.b/c)", "here", "https://a.b/c", id="named"),
        pytest.param("see https://a.b/c.", "https://a.b/c", "https://a.b/c", id="bare"),
        pytest.param("<https://a.b/c>", "https://a.b/c", "https://a.b/c", id="in angles"),
    ],
)
def test_links_are_marked_and_carry_their_address(text: str, shown: str, address: str) -> None:
    linked = [
        segment
        for line in Whole(text).lines(roles_canvas())
        for segment in line.strip
        if segment.style and segment.style.meta.get("role") == "link"
    ]

    assert [segment.text for segment in linked] == [shown]
    assert linked[0].style is not None
    assert linked[0].style.meta == {
        "role": "link",
        "@click": f"open_link({address!r})",
        "address": address,
    }


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[here](https://a.b/c)", "here (https://a.b/c)"),
        (
            "[https://good.example](https://evil.example)",
            "https://good.example (https://evil.example)",
        ),
        ("[a.b/c](https://a.b/c/)", "a.b/c"),
        ("[`x.py`](src/x.py)", "x.py (src/x.py)"),
        ("[me@a.b](mailto:me@a.b)", "me@a.b"),
        ("[below](#below)", "below"),
        ("[x](https://a.b/" + "c" * 90 + ")", "x (https://a.b/" + "c" * 47 + "…)"),
        ("[**b** *i*](http://a.b)", "b i (http://a.b)"),
    ],
)
def test_where_a_link_leads_is_shown_beside_it(text: str, shown: str) -> None:
    assert " ".join(markdown_rows(text, 120)) == shown


def test_footnotes_and_references_are_shown() -> None:
    text = "So it is[^1], see [docs][2].\n\n[^1]: Ibid.\n[2]: https://a.b"

    assert markdown_rows(text) == ["So it is[^1], see [docs][2].", "", *text.split("\n")[2:]]


@pytest.mark.parametrize(
    "text",
    [
        r"mass $a_{i}*b*c$ and $\alpha$",
        r"so \(x*y*z\) holds",
        "$$\n\\sum_{i} *a* \\\\\n$$",
        "\\[\nx * y * z\n\\]",
        "it cost $5 and then $10",
    ],
)
def test_formulas_are_shown_as_they_are_written(text: str) -> None:
    assert markdown_rows(text) == text.split("\n")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("$5 *is* not $6", "$5 is not $6"),
        ("\\$a *b* c$", "$a b c$"),
        ("`$a*b*c$`", "$a*b*c$"),
        ("a \\[b\\] c", "a [b] c"),
        ("costs $ 5 *or* $", "costs $ 5 or $"),
    ],
)
def test_what_is_no_formula_is_markdown(text: str, shown: str) -> None:
    assert markdown_rows(text) == [shown]


def test_a_file_name_is_no_link() -> None:
    rows = styled_rows(Whole("edit tool.py and README.md, mail a@b.c"))

    assert rows == [[("edit tool.py and README.md, mail a@b.c", "text")]]


def test_wrapped_rows_know_how_they_go_together() -> None:
    whole = Whole("- one two three\n\n```\nabcdefgh\n```")

    lines = whole.lines(plain_canvas(9))

    assert [(line.text[line.gutter :], line.joint) for line in lines] == [
        ("one two", " "),
        ("three", "\n"),
        ("", "\n"),
        ("abcdefg", ""),
        ("h", "\n"),
    ]


def test_deep_nesting_loses_no_text() -> None:
    assert "".join(markdown_rows("> " * 300 + "deep")).endswith("deep")


def test_the_source_is_what_arrived() -> None:
    pieces = ["a\x1b[31m", "b\r\n", "\ud800", "c"]

    assert set_in(pieces).source == "".join(pieces)


def test_appending_draws_nothing() -> None:
    markdown = Markdown()
    tail = markdown.pieces()[-1]

    markdown.append("text")

    assert (tail.version, len(tail.lines(plain_canvas()))) == (0, 0)


# -- what is too wide --------------------------------------------------------------------------

WIDE = "| a | b |\n|---|---|\n| x | " + "long " * 20 + "|\n\n```\n" + "y" * 60 + "\nz\n```"


def cut_rows(text: str, width: int) -> list[str]:
    canvas = replace(plain_canvas(width), wraps=False)
    return [line.text for piece in set_in([text]).pieces() for line in piece.lines(canvas)]


def test_wide_tables_and_code_are_cut_with_a_mark_where_nothing_wraps() -> None:
    rows = cut_rows(WIDE, 30)

    assert rows[:5] == [
        "┌───┬────────────────────────…",
        "│ a │ b                      …",
        "├───┼────────────────────────…",
        "│ x │ long long long long lon…",
        "└───┴────────────────────────…",
    ]
    assert rows[6:] == ["│ " + "y" * 27 + "…", "│ z"]


@pytest.mark.parametrize("width", [27, 28, 29])
def test_a_row_that_is_cut_between_two_colours_has_the_mark_too(width: int) -> None:
    (row,) = cut_rows("```python\nreturn 'a string' + other_name_here\n```", width)[1:]

    assert cell_len(row) == width
    assert row.endswith("…")


def test_what_is_narrow_looks_the_same_where_nothing_wraps() -> None:
    assert cut_rows(WIDE, 200) == markdown_rows(WIDE, 200)
