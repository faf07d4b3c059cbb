from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from scripts import glossary, search_index
from scripts.paths import ROOT


@pytest.fixture(autouse=True, scope="module")
def _taught() -> None:
    glossary.teach_jieba()


@pytest.mark.parametrize(
    ("run", "words"),
    [
        ("双线性插值", ["双", "线性", "插值"]),
        ("数值稳定性", ["数值", "稳定", "性"]),
        ("叶子张量", ["叶子", "张量"]),
        ("反向传播", ["反向", "传播"]),
        ("计算图", ["计算", "图"]),
        ("广播", ["广播"]),
        ("溢出", ["溢出"]),
    ],
)
def test_terms_are_cut_into_short_words(run: str, words: list[str]) -> None:
    assert search_index.cut(run) == words


def test_cutting_loses_nothing() -> None:
    run = "单独复制到空文件夹里也能运行次正规数与逐元素运算魑魅魍魉"
    assert "".join(search_index.cut(run)) == run


def test_marks_show_nothing() -> None:
    text = "张量的 <code>shape</code>，数值稳定性\u200b"
    marked = search_index.mark_words(text)
    assert re.sub("[\u200b\u2060]", "", marked) == text.replace("\u200b", "")
    assert marked.startswith("\u200b张量\u200b的\u2060\u200b <code>shape</code>，")


def test_separator_divides_names_and_both_punctuations() -> None:
    separator = re.compile(search_index.CLIENT_CONFIG["separator"])
    text = "F.log_softmax，CrossEntropyLoss（float32）、x &lt; y；a[0]: 中文\u200b字 NaN e-4"
    assert [word for word in separator.split(text) if word] == [
        *["F", "log", "softmax", "Cross", "Entropy", "Loss", "float32", "x", "y", "a", "0"],
        *["中文", "字", "NaN", "e", "4"],
    ]


def _index() -> dict[str, object]:
    docs = [
        {"location": "en/", "title": "Home", "text": "<p>Softmax</p>"},
        {"location": "en/a/#b", "title": "B", "text": ""},
        {"location": "zh/a/", "title": "插值", "text": ""},
    ]
    return {"config": {"fields": {"title": {"boost": 2}}, "lang": ["x"]}, "docs": docs}


def test_each_language_gets_its_own_entries() -> None:
    divided = search_index.divide(_index(), ("zh", "en"))
    places = {
        language: [entry["location"] for entry in index["docs"]]
        for language, index in divided.items()
    }
    assert places == {"": ["en/", "en/a/#b", "zh/a/"], "en": ["", "a/#b"], "zh": ["a/"]}
    for index in divided.values():
        assert index["config"]["fields"] == {"title": {"boost": 2}}
        assert index["config"]["pipeline"] == []


def test_indexes_are_written_below_the_languages(tmp_path: Path) -> None:
    whole = tmp_path / search_index.INDEX
    whole.parent.mkdir()
    whole.write_text(json.dumps(_index()), encoding="utf-8")
    search_index.write(tmp_path, ("zh", "en"))
    chinese = json.loads((tmp_path / "zh" / search_index.INDEX).read_text(encoding="utf-8"))
    assert [entry["location"] for entry in chinese["docs"]] == ["a/"]


CONFIG = '<script id="__config" type="application/json">{}</script>'


@pytest.mark.parametrize(
    ("base", "language", "expected"),
    [("../..", "zh", "../../zh/"), (".", "en", "./en/"), ("/sub/", None, "/sub/")],
)
def test_a_page_searches_its_own_index(base: str, language: str | None, expected: str) -> None:
    config = {"base": base, "search": f"{base}/assets/javascripts/workers/search.1234.min.js"}
    page = search_index.point_to_index(CONFIG.format(json.dumps(config)), language)
    pointed = json.loads(page[page.index("{") : page.rindex("}") + 1])
    assert pointed["base"] == expected
    worker = "assets/javascripts/workers/search.js?search.1234.min.js"
    assert pointed["search"] == f"{base}/{worker}"


def test_a_page_without_configuration_is_an_error() -> None:
    with pytest.raises(ValueError, match="Material for MkDocs has changed"):
        search_index.point_to_index("<p></p>", "zh")


def test_a_missing_jieba_stops_the_build() -> None:
    code = "import sys; sys.modules['jieba'] = None; import scripts.search_index"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode != 0
    assert "jieba is not installed" in done.stderr
