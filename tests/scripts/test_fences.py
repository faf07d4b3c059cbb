from __future__ import annotations

import pytest

from scripts.fences import UnclosedFence, find_fences, marker_for


@pytest.mark.parametrize(
    ("info", "language"),
    [
        ("python", "python"),
        ('python title="x.py" hl_lines="2 3"', "python"),
        ("py", "python"),
        ("Python3", "python"),
        ("{.python .numbered}", "python"),
        ('{ .python title="x" }', "python"),
        ("{#id .py}", "python"),
        (".python", "python"),
        ("python{.x}", "python"),
        ("ipython", "python"),
        ("py3", "python"),
        ("bash", "sh"),
        ("shell", "sh"),
        ("python3.11", "python3.11"),
        ("pycon", "pycon"),
        ("c++", "c++"),
        ("yaml", "yaml"),
        ('title="x.py"', ""),
        ("{#id}", ""),
        ("", ""),
    ],
)
def test_language(info: str, language: str) -> None:
    (fence,) = find_fences(f"```{info}\nx\n```")
    assert fence.language == language


@pytest.mark.parametrize("marker", ["```", "````", "~~~", "~~~~~"])
@pytest.mark.parametrize("space", ["", " "])
@pytest.mark.parametrize("indent", ["", "  ", "    ", "\t", "> ", ">     ", "        "])
def test_every_marker_and_indentation(marker: str, space: str, indent: str) -> None:
    lines = [f"{marker}{space}py", "if x:", "    y", "", "z", marker]
    text = "\n".join((indent + line).rstrip() for line in lines)
    (fence,) = find_fences(f"text\n\n{text}\n\ntext\n")
    assert (fence.line, fence.last_line, fence.indent) == (3, 8, indent)
    assert fence.body == ("if x:", "    y", "", "z")
    assert fence.language == "python"


def test_fences_within_longer_fences_are_text() -> None:
    (outer,) = find_fences("````md\n```python\nx\n```\n~~~\n````\n")
    assert outer.body == ("```python", "x", "```", "~~~")


def test_only_the_same_marker_at_the_same_indentation_ends_a_fence() -> None:
    (fence,) = find_fences("```python\n  ```\n~~~\n``` x\n```  \n")
    assert fence.body == ("  ```", "~~~", "``` x")


def test_inline_code_is_no_fence() -> None:
    assert find_fences("``` inline ``` and ```more```\n`x`\n") == []


@pytest.mark.parametrize("text", ["a\n\n```python\nx\n", "a\n\n- ```\n  ```python\n  x\n  ````\n"])
def test_an_open_fence_is_named_by_its_line(text: str) -> None:
    with pytest.raises(UnclosedFence, match=r"line \d+ has no end") as caught:
        find_fences(text)
    assert text.split("\n")[caught.value.line - 1].strip() == "```python"


@pytest.mark.parametrize(
    ("body", "marker", "expected"),
    [
        ([], "```", "```"),
        (["x = `y`"], "```", "```"),
        (["```"], "```", "````"),
        (["~~~~"], "```", "```"),
        (["a ~~~~ b"], "~~~", "~~~~~"),
        (["x"], "````", "````"),
    ],
)
def test_markers_outgrow_the_body(body: list[str], marker: str, expected: str) -> None:
    assert marker_for(body, marker) == expected
