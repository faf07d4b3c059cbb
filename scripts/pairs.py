"""Keeps the two languages of a page together: same structure, and agreed as a pair.

The structure of a page is the sequence of what both languages must have alike: headings
with their ids, code, outputs, directives, formulas, pictures, links, tabs and boxes,
tables. The lock (docs/data/pairs.json) holds the hash of both sides as last agreed.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from dataclasses import dataclass
from pathlib import Path

from scripts import directives
from scripts.blocks import front_matter, page_fences
from scripts.fences import Fence
from scripts.paths import DATA, DOCS, LANGUAGES, shown

LOCK = DATA / "pairs.json"

_HEADING = re.compile(r"^(?P<level>#{1,6})\s+(?P<text>.*?)\s*$")
_ATTRIBUTES = re.compile(r"\{:?\s*(?P<attributes>[^{}]*)\}\s*$")
_ADMONITION = re.compile(r"^\s*(?P<kind>!!!|\?\?\?\+?)\s+(?P<classes>[\w -]+)")
_TAB = re.compile(r"^\s*===[!+]?\s+[\"']")
_TABLE_RULE = re.compile(r"^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$")
_UNDERLINE = re.compile(r"^(=+|-+)\s*$")
_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)[^\n]+?(?<!`)\1(?!`)")
_LIST_ITEM = re.compile(r"^(?P<indent>\s*)(?P<bullet>[-*+]|\d+[.)])\s+\S")
_MATH_BLOCK = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
_MATH_INLINE = re.compile(r"(?<![\\$])\$(?!\s)([^$\n]+?)(?<!\s)\$(?!\d)")
_LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^\]]*)\]\((?P<target>[^)\s]+)[^)]*\)")
_COMMENT = re.compile(r"^\s*(<!--\s*pytest.*-->)\s*$")


def page_text(path: Path) -> str:
    """The Markdown of a page; of a notebook, its cells, with the code ones as fences."""
    if path.suffix == ".md":
        return path.read_text(encoding="utf-8")
    import jupytext  # type: ignore[import-untyped]

    cells = jupytext.read(path).cells
    return "\n\n".join(
        f"```python\n{cell.source}\n```" if cell.cell_type == "code" else cell.source
        for cell in cells
    )


class PairError(Exception):
    """Two languages of a page that do not agree; the message says where and what to do."""


@dataclass(frozen=True)
class Element:
    """One thing that both languages have, in order; `kind` and `content` must be equal."""

    kind: str
    content: str
    line: int


def structure(text: str, page: Path) -> list[Element]:
    """The structure of a page; PairError for a heading without an explicit id."""
    fences = page_fences(text, page)
    found = [Element("fence", _fence_content(fence), fence.line) for fence in fences]
    keys = sorted(map(str, front_matter(text, page)))
    found.append(Element("front matter", ", ".join(keys), 1))
    prose = "\n".join(_without_fences(_without_front_matter(text), fences))
    prose, calls = _taken(directives.PATTERN, prose)
    found += [Element("directive", _directive_content(m["call"], page, n), n) for n, m in calls]
    prose, _ = _taken(_CODE_SPAN, prose)
    prose, formulas = _taken(_MATH_BLOCK, prose)
    found += [Element("formula", " ".join(match[1].split()), line) for line, match in formulas]
    before = ""
    in_table = False
    for number, line in enumerate(prose.split("\n"), start=1):
        if before.strip() and _UNDERLINE.match(line):
            raise PairError(
                f"{shown(page)}:{number}: mark headings with #, or put an empty line before: {line}"
            )
        in_table = "|" in line and (in_table or bool(_TABLE_RULE.match(line)))
        if in_table:
            found.append(Element("table row", f"{line.count('|')} bars", number))
        found += _line_elements(line, number, page)
        before = line
    return sorted(found, key=lambda element: element.line)


def _taken(pattern: re.Pattern[str], text: str) -> tuple[str, list[tuple[int, re.Match[str]]]]:
    """The text without the matches of a pattern, line for line, and these with their lines."""
    matches = [(text.count("\n", 0, m.start()) + 1, m) for m in pattern.finditer(text)]
    return pattern.sub(lambda match: "\n" * match[0].count("\n"), text), matches


def _fence_content(fence: Fence) -> str:
    return "\n".join([fence.info, *fence.body])


def _without_front_matter(text: str) -> list[str]:
    """The lines of a page, empty in place of the settings at its top."""
    lines = text.splitlines()
    if lines[:1] == ["---"] and "---" in lines[1:]:
        end = lines.index("---", 1) + 1
        lines[:end] = [""] * end
    return lines


def _without_fences(lines: list[str], fences: list[Fence]) -> list[str]:
    for fence in fences:
        lines[fence.line - 1 : fence.last_line] = [""] * (fence.last_line - fence.line + 1)
    return lines


def _line_elements(line: str, number: int, page: Path) -> list[Element]:
    found: list[Element] = []
    heading = _HEADING.match(line)
    if heading:
        attributes = _ATTRIBUTES.search(heading["text"])
        content = " ".join(attributes["attributes"].split()) if attributes else ""
        if heading["level"] != "#" and "#" not in content:
            raise PairError(
                f"{shown(page)}:{number}: give this heading an id, the same in both languages: "
                f"{heading['level']} {heading['text']} {{ #some-id }}"
            )
        found.append(Element("heading", f"{heading['level']} {content}", number))
    if match := _ADMONITION.match(line):
        found.append(Element("box", f"{match['kind']} {match['classes'].strip()}", number))
    if _TAB.match(line):
        found.append(Element("tab", "", number))
    if match := _COMMENT.match(line):
        found.append(Element("directive", match[1], number))
    if match := _LIST_ITEM.match(line):
        kind = "numbered item" if match["bullet"][0].isdigit() else "item"
        found.append(Element("list", kind, number))
    found += [Element("inline formula", match[1], number) for match in _MATH_INLINE.finditer(line)]
    for match in _LINK.finditer(line):
        kind = "picture" if match["image"] else "link"
        found.append(Element(kind, match["target"], number))
    return found


def _directive_content(text: str, page: Path, line: int) -> str:
    """A directive without what is said in a language: the `alt` of a picture."""
    try:
        call = directives.parse(text)
    except directives.DirectiveError as error:
        raise PairError(f"{shown(page)}:{line}: {{{{ {text} }}}}: {error}") from error
    named = {key: value for key, value in call.named.items() if key != "alt"}
    return f"{call.name} {list(call.positional)} {dict(sorted(named.items()))}"


def _require_both(page: str, docs: Path) -> None:
    for language in LANGUAGES:
        path = docs / language / page
        if not path.is_file():
            other = next(docs / each / page for each in LANGUAGES if each != language)
            raise PairError(
                f"{shown(other)} has no translation: write {shown(path)} with the same structure"
            )


def compare(page: str, docs: Path = DOCS) -> None:
    """PairError where the languages of a page (path below docs/<language>) differ in structure."""
    _require_both(page, docs)
    texts = {}
    for language in LANGUAGES:
        path = docs / language / page
        texts[language] = structure(page_text(path), path)
    first, second = (_by_paragraph(texts[language]) for language in LANGUAGES)
    for a, b in itertools.zip_longest(first, second):
        if not a or not b or (a.kind, a.content) != (b.kind, b.content):
            places = " and ".join(
                f"{shown(docs / language / page)}{_said(one, other)}"
                for language, one, other in zip(LANGUAGES, (a, b), (b, a), strict=True)
            )
            raise PairError(f"the languages of {page} differ: {places}. Make both sides alike.")


def _said(element: Element | None, other: Element | None) -> str:
    """Line and content of an element; of a fence, the first line that the other has not."""
    if element is None:
        return " has nothing more"
    content, line = element.content, element.line
    if other and element.kind == other.kind == "fence":
        pairs = itertools.zip_longest(content.split("\n"), other.content.split("\n"))
        offset, content = next((n, a or "") for n, (a, b) in enumerate(pairs) if a != b)
        line += offset
    shortened = content if len(content) <= 100 else content[:97] + "…"
    return f":{line} has {element.kind} {shortened!r}"


def _by_paragraph(elements: list[Element]) -> list[Element]:
    """Elements in order; inline ones, between two others, sorted by content.

    Sentences are ordered differently in the two languages.
    """
    result: list[Element] = []
    inline: list[Element] = []
    for element in elements:
        if element.kind in ("inline formula", "link", "picture") or _is_inline(element):
            inline.append(element)
            continue
        result += sorted(inline, key=lambda each: (each.kind, each.content))
        inline = []
        result.append(element)
    return result + sorted(inline, key=lambda each: (each.kind, each.content))


def _is_inline(element: Element) -> bool:
    return element.kind == "directive" and element.content.startswith("ratio ")


def page_names(docs: Path = DOCS) -> list[str]:
    """Every page that at least one language has, as a path below the language's folder."""
    return sorted(
        {
            path.relative_to(docs / language).as_posix()
            for language in LANGUAGES
            for path in (docs / language).rglob("*")
            if path.suffix in (".md", ".ipynb", ".py")
        }
    )


