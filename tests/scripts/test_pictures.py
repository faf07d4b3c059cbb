from __future__ import annotations

import pytest

from scripts import pictures
from scripts.texts import MissingText
from tests.projects import Project

DRAWS = '''
def draw(language: str = "en", width: float = 6.8):
    """A line."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, 1))
    figure.subplots().set_title({"en": "Error", "zh": "误差"}[language])
    return figure


def annotated(x: int): ...


assert annotated.__annotations__ == {"x": int}
'''

ROWS = """
COLUMNS = {"name": {"en": "Name", "zh": "名称"}, "ok": {"en": "`ok`", "zh": "`ok`"}}


def rows():
    return [
        {"name": "`x < y`", "ok": True},
        {"name": {"en": "a & b", "zh": "甲"}, "ok": False},
    ]
"""


def test_a_picture(project: Project) -> None:
    project.snippet(DRAWS)
    html = pictures.picture_html("part/chapter/idea", "the error of `x` < 1", "zh", "d1")
    assert html.startswith('<figure class="picture"><div class="chart chart-wide"><svg ')
    assert html.count('aria-label="the error of x &lt; 1"') == 2
    assert html.endswith("<figcaption>the error of <code>x</code> &lt; 1</figcaption></figure>")
    assert "误差" in html
    assert "Error" in pictures.picture_html("part/chapter/idea", "x", "en", "d1")


def test_a_picture_follows_its_snippet(project: Project) -> None:
    project.snippet(DRAWS)
    assert "Error" in pictures.picture_html("part/chapter/idea", "x", "en", "d1")
    project.snippet(DRAWS.replace("Error", "Fault"))
    assert "Fault" in pictures.picture_html("part/chapter/idea", "x", "en", "d1")


def test_a_table(project: Project) -> None:
    project.snippet(ROWS)
    html = pictures.table_html("part/chapter/idea", "en")
    assert '<th scope="col">Name</th><th scope="col"><code>ok</code></th>' in html
    assert "<td><code>x &lt; y</code></td>" in html
    assert '<span role="img" aria-label="yes">✓</span>' in html
    assert "<td>a &amp; b</td>" in html
    html = pictures.table_html("part/chapter/idea", "zh")
    assert '<th scope="col">名称</th>' in html
    assert '<td>甲</td><td><span role="img" aria-label="否">✗</span></td>' in html


def test_a_table_follows_its_snippet(project: Project) -> None:
    project.snippet(ROWS)
    assert "a &amp; b" in pictures.table_html("part/chapter/idea", "en")
    project.snippet(ROWS.replace("a & b", "c"))
    assert "<td>c</td>" in pictures.table_html("part/chapter/idea", "en")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("x = 1", r"snippets/part/chapter/idea\.py defines no `rows`"),
        ("def rows(): return []", r"snippets/part/chapter/idea\.py defines no `COLUMNS`"),
        (
            ROWS.replace('"ok": True', '"okay": True'),
            r"columns name, okay, but COLUMNS has name, ok",
        ),
        (ROWS.replace(', "zh": "名称"', ""), "part/chapter/idea: column name has no text in 'zh'"),
        (ROWS.replace(', "zh": "甲"', ""), "a table cell has no text in 'zh'"),
    ],
)
def test_tables_that_are_refused(project: Project, source: str, message: str) -> None:
    project.snippet(source)
    with pytest.raises((LookupError, MissingText), match=message):
        pictures.table_html("part/chapter/idea", "zh")


def test_a_picture_needs_a_drawing(project: Project) -> None:
    project.snippet("x = 1")
    with pytest.raises(LookupError, match=r"snippets/part/chapter/idea\.py defines no `draw`"):
        pictures.picture_html("part/chapter/idea", "x", "en", "d1")
    with pytest.raises(LookupError, match=r"there is no snippets/part/chapter/other\.py"):
        pictures.picture_html("part/chapter/other", "x", "en", "d1")
