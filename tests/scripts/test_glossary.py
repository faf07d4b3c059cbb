"""The glossary: its entries, its words for the search, its check and its page."""

import os
import re
from pathlib import Path
from typing import Any

import autocorrect_py
import html5lib
import jieba  # type: ignore[import-untyped]
import pytest
import yaml

from scripts import glossary
from scripts.data_files import DataError, Text

# Terms that pages of this project must share; a change here is a change on every page.
AGREED = {
    "tensor": "张量",
    "broadcasting": "广播",
    "elementwise": "逐元素",
    "in-place operation": "原地操作",
    "computation graph": "计算图",
    "leaf tensor": "叶子张量",
    "overflow": "溢出",
    "underflow": "下溢",
    "numerical stability": "数值稳定性",
    "subnormal number": "次正规数",
    "cross entropy": "交叉熵",
    "reduction": "归约",
    "dimension": "维度",
    "shape": "形状",
    "contiguous memory": "连续内存",
    "stride": "步幅",
    "benchmark": "基准测试",
    "warm-up": "预热",
    "quartile": "四分位数",
    "median": "中位数",
}


def term(**changes: Any) -> dict[str, Any]:
    whole: dict[str, Any] = {
        "en": "tensor",
        "zh": "张量",
        "meaning": {"en": "An array.", "zh": "多维数组。"},
        "avoid": ["张昰"],
        "search": ["张量"],
    }
    return {key: value for key, value in (whole | changes).items() if value is not None}


def other(**changes: Any) -> dict[str, Any]:
    meaning = {"en": "Repeating.", "zh": "视为重复。"}
    return {"en": "broadcasting", "zh": "广播", "meaning": meaning} | changes


def write(path: Path, *terms: object, **top: object) -> Path:
    path = path / "glossary.yml"
    path.write_text(yaml.safe_dump({"terms": list(terms)} | top, allow_unicode=True), "utf-8")
    return path


# -------------------------------------------------------------------------- the entries


def test_the_project_has_its_terms() -> None:
    loaded = glossary.terms()
    assert len(loaded.terms) >= 110
    names = {term.en: term.zh for term in loaded.terms}
    assert {en: names.get(en) for en in AGREED} == AGREED


def test_chinese_typography_of_the_glossary() -> None:
    texts = [text for term in glossary.terms().terms for text in (term.zh, term.meaning.zh)]
    assert [text for text in texts if autocorrect_py.format_for(text, "md") != text] == []


def test_meanings_are_sentences() -> None:
    for entry in glossary.terms().terms:
        assert re.fullmatch(r"[^.]+(\.\d[^.]*)*\.", entry.meaning.en), entry.meaning.en
        assert re.fullmatch(r"[^。]+。", entry.meaning.zh), entry.meaning.zh


def test_a_good_file_loads(tmp_path: Path) -> None:
    loaded = glossary.load(write(tmp_path, term(), other(), words=["数组"]))
    assert loaded.words == ("数组",)
    first, second = loaded.terms
    assert first == glossary.Term(
        "tensor", "张量", Text("An array.", "多维数组。"), ("张昰",), ("张量",)
    )
    assert (second.avoid, second.search) == ((), ())


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (term(zh=None), 'term "tensor": "zh" is missing'),
        (term(meaning=None), 'term "tensor": "meaning" is missing'),
        (term(meaning={"en": "An array."}), 'term "tensor", meaning: "zh" is missing'),
        (term(meaning="An array."), 'meaning: expected "en" and "zh"'),
        (term(zh="tensor"), 'term "tensor", zh: no Chinese in the Chinese text'),
        (term(en="张量"), 'term "张量", en: Chinese characters in the English text'),
        (term(zh=" 张量"), "single spaces only"),
        (term(zh=""), "expected a text"),
        (term(en=True), "term 1, en: expected a text; got True"),
        (term(shun=["张昰"]), 'unknown key "shun"'),
        (term(avoid="张昰"), "avoid: expected a list"),
        (term(avoid=[]), "avoid: expected a list with at least one entry"),
        (term(avoid=["昰"]), "'昰' is not two or more Chinese characters"),
        (term(search=["tensor"]), "'tensor' is not two or more Chinese characters"),
        (term(search=["张量", "张量"]), "张量 stands twice"),
        (term(meaning={"en": "A `code.", "zh": "数组。"}), "a backtick is not closed"),
        ("tensor", "term 1: expected keys en, zh, meaning"),
        (term(avoid=["张量"]), 'contains 张量, which term "tensor" says to avoid'),
        (term(avoid=["多维"]), '"多维数组。" contains 多维'),
        (term(en="Broadcasting", zh="传播"), 'broadcasting already stands at term "Broadcasting"'),
        (term(zh="广播"), '广播 already stands at term "tensor"'),
        (term(en="broadcasting!", zh="传播"), "term-broadcasting already stands"),
    ],
)
def test_a_broken_entry_is_named(tmp_path: Path, entry: object, message: str) -> None:
    path = write(tmp_path, entry, other())
    with pytest.raises(DataError) as error:
        glossary.load(path)
    assert message in str(error.value)
    assert "glossary.yml" in str(error.value)


