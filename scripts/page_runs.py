"""Runs a page's blocks, each chain of them once, and compares what they print."""

from __future__ import annotations

import difflib
from functools import cache

from scripts.blocks import Block
from scripts.paths import shown
from scripts.run_blocks import Failure, Result, run_python, run_shell


class BlockFailure(Exception):
    """A block that failed, or printed something else than its page shows."""


def result_of(block: Block) -> Result:
    """What a block printed. Equal programs run once: both languages show the same code.

    Raises BlockFailure where it, or a block that it continues, raised an exception.
    """
    if block.language == "sh":
        result = run_shell(block.source)
        if result.failure:
            raise BlockFailure(_described(block, result.failure))
        return result
    chain = [*block.before, block]
    results = _chain_results(tuple(each.source for each in chain), block.isolated)
    for each, result in zip(chain, results, strict=False):
        if result.failure:
            raise BlockFailure(_described(each, result.failure))
    return results[len(chain) - 1]


_extended: dict[tuple[str, ...], tuple[str, ...]] = {}


def remember_chains(blocks: list[Block]) -> None:
    """Note the longest chains of a page, so that a chain runs once and not once a block."""
    for block in blocks:
        chain = tuple(each.source for each in [*block.before, block])
        for length in range(1, len(chain)):
            _extended[chain[:length]] = chain


@cache
def _run(chain: tuple[str, ...], isolate: bool) -> tuple[Result, ...]:
    return tuple(run_python(list(chain), isolate))


def _chain_results(chain: tuple[str, ...], isolate: bool) -> tuple[Result, ...]:
    while chain in _extended:
        chain = _extended[chain]
    return _run(chain, isolate)


def check(block: Block) -> None:
    """Run a block; BlockFailure unless it prints exactly what its page shows."""
    printed = output_lines(result_of(block).output)
    remedy = "If the new output is right, `make outputs` writes it into the pages."
    if block.output_fence is None:
        if not printed:
            return
        raise BlockFailure(
            f"{block.place}: this block prints, and the page shows no output under it. {remedy}\n"
            "It printed:\n" + "\n".join(printed)
        )
    expected = output_lines(block.expected_output or "")
    place = f"{shown(block.page)}:{block.output_fence.line}"
    if not printed:
        raise BlockFailure(f"{place}: the block above this output prints nothing. {remedy}")
    if expected != printed:
        difference = difflib.unified_diff(expected, printed, place, "printed now", lineterm="")
        raise BlockFailure(
            f"{block.place}: the block does not print what the page shows. {remedy}\n"
            + "\n".join(difference)
        )


def output_lines(text: str) -> list[str]:
    """The lines that are compared: without spaces at their ends, or empty ones at the end."""
    return [line.rstrip() for line in text.rstrip().splitlines()]


def _described(block: Block, failure: Failure) -> str:
    if failure.line is None or not 1 <= failure.line <= len(block.origins):
        return f"{block.place}: {failure.summary}\n{failure.traceback}"
    origin = block.origins[failure.line - 1]
    source = block.source.split("\n")[failure.line - 1].strip()
    place = f"{shown(block.page)}:{origin.page_line}"
    if origin.snippet:
        place += f" ({shown(origin.snippet)}:{origin.snippet_line})"
    return (
        f"{place}: line {failure.line} of the block at line {block.fence.line}: {source}\n"
        f"{failure.summary}\n{failure.traceback}"
    )
