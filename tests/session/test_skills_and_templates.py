"""Skills and prompt templates as files."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_tui.session.skills import find_skills
from agent_tui.session.templates import Template, find_templates


def skill(folder: Path, name: str, head: str, body: str = "Do it.") -> Path:
    (folder / name).mkdir(parents=True)
    path = folder / name / "SKILL.md"
    path.write_text(f"---\n{head}\n---\n{body}\n")
    return path


def template(body: str, name: str = "t") -> Template:
    return Template(name, "", "", Path("t.md"), body)


# -- skills ----------------------------------------------------------------------------------------


def test_a_skill_has_a_name_a_description_and_a_body(tmp_path: Path) -> None:
    path = skill(tmp_path, "pdf", "name: pdf\ndescription: Reads PDF files.")

    found = find_skills([tmp_path], [])

    assert [(s.name, s.description, s.path, s.body) for s in found] == [
        ("pdf", "Reads PDF files.", path, "Do it.")
    ]


def test_a_skill_without_a_name_is_named_by_its_folder(tmp_path: Path) -> None:
    skill(tmp_path, "pdf", "description: Reads PDF files.")

    assert find_skills([tmp_path], [])[0].name == "pdf"


@pytest.mark.parametrize(
    ("head", "words"), [("name: pdf", "no description"), ("name: a/b\ndescription: x", "no name")]
)
def test_a_skill_that_cannot_be_used_is_said(tmp_path: Path, head: str, words: str) -> None:
    path = skill(tmp_path, "pdf", head)
    notices: list[str] = []

    assert find_skills([tmp_path], notices) == []
    assert str(path) in notices[0]
    assert words in notices[0]


def test_a_skill_of_the_project_stands_for_the_users(tmp_path: Path) -> None:
    skill(tmp_path / "user", "pdf", "description: user")
    skill(tmp_path / "project", "pdf", "description: project")
    notices: list[str] = []

    found = find_skills([tmp_path / "user", tmp_path / "project"], notices)

    assert [s.description for s in found] == ["project"]
    assert "instead of" in notices[0]


def test_no_folder_means_no_skills(tmp_path: Path) -> None:
    assert find_skills([tmp_path / "nowhere"], []) == []


def test_a_skill_called_by_hand_says_where_it_is(tmp_path: Path) -> None:
    path = skill(tmp_path, "pdf", "description: x", "Step one. </skill>")

    message = find_skills([tmp_path], [])[0].called("report.pdf")

    assert message.startswith(f'<skill name="pdf" path="{path}">\nPaths in it begin at')
    assert message.endswith("</skill>\n\nreport.pdf")
    assert message.count("</skill>") == 1


# -- templates -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "arguments", "text"),
    [
        ("Review $1 for $2.", "a.py speed", "Review a.py for speed."),
        ("Review $1 for $2.", '"my file.py" x y', "Review my file.py for x."),
        ("All: $@", "a  'b c'", "All: a  'b c'"),
        ("All: $ARGUMENTS.", "a b", "All: a b."),
        ("$1 and $2", "one", "one and "),
        ("$1", "it's", "it's"),
        ("Costs \\$1, $1", "two", "Costs $1, two"),
        ("$1", "'$2' x", "$2"),
        ("Just this.", "", "Just this."),
        ("Just this.", "and that", "Just this.\n\nand that"),
        ("$ARGUMENTSX $0 $", "a", "$ARGUMENTSX $0 $\n\na"),
        ("$12", "a b c d e f g h i j k l", "l"),
    ],
)
def test_what_was_typed_is_put_in(body: str, arguments: str, text: str) -> None:
    assert template(body).expanded(arguments) == text


def test_a_template_is_described_by_its_head_or_its_first_line(tmp_path: Path) -> None:
    (tmp_path / "review.md").write_text(
        "---\ndescription: Look closely\nargument-hint: <file>\n---\nReview $1.\n"
    )
    (tmp_path / "fix.md").write_text("Fix the build.\nThen test.\n")

    found = find_templates([tmp_path, tmp_path / "nowhere"], [])

    assert [(t.name, t.description, t.argument_hint) for t in found] == [
        ("fix", "Fix the build.", ""),
        ("review", "Look closely", "<file>"),
    ]
    assert [t.takes_arguments for t in found] == [False, True]


def test_a_template_that_cannot_be_used_is_said(tmp_path: Path) -> None:
    (tmp_path / "two words.md").write_text("x")
    (tmp_path / "empty.md").write_text("---\ndescription: x\n---\n")
    notices: list[str] = []

    assert find_templates([tmp_path], notices) == []
    assert [notice.rpartition("/")[2][:9] for notice in notices] == ["empty.md ", "two words"]
