"""The terms of the pages: their list, their page, their words for the search.

docs/data/glossary.yml is the source. ``teach_jieba`` has to run before pages are
indexed: the search finds a word only where jieba has cut it out of the sentence.
"""

import html
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from pathlib import Path

import jieba  # type: ignore[import-untyped]

from scripts.data_files import (
    HAN,
    DataError,
    Text,
    check_language,
    fields,
    inline_html,
    items,
    read,
    string,
    text,
    version,
)
from scripts.paths import DATA, shown

GLOSSARY = DATA / "glossary.yml"

# How common a taught word is for jieba, which counts some 60 million words in all. At
# 20000 a term wins over the compounds of jieba's own dictionary; at 100000 it also cuts
# ordinary words apart.
FREQUENCY = 20_000


@dataclass(frozen=True)
class Term:
    """One term: its name in both languages and what it means."""

    en: str
    zh: str
    meaning: Text
    avoid: tuple[str, ...] = ()
    search: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The id of the term on the glossary page, for links."""
        return "term-" + re.sub(r"[^a-z0-9]+", "-", self.en.lower()).strip("-")

    @property
    def words(self) -> tuple[str, ...]:
        """The words into which the search divides the Chinese term."""
        return self.search or tuple(re.findall(f"{HAN.pattern}{{2,}}", self.zh))


@dataclass(frozen=True)
class Glossary:
    """All terms, and the ordinary words that the search needs beside them."""

    terms: tuple[Term, ...]
    words: tuple[str, ...] = ()


def load(path: Path = GLOSSARY) -> Glossary:
    """Read and check the glossary; DataError names the entry that is wrong."""
    top = fields(read(path), shown(path), ("terms",), ("words",))
    terms = []
    for number, entry in enumerate(items(top["terms"], f"{shown(path)}, terms"), 1):
        terms.append(_term(entry, f"{shown(path)}, term {number}", path))
    words: tuple[str, ...] = ()
    if "words" in top:
        words = _chinese(top["words"], f"{shown(path)}, words")
    _check_together(terms, path)
    return Glossary(tuple(terms), words)


def _term(entry: object, where: str, path: Path) -> Term:
    if isinstance(entry, dict) and isinstance(entry.get("en"), str):
        where = f'{shown(path)}, term "{entry["en"]}"'
    given = fields(entry, where, ("en", "zh", "meaning"), ("avoid", "search"))
    name = text({"en": given["en"], "zh": given["zh"]}, where)
    return Term(
        en=name.en,
        zh=name.zh,
        meaning=text(given["meaning"], f"{where}, meaning"),
        avoid=_chinese(given["avoid"], f"{where}, avoid") if "avoid" in given else (),
        search=_chinese(given["search"], f"{where}, search") if "search" in given else (),
    )


def _chinese(value: object, where: str) -> tuple[str, ...]:
    words = [string(word, where) for word in items(value, where)]
    for word in words:
        if not re.fullmatch(f"{HAN.pattern}{{2,}}", word):
            raise DataError(f"{where}: {word!r} is not two or more Chinese characters")
        if words.count(word) > 1:
            raise DataError(f"{where}: {word} stands twice; keep one")
    return tuple(words)


def _check_together(terms: list[Term], path: Path) -> None:
    names: dict[str, Term] = {}
    for term in terms:
        for name in (term.en.lower(), term.zh, term.id):
            if name in names:
                raise DataError(
                    f'{shown(path)}, term "{term.en}": {name} already stands at term '
                    f'"{names[name].en}"; one name, one meaning'
                )
        names |= dict.fromkeys((term.en.lower(), term.zh, term.id), term)
    forms: dict[str, Term] = {}
    for term in terms:
        for form in term.avoid:
            if form in forms:
                raise DataError(
                    f'{shown(path)}, term "{term.en}", avoid: {form} is already avoided at '
                    f'"{forms[form].en}"; say once what to write instead'
                )
            forms[form] = term
    for term in terms:
        for part in (term.zh, term.meaning.zh, *term.search):
            for form, source in forms.items():
                if form in part:
                    raise DataError(
                        f'{shown(path)}, term "{term.en}": "{part}" contains {form}, which '
                        f'term "{source.en}" says to avoid; change one of the two'
                    )


def terms() -> Glossary:
    """The glossary of this project, read again only when the file changes."""
    return _load_version(version(GLOSSARY))


@lru_cache(maxsize=1)
def _load_version(_: int) -> Glossary:
    return load()


# ------------------------------------------------------------------------------ search


def search_words(glossary: Glossary | None = None) -> tuple[str, ...]:
    """Every word that the search must know, sorted."""
    glossary = glossary or terms()
    taught = {word for term in glossary.terms for word in term.words}
    return tuple(sorted(taught | set(glossary.words)))


def teach_jieba(words: Iterable[str] | None = None) -> None:
    """Make jieba cut these words out of sentences; by default, those of the glossary.

    Entries of jieba's dictionary that are nothing but taught words in a row are taken
    out: as one word, 线性插值 would hide from whoever searches for 插值. Teaching twice
    changes nothing.
    """
    taught = frozenset(search_words() if words is None else words)
    jieba.setLogLevel("WARNING")
    jieba.initialize()
    known: dict[str, int] = jieba.dt.FREQ
    starts = {word[:2] for word in taught}
    likely = [entry for entry, count in known.items() if count and entry[:2] in starts]
    for entry in likely:
        if _is_made_of(entry, taught):
            jieba.del_word(entry)
    for word in sorted(taught):
        if known.get(word, 0) < FREQUENCY:
            jieba.add_word(word, freq=FREQUENCY)


def _is_made_of(entry: str, words: frozenset[str]) -> bool:
    """Whether the entry is at least two of the words in a row, and none itself."""
    if len(entry) < 4 or entry in words:
        return False
    ends = {0}
    for end in range(2, len(entry) + 1):
        if any(start in ends and entry[start:end] in words for start in range(end - 1)):
            ends.add(end)
    return len(entry) in ends


# ----------------------------------------------------------------------------- the check


def forbidden(source: str, glossary: Glossary | None = None) -> list[tuple[str, int]]:
    """The forms to avoid that stand in a Chinese text, with their offsets, in order."""
    glossary = glossary or terms()
    return sorted(
        (
            (form, match.start())
            for term in glossary.terms
            for form in term.avoid
            for match in re.finditer(re.escape(form), source)
        ),
        key=lambda found: (found[1], found[0]),
    )


def instead(form: str, glossary: Glossary | None = None) -> str:
    """What to write in place of a form to avoid; KeyError when it is none."""
    for term in (glossary or terms()).terms:
        if form in term.avoid:
            return term.zh
    raise KeyError(form)


# ------------------------------------------------------------------------------ the page

_LETTERS = Text("Terms by letter", "按英文首字母查找")
_CODES = {"en": "en", "zh": "zh-CN"}


def page_html(language: str, glossary: Glossary | None = None) -> str:
    """The glossary as HTML: a definition list a letter, an id a term.

    Both languages sort by the English term, so that links and letters agree.
    """
    check_language(language)
    ordered = sorted((glossary or terms()).terms, key=lambda term: term.en.lower())
    groups = [(k, list(g)) for k, g in groupby(ordered, lambda term: term.en[0].upper())]
    links = "\n".join(f'<a href="#letter-{k.lower()}">{k}</a>' for k, _ in groups)
    label = _LETTERS.in_language(language)
    lines = [f'<nav class="glossary-letters" aria-label="{label}">\n{links}\n</nav>']
    for letter, group in groups:
        lines.append(f'<dl class="glossary" id="letter-{letter.lower()}">')
        lines += [_entry_html(term, language) for term in group]
        lines.append("</dl>")
    return "\n".join(lines)


def _entry_html(term: Term, language: str) -> str:
    names = {"en": term.en, "zh": term.zh}
    other = "zh" if language == "en" else "en"
    return (
        f'<div id="{term.id}">\n'
        f"<dt>{html.escape(names[language])} "
        f'<span lang="{_CODES[other]}">{html.escape(names[other])}</span></dt>\n'
        f"<dd>{inline_html(term.meaning.in_language(language))}</dd>\n"
        f"</div>"
    )
