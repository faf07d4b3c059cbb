"""The directives of pages: `{{ ratio("effective/operators/row_sum", …) }}`.

A directive is written as a Python call with literal arguments. Alone on its lines it
becomes a block, in a sentence a word. Fences are set aside before this runs, so what
stands in them is never touched.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from inspect import signature
from typing import Any

from markdown import Extension, Markdown
from markdown.preprocessors import Preprocessor

from scripts import (
    benchmark_texts,
    catalogue,
    claims,
    formats,
    glossary,
    pictures,
    records,
    sources,
    timing_views,
)
from scripts.paths import TIMINGS
from scripts.texts import say

PATTERN = re.compile(r"(?<!`)\{\{\s*(?P<call>[a-z_]+\(.*?\))\s*\}\}", re.DOTALL)
_BROKEN = re.compile(r"(?<!`)\{\{\s+\w[^\n]*")


class DirectiveError(Exception):
    """A directive that can't be carried out; the message says which and why."""


@dataclass
class PageContext:
    """The page that is being built."""

    path: str  # below docs/, such as `en/effective/operators.md`
    to_root: str  # relative link from the page to the site's root, such as `../../../`
    text: str = ""  # the page as its file has it, for line numbers in messages
    directives: int = 0

    @property
    def language(self) -> str:
        """The page's language."""
        return self.path.partition("/")[0]

    def identifier(self) -> str:
        """An id for the next directive, unique on the page."""
        self.directives += 1
        return f"d{self.directives}"


def timing(
    page: PageContext,
    benchmark: str,
    x: str | None = None,
    where: dict[str, object] | None = None,
    baseline: str | None = None,
    contenders: list[str] | None = None,
    device: str | None = None,
    quantity: str = "time",
) -> str:
    """Chart and table of a benchmark, a tab for each machine; of time or of memory."""
    measured = records.of_benchmark(records.load_all(TIMINGS), benchmark, device)
    if not measured:
        name = "CPU" if device == "cpu" else "GPU"
        return f"<p>{say('no record', page.language, device=name)}</p>"
    return timing_views.timing_html(
        measured,
        benchmark_texts.load(),
        page.language,
        page.identifier(),
        page.to_root,
        x,
        where or {},
        baseline,
        contenders,
        quantity,
    )


def ratio(
    page: PageContext,
    benchmark: str,
    slow: str,
    fast: str,
    where: dict[str, object] | None = None,
    at_least: float | None = None,
    at_most: float | None = None,
    device: str = "cpu",
    quantity: str = "time",
) -> str:
    """How many times faster, or less memory: one number, or a range over several machines.

    `at_least` and `at_most` are what the sentence around it takes for granted.
    """
    found: list[tuple[str, float]] = []
    for each in records.of_benchmark(records.load_all(TIMINGS), benchmark, device):
        summary = each.ratio(slow, fast, where or {}, quantity)
        if summary:
            found.append((timing_views.tab_label(each, page.language), summary.median))
    if not found:
        raise DirectiveError(
            f"no record on {device} has both {slow!r} and {fast!r} at {where}: "
            f"make bench ONLY={benchmark}"
        )
    for machine, value in found:
        if at_least is not None and value < at_least:
            limit = f"at least {at_least}"
        elif at_most is not None and value > at_most:
            limit = f"at most {at_most}"
        else:
            continue
        raise DirectiveError(
            f"the sentence says {limit}, but the record of {machine} has {value:.3g}. "
            "Change the sentence and its limit, in both languages."
        )
    text = formats.ratios([value for _, value in found])
    title = escape("; ".join(f"{machine}: {value:.3g}" for machine, value in found), quote=True)
    return f'<span class="measured" title="{title}">{text}</span>'


def claim(page: PageContext, name: str) -> str:
    """The box of one claim of docs/data/claims.yml."""
    known = claims.load()
    if name not in known:
        raise DirectiveError(f"docs/data/claims.yml has no {name!r}; it has {', '.join(known)}")
    found = known[name]
    measured = records.of_benchmark(records.load_all(TIMINGS), found.benchmark)
    return claims.claim_html(found, measured, page.language)


def fault(page: PageContext, point: str, number: int | None = None) -> str:
    """The boxes of what is wrong in the notes at a point of docs/data/sources.yml."""
    return sources.fault_html(point, page.language, number)


def picture(page: PageContext, snippet: str, alt: str) -> str:
    """The figure that a snippet draws, with `alt` as its text equivalent and caption."""
    return pictures.picture_html(snippet, alt, page.language, page.identifier())


