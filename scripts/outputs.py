"""Writes what blocks print into their pages, or tells which pages differ."""

from __future__ import annotations

from pathlib import Path

from scripts.blocks import RUNNABLE, Block, page_blocks
from scripts.fences import marker_for
from scripts.page_runs import output_lines, remember_chains, result_of
from scripts.paths import shown


def updated(page: Path) -> str:
    """The page's text with every output as its block prints it now.

    Blocks that carry a mark keep the output that they have. Raises BlockFailure where a
    block fails.
    """
    lines = page.read_text(encoding="utf-8").splitlines()
    blocks = page_blocks(page)
    remember_chains(blocks)
    for block in reversed(blocks):
        if not block.marks and block.language in RUNNABLE:
            _put(lines, block, output_lines(result_of(block).output))
    return "\n".join(lines) + "\n"


def _put(lines: list[str], block: Block, printed: list[str]) -> None:
    end = block.fence.last_line
    fence = block.output_fence
    if fence is None:
        if printed:
            indent = block.fence.indent
            directive = f"{indent}<!--pytest-codeblocks:expected-output-->"
            between = indent.rstrip()
            lines[end:end] = [between, directive, between, *_fence(printed, indent, "```", "text")]
    elif printed:
        lines[fence.line - 1 : fence.last_line] = _fence(
            printed, fence.indent, fence.marker, fence.info
        )
    else:
        start = next(n for n in range(fence.line - 1, end - 1, -1) if "expected-output" in lines[n])
        while start > end and not lines[start - 1].strip(" >"):
            start -= 1
        del lines[start : fence.last_line]


def _fence(body: list[str], indent: str, marker: str, info: str) -> list[str]:
    marker = marker_for(body, marker)
    return [(indent + line).rstrip() for line in (marker + info, *body, marker)]


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
                page.write_text(text, encoding="utf-8", newline="\n")
    return changed
