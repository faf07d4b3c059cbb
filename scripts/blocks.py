"""The code blocks of a page: what pytest-codeblocks' parser finds, with includes filled in.

The parser knows only fences whose info string is exactly `python`, does not expand
`--8<--`, and merges a `cont` block into the one before. So it is given a copy of the
page, line for line, that holds just the fences and its own directives, with plain info
strings; `cont` is kept apart here.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import yaml
from markdown import Markdown
from pymdownx.snippets import (  # type: ignore[import-untyped]
    DEFAULT_URL_SIZE,
    DEFAULT_URL_TIMEOUT,
    SnippetMissingError,
    SnippetPreprocessor,
)
from pytest_codeblocks import extract_from_buffer  # type: ignore[import-untyped]

from scripts.fences import Fence, UnclosedFence, find_fences
from scripts.paths import SNIPPETS, shown

RUNNABLE = ("python", "sh")

_INCLUDE = re.compile(r'^(?P<space>\s*)-+8<-+\s+(?P<quote>["\'])(?P<target>.+?)(?P=quote)\s*$')
_COMMENT = re.compile(r"^[ \t>]*(?P<comment><!--[-\s]*pytest[-.](?:codeblocks|mark).*-->)\s*$")
_CONTINUES = re.compile(r"<!--[-\s]*pytest-codeblocks:\s*cont[-\s]*-->")
_FRONT_MATTER = re.compile(r"\A---\n(.*?)\n---\n", re.DOTALL)


class BlockError(Exception):
    """A page whose blocks can't be made out; the message names page, line and remedy."""


@dataclass(frozen=True)
class Origin:
    """Where a line of a block comes from: its page line, and a snippet's line if included."""

    page_line: int
    snippet: Path | None = None
    snippet_line: int | None = None


@dataclass
class Block:
    """A fence that runs, or that carries a mark instead."""

    page: Path
    fence: Fence
    language: str
    source: str
    origins: list[Origin]
    marks: list[str]
    expected_output: str | None
    output_fence: Fence | None
    continues: bool
    importorskip: str | None = None
    before: list[Block] = field(default_factory=list)

    @property
    def name(self) -> str:
        """How tests call it."""
        return f"line {self.fence.line}"

    @property
    def skipped(self) -> bool:
        """Whether a mark keeps it from running on any machine."""
        return any(re.match(r"pytest\.mark\.skip\b", mark) for mark in self.marks)

    @property
    def place(self) -> str:
        """Page and line, as messages show them."""
        return f"{shown(self.page)}:{self.fence.line}"


def front_matter(text: str) -> dict[str, object]:
    """The settings at the top of a page."""
    match = _FRONT_MATTER.match(text)
    found = yaml.safe_load(match[1]) if match else None
    return found if isinstance(found, dict) else {}


def page_blocks(page: Path) -> list[Block]:
    """Every block of a page, in order; the outputs belong to the blocks they follow."""
    return text_blocks(page.read_text(encoding="utf-8"), page)


def page_fences(text: str, page: Path) -> list[Fence]:
    """Every fence of a page; BlockError where one has no end."""
    try:
        return find_fences(text)
    except UnclosedFence as error:
        raise BlockError(f"{shown(page)}:{error.line}: this fence has no end") from error


def text_blocks(text: str, page: Path) -> list[Block]:
    """Every block of the page with that text; `page` gives its name in messages."""
    fences = page_fences(text, page)
    by_line = {fence.line: fence for fence in fences}
    buffer, continuing, directive_lines = _for_parser(text, fences)
    try:
        parsed = extract_from_buffer(io.StringIO(buffer), max_num_lines=10**9)
    except RuntimeError as error:
        raise BlockError(f"{shown(page)}: {error}") from error
    starts = {each.lineno for each in parsed}
    blocks: list[Block] = []
    for each in parsed:
        fence = by_line[each.lineno]
        output = None
        if each.expected_output is not None:
            output = next(f for f in fences if f.line > fence.line and f.line not in starts)
        source, origins = expand(fence, page)
        block = Block(
            page=page,
            fence=fence,
            language=fence.language,
            source=source,
            origins=origins,
            marks=list(each.marks),
            expected_output=each.expected_output,
            output_fence=output,
            continues=fence.line in continuing,
            importorskip=each.importorskip,
        )
        if block.continues:
            if not blocks or blocks[-1].language != "python" or block.language != "python":
                raise BlockError(
                    f"{block.place}: a `cont` block must be Python and follow a Python block"
                )
            block.before = [*blocks[-1].before, blocks[-1]]
        blocks.append(block)
    _refuse_stray_directives(directive_lines, by_line, page)
    return blocks


