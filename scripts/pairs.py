"""Keeps the two languages of a page together: same structure, and agreed as a pair.

The structure of a page is the sequence of what both languages must have alike: headings
with their ids, code, outputs, directives, formulas, pictures, links, tabs and boxes,
tables. The lock (docs/data/pairs.json) holds the hash of both sides as last agreed.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path

from scripts import directives
from scripts.blocks import page_fences
from scripts.paths import DATA, DOCS, LANGUAGES, shown

LOCK = DATA / "pairs.json"

_HEADING = re.compile(r"^(?P<level>#{1,6})\s+(?P<text>.*?)\s*$")
_ATTRIBUTES = re.compile(r"\{:?\s*(?P<attributes>[^{}]*)\}\s*$")
_ADMONITION = re.compile(r"^\s*(?P<kind>!!!|\?\?\?\+?)\s+(?P<classes>[\w -]+)")
_TAB = re.compile(r"^\s*===[!+]?\s+[\"']")
_TABLE_RULE = re.compile(r"^\s*\|?\s*:?-{3,}:?\s*(\|\s*:?-{3,}:?\s*)*\|?\s*$")
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
    elements: list[Element] = []
    lines = text.splitlines()
    prose = list(lines)
    start = 0
    if lines and lines[0] == "---":
        start = lines.index("---", 1) + 1
        keys = sorted(line.partition(":")[0] for line in lines[1 : start - 1] if ":" in line)
        elements.append(Element("front matter", ", ".join(keys), 1))
        prose[:start] = [""] * start
    for fence in page_fences(text, page):
        body = "\n".join(fence.body)
        elements.append(Element("fence", f"{fence.info}\n{body}", fence.line))
        prose[fence.line - 1 : fence.last_line] = [""] * (fence.last_line - fence.line + 1)
    rest = "\n".join(prose)
    for match in directives._DIRECTIVE.finditer(rest):
        line = rest.count("\n", 0, match.start()) + 1
        elements.append(Element("directive", _directive_content(match["call"]), line))
    rest = _blank(directives._DIRECTIVE, rest)
    for match in _MATH_BLOCK.finditer(rest):
        line = rest.count("\n", 0, match.start()) + 1
        elements.append(Element("formula", " ".join(match[1].split()), line))
    rest = _blank(_MATH_BLOCK, rest)
    prose = rest.split("\n")
    for number, line in enumerate(prose, start=1):
        elements += _line_elements(line, number, page, after_blank=not _before(prose, number).strip())
    return sorted(elements, key=lambda element: element.line)


def _before(lines: list[str], number: int) -> str:
    return lines[number - 2] if number >= 2 else ""


def _line_elements(line: str, number: int, page: Path, after_blank: bool) -> list[Element]:
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
    if _TABLE_RULE.match(line) and "|" in line:
        found.append(Element("table", f"{line.count('|')} bars", number))
    if match := _COMMENT.match(line):
        found.append(Element("directive", match[1], number))
    if match := _LIST_ITEM.match(line):
        kind = "numbered item" if match["bullet"][0].isdigit() else "item"
        found.append(Element("list", kind, number))
    # Sentences are ordered differently in the two languages, so what stands in a line is
    # compared without regard to order.
    formulas = sorted(match[1] for match in _MATH_INLINE.finditer(line))
    found += [Element("inline formula", formula, number) for formula in formulas]
    for match in sorted(_LINK.finditer(line), key=lambda match: match["target"]):
        kind = "picture" if match["image"] else "link"
        found.append(Element(kind, match["target"], number))
    return found


def _blank(pattern: re.Pattern[str], text: str) -> str:
    return pattern.sub(lambda match: "\n" * match[0].count("\n"), text)


def _directive_content(call_text: str) -> str:
    """A directive without what is said in a language: the `alt` of a picture."""
    call = directives.parse(call_text)
    named = {key: value for key, value in call.named.items() if key != "alt"}
    return f"{call.name} {list(call.positional)} {dict(sorted(named.items()))}"


def compare(page: str, docs: Path = DOCS) -> None:
    """PairError where the languages of a page (path below docs/<language>) differ in structure."""
    texts = {}
    for language in LANGUAGES:
        path = docs / language / page
        if not path.is_file():
            other = next(docs / each / page for each in LANGUAGES if each != language)
            raise PairError(
                f"{shown(other)} has no translation: write {shown(path)} with the same structure"
            )
        texts[language] = structure(page_text(path), path)
    first, second = (_by_paragraph(texts[language]) for language in LANGUAGES)
    for index in range(max(len(first), len(second))):
        a = first[index] if index < len(first) else None
        b = second[index] if index < len(second) else None
        if a and b and (a.kind, a.content) == (b.kind, b.content):
            continue
        places = [
            f"{shown(docs / language / page)}"
            + (f":{each.line} has {each.kind} {_short(each.content)!r}" if each else " has nothing more")
            for language, each in zip(LANGUAGES, (a, b), strict=True)
        ]
        raise PairError(
            f"the languages of {page} differ: {'; '.join(places)}. Make the two sides alike."
        )


def _by_paragraph(elements: list[Element]) -> list[Element]:
    """Elements in order; between two structural ones, inline ones sorted by content."""
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


def _short(text: str) -> str:
    return text if len(text) <= 100 else text[:97] + "…"


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


def content_hash(path: Path) -> str:
    """The hash of what was agreed: the prose. Code and outputs are compared anyway."""
    text = page_text(path)
    lines = text.splitlines()
    for fence in reversed(page_fences(text, path)):
        del lines[fence.line : fence.last_line - 1]
    kept = "\n".join(line.rstrip() for line in lines)
    return hashlib.sha256(kept.encode()).hexdigest()[:16]


def read_lock(lock: Path = LOCK) -> dict[str, dict[str, str]]:
    """The agreed hashes: page → language → hash."""
    if not lock.exists():
        return {}
    found: dict[str, dict[str, str]] = json.loads(lock.read_text(encoding="utf-8"))
    return found


def disagreements(docs: Path = DOCS, lock: Path = LOCK) -> list[str]:
    """What the lock says against each page, as messages that tell what to do."""
    agreed = read_lock(lock)
    messages = []
    for page in page_names(docs):
        now = {language: content_hash(docs / language / page) for language in LANGUAGES}
        before = agreed.get(page)
        command = f"make agree PAGE={page}"
        if before is None:
            messages.append(f"{page}: this pair was never agreed. Compare both sides, then: {command}")
            continue
        changed = [language for language in LANGUAGES if now[language] != before.get(language)]
        if len(changed) == 1:
            other = next(each for each in LANGUAGES if each != changed[0])
            messages.append(
                f"{shown(docs / changed[0] / page)} changed and {shown(docs / other / page)} did not. "
                f"Bring the other side up to date, then: {command}"
            )
        elif changed:
            messages.append(f"{page}: both sides changed. Compare them, then: {command}")
    gone = sorted(set(agreed) - set(page_names(docs)))
    messages += [f"{page}: the lock names it, but there is no such page: make agree" for page in gone]
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
        lock.write_text(text, encoding="utf-8")
    return changed
