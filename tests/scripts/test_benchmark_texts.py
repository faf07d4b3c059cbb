from __future__ import annotations

import pytest

from scripts import benchmark_texts
from scripts.benchmark_texts import BenchmarkTexts
from scripts.data_files import DataError
from scripts.texts import MissingText
from tests.projects import Project

TEXTS = """
common:
  axes:
    rows: {en: rows, zh: 行数}
    width: {en: width, zh: 宽度}
  contenders:
    floor: {en: floor, zh: 下限}
part/chapter/idea:
  title: {en: an idea, zh: 想法}
  axes:
    rows: {en: rows of x, zh: x 的行数}
  contenders:
    sum: x.sum()
    loop: {en: loop}
  values:
    forward: {en: forward, zh: 前向}
"""


@pytest.fixture
def texts(project: Project) -> BenchmarkTexts:
    return benchmark_texts.load(project.write("docs/data/benchmarks.yml", TEXTS))


def test_texts(texts: BenchmarkTexts) -> None:
    name = "part/chapter/idea"
    assert texts.names() == [name]
    assert texts.title(name, "zh") == "想法"
    assert texts.axis(name, "rows", "en") == "rows of x"
    assert texts.axis(name, "width", "zh") == "宽度"
    assert texts.axis("part/chapter/other", "rows", "zh") == "行数"
    assert texts.contender(name, "floor", "zh") == "下限"
    assert texts.contender(name, "sum", "zh") == "x.sum()"
    assert texts.contender(name, "matmul", "zh") == "matmul"
    assert texts.value(name, "direction", "forward", "zh") == "前向"
    assert texts.value(name, "rows", 50000, "zh") == "50,000"


def test_what_is_missing_is_named(texts: BenchmarkTexts) -> None:
    with pytest.raises(LookupError, match=r"benchmarks\.yml: add a `title` for part/chapter/other"):
        texts.title("part/chapter/other", "en")
    with pytest.raises(LookupError, match=r"benchmarks\.yml: add the axis 'depth'"):
        texts.axis("part/chapter/idea", "depth", "en")
    with pytest.raises(MissingText, match=r"benchmarks\.yml: loop of part/chapter/idea .* 'zh'"):
        texts.contender("part/chapter/idea", "loop", "zh")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- a", "docs/data/benchmarks.yml: expected benchmarks by name"),
        ("a/b/c: {axes: {}}", 'docs/data/benchmarks.yml, a/b/c: "title" is missing'),
        ("a/b/c: {title: x, contender: {}}", 'a/b/c: unknown key "contender"'),
    ],
)
def test_files_that_are_refused(project: Project, text: str, message: str) -> None:
    with pytest.raises(DataError) as caught:
        benchmark_texts.load(project.write("docs/data/benchmarks.yml", text))
    assert message in str(caught.value)
