from __future__ import annotations

import pytest

from scripts.blocks import BlockError
from scripts.page_build import prepared
from tests.projects import Project

SNIPPET = "# --8<-- [start:a]\nx = 1\n# --8<-- [end:a]\n"


def built(project: Project, text: str, language: str = "en") -> str:
    page = project.page(text, language)
    return prepared(text, page, f"{language}/part/chapter.md")


def test_a_link_stands_under_a_block_that_includes(project: Project) -> None:
    project.snippet(SNIPPET)
    text = 'a\n\n```python\n--8<-- "part/chapter/idea.py:a"\n```\n\nb\n'
    link = '[Download idea.py](../../snippets/part/chapter/idea.py){ download="idea.py" }'
    assert built(project, text) == (
        f"a\n\n```python\nx = 1\n```\n\n{link}\n{{ .snippet-source }}\n\n\nb"
    )
    assert "[下载 idea.py](" in built(project, text, "zh")


def test_the_link_follows_the_output(project: Project) -> None:
    project.snippet(SNIPPET)
    text = (
        '```python\n--8<-- "part/chapter/idea.py:a"\nprint(x)\n```\n\n'
        "<!--pytest-codeblocks:expected-output-->\n\n```text\n1\n```\nb\n"
    )
    lines = built(project, text).split("\n")
    assert lines[lines.index("1") + 1 :][:4] == [
        "```", "",
        '[Download idea.py](../../snippets/part/chapter/idea.py){ download="idea.py" }',
        "{ .snippet-source }",
    ]  # fmt: skip


@pytest.mark.parametrize("indent", ["    ", "> "])
def test_includes_are_filled_in_as_tests_see_them(project: Project, indent: str) -> None:
    project.snippet("# --8<-- [start:a]\nif x:\n\n    y\n# --8<-- [end:a]\n")
    lines = ["```python", "if z:", '    --8<-- "part/chapter/idea.py:a"', "```"]
    text = "!!! note\n\n" + "".join(f"{indent}{line}\n" for line in lines)
    shown = built(project, text).split("\n")[2:8]
    expected = ["```python", "if z:", "    if x:", "", "        y", "```"]
    assert shown == [f"{indent}{line}".rstrip() for line in expected]


def test_a_block_of_several_snippets_has_several_links(project: Project) -> None:
    for name in ("one", "two"):
        project.snippet(SNIPPET, f"part/chapter/{name}.py")
    text = (
        '=== "x"\n\n    ```python\n    --8<-- "part/chapter/one.py:a"\n'
        '    --8<-- "part/chapter/two.py:a"\n    --8<-- "part/chapter/one.py"\n    ```\n'
    )
    html = built(project, text)
    assert html.count("\n    [Download one.py](") == 1
    assert html.count(" [Download two.py](") == 1
    assert html.rstrip().endswith("\n    { .snippet-source }")


def test_each_link_stands_under_its_own_block(project: Project) -> None:
    block = '```python\n--8<-- "part/chapter/{}.py:a"\n```\n'
    for name in ("one", "two"):
        project.snippet(SNIPPET, f"part/chapter/{name}.py")
    lines = built(project, f"{block.format('one')}\n{block.format('two')}").split("\n")
    assert [line[:13] for line in lines if line] == [
        *["```python", "x = 1", "```", "[Download one", "{ .snippet-so"],
        *["```python", "x = 1", "```", "[Download two", "{ .snippet-so"],
    ]


def test_other_blocks_have_none(project: Project) -> None:
    text = 'a\n\n```python\nx = 1\n```\n\n~~~text\n```python\n--8<-- "x.py"\n```\n~~~\n'
    with pytest.raises(BlockError, match=r"docs/en/part/chapter\.md:9: there is no snippets/x\.py"):
        built(project, text)
    assert built(project, text.partition("~~~")[0]) == text.partition("~~~")[0].rstrip("\n") + "\n"


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("part/chapter/idea.py:b", "has no section 'b'. It has: a"),
        ("part/chapter/other.py:a", "there is no snippets/part/chapter/other.py"),
    ],
)
def test_the_build_fails_by_name(project: Project, target: str, message: str) -> None:
    project.snippet(SNIPPET)
    with pytest.raises(BlockError) as caught:
        built(project, f'a\n\n```python\n--8<-- "{target}"\n```\n')
    assert str(caught.value).startswith("docs/en/part/chapter.md:4: ")
    assert message in str(caught.value)