def test_an_edited_file_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, term())
    monkeypatch.setattr(glossary, "GLOSSARY", path)
    monkeypatch.setattr(glossary.load, "__defaults__", (path,))
    os.utime(path, ns=(1, 1))
    assert [entry.zh for entry in glossary.terms().terms] == ["张量"]
    write(tmp_path, other())
    os.utime(path, ns=(2, 2))
    assert [entry.zh for entry in glossary.terms().terms] == ["广播"]


def test_one_form_is_avoided_once(tmp_path: Path) -> None:
    with pytest.raises(DataError, match='张昰 is already avoided at "tensor"'):
        glossary.load(write(tmp_path, term(), other(avoid=["张昰"])))


def test_a_repeated_key_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "glossary.yml"
    path.write_text("terms:\n  - en: tensor\n    zh: 张量\n    zh: 张昰\n", "utf-8")
    with pytest.raises(DataError, match=r"glossary\.yml: line 4: the key 'zh' is given twice"):
        glossary.load(path)


def test_a_missing_file_and_broken_yaml_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.yml: there is no such file"):
        glossary.load(tmp_path / "none.yml")
    (tmp_path / "bad.yml").write_text("terms: [", "utf-8")
    with pytest.raises(DataError, match=r"bad\.yml: not valid YAML"):
        glossary.load(tmp_path / "bad.yml")


# ---------------------------------------------------------------------------- the search


@pytest.fixture(scope="module", autouse=True)
def _taught() -> None:
    glossary.teach_jieba()


def cut(text: str) -> list[str]:
    return [word for word in jieba.cut(text) if re.search(r"\w", word)]


SENTENCES = [
    "双线性插值用于图像缩放。",
    "最近邻插值最快，线性插值更平滑。",
    "数值稳定性是这一章的主题。",
    "这种写法的稳定性更好，数值不会溢出。",
    "不稳定性来自减法。",
    "广播机制把缺少的前置维度视为 1。",
    "上溢出与下溢都会让归约结果出错。",
    "按行归约求和，再对高维张量归约。",
    "叶子张量的梯度在反向传播时累积。",
    "原地操作会改写缓冲区。",
    "二元交叉熵损失函数接收未归一化分数。",
    "相对误差与绝对误差，舍入误差与截断误差。",
    "逐元素运算不改变形状。",
    "非连续内存的步幅与形状不对应。",
    "基准测试先预热，再取中位数和四分位数。",
    "批归一化与层归一化。",
    "多进程数据加载器的工作进程。",
]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("插值", {0, 1}),
        ("数值稳定性", {2, 3}),
        ("稳定性", {2, 3, 4}),
        ("广播", {5}),
        ("溢出", {3, 6}),
        ("归约", {6, 7}),
        ("张量", {7, 8}),
        ("梯度", {8}),
        ("原地操作", {9}),
        ("交叉熵", {10}),
        ("误差", {11}),
        ("绝对误差", {11}),
        ("双线性插值", {0}),
        ("形状", {12, 13}),
        ("连续内存", {13}),
        ("四分位数", {14}),
        ("归一化", {10, 15}),
        ("进程", {16}),
    ],
)
def test_words_are_found_inside_compounds(query: str, expected: set[int]) -> None:
    # A page is found where each word of the query begins one of its words.
    pages = [cut(sentence) for sentence in SENTENCES]
    found = {
        number
        for number, page in enumerate(pages)
        if all(any(word.startswith(asked) for word in page) for asked in cut(query))
    }
    assert found == expected, (cut(query), [pages[number] for number in found ^ expected])


