"""The code blocks of a page: what pytest-codeblocks' parser finds, with includes filled in.

The parser knows only fences whose info string is exactly `python`, does not expand
`--8<--`, and merges a `cont` block into the one before. So it is given a copy of the
page, line for line, that holds just the fences and its own directives, with plain info
strings; `cont` is kept apart here.
"""

from __future__ import annotations

import ast
import io
import re
import textwrap
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from pytest_codeblocks import extract_from_buffer  # type: ignore[import-untyped]

from scripts.fences import Fence, UnclosedFence, find_fences, marker_for
from scripts.paths import SNIPPETS, shown

RUNNABLE = ("python", "sh")
MARKS = ("skip", "skipif", "xfail", "gpu")

_INCLUDE = re.compile(r'^(?P<space>\s*)-+8<-+\s+(?P<quote>["\'])(?P<target>.+?)(?P=quote)\s*$')
_TARGET = re.compile(r"(?P<file>[^:]+?)(?::(?P<section>[a-z][-_0-9a-z]*))?")
_SECTION_MARK = re.compile(r"-+8<-+\s+\[\s*(?P<kind>start|end)\s*:\s*(?P<name>[-_0-9a-z]+)\s*\]")
_DIRECTIVE = re.compile(
    r"^[ \t>]*(?P<comment><!--[-\s]*"
    r"(?:pytest-codeblocks:\s*(?P<keyword>.*?)|(?P<mark>pytest\.mark\..*?))[-\s]*-->)\s*$"
)
_KEYWORDS = re.compile(r"cont|expected-output|importorskip\(.+\)")
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
    source: str
    origins: list[Origin]
    marks: list[str]
    expected_output: str | None
    output_fence: Fence | None
    continues: bool
    isolated: bool
    importorskip: str | None = None
    before: list[Block] = field(default_factory=list)

    @property
    def language(self) -> str:
        """As of its fence."""
        return self.fence.language

    @property
    def name(self) -> str:
        """How tests call it."""
        return f"line {self.fence.line}"

    @property
    def place(self) -> str:
        """Page and line, as messages show them."""
        return f"{shown(self.page)}:{self.fence.line}"


def front_matter(text: str, page: Path) -> dict[str, object]:
    """The settings at the top of a page; BlockError where they are not YAML."""
    match = _FRONT_MATTER.match(text)
    try:
        found = yaml.safe_load(match[1]) if match else None
    except yaml.YAMLError as error:
        raise BlockError(f"{shown(page)}:1: the front matter is not YAML: {error}") from error
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
    directives = _directives(text, fences, page)
    buffer = io.StringIO(_for_parser(text, fences, directives))
    try:
        parsed = extract_from_buffer(buffer, max_num_lines=10**9)
    except RuntimeError as error:
        line = buffer.getvalue().count("\n", 0, buffer.tell())
        raise BlockError(f"{shown(page)}:{line}: {error}") from error
    isolated = bool(front_matter(text, page).get("isolate"))
    starts = {each.lineno for each in parsed}
    blocks: list[Block] = []
    for each in parsed:
        fence = by_line[each.lineno]
        source, origins = expand(fence, page)
        block = Block(
            page=page,
            fence=fence,
            source=source,
            origins=origins,
            marks=list(each.marks),
            expected_output=each.expected_output,
            output_fence=None,
            continues=any(found.keyword == "cont" for found in directives[fence.line]),
            isolated=isolated,
            importorskip=each.importorskip,
        )
        if each.expected_output is not None:
            block.output_fence = next(
                f for f in fences if f.line > fence.line and f.line not in starts
            )
            _check_output(block.output_fence, page)
        if block.continues:
            _join(block, blocks[-1] if blocks else None)
        blocks.append(block)
    return blocks


def _check_output(fence: Fence, page: Path) -> None:
    if fence.language != "text":
        raise BlockError(
            f"{shown(page)}:{fence.line}: an output stands in a ```text fence, not {fence.info!r}"
        )


def _join(block: Block, previous: Block | None) -> None:
    """Make `block` go on where `previous` ends."""
    if previous is None or previous.language != "python" or block.language != "python":
        raise BlockError(f"{block.place}: a `cont` block must be Python and follow a Python block")
    lacking = [mark for mark in previous.marks if mark not in block.marks]
    if lacking:
        raise BlockError(
            f"{block.place}: this block continues one that carries a mark, so give it the same: "
            + " ".join(f"<!--{mark}-->" for mark in lacking)
        )
    block.before = [*previous.before, previous]


@dataclass(frozen=True)
class _Directive:
    """A comment for the parser, above a fence: a keyword such as `cont`, or a mark."""

    line: int
    comment: str
    keyword: str | None
    mark: str | None