def table(page: PageContext, snippet: str) -> str:
    """The table that a snippet's `rows()` makes."""
    return pictures.table_html(snippet, page.language)


def glossary_table(page: PageContext) -> str:
    """The glossary."""
    return glossary.page_html(page.language)


def snippet_catalogue(page: PageContext) -> str:
    """The list of all snippets."""
    return catalogue.catalogue_html(page.language, page.to_root)


DIRECTIVES: dict[str, Callable[..., str]] = {
    "timing": timing,
    "ratio": ratio,
    "claim": claim,
    "fault": fault,
    "picture": picture,
    "table": table,
    "glossary": glossary_table,
    "catalogue": snippet_catalogue,
}


@dataclass(frozen=True)
class Call:
    """A directive as it stands on a page."""

    name: str
    positional: tuple[Any, ...]
    named: dict[str, Any]


def parse(text: str) -> Call:
    """Parse `name(literal, key=literal)`; DirectiveError says what is not understood."""
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        raise DirectiveError(f"not a call that Python can read: {error.msg}") from error
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        raise DirectiveError("write it as name(arguments)")
    if node.func.id not in DIRECTIVES:
        raise DirectiveError(
            f"there is no directive {node.func.id!r}; there are {', '.join(DIRECTIVES)}"
        )
    try:
        positional = tuple(ast.literal_eval(argument) for argument in node.args)
        named = {str(each.arg): ast.literal_eval(each.value) for each in node.keywords}
    except ValueError as error:
        raise DirectiveError("write arguments as text, numbers, lists and dicts") from error
    try:
        signature(DIRECTIVES[node.func.id]).bind(None, *positional, **named)
    except TypeError as error:
        raise DirectiveError(str(error)) from error
    return Call(node.func.id, positional, named)


def render(call_text: str, page: PageContext) -> str:
    """The HTML of a directive; DirectiveError names the page and the directive."""
    try:
        call = parse(call_text)
        return DIRECTIVES[call.name](page, *call.positional, **call.named)
    except Exception as error:
        said = str(error)
        if isinstance(error, KeyError | IndexError | TypeError | AttributeError):
            said = f"{type(error).__name__}: {said}"
        line = page.text.count("\n", 0, max(0, page.text.find(call_text))) + 1
        place = f"docs/{page.path}:{line}"
        raise DirectiveError(f"{place}: {{{{ {call_text} }}}}: {said}") from error


class _DirectivePreprocessor(Preprocessor):
    def __init__(
        self, md: Markdown, page: Callable[[], PageContext], failure: type[Exception]
    ) -> None:
        super().__init__(md)
        self._page = page
        self._failure = failure

    def run(self, lines: list[str]) -> list[str]:
        page = self._page()

        def replaced(match: re.Match[str]) -> str:
            try:
                html = render(match["call"], page)
            except DirectiveError as error:
                raise self._failure(str(error)) from error
            before = match.string[match.string.rfind("\n", 0, match.start()) + 1 : match.start()]
            after = match.string[match.end() :].partition("\n")[0]
            if before.strip() or after.strip():
                return html
            return f"{self.md.htmlStash.store(html)}\n"

        text = PATTERN.sub(replaced, "\n".join(lines))
        if broken := _BROKEN.search(text):
            line = page.text.count("\n", 0, max(0, page.text.find(broken[0]))) + 1
            raise self._failure(
                f"docs/{page.path}:{line}: {broken[0]}: write it as {{{{ name(arguments) }}}}"
            )
        return text.split("\n")


class DirectiveExtension(Extension):
    """Adds the directives to Markdown; `page()` tells which page is being built.

    A directive that can't be carried out raises `failure` with the message.
    """

    def __init__(
        self, page: Callable[[], PageContext], failure: type[Exception] = DirectiveError
    ) -> None:
        super().__init__()
        self._page = page
        self._failure = failure

    def extendMarkdown(self, md: Markdown) -> None:
        """Called by Markdown."""
        # After superfences (25) has set fences aside, before raw HTML (20).
        preprocessor = _DirectivePreprocessor(md, self._page, self._failure)
        md.preprocessors.register(preprocessor, "directives", 22)


def context_for(page_path: str, page_url: str, text: str = "") -> PageContext:
    """The context of a page: its path below docs/, its URL below the site's root, its text."""
    return PageContext(page_path, to_root="../" * page_url.count("/") or "./", text=text)
