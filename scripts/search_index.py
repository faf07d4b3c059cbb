"""One search index for each language, with Chinese cut into words.

Material's client searches the beginnings of words, so a word is found only where the index was cut
in front of it. Its search plugin cuts Chinese with jieba and leaves the pieces long: 插值 would not
be found in 双线性插值. This module cuts again, into words of at most two characters where the
dictionary has such words, and divides the index, so that results are in the page's language.
docs/assets/javascripts/workers/search.js cuts a reader's query the same way.
"""

import json
import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

try:
    import jieba  # type: ignore[import-untyped]
except ImportError as error:
    raise ImportError(
        "jieba is not installed, and without it the search finds no Chinese. "
        "Run `make`, or `pip install -r requirements.txt`."
    ) from error

INDEX = Path("search/search_index.json")
WORKER = "workers/search.js"  # beside Material's own worker
BREAK = "\u200b"  # stands around every Chinese word; no width, so nobody sees it
SINGLE = "\u2060"  # stands behind a word of one character, see mark_words; no width either
HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]+")
LONGEST = 2

# Where the client divides text and queries into words: at spaces and marks of both languages, so
# that softmax is found in F.log_softmax, and before the capitals in CrossEntropyLoss.
_SEPARATOR = (
    r"(?:&(?:lt|gt|amp);|[\s\u200b\u3000-\u303f\uff00-\uff0f\uff1a-\uff20\uff3b-\uff3d\uff5b-\uff65\u2010-\u2027"
    r"\-_,.:;!?=<>+*/\\|~^@#$%&'\"`()\[\]{}·×])+|(?!\b)(?=[A-Z][a-z])"
)
# No stemmer and no stop words: `where`, `not` and `and` are names of functions and operators here.
CLIENT_CONFIG: dict[str, Any] = {"lang": ["en"], "separator": _SEPARATOR, "pipeline": []}

_CONFIG_SCRIPT = re.compile(r'(<script id="__config" type="application/json">)(.*?)(</script>)')


def cut(run: str) -> list[str]:
    """A run of Chinese characters as words of two characters, or of one or three at need."""
    return [piece for word in jieba.cut(run) for piece in _halve(str(word))]


def _halve(word: str) -> list[str]:
    """The likeliest way to divide a word into dictionary words of at most two characters."""
    if len(word) <= LONGEST:
        return [word]
    # best[end]: the logarithm of the likelihood of word[:end], and where its last piece starts
    best: list[tuple[float, int]] = [(0.0, 0)]
    for end in range(1, len(word) + 1):
        best.append(
            max(
                (best[start][0] + _log_frequency(word[start:end]), start)
                for start in range(max(0, end - LONGEST), end)
            )
        )
    pieces: list[str] = []
    end = len(word)
    while end:
        start = best[end][1]
        pieces.insert(0, word[start:end])
        end = start
    return pieces if any(len(piece) == LONGEST for piece in pieces) else [word]


def _log_frequency(piece: str) -> float:
    frequency = jieba.dt.FREQ.get(piece, 0)
    if len(piece) == 1:
        frequency = max(frequency, 1)
    return math.log(frequency / jieba.dt.total) if frequency else -math.inf


def mark_words(text: str) -> str:
    """The text with its Chinese cut: 张量的形状 becomes 张量|的~|形状, with marks of no width.

    ``~`` keeps a single character from being a word of the index. Material's client replaces a
    query such as 数值 by 数 where the index has the word 数, and then finds far too much.
    """

    def marked(match: re.Match[str]) -> str:
        pieces = (word if len(word) > 1 else word + SINGLE for word in cut(match[0]))
        return BREAK + BREAK.join(pieces) + BREAK

    return HAN.sub(marked, text.replace(BREAK, ""))


def divide(index: Mapping[str, Any], languages: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Material's index, as one for each language and one, under "", of all of them.

    Locations in the index of a language are relative to the language's own root.
    """
    config = {**index["config"], **CLIENT_CONFIG}
    entries = [
        {**entry, "title": mark_words(entry["title"]), "text": mark_words(entry["text"])}
        for entry in index["docs"]
    ]
    divided = {"": {"config": config, "docs": entries}}
    for language in languages:
        prefix = f"{language}/"
        own = [
            {**entry, "location": entry["location"].removeprefix(prefix)}
            for entry in entries
            if entry["location"].startswith(prefix)
        ]
        divided[language] = {"config": config, "docs": own}
    return divided


def write(site: Path, languages: Iterable[str]) -> None:
    """Divides the index that Material's plugin has just written into ``site``."""
    index = json.loads((site / INDEX).read_text(encoding="utf-8"))
    for language, own in divide(index, languages).items():
        path = site / language / INDEX
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(own, ensure_ascii=False, separators=(",", ":"))
        path.write_text(text, encoding="utf-8")


def point_to_index(page: str, language: str | None) -> str:
    """The HTML of a page whose search asks the index of its language, through our worker."""

    def pointed(match: re.Match[str]) -> str:
        config = json.loads(match[2])
        if language:
            config["base"] = f"{config['base'].rstrip('/')}/{language}/"
        folder, _, material = config["search"].rpartition("workers/")
        config["search"] = f"{folder}{WORKER}?{material}"
        return match[1] + json.dumps(config, ensure_ascii=False) + match[3]

    pointed_page, found = _CONFIG_SCRIPT.subn(pointed, page)
    if found != 1:
        raise ValueError(
            "a page has no <script id=__config>: Material for MkDocs has changed; "
            "see scripts/search_index.py"
        )
    return pointed_page
