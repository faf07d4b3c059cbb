"""The colours of the style sheet, which an accessibility checker sees only where they are used."""

from __future__ import annotations

import re

import pytest

from scripts.paths import DOCS

CSS = (DOCS / "assets" / "stylesheets" / "site.css").read_text(encoding="utf-8")
BLOCK = re.compile(r'\[data-md-color-scheme="(\w+)"\] \{\s*(--paper.*?)\}', re.DOTALL)
SCHEMES = {
    scheme: dict(re.findall(r"(--[\w-]+): (#[0-9a-f]{6});", block))
    for scheme, block in BLOCK.findall(CSS)
}


def _luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: str, other: str) -> float:
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def test_both_palettes_have_the_same_colours() -> None:
    assert set(SCHEMES) == {"default", "slate"}
    assert set(SCHEMES["default"]) == set(SCHEMES["slate"])


@pytest.mark.parametrize("scheme", ["default", "slate"])
def test_text_is_read_on_paper_and_panel(scheme: str) -> None:
    colours = SCHEMES[scheme]
    texts = [name for name in colours if name.startswith(("--ink", "--ember", "--md-code-hl-"))]
    texts += ["--note", "--good", "--warn", "--bad", "--chart-4"]
    assert len(texts) > 15
    weak = {
        name: round(ratio, 2)
        for name in texts
        for ground in (colours["--paper"], colours["--panel"])
        if (ratio := _contrast(colours[name], ground)) < 4.5
    }
    assert not weak


@pytest.mark.parametrize("scheme", ["default", "slate"])
def test_charts_are_seen(scheme: str) -> None:
    colours = SCHEMES[scheme]
    lines = [colours[f"--chart-{number}"] for number in range(1, 7)] + [colours["--chart-muted"]]
    assert all(_contrast(colour, colours["--paper"]) >= 3 for colour in lines)
    assert len(set(lines)) == 7
