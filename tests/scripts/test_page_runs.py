from __future__ import annotations

from pathlib import Path

import pytest

from scripts import page_runs
from scripts.blocks import page_blocks
from scripts.page_runs import BlockFailure, check, remember_chains, result_of
from scripts.run_blocks import Result
from tests.projects import Project

CONT = "<!--pytest-codeblocks:cont-->"
OUTPUT = "<!--pytest-codeblocks:expected-output-->"


def failure(page: Path, number: int = -1) -> str:
    """The message of a block that must fail."""
    with pytest.raises(BlockFailure) as caught:
        check(page_blocks(page)[number])
    return str(caught.value)


def test_the_output_is_that_of_the_page(project: Project) -> None:
    page = project.page(f"```python\nprint(1)\n```\n\n{OUTPUT}\n\n```text\n1\n```\n")
    check(page_blocks(page)[0])


def test_spaces_at_ends_of_lines_and_empty_lines_at_the_end_do_not_count(project: Project) -> None:
    page = project.page(
        f"```python\nprint('1  \\n\\n 2\\n')\n```\n{OUTPUT}\n```text\n1\n\n 2\n```\n"
    )
    check(page_blocks(page)[0])


@pytest.mark.parametrize(("shown", "printed"), [("1", " 1"), ("1\n\n2", "1\n2"), ("1", "\n1")])
def test_whatever_else_differs_counts(project: Project, shown: str, printed: str) -> None:
    page = project.page(f"```python\nprint({printed!r})\n```\n{OUTPUT}\n```text\n{shown}\n```\n")
    assert "does not print what the page shows" in failure(page)


def test_a_wrong_output(project: Project) -> None:
    page = project.page(f"text\n\n```python\nprint(1)\n```\n\n{OUTPUT}\n\n```text\n2\n```\n")
    assert failure(page) == (
        "docs/en/part/chapter.md:3: the block does not print what the page shows. "
        "If the new output is right, `make outputs` writes it into the pages.\n"
        "--- docs/en/part/chapter.md:9\n+++ printed now\n@@ -1 +1 @@\n-2\n+1"
    )


def test_an_output_that_is_missing(project: Project) -> None:
    message = failure(project.page("```python\nprint('seen')\n```\n"))
    assert message.startswith("docs/en/part/chapter.md:1: this block prints, and the page shows no")
    assert "`make outputs`" in message
    assert message.endswith("It printed:\nseen")


@pytest.mark.parametrize("shown", ["1\n", ""])
def test_an_output_that_is_no_longer_printed(project: Project, shown: str) -> None:
    page = project.page(f"```python\nx = 1\n```\n{OUTPUT}\n```text\n{shown}```\n")
    message = failure(page)
    assert message.startswith(
        "docs/en/part/chapter.md:5: the block above this output prints nothin"
    )
    assert "`make outputs`" in message


def test_a_block_that_prints_nothing_needs_no_output(project: Project) -> None:
    for source in ("x = 1", "print()"):
        check(page_blocks(project.page(f"```python\n{source}\n```\n"))[0])


def test_an_exception_is_placed_on_the_page(project: Project) -> None:
    page = project.page("text\n\n- item\n\n    ```python\n    x = 0\n    1 / x\n    ```\n")
    lines = failure(page).split("\n")
    assert lines[0] == "docs/en/part/chapter.md:7: line 2 of the block at line 5: 1 / x"
    assert lines[1] == "ZeroDivisionError: division by zero"
    assert lines[2] == "Traceback (most recent call last):"


def test_an_exception_is_placed_in_its_snippet(project: Project) -> None:
    project.snippet("# --8<-- [start:a]\nx = 0\n1 / x\n# --8<-- [end:a]\n")
    page = project.page('```python\ny = 1\n--8<-- "part/chapter/idea.py:a"\n```\n')
    assert failure(page).startswith(
        "docs/en/part/chapter.md:3 (snippets/part/chapter/idea.py:3): "
        "line 3 of the block at line 1: 1 / x\nZeroDivisionError"
    )


def test_an_exception_in_a_chain_is_placed_in_its_block(project: Project) -> None:
    text = (
        f"```python\nx = 0\n```\n\n{CONT}\n```python\n\n1 / x\n```\n\n{CONT}\n```python\ny\n```\n"
    )
    page = project.page(text)
    for number in (1, 2):
        assert failure(page, number).startswith(
            "docs/en/part/chapter.md:8: line 2 of the block at line 6: 1 / x\nZeroDivisionError"
        )
    check(page_blocks(page)[0])


def test_a_syntax_error_is_placed_on_the_page(project: Project) -> None:
    page = project.page(f"```python\nx = 0\n```\n{CONT}\n```python\ny = 1\nx = = 2\n```\n")
    lines = failure(page).split("\n")
    assert lines[0] == "docs/en/part/chapter.md:7: line 2 of the block at line 5: x = = 2"
    assert lines[1].startswith("SyntaxError: invalid syntax")
    assert "x = = 2" in lines[3]


def test_a_failing_shell_block(project: Project) -> None:
    message = failure(project.page("```sh\nls /nowhere\n```\n"))
    assert message.startswith("docs/en/part/chapter.md:1: exit status ")
    assert "/nowhere" in message


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], bool]]:
    """What was run, in place of running it; each block prints its source."""
    made: list[tuple[list[str], bool]] = []

    def run(sources: list[str], isolate: bool) -> list[Result]:
        made.append((sources, isolate))
        return [Result(source) for source in sources]

    monkeypatch.setattr(page_runs, "run_python", run)
    monkeypatch.setattr(page_runs, "_extended", {})
    page_runs._run.cache_clear()
    return made


def test_a_chain_runs_once(project: Project, runs: list[tuple[list[str], bool]]) -> None:
    page = project.page(
        f"```python\na\n```\n{CONT}\n```python\nb\n```\n{CONT}\n```python\nc\n```\n```python\nd\n```\n"
    )
    blocks = page_blocks(page)
    remember_chains(blocks)
    assert [result_of(block).output for block in blocks] == ["a", "b", "c", "d"]
    assert runs == [(["a", "b", "c"], False), (["d"], False)]


def test_both_languages_run_once(project: Project, runs: list[tuple[list[str], bool]]) -> None:
    for language in ("zh", "en"):
        page = project.page("```python\nsame\n```\n", language)
        result_of(page_blocks(page)[0])
    assert len(runs) == 1


def test_an_isolated_page_runs_apart(project: Project, runs: list[tuple[list[str], bool]]) -> None:
    plain = project.page("```python\na\n```\n", name="part/plain.md")
    isolated = project.page("---\nisolate: true\n---\n```python\na\n```\n")
    for page in (plain, isolated):
        result_of(page_blocks(page)[0])
    assert runs == [(["a"], False), (["a"], True)]
