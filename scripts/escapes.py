"""Finds code that a reader sees on a page and that no test knows of.

What is shown is taken from the rendered page, so it does not matter how the code got
there: an info string that our parser does not know, an indented block, raw HTML.
"""

from __future__ import annotations

import itertools
from functools import cache
from pathlib import Path
from typing import Any

import html5lib
from markdown import Markdown
from mkdocs.config import load_config

from scripts.blocks import page_blocks
from scripts.page_build import prepared
from scripts.paths import ROOT, shown


@cache
def _markdown_settings() -> tuple[list[str], dict[str, dict[str, Any]]]:
    config = load_config(str(ROOT / "mkdocs.yml"), plugins=[], hooks=[])
    return config.markdown_extensions, config.mdx_configs


def shown_code(text: str) -> list[str]:
    """The text of every code block that a reader of the Markdown sees."""
    extensions, configs = _markdown_settings()
    markdown = Markdown(extensions=extensions, extension_configs=configs)
    if text.startswith("---\n"):
        text = text.partition("\n---\n")[2]
    document = html5lib.parse(markdown.convert(text), namespaceHTMLElements=False)
    numbers = document.findall(".//div[@class='linenodiv']/pre")
    blocks = [block for block in document.iter("pre") if block not in numbers]
    return ["".join(block.itertext()).strip("\n") for block in blocks]


def tested_code(page: Path) -> list[tuple[int, str]]:
    """The lines and the text of every block and output that the tests know of."""
    tested = {}
    for block in page_blocks(page):
        tested[block.fence.line] = block.source.strip("\n")
        if block.output_fence:
            tested[block.output_fence.line] = "\n".join(block.output_fence.body).strip("\n")
    return sorted(tested.items())


def escape(page: Path) -> str | None:
    """Where what is shown first differs from what is tested, as a message; None if nowhere."""
    text = page.read_text(encoding="utf-8")
    seen, tested = shown_code(prepared(text, page, "en/page.md")), tested_code(page)
    for index, (code, block) in enumerate(itertools.zip_longest(seen, tested)):
        if block and code == block[1]:
            continue
        if code is not None and code not in [each for _, each in tested[index:]]:
            return (
                f"{shown(page)}:{_line_of(code, text)}: readers see code here that no "
                f"test runs: {_first_line(code)!r}. Write it as a ```python fence, no further "
                "indented than the text around it."
            )
        assert block
        return (
            f"{shown(page)}:{block[0]}: readers do not see this fence as code. Look at its info "
            "string and its indentation, and leave an empty line before it."
        )
    return None


def _first_line(code: str) -> str:
    return next((line.strip() for line in code.split("\n") if line.strip()), "")


def _line_of(code: str, text: str) -> int:
    """The line of a page on which code that is not from a snippet starts; 1 if none does."""
    first = _first_line(code)
    lines = text.split("\n")
    return next((n for n, line in enumerate(lines, start=1) if first and first in line), 1)