def _directives(text: str, fences: list[Fence], page: Path) -> dict[int, list[_Directive]]:
    """The directives above each fence, by the fence's line; BlockError for one that is lost."""
    ends = {fence.line: fence.last_line for fence in fences}
    found: dict[int, list[_Directive]] = {}
    pending: list[_Directive] = []
    last_line = 0
    for number, line in enumerate(text.splitlines(), start=1):
        if number in ends:
            found[number], pending = pending, []
            last_line = ends[number]
        if number <= last_line:
            continue
        if _INCLUDE.match(line):
            raise BlockError(f"{shown(page)}:{number}: --8<-- stands within a fence only")
        if match := _DIRECTIVE.match(line):
            directive = _Directive(number, match["comment"], match["keyword"], match["mark"])
            _check_directive(directive, page)
            pending.append(directive)
        elif pending and line.strip(" \t>"):
            break
    if pending:
        lost = pending[0]
        raise BlockError(f"{shown(page)}:{lost.line}: no fence stands under {lost.comment}")
    for above in found.values():
        output = next((each for each in above if each.keyword == "expected-output"), None)
        if output and len(above) > 1:
            raise BlockError(
                f"{shown(page)}:{output.line}: an output takes no other directive; "
                "put it above the block"
            )
    return found


def _check_directive(directive: _Directive, page: Path) -> None:
    place = f"{shown(page)}:{directive.line}"
    if directive.mark is None:
        if not _KEYWORDS.fullmatch(directive.keyword or ""):
            raise BlockError(
                f"{place}: {directive.comment} is none of cont, expected-output, "
                "importorskip(module)"
            )
        return
    try:
        node = ast.parse(directive.mark, mode="eval").body
    except SyntaxError as error:
        raise BlockError(f"{place}: {directive.mark}: {error.msg}") from error
    call = node if isinstance(node, ast.Call) else None
    mark = call.func if call else node
    name = mark.attr if isinstance(mark, ast.Attribute) else ""
    if name not in MARKS:
        raise BlockError(f"{place}: a block's mark is one of {', '.join(MARKS)}, not {name}")
    reasons = [each.value for each in call.keywords if each.arg == "reason"] if call else []
    said = [each.value for each in reasons if isinstance(each, ast.Constant)]
    if name != "gpu" and not any(isinstance(text, str) and text.strip() for text in said):
        raise BlockError(f'{place}: say why: <!--pytest.mark.{name}(…, reason="…")-->')


def _for_parser(text: str, fences: list[Fence], directives: dict[int, list[_Directive]]) -> str:
    """The page as the parser shall see it, line for line."""
    kept = [""] * len(text.splitlines())
    for fence in fences:
        marker = marker_for(fence.body)
        kept[fence.line - 1] = marker + fence.language
        kept[fence.line : fence.last_line - 1] = fence.body
        kept[fence.last_line - 1] = marker
        for directive in directives[fence.line]:
            if directive.keyword != "cont":
                kept[directive.line - 1] = directive.comment
    return "\n".join(kept) + "\n"


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
        path, included = include(match["target"], f"{shown(page)}:{page_line}")
        for number, text in included:
            source.append(match["space"] + text if text else text)
            origins.append(Origin(page_line, path, number))
    return "\n".join(source), origins


def included_files(fence: Fence) -> list[str]:
    """The snippet files that a fence includes, relative to snippets/, without repetition."""
    targets = [m["target"] for line in fence.body if (m := _INCLUDE.match(line))]
    return list(dict.fromkeys(target.partition(":")[0] for target in targets))


def include(target: str, place: str) -> tuple[Path, list[tuple[int, str]]]:
    """What `--8<-- "file:section"` stands for: the file, and its lines with their numbers.

    Empty lines at the end are left out: formatters put them in front of a section's mark.
    Raises BlockError naming place, file and section where either does not exist.
    """
    match = _TARGET.fullmatch(target)
    if match is None:
        raise BlockError(f'{place}: write --8<-- "file" or "file:section", not {target!r}')
    path = SNIPPETS / match["file"]
    if not path.is_file() or not path.resolve().is_relative_to(SNIPPETS.resolve()):
        raise BlockError(f"{place}: there is no snippets/{match['file']}")
    raw = path.read_text(encoding="utf-8").split("\n")
    marks = {n: m for n, line in enumerate(raw, start=1) if (m := _SECTION_MARK.search(line))}
    first, last = 0, len(raw) + 1
    if section := match["section"]:
        first, last = _section(section, marks, path, place)
    numbers = [number for number in range(first + 1, last) if number not in marks]
    while numbers and not raw[numbers[-1] - 1].strip():
        numbers.pop()
    lines = textwrap.dedent("\n".join(raw[number - 1] for number in numbers)).split("\n")
    return path, list(zip(numbers, lines, strict=True)) if numbers else []


def _section(name: str, marks: dict[int, re.Match[str]], path: Path, place: str) -> tuple[int, int]:
    """The lines of a section's two marks."""
    starts = [n for n, mark in marks.items() if (mark["kind"], mark["name"]) == ("start", name)]
    ends = [n for n, mark in marks.items() if (mark["kind"], mark["name"]) == ("end", name)]
    if not starts and not ends:
        known = dict.fromkeys(mark["name"] for mark in marks.values())
        raise BlockError(
            f"{place}: {shown(path)} has no section {name!r}. It has: {', '.join(known) or 'none'}"
        )
    if len(starts) != 1 or len(ends) != 1 or starts > ends:
        raise BlockError(
            f"{place}: in {shown(path)} the section {name!r} must start once and then end once"
        )
    return starts[0], ends[0]
