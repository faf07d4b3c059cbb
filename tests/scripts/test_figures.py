from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import html5lib
import pytest

from scripts import figures

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(width: float) -> Figure:
    """A figure with all that charts and pictures have."""
    import numpy
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, 2.5))
    left, right = figure.subplots(ncols=2)
    for index in range(6):
        left.plot([1, 2, 3], [1, index + 2, 3], marker="os^DvP"[index], label=f"标签 {index}")
    left.fill_between([1, 2, 3], [1, 2, 3], [2, 3, 4], color="C1", alpha=0.2)
    left.set_yscale("log")
    left.text(1, 2, "$x^2$ & <b>", fontfamily="monospace", fontweight="bold")
    left.annotate("", (1, 1), (2, 2), arrowprops={"arrowstyle": "->"})
    right.imshow(numpy.arange(4).reshape(2, 2))
    right.axhline(0.5, color="grey")
    figure.legend(loc="outside upper left", ncols=2)
    return figure


@pytest.fixture(scope="module")
def html() -> str:
    return figures.responsive_svg(draw, "d1", 'A "chart" of <x>')


def test_both_variants(html: str) -> None:
    document = html5lib.parseFragment(html, namespaceHTMLElements=False)
    assert [part.get("class") for part in document] == ["chart chart-wide", "chart chart-narrow"]
    boxes = re.findall(r'<svg viewBox="0 0 ([\d.]+) ', html)
    inches = [float(width) / 72 for width in boxes]
    assert inches == pytest.approx([figures.WIDE_INCHES, figures.NARROW_INCHES], abs=0.01)


def test_html_parses_strictly(html: str) -> None:
    html5lib.HTMLParser(strict=True).parseFragment(html)


def test_xml_parses(html: str) -> None:
    root = ElementTree.fromstring(f"<div>{html}</div>")
    for svg in root.iter("svg"):
        assert svg.get("role") == "img"
        assert svg.get("aria-label") == 'A "chart" of <x>'


def test_nothing_is_fetched(html: str) -> None:
    assert "http" not in html
    for target in re.findall(r'(?:href|src)="([^"]*)"|url\(([^)]*)\)', html):
        assert "".join(target).startswith(("#d1-chart-", "data:image/png;base64,"))
    for unwanted in ("<style", "<script", "<!--", "<metadata", "<?xml", "xlink:", "@import"):
        assert unwanted not in html


def test_ids_are_unique_and_all_that_is_referred_to_is_there(html: str) -> None:
    ids = re.findall(r' id="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    assert all(re.match(r"d1-chart-(wide|narrow)-", each) for each in ids)
    assert set(re.findall(r'(?:href="#|url\(#)([^")]+)', html)) == set(ids)


def test_colours_follow_the_palette(html: str) -> None:
    for index in range(1, 7):
        assert f"var(--chart-{index})" in html
    for name in ("currentColor", "var(--chart-grid)", "var(--chart-muted)"):
        assert name in html
    for colour in (*figures.CYCLE, "#000000", "#ffffff"):
        assert colour not in html
    assert not re.search(r' (?:fill|stroke)="[^"]*var\(', html)  # there it would do nothing


def test_text_is_text_in_the_fonts_of_the_page(html: str) -> None:
    assert "标签 1" in html
    assert "font-family" not in html
    assert not re.search(r"font: ", html)
    assert "font-size: " in html


def test_the_same_figure_is_the_same_text(html: str) -> None:
    again = figures.responsive_svg(draw, "d1", 'A "chart" of <x>')
    assert again == html


def test_what_was_drawn_is_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "CACHE", tmp_path / "cache")
    drawn: list[str] = []

    def make() -> str:
        drawn.append("x")
        return f"<svg>{len(drawn)}</svg>"

    assert [figures.remembered(content, make) for content in "aab"] == [
        "<svg>1</svg>",
        "<svg>1</svg>",
        "<svg>2</svg>",
    ]
    assert sorted(path.suffix for path in (tmp_path / "cache").iterdir()) == [".svg", ".svg"]
