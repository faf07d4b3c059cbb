"""Writes what blocks print into their pages, or tells which pages differ."""

from __future__ import annotations

import re
from pathlib import Path

from scripts.blocks import Block, page_blocks
from scripts.page_runs import remember_chains, result_of
from scripts.paths import shown


def updated(page: Path) -> str:
    """The page's text with every output as its block prints it now.

    Blocks that carry a mark keep the output that they have. Raises BlockFailure where a
    block fails.
    """
    text = page.read_text(encoding="utf-8")
    lines = text.splitlines()
    blocks = page_blocks(page)
    remember_chains(blocks)
    for block in reversed(blocks):
        if block.marks or block.language not in ("python", "sh"):
            continue
        printed = [line.rstrip() for line in result_of(block).output.rstrip().splitlines()]
        _put(lines, block, printed)
    return "\n".join(lines) + "\n"


def _put(lines: list[str], block: Block, printed: list[str]) -> None:
    indent = block.fence.indent
    body = [(indent + line).rstrip() for line in printed]
    if block.output_fence is not None:
        fence = block.output_fence
        if printed:
            lines[fence.line : fence.last_line - 1] = body
        else:
            start = next(
                number
                for number in range(fence.line - 2, block.fence.last_line - 1, -1)
                if "expected-output" in lines[number]
            )
            del lines[start : fence.last_line]
        return
    if not printed:
        return
    longest = max((len(run) for run in re.findall(r"`+", "\n".join(printed))), default=0)
    marker = "`" * max(3, longest + 1)
    lines[block.fence.last_line : block.fence.last_line] = [
        "",
        f"{indent}<!--pytest-codeblocks:expected-output-->",
        "",
        f"{indent}{marker}text",
        *body,
        f"{indent}{marker}",
    ]


def write(pages: list[Path], check: bool = False) -> list[str]:
    """Bring the outputs of pages up to date; the pages that were not, by name.

    With `check` nothing is written.
    """
    changed = []
    for page in pages:
        text = updated(page)
        if text != page.read_text(encoding="utf-8"):
            changed.append(shown(page))
            if not check:
                page.write_text(text, encoding="utf-8")
    return changed
