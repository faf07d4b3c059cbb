"""Matplotlib figures as inline SVG that follows the page's palette and fonts."""

from __future__ import annotations

import hashlib
import io
import logging
import os
import re
import warnings
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripts.paths import ROOT

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CACHE = ROOT / ".figure_cache"

WIDE_INCHES, NARROW_INCHES = 6.8, 3.6
PIXELS_PER_INCH = 100

CYCLE = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")

_STYLE = {
    "svg.fonttype": "none",
    "font.size": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#b0b0b0",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "lines.markersize": 4.5,
    "xtick.minor.size": 0.0,
    "ytick.minor.size": 0.0,
    "figure.constrained_layout.use": True,
    "axes.unicode_minus": False,
}

_PALETTE = {colour: f"var(--chart-{index})" for index, colour in enumerate(CYCLE, start=1)} | {
    "#000000": "currentColor",
    "#262626": "currentColor",
    "#ffffff": "var(--md-default-bg-color)",
    "#b0b0b0": "var(--chart-grid)",
    "#cccccc": "var(--chart-grid)",
    "#808080": "var(--chart-muted)",
    "#7f7f7f": "var(--chart-muted)",
}

Draw = Callable[[float], "Figure"]


def responsive_svg(draw: Draw, identifier: str, label: str) -> str:
    """A figure twice, for a wide page and for a phone; the style sheet shows one of them.

    `draw(inches)` makes the figure of that width. `label` is what a screen reader says.
    """
    wide = inline_svg(lambda: draw(WIDE_INCHES), f"{identifier}-chart-wide", label)
    narrow = inline_svg(lambda: draw(NARROW_INCHES), f"{identifier}-chart-narrow", label)
    return (
        f'<div class="chart chart-wide">{wide}</div><div class="chart chart-narrow">{narrow}</div>'
    )


def remembered(content: str, make: Callable[[], str]) -> str:
    """`make()`, or what it made before of the same content, kept in .figure_cache.

    Drawing takes longer than everything else in a build. What is kept goes by the
    content, by this module and by Matplotlib's version.
    """
    import matplotlib

    drawn_by = Path(__file__).read_bytes() + matplotlib.__version__.encode()
    key = hashlib.sha256(drawn_by + content.encode()).hexdigest()
    path = CACHE / f"{key}.svg"
    if path.exists():
        return path.read_text(encoding="utf-8")
    made = make()
    CACHE.mkdir(exist_ok=True)
    unfinished = path.with_suffix(f".{os.getpid()}")
    unfinished.write_text(made, encoding="utf-8")
    unfinished.replace(path)
    return made


def inline_svg(draw: Callable[[], Figure], identifier: str, label: str) -> str:
    """The figure as an `<svg>` element whose ids begin with `identifier`."""
    import matplotlib

    # The page's own font draws the text; Matplotlib only measures it, with its own.
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
    buffer = io.StringIO()
    style: Any = {**_STYLE, "svg.hashsalt": identifier}
    with matplotlib.rc_context(style), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure = draw()
        figure.savefig(
            buffer, format="svg", transparent=True, dpi=PIXELS_PER_INCH, metadata={"Date": None}
        )
    return _for_page(buffer.getvalue(), identifier, label)


def _for_page(svg: str, identifier: str, label: str) -> str:
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = re.sub(r'<style type="text/css">.*?</style>', "", svg, flags=re.DOTALL)
    referenced = set(re.findall(r'(?:href="#|url\(#)([^")]+)', svg))
    svg = re.sub(
        r' id="([^"]+)"',
        lambda m: f' id="{identifier}-{m[1]}"' if m[1] in referenced else "",
        svg,
    )
    svg = svg.replace('xlink:href="', 'href="').replace('href="#', f'href="#{identifier}-')
    svg = re.sub(r"url\(#", f"url(#{identifier}-", svg)
    svg = re.sub(r"#[0-9a-fA-F]{6}", lambda m: _PALETTE.get(m[0].lower(), m[0]), svg)
    svg = re.sub(r"font-family:[^;\"]+;?\s*", "", svg)
    svg = re.sub(r"\s*\n\s*", " ", svg)
    svg = re.sub(r"<g>\s*(<g/>\s*)*</g>|<g/>|<defs>\s*</defs>", "", svg)
    head_end = svg.index(">")
    view_box = re.search(r'viewBox="([^"]+)"', svg[:head_end])
    assert view_box is not None
    return (
        f'<svg viewBox="{view_box[1]}" role="img" aria-label="{escape(label, quote=True)}">'
        + svg[head_end + 1 :].strip()
    )