def _for_parser(text: str, fences: list[Fence]) -> tuple[str, set[int], list[int]]:
    """The page as the parser shall see it, the lines of `cont` fences, those of directives."""
    lines = text.splitlines()
    kept = [""] * len(lines)
    inside: set[int] = set()
    for fence in fences:
        longest = max((len(run) for run in re.findall(r"`+", "\n".join(fence.body))), default=0)
        marker = "`" * max(3, longest + 1)
        kept[fence.line - 1] = marker + fence.language
        for offset, line in enumerate(fence.body):
            kept[fence.line + offset] = line
        kept[fence.last_line - 1] = marker
        inside.update(range(fence.line, fence.last_line + 1))
    continuing: set[int] = set()
    directives: list[int] = []
    pending = False
    for number, line in enumerate(lines, start=1):
        if number in inside:
            if pending:
                continuing.add(number)
                pending = False
            continue
        match = _COMMENT.match(line)
        if match:
            directives.append(number)
            if _CONTINUES.match(match["comment"]):
                pending = True
            else:
                kept[number - 1] = match["comment"]
    return "\n".join(kept) + "\n", continuing, directives


def _refuse_stray_directives(directives: list[int], fences: dict[int, Fence], page: Path) -> None:
    starts = sorted(fences)
    for line in directives:
        if not any(start > line for start in starts):
            raise BlockError(f"{shown(page)}:{line}: no fence follows this directive")


def expand(fence: Fence, page: Path) -> tuple[str, list[Origin]]:
    """A fence's source with its includes filled in, and where each line comes from."""
    source: list[str] = []
    origins: list[Origin] = []
    for offset, line in enumerate(fence.body):
        page_line = fence.line + 1 + offset
        match = _INCLUDE.match(line)
        if match is None:
            if re.match(r"^\s*-+8<-+\s*$", line):
                raise BlockError(
                    f'{shown(page)}:{page_line}: write one --8<-- "file:section" a line'
                )
            source.append(line)
            origins.append(Origin(page_line))
            continue
        included, first_lines = include(match["target"], f"{shown(page)}:{page_line}")
        path = _snippet_path(match["target"])
        for text, number in zip(included, first_lines, strict=True):
            source.append(match["space"] + text if text else text)
            origins.append(Origin(page_line, path, number))
    return "\n".join(source), origins


def included_files(fence: Fence) -> list[str]:
    """The snippet files that a fence includes, relative to snippets/, without repetition."""
    targets = [m["target"] for line in fence.body if (m := _INCLUDE.match(line))]
    return list(dict.fromkeys(target.partition(":")[0] for target in targets))


def _snippet_path(target: str) -> Path:
    return SNIPPETS / target.partition(":")[0]


def include(target: str, place: str) -> tuple[list[str], list[int]]:
    """What `--8<-- "target"` stands for, and the snippet's line for each of its lines.

    Raises BlockError naming place, file and section where either does not exist.
    """
    path = _snippet_path(target)
    if not path.is_file():
        raise BlockError(f"{place}: there is no snippets/{target.partition(':')[0]}")
    try:
        lines = _preprocessor().parse_snippets([f'--8<-- "{target}"'])
    except SnippetMissingError as error:
        section = target.partition(":")[2]
        known = re.findall(r"\[start:\s*([\w-]+)", path.read_text(encoding="utf-8"))
        raise BlockError(
            f"{place}: {shown(path)} has no section {section!r}. "
            f"It has: {', '.join(known) or 'none'}"
        ) from error
    raw = path.read_text(encoding="utf-8").splitlines()
    section = target.partition(":")[2]
    position = 0
    if section and not section[0].isdigit():
        position = next(i for i, line in enumerate(raw) if re.search(rf"start:\s*{section}\b", line))
    numbers: list[int] = []
    for line in lines:
        while position < len(raw) and raw[position].strip() != line.strip():
            position += 1
        numbers.append(position + 1)
        position += 1
    return lines, numbers


@cache
def _preprocessor() -> SnippetPreprocessor:
    config = {
        "base_path": [str(SNIPPETS)],
        "restrict_base_path": True,
        "encoding": "utf-8",
        "check_paths": True,
        "auto_append": [],
        "url_download": False,
        "url_max_size": DEFAULT_URL_SIZE,
        "url_timeout": DEFAULT_URL_TIMEOUT,
        "url_request_headers": {},
        "dedent_subsections": True,
        "max_retries": 0,
        "backoff_factor": 0,
    }
    preprocessor = SnippetPreprocessor(config, Markdown())
    preprocessor.seen = set()
    return preprocessor
