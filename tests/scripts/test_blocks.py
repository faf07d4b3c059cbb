from __future__ import annotations

import pytest

from scripts import blocks
from scripts.blocks import BlockError, Origin, page_blocks
from tests.projects import Project

SNIPPET = """
    # --8<-- [start:imports]
    import torch

    # --8<-- [end:imports]


    # --8<-- [start:whole]
    def double(x):
        # --8<-- [start:body]
        y = 2 * x
        return y
        # --8<-- [end:body]
    # --8<-- [end:whole]
"""


def test_blocks_and_outputs(project: Project) -> None:
    page = project.page(
        """
        ---
        description: x
        ---
        ```python title="a.py" hl_lines="1"
        print(1)
        ```

        It prints:

        <!--pytest-codeblocks:expected-output-->

        ```text
        1
        ```

        === "Tab"

            <!--pytest-codeblocks:cont-->
            ~~~py
            print(2)
            ~~~

        ```bash
        true
        ```
        """
    )
    first, second, third = page_blocks(page)
    assert (first.fence.line, first.language, first.source) == (4, "python", "print(1)")
    assert first.expected_output == "1\n"
    assert first.output_fence
    assert first.output_fence.line == 12
    assert first.place == "docs/en/part/chapter.md:4"
    assert (second.source, second.continues, second.before) == ("print(2)", True, [first])
    assert second.expected_output is None
    assert (third.language, third.source, third.continues) == ("sh", "true", False)
    assert not first.isolated


def test_isolated_pages(project: Project) -> None:
    page = project.page("---\nisolate: true\n---\n```python\nx\n```\n")
    assert page_blocks(page)[0].isolated


def test_includes_keep_track_of_their_lines(project: Project) -> None:
    path = project.snippet(SNIPPET)
    page = project.page(
        """
        ```python
        --8<-- "part/chapter/idea.py:imports"

        if True:
            --8<-- "part/chapter/idea.py:body"
        ```
        """
    )
    (block,) = page_blocks(page)
    assert block.source == "import torch\n\nif True:\n    y = 2 * x\n    return y"
    assert block.origins == [
        Origin(2, path, 2),
        Origin(3),
        Origin(4),
        Origin(5, path, 10),
        Origin(5, path, 11),
    ]
    assert blocks.included_files(block.fence) == ["part/chapter/idea.py"]


def test_sections_leave_out_the_marks_of_others(project: Project) -> None:
    path = project.snippet(SNIPPET)
    lines = ["def double(x):", "    y = 2 * x", "    return y"]
    expected = (path, list(zip([8, 10, 11], lines, strict=True)))
    assert blocks.include("part/chapter/idea.py:whole", "here") == expected


def test_whole_files_come_without_marks_and_empty_lines_at_the_end(project: Project) -> None:
    project.snippet(SNIPPET)
    _, lines = blocks.include("part/chapter/idea.py", "here")
    assert [text for _, text in lines] == [
        "import torch", "", "", "", "def double(x):", "    y = 2 * x", "    return y",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("part/chapter/other.py:body", "there is no snippets/part/chapter/other.py"),
        ("../pyproject.toml", "there is no snippets/../pyproject.toml"),
        ("part/chapter", "there is no snippets/part/chapter"),
        (
            "part/chapter/idea.py:boddy",
            "snippets/part/chapter/idea.py has no section 'boddy'. It has: imports, whole, body",
        ),
        ("part/chapter/idea.py:3:5", 'write --8<-- "file" or "file:section"'),
        ("part/chapter/idea.py:2", 'write --8<-- "file" or "file:section"'),
    ],
)
def test_includes_that_lead_nowhere(project: Project, target: str, message: str) -> None:
    project.snippet(SNIPPET)
    project.write("pyproject.toml", "")
    page = project.page(f'text\n\n```python\n--8<-- "{target}"\n```\n')
    with pytest.raises(BlockError) as caught:
        page_blocks(page)
    assert str(caught.value).startswith(f"docs/en/part/chapter.md:4: {message}")


@pytest.mark.parametrize(
    "marks",
    [
        "# --8<-- [start:a]\nx\n",
        "x\n# --8<-- [end:a]\n",
        "# --8<-- [start:a]\nx\n# --8<-- [end:b]\n",
        "# --8<-- [end:a]\nx\n# --8<-- [start:a]\n",
        "# --8<-- [start:a]\n# --8<-- [end:a]\n# --8<-- [start:a]\nx\n# --8<-- [end:a]\n",
    ],
)
def test_sections_start_once_and_end_once(project: Project, marks: str) -> None:
    project.snippet(marks)
    with pytest.raises(BlockError, match=r"idea\.py the section 'a' must start once and then end"):
        blocks.include("part/chapter/idea.py:a", "here")