def test_every_word_of_the_glossary_is_cut_out() -> None:
    terms = glossary.terms().terms
    cuts = {term.zh: cut(term.zh) for term in terms}
    assert [
        (term.zh, cuts[term.zh]) for term in terms if not {*term.words} <= {*cuts[term.zh]}
    ] == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("多维数组", ["多维", "数组"]),
        ("二维数组", ["二维", "数组"]),
        ("浮点数据", ["浮点", "数据"]),
        ("改变形状", ["改变", "形状"]),
        ("不同步骤", ["不同", "步骤"]),
        ("明显存在", ["明显", "存在"]),
        ("接收集合", ["接收", "集合"]),
        ("演进程度", ["演进", "程度"]),
        ("流水线程序", ["流水线", "程序"]),
        ("参数据此设定", ["参数", "据此", "设定"]),
        ("大小写", ["大小写"]),
    ],
)
def test_ordinary_words_stay_whole(text: str, words: list[str]) -> None:
    assert cut(text) == words


def test_teaching_again_changes_nothing() -> None:
    before = (jieba.dt.total, dict(jieba.dt.FREQ))
    glossary.teach_jieba()
    assert (jieba.dt.total, jieba.dt.FREQ) == before


def test_search_words_are_the_parts_of_terms(tmp_path: Path) -> None:
    loaded = glossary.load(
        write(
            tmp_path,
            term(en="bilinear interpolation", zh="双线性插值", search=["双线性", "插值"]),
            other(),
            words=["数组"],
        )
    )
    assert glossary.search_words(loaded) == ("双线性", "广播", "插值", "数组")


# ----------------------------------------------------------------------------- the check


def test_every_form_to_avoid_is_found_and_mended() -> None:
    for entry in glossary.terms().terms:
        for form in entry.avoid:
            assert (form, 2) in glossary.forbidden(f"这是{form}。")
            assert glossary.instead(form) == entry.zh


def test_forms_are_found_in_order_with_offsets() -> None:
    text = "就地操作与地板除，\n又是就地操作"
    assert glossary.forbidden(text) == [("就地操作", 0), ("地板除", 5), ("就地操作", 12)]
    with pytest.raises(KeyError):
        glossary.instead("原地操作")


def test_right_terms_and_chance_meetings_pass() -> None:
    text = "".join(entry.zh + entry.meaning.zh for entry in glossary.terms().terms)
    assert glossary.forbidden(text) == []
    for chance in (
        "该操作符合预期，可以逐点乘积。",
        "一批标准化的图像，一批尺寸不同的图像。",
        "除此之外形状不变，更快取得结果，随机率先完成。",
        "计算图形状，次正规数并非正规数，反常值得注意。",
        "把几个操作融合成一个，按元素个数求平均，常规约束。",
    ):
        assert glossary.forbidden(chance) == []


# ------------------------------------------------------------------------------ the page


def page(language: str) -> Any:
    parser = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False)
    return parser.parseFragment(glossary.page_html(language))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_page_is_valid_and_holds_every_term(language: str) -> None:
    root = page(language)
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    loaded = glossary.terms().terms
    assert {entry.id for entry in loaded} <= set(ids)
    links = {element.get("href") for element in root.iter("a")}
    assert links == {f"#{one}" for one in ids if one.startswith("letter-")}
    entries = {
        group.get("id"): ("".join(group.find("dt").itertext()), group.find("dd"))
        for group in root.iter("div")
    }
    for entry in loaded:
        name, meaning = entries[entry.id]
        names = [entry.en, entry.zh] if language == "en" else [entry.zh, entry.en]
        assert name == " ".join(names)
        said = "".join(meaning.itertext())
        assert said == entry.meaning.in_language(language).replace("`", "")


def test_the_other_language_is_marked() -> None:
    spans = {lang: {s.get("lang") for s in page(lang).iter("span")} for lang in ("en", "zh")}
    assert spans == {"en": {"zh-CN"}, "zh": {"en"}}


def test_both_pages_have_the_same_order_by_letter() -> None:
    orders = [[group.get("id") for group in page(lang).iter("div")] for lang in ("en", "zh")]
    assert orders[0] == orders[1]
    names = {entry.id: entry.en.lower() for entry in glossary.terms().terms}
    assert [names[one] for one in orders[0]] == sorted(names.values())


def test_texts_are_escaped_and_code_is_code() -> None:
    entry = glossary.Term("a < b", "小于", Text("It is `x<y` & more.", "即 `x<y`。"))
    made = glossary.page_html("en", glossary.Glossary((entry,)))
    assert "<dt>a &lt; b <span" in made
    assert "<dd>It is <code>x&lt;y</code> &amp; more.</dd>" in made
    assert 'id="term-a-b"' in made


def test_an_unknown_language_is_named() -> None:
    with pytest.raises(ValueError, match="'de'"):
        glossary.page_html("de")
