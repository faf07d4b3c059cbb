from __future__ import annotations

import string

import pytest

from scripts import texts
from scripts.data_files import HAN
from scripts.paths import LANGUAGES
from scripts.texts import MissingText, in_language, say


def fields(text: str) -> set[str | None]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("key", texts.TEXTS)
def test_both_languages_say_the_same_things(key: str) -> None:
    both = texts.TEXTS[key]
    assert both.keys() == set(LANGUAGES)
    assert all(both.values())
    assert fields(both["en"]) == fields(both["zh"])
    assert not HAN.search(both["en"])


def test_fields_are_filled_in() -> None:
    assert say("threads", "en", threads=1, cores=2) == "1 of 2 cores"
    assert say("threads", "zh", threads=1, cores=2) == "使用 2 核中的 1 核"


def test_one_text_may_serve_both_languages() -> None:
    assert in_language("x", "zh", "the axis") == "x"
    assert in_language({"en": "rows", "zh": "行"}, "zh", "the axis") == "行"


def test_a_missing_text_is_named() -> None:
    with pytest.raises(MissingText, match="the axis x has no text in 'zh'"):
        in_language({"en": "rows"}, "zh", "the axis x")