def test_names_that_begin_alike_are_told_apart(project: Project) -> None:
    section = "# --8<-- [start:{0}]\n1\n# --8<-- [end:{0}]\n"
    project.snippet(section.format("sum-x") + section.format("sum"))
    _, lines = blocks.include("part/chapter/idea.py:sum", "here")
    assert lines == [(5, "1")]


MARK = '<!--pytest.mark.skip(reason="x")-->'
BLOCK = "```python\nprint(1)\n```\n"
OUTPUT = "<!--pytest-codeblocks:expected-output-->\n```text\n1\n```\n"
CONT = "<!--pytest-codeblocks:cont-->\n"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("text\n```python\nx\n", 2, "this fence has no end"),
        (f"{MARK}\n", 1, "no fence stands under <!--pytest.mark"),
        (f"{BLOCK}{MARK}\n\nprose\n\n{BLOCK}", 4, "no fence stands under <!--pytest.mark"),
        (f"{BLOCK}{CONT}\nprose\n{BLOCK}", 4, "no fence stands under <!--pytest-codeblocks:cont"),
        (OUTPUT, 1, "no previous code block"),
        (f"{BLOCK}{OUTPUT}{OUTPUT}", 8, "block already has expected_output"),
        (f"{BLOCK}{MARK}\n{OUTPUT}{BLOCK}", 5, "an output takes no other directive"),
        (f"{BLOCK}{CONT}{OUTPUT}{BLOCK}", 5, "an output takes no other directive"),
        (f"{BLOCK}{OUTPUT.replace('text', 'python')}", 5, "an output stands in a ```text fence"),
        (f"{CONT}{BLOCK}", 2, "a `cont` block must be Python and follow a Python block"),
        (f"{BLOCK}```sh\nls\n```\n{CONT}{BLOCK}", 8, "a `cont` block must be Python"),
        (f"{BLOCK}{CONT}```sh\nls\n```\n", 5, "a `cont` block must be Python"),
        (f"{MARK}\n{BLOCK}{CONT}{BLOCK}", 6, "continues one that carries a mark, so give it"),
        (f"<!--pytest-codeblocks:skipfile-->\n{BLOCK}", 1, "is none of cont, expected-output"),
        (f"<!--pytest-codeblocks:skip-->\n{BLOCK}", 1, "is none of cont, expected-output"),
        (f"<!--pytest-codeblocks:con-->\n{BLOCK}", 1, "is none of cont, expected-output"),
        (f"<!--pytest.mark.skip-->\n{BLOCK}", 1, "say why"),
        (f'<!--pytest.mark.skip(reason=" ")-->\n{BLOCK}', 1, "say why"),
        (f'<!--pytest.mark.skipif(True, reason="")-->\n{BLOCK}', 1, "say why"),
        (f"<!--pytest.mark.xfail-->\n{BLOCK}", 1, "say why"),
        (f"<!--pytest.mark.slow-->\n{BLOCK}", 1, "a block's mark is one of skip, skipif, xfail"),
        (f'<!--pytest.mark.skip(reason="x"-->\n{BLOCK}', 1, "'(' was never closed"),
        (f"---\n: : {{\n---\n{BLOCK}", 1, "the front matter is not YAML"),
        ("```python\n--8<--\nx.py\n--8<--\n```\n", 2, 'write one --8<-- "file:section" a line'),
    ],
)
def test_pages_that_are_refused(project: Project, text: str, line: int, message: str) -> None:
    page = project.page(text)
    with pytest.raises(BlockError) as caught:
        page_blocks(page)
    assert str(caught.value).startswith(f"docs/en/part/chapter.md:{line}: ")
    assert message in str(caught.value)


def test_marks_reach_their_block_alone(project: Project) -> None:
    text = f"{MARK}\n\n<!--pytest.mark.gpu-->\n{BLOCK}{BLOCK}"
    text += f"<!--pytest-codeblocks:importorskip(x)-->\n{BLOCK}"
    first, second, third = page_blocks(project.page(text))
    assert first.marks == ['pytest.mark.skip(reason="x")', "pytest.mark.gpu"]
    assert second.marks == third.marks == []
    assert third.importorskip == "x"


def test_directives_in_a_fence_are_text(project: Project) -> None:
    page = project.page(f"{MARK}\n~~~md\n{CONT}{OUTPUT}~~~\n{BLOCK}")
    first, second = page_blocks(page)
    assert first.source.startswith(CONT)
    assert not second.marks
    assert not second.continues