def name_of(page: str) -> str:
    """The name of a page given as `docs/en/part/chapter.md`, `en/…` or `part/chapter.md`."""
    return re.sub(rf"^(docs/)?({'|'.join(LANGUAGES)})/", "", page)


def content_hash(path: Path) -> str:
    """The hash of what was agreed: the prose. Code and outputs are compared anyway."""
    text = page_text(path)
    lines = _without_fences(text.splitlines(), page_fences(text, path))
    kept = [line.rstrip() for line in lines if line.strip() and not _COMMENT.match(line)]
    return hashlib.sha256("\n".join(kept).encode()).hexdigest()[:16]


def read_lock(lock: Path = LOCK) -> dict[str, dict[str, str]]:
    """The agreed hashes: page → language → hash."""
    if not lock.exists():
        return {}
    try:
        found: dict[str, dict[str, str]] = json.loads(lock.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise PairError(
            f"{shown(lock)}:{error.lineno}: not JSON ({error.msg}). Restore it from git, "
            "or delete it and run `make agree`."
        ) from error
    return found


def disagreements(docs: Path = DOCS, lock: Path = LOCK) -> list[str]:
    """What the lock says against each page, as messages that tell what to do."""
    agreed = read_lock(lock)
    messages = []
    for page in page_names(docs):
        command = f"make agree PAGE={page}"
        try:
            _require_both(page, docs)
        except PairError as error:
            messages.append(str(error))
            continue
        now = {language: content_hash(docs / language / page) for language in LANGUAGES}
        before = agreed.get(page)
        if before is None:
            messages.append(f"{page}: this pair was never agreed. Compare it, then: {command}")
            continue
        changed = [language for language in LANGUAGES if now[language] != before.get(language)]
        if len(changed) == 1:
            other = next(each for each in LANGUAGES if each != changed[0])
            messages.append(
                f"{shown(docs / changed[0] / page)} changed and {shown(docs / other / page)} "
                f"did not. Bring the other side up to date, then: {command}"
            )
        elif changed:
            messages.append(f"{page}: both sides changed. Compare them, then: {command}")
    gone = sorted(set(agreed) - set(page_names(docs)))
    messages += [f"{page}: {shown(lock)} names it, but it is gone: make agree" for page in gone]
    return messages


def agree(pages: list[str], docs: Path = DOCS, lock: Path = LOCK) -> list[str]:
    """Take the sides of these pages (all, if none is named) as agreed; PairError where the
    structure differs. Returns the pages whose entry changed."""
    known = page_names(docs)
    unknown = [page for page in pages if page not in known]
    if unknown:
        raise PairError(f"there is no page {', '.join(unknown)}; there are {', '.join(known)}")
    agreed = {page: hashes for page, hashes in read_lock(lock).items() if page in known}
    changed = []
    for page in pages or known:
        compare(page, docs)
        hashes = {language: content_hash(docs / language / page) for language in LANGUAGES}
        if agreed.get(page) != hashes:
            changed.append(page)
        agreed[page] = hashes
    text = json.dumps(dict(sorted(agreed.items())), indent=1, ensure_ascii=False) + "\n"
    if not lock.exists() or lock.read_text(encoding="utf-8") != text:
        lock.write_text(text, encoding="utf-8", newline="\n")
    return changed
