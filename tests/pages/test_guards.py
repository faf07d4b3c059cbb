"""What a person could break is caught: each guard is fed a page that it must refuse."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from scripts import escapes, pairs
from scripts.blocks import BlockError
from scripts.page_build import prepared
from tests.plugin import BlockItem, PageFile
from tests.projects import Project


def failures(page: Path, session: pytest.Session) -> list[str]:
    """What the tests of a page say that fail."""
    try:
        items = list(PageFile.from_parent(session, path=page).collect())
    except pytest.Collector.CollectError as error:
        return [str(error)]
    messages = []
    for item in items:
        assert isinstance(item, BlockItem)
        if not item.block.marks:
            try:
                item.runtest()
            except Exception:
                messages.append(item.repr_failure(pytest.ExceptionInfo.from_current()))
    return messages


def everything(page: Path, session: pytest.Session) -> list[str]:
    """What the tests of a page and the guard against escaped code say."""
    messages = failures(page, session)
    try:
        escaped = escapes.escape(page)
    except BlockError as error:
        escaped = str(error)
    return messages + ([escaped] if escaped else [])


@pytest.fixture
def session(request: pytest.FixtureRequest) -> pytest.Session:
    found = request.session
    assert isinstance(found, pytest.Session)
    return found


RUN = {
    "title": '```python title="x.py"\n{}\n```',
    "highlight": '```python hl_lines="1 2" linenums="1"\n{}\n```',
    "title and highlight": '```python title="x" hl_lines="2"\n{}\n```',
    "py": "```py\n{}\n```",
    "space": "``` py\n{}\n```",
    "spaces": "```  python  \n{}\n```",
    "capital": "```Python\n{}\n```",
    "python3": "``` python3\n{}\n```",
    "ipython": "```ipython\n{}\n```",
    "tildes": "~~~python\n{}\n~~~",
    "long": "`````python\n{}\n`````",
    "attributes": "```{{.python .x}}\n{}\n```",
    "attributes and space": '``` {{ .python .x title="x" }}\n{}\n```',
    "language and attributes": "```python {{ .x }}\n{}\n```",
    "dot": "```.python\n{}\n```",
    "leading space": " ```python\n {}\n ```",
    "tab": '=== "x"\n\n    ```python\n    {}\n    ```',
    "box": '!!! note "x"\n\n    ```python\n    {}\n    ```',
    "folded box": '??? note "x"\n\n    ~~~ py\n    {}\n    ~~~',
    "box in a tab": '=== "x"\n\n    !!! note\n\n        ```python\n        {}\n        ```',
    "list": "- x\n\n    ```python\n    {}\n    ```",
    "list in a list": "1. x\n\n    - y\n\n        ```python\n        {}\n        ```",
    "tabulator": "- x\n\n\t```python\n\t{}\n\t```",
    "quotation": "> x\n>\n> ```python\n> {}\n> ```",
    "footnote": "x[^1]\n\n[^1]:\n    ```python\n    {}\n    ```",
    "definition": "x\n\n:   y\n\n    ```python\n    {}\n    ```",
    "no empty line before": "x\n```python\n{}\n```",
    "html": "<div markdown>\n\n```python\n{}\n```\n\n</div>",
}


@pytest.mark.parametrize("form", RUN)
def test_every_form_of_fence_runs(project: Project, session: pytest.Session, form: str) -> None:
    page = project.page("---\ndescription: x\n---\n# T\n\n" + RUN[form].format("1 / 0") + "\n\ny\n")
    (message,) = failures(page, session)
    assert "ZeroDivisionError" in message
    assert message.startswith("docs/en/part/chapter.md:")
    assert escapes.escape(page) is None


ESCAPED = {
    "indented code": "x\n\n    1 / 0\n",
    "indented code in a list": "- x\n\n        1 / 0\n",
    "raw HTML": "<pre>1 / 0</pre>\n",
    "raw HTML with code": '<div class="highlight"><pre><code>1 / 0\n</code></pre></div>\n',
    "HTML in Markdown": "x <pre>1 / 0</pre> y\n",
    "fence within a fence without one": "    ```python\n    1 / 0\n    ```\n",
    "beside a list's bullet": "- ```python\n  1 / 0\n  ```\n",
    "unknown option": "```python lines:3\n1 / 0\n```\n",
    "unknown attribute": '```python class="x"\n1 / 0\n```\n',
    "wrong option": '```python hl_lines="1,2"\n1 / 0\n```\n',
    "no language": "```\n1 / 0\n```\n",
    "only a title": '```title="x.py"\n1 / 0\n```\n',
    "other version": "```python2\n1 / 0\n```\n",
    "prompts": "```pycon\n>>> 1 / 0\n```\n",
    "fence within a longer one": "````md\n```python\n1 / 0\n```\n````\n",
    "other language": "```yaml\na: 1\n```\n",
    "output that follows nothing": "```text\n1\n```\n",
    "console": "```console\n$ ls\n```\n",
    "comment": "<!--\n```python\n1 / 0\n```\n-->\n",
    "unclosed": "```python\n1 / 0\n",
    "wrong end": "```python\n1 / 0\n````\n",
    "end further in": "```python\n1 / 0\n    ```\n",
    "end further out": "- x\n\n    ```python\n    1 / 0\n```\n",
    "body further out": "- x\n\n    ```python\n1 / 0\n    ```\n",
    "include in prose": '--8<-- "part/chapter/fence.md"\n',
}


@pytest.mark.parametrize("form", ESCAPED)
def test_what_is_no_runnable_fence_is_refused(
    project: Project, session: pytest.Session, form: str
) -> None:
    project.snippet("```python\n1 / 0\n```\n", "part/chapter/fence.md")
    page = project.page(f"# T\n\ntext\n\n{ESCAPED[form]}\n")
    messages = everything(page, session)
    assert messages
    for message in messages:
        assert message.startswith("docs/en/part/chapter.md:")


def test_the_guard_names_the_line_and_what_to_do(project: Project) -> None:
    page = project.page("# T\n\n```python\nx = 1\n```\n\ntext\n\n    y = 1\n")
    assert escapes.escape(page) == (
        "docs/en/part/chapter.md:9: readers see code here that no test runs: 'y = 1'. "
        "Write it as a ```python fence, no further indented than the text around it."
    )
    page = project.page("# T\n\n```python\nx = 1\n```\n\n<!--\n```python\ny = 1\n```\n-->\n")
    assert escapes.escape(page) == (
        "docs/en/part/chapter.md:8: readers do not see this fence as code. Look at its info "
        "string and its indentation, and leave an empty line before it."
    )


def test_a_fence_that_cannot_run_says_why(project: Project, session: pytest.Session) -> None:
    page = project.page("text\n\n```yaml\na: 1\n```\n")
    (message,) = failures(page, session)
    assert message.startswith("docs/en/part/chapter.md:3: this fence (yaml) neither runs nor says")
    assert '<!--pytest.mark.skip(reason="…")-->' in message
    mark = '<!--pytest.mark.skip(reason="a configuration")-->'
    assert everything(project.page(f"text\n\n{mark}\n```yaml\na: 1\n```\n"), session) == []
    (message,) = failures(
        project.page(f"{mark.replace('a configuration', '')}\n```yaml\n```"), session
    )
    assert message.startswith("docs/en/part/chapter.md:1: say why: ")


def test_marks_are_pytests(project: Project, session: pytest.Session) -> None:
    page = project.page('<!--pytest.mark.skipif(nonsense, reason="x")-->\n```python\nx\n```\n')
    (message,) = failures(page, session)
    assert message.startswith("docs/en/part/chapter.md:2: pytest.mark.skipif(nonsense")
    assert "name 'nonsense' is not defined" in message


OUTPUT = "\n\n<!--pytest-codeblocks:expected-output-->\n\n```text\n{}\n```\n"


def test_outputs(project: Project, session: pytest.Session) -> None:
    block = "# T\n\n```python\n{}\n```"
    cases = {
        "does not print what the page shows": block.format("print(1)") + OUTPUT.format(2),
        "the page shows no output under it": block.format("print(1)") + "\n",
        "the block above this output prints nothing": block.format("x = 1") + OUTPUT.format(1),
    }
    for message, text in cases.items():
        (said,) = failures(project.page(text), session)
        assert message in said
        assert "`make outputs`" in said
        assert said.startswith("docs/en/part/chapter.md:")
    assert everything(project.page(block.format("print(1)") + OUTPUT.format(1)), session) == []


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (
            "part/chapter/idea.py:gone",
            "snippets/part/chapter/idea.py has no section 'gone'. It has: a",
        ),
        ("part/chapter/gone.py:a", "there is no snippets/part/chapter/gone.py"),
    ],
)
def test_a_section_that_is_gone_fails_tests_and_build(
    project: Project, session: pytest.Session, target: str, message: str
) -> None:
    project.snippet("# --8<-- [start:a]\nx = 1\n# --8<-- [end:a]\n")
    page = project.page(f'# T\n\n```python\n--8<-- "{target}"\n```\n')
    assert failures(page, session)[0].startswith(f"docs/en/part/chapter.md:4: {message}")
    with pytest.raises(BlockError) as caught:
        prepared(page.read_text(encoding="utf-8"), page, "en/part/chapter.md")
    assert str(caught.value).startswith(f"docs/en/part/chapter.md:4: {message}")


def test_a_failure_shows_page_snippet_and_traceback(
    project: Project, session: pytest.Session
) -> None:
    project.snippet(
        "# --8<-- [start:a]\ndef f(x):\n    return 1 / x\n\n\n# --8<-- [end:a]\n"
        "# --8<-- [start:b]\nf(0)\n# --8<-- [end:b]\n"
    )
    page = project.page(
        textwrap.dedent(
            """
            # T

            ```python
            --8<-- "part/chapter/idea.py:a"
            ```

            <!--pytest-codeblocks:cont-->

            ```python title="x.py"
            x = 1
            --8<-- "part/chapter/idea.py:b"
            ```
            """
        )
    )
    (message,) = failures(page, session)
    lines = message.split("\n")
    assert lines[0] == (
        "docs/en/part/chapter.md:11 (snippets/part/chapter/idea.py:8): "
        "line 2 of the block at line 9: f(0)"
    )
    assert lines[1] == "ZeroDivisionError: division by zero"
    assert lines[2] == "Traceback (most recent call last):"
    assert "    return 1 / x" in lines


def test_an_item_is_named_by_page_and_line(project: Project, session: pytest.Session) -> None:
    page = project.page("# T\n\n```python\nx = 1\n```\n")
    (item,) = PageFile.from_parent(session, path=page).collect()
    assert item.name == "line 3"


PAIR = "---\ndescription: {0}\n---\n# {0}\n\n## {0} {{ #a }}\n\n```python\nx = 1\n```\n"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("x = 1", "x = 2", "docs/en/part/chapter.md:9 has fence 'x = 2'"),
        ("#a", "#b", "docs/en/part/chapter.md:6 has heading '## #b'"),
        (" { #a }", "", "docs/en/part/chapter.md:6: give this heading an id"),
        ("```\n", '```\n\n{{ claim("x") }}\n', "docs/en/part/chapter.md:12 has directive"),
    ],
)
def test_a_language_changed_alone(project: Project, old: str, new: str, message: str) -> None:
    project.pair(PAIR.format("题"), PAIR.format("T"))
    pairs.compare("part/chapter.md", project.docs)
    project.page(PAIR.format("T").replace(old, new))
    with pytest.raises(pairs.PairError) as caught:
        pairs.compare("part/chapter.md", project.docs)
    assert message in str(caught.value)
