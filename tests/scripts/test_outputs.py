from __future__ import annotations

from pathlib import Path

import pytest

from scripts import outputs
from scripts.page_runs import BlockFailure
from tests.projects import Project

OUTPUT = "<!--pytest-codeblocks:expected-output-->"


def check_rewritten(page: Path, expected: str) -> None:
    before = page.read_text(encoding="utf-8")
    assert outputs.write([page], check=True) == ["docs/en/part/chapter.md"]
    assert page.read_text(encoding="utf-8") == before
    assert outputs.write([page]) == ["docs/en/part/chapter.md"]
    assert page.read_text(encoding="utf-8") == expected
    assert outputs.write([page]) == outputs.write([page], check=True) == []


def test_an_output_is_put_in(project: Project) -> None:
    page = project.page("a\n\n```python\nprint(1)\nprint(2)\n```\nb\n")
    check_rewritten(
        page, f"a\n\n```python\nprint(1)\nprint(2)\n```\n\n{OUTPUT}\n\n```text\n1\n2\n```\nb\n"
    )


@pytest.mark.parametrize("indent", ["    ", "> "])
def test_an_output_is_indented_as_its_block(project: Project, indent: str) -> None:
    lines = ["```python", "print(' 1\\n\\n2')", "```"]
    page = project.page('!!! note "x"\n\n' + "".join(f"{indent}{line}\n" for line in lines))
    added = ["", OUTPUT, "", "```text", " 1", "", "2", "```"]
    expected = "".join(f"{indent}{line}".rstrip() + "\n" for line in lines + added)
    check_rewritten(page, '!!! note "x"\n\n' + expected)


def test_an_output_is_replaced(project: Project) -> None:
    page = project.page(
        f"```python\nprint(1)\n```\n\nIt prints:\n\n{OUTPUT}\n\n```text\n2\n3\n```\n\nend\n"
    )
    check_rewritten(
        page, f"```python\nprint(1)\n```\n\nIt prints:\n\n{OUTPUT}\n\n```text\n1\n```\n\nend\n"
    )


def test_an_output_is_taken_out(project: Project) -> None:
    page = project.page(f"```python\nx = 1\n```\n\n{OUTPUT}\n\n```text\n2\n```\n\nend\n")
    check_rewritten(page, "```python\nx = 1\n```\n\nend\n")


def test_only_the_output_is_taken_out(project: Project) -> None:
    page = project.page(f"```python\nx = 1\n```\n\nprose\n\n{OUTPUT}\n\n```text\n2\n```\nend\n")
    check_rewritten(page, "```python\nx = 1\n```\n\nprose\nend\n")


def test_printed_fences_get_a_longer_marker(project: Project) -> None:
    page = project.page("~~~python\nprint('```')\n~~~\n")
    check_rewritten(page, f"~~~python\nprint('```')\n~~~\n\n{OUTPUT}\n\n````text\n```\n````\n")
    page = project.page(f"~~~python\nprint('```')\n~~~\n\n{OUTPUT}\n\n```text\n1\n```\n")
    check_rewritten(page, f"~~~python\nprint('```')\n~~~\n\n{OUTPUT}\n\n````text\n```\n````\n")


def test_several_blocks_and_a_chain(project: Project) -> None:
    block = "```python\n{}\n```\n"
    page = project.page(
        block.format("x = 1\nprint(x)")
        + "<!--pytest-codeblocks:cont-->\n"
        + block.format("print(x + 1)")
        + block.format("print(3)")
    )
    output = f"\n{OUTPUT}\n\n```text\n{{}}\n```\n"
    check_rewritten(
        page,
        block.format("x = 1\nprint(x)")
        + output.format(1)
        + "<!--pytest-codeblocks:cont-->\n"
        + block.format("print(x + 1)")
        + output.format(2)
        + block.format("print(3)")
        + output.format(3),
    )


def test_blocks_with_marks_and_other_languages_are_left_alone(project: Project) -> None:
    mark = '<!--pytest.mark.skip(reason="x")-->\n'
    block = f"{mark}```python\n1 / 0\n```\n\n{OUTPUT}\n\n```text\nold\n```\n"
    page = project.page(f"{block}\n{mark}```yaml\na: 1\n```\n")
    assert outputs.write([page]) == []


def test_a_failing_block_stops(project: Project) -> None:
    page = project.page("```python\nprint(1)\n1 / 0\n```\n")
    before = page.read_text(encoding="utf-8")
    with pytest.raises(BlockFailure, match=r"docs/en/part/chapter\.md:3: .*1 / 0"):
        outputs.write([page])
    assert page.read_text(encoding="utf-8") == before
