"""Peak memory beside time: measured, recorded, shown, and claimed."""

from __future__ import annotations

import dataclasses
import json
from functools import partial
from pathlib import Path

import pytest
import torch

from scripts import benchmark_texts, claims, directives, formats, measuring, records, timing_views
from scripts.benchmark_texts import BenchmarkTexts
from scripts.data_files import DataError
from scripts.measuring import Bench

NAME = "effective/broadcasting/add"
TEXTS = BenchmarkTexts(
    {
        "common": {"axes": {"elements": {"en": "elements", "zh": "元素个数"}}},
        NAME: {
            "title": {"en": "Adding", "zh": "相加"},
            "contenders": {"once": "one", "thrice": "3"},
        },
    },
    "benchmarks.yml",
)


def added_twice(x: torch.Tensor) -> torch.Tensor:
    return (x + x) + (x + x)


def measure(path: Path, memory: bool) -> records.Measured:
    """A record of two sizes: `thrice` holds three times what `once` does, `none` nothing."""
    source, function = records.benchmark_source(NAME)
    bench = Bench(NAME, source, function, "cpu", path)
    for case in bench.sweep(elements=[1000, 2000]):
        x = torch.ones(case["elements"])
        case.compare(
            {
                "once": partial(torch.add, x, x),
                "thrice": partial(added_twice, x),
                "none": partial(torch.Tensor.add_, x, x),
            },
            check=lambda name, result: None,
            memory=memory,
            missing={"triton": "needs a GPU"},
        )
    bench.save()
    (measured,) = records.load(path)
    return measured


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, Path]:
    patch = pytest.MonkeyPatch()
    patch.setattr(measuring, "CASE_SECONDS", 0.02)
    patch.setattr(measuring, "SAMPLE_SECONDS", 0.0001)
    patch.setattr(measuring, "BATCHES", 1)
    folder = tmp_path_factory.mktemp("timings")
    found = {memory: folder / f"m{int(memory)}.json" for memory in (True, False)}
    for memory, path in found.items():
        measure(path, memory)
    patch.undo()
    return found


@pytest.fixture
def measured(paths: dict[bool, Path]) -> records.Measured:
    return records.load(paths[True])[0]


def test_a_record_holds_the_bytes_of_each_contender(measured: records.Measured) -> None:
    small, large = measured.cases
    assert small.memory == {"once": 4000, "thrice": 12000, "none": 0}
    assert large.memory == {"once": 8000, "thrice": 24000, "none": 0}
    assert small.samples.keys() == small.memory.keys()


def test_a_record_without_memory_looks_as_before(paths: dict[bool, Path]) -> None:
    raw = json.loads(paths[False].read_text())
    for entry in raw["benchmarks"].values():
        assert all("memory" not in case for case in entry["cases"])
    (old,) = records.load(paths[False])
    assert old.cases[0].memory == {}
    assert old.cases[0].amount("once") is not None
    assert old.cases[0].amount("once", "memory") is None
    with pytest.raises(records.RecordError, match=rf"without memory: .*ONLY={NAME}"):
        old.ratio("thrice", "once", {"elements": 1000}, "memory")
    with pytest.raises(records.RecordError, match="without memory"):
        show(old, "memory")


def test_bytes_changed_by_hand_are_refused(paths: dict[bool, Path], tmp_path: Path) -> None:
    path = tmp_path / paths[True].name
    path.write_text(paths[True].read_text().replace("12000", "4001"))
    with pytest.raises(records.RecordError, match="changed by hand"):
        records.load(path)


def test_without_a_record_nothing_is_measured() -> None:
    source, function = records.benchmark_source(NAME)
    bench = Bench(NAME, source, function, "cpu", None)
    calls = []
    for case in bench.sweep(elements=[1000, 2000]):
        case.compare({"once": lambda: calls.append(1)}, check=lambda *_: None, memory=True)
        assert case.memory == {}
    assert calls == [1]


def test_ratios_of_memory(measured: records.Measured) -> None:
    where: records.Where = {"elements": 1000}
    ratio = measured.ratio("thrice", "once", where, "memory")
    assert ratio == records.Summary(3.0, 3.0, 3.0)
    assert measured.ratio("once", "none", where, "memory") is None  # no number says how much less
    assert measured.ratio("none", "once", where, "memory") == records.Summary(0.0, 0.0, 0.0)
    assert measured.ratio("once", "triton", where, "memory") is None
    time = measured.ratio("thrice", "once", where)
    assert time is not None
    assert time.median != 3.0
    with pytest.raises(records.RecordError, match="there is no 'bytes': write one of time, memory"):
        measured.ratio("thrice", "once", where, "bytes")


def show(measured: records.Measured, quantity: str, language: str = "en", **more: object) -> str:
    where: records.Where = {} if "x" in more else {"elements": 1000}
    return timing_views.timing_html(
        [measured],
        TEXTS,
        language,
        "d1",
        "../",
        x=more.get("x"),  # type: ignore[arg-type]
        where=where,
        baseline="thrice",
        contenders=None,
        quantity=quantity,
    )


@pytest.mark.parametrize("x", [None, "elements"])
@pytest.mark.parametrize(
    ("language", "label"), [("en", "peak memory of one call"), ("zh", "单次调用的峰值内存")]
)
def test_charts_and_tables_of_memory(
    measured: records.Measured, x: str | None, language: str, label: str
) -> None:
    html = show(measured, "memory", language, **({"x": x} if x else {}))
    assert f"Chart: Adding: {label}" in html or f"图：相加：{label}" in html
    assert "<b>4 kB</b><small>3.0×</small>" in html
    assert "<b>12 kB</b>" in html
    assert "<b>0 B</b>" in html
    assert " ms" not in html
    assert "≈" not in html
    assert "*" in html  # triton, with its reason below


def test_charts_of_time_stay_as_they_were(measured: records.Measured) -> None:
    html = show(measured, "time")
    assert "time per call" in html
    assert "kB" not in html
    assert " – " in html


def test_directives_take_the_quantity(
    paths: dict[bool, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "load_all", lambda _: records.load(paths[True]))
    monkeypatch.setattr(benchmark_texts, "load", lambda: TEXTS)
    page = directives.PageContext("en/effective/broadcasting.md", "../")
    call = f'"{NAME}", slow="thrice", fast="once", where={{"elements": 2000}}'
    assert ">3.0</span>" in directives.render(f'ratio({call}, quantity="memory")', page)
    with pytest.raises(directives.DirectiveError, match="at least 4"):
        directives.render(f'ratio({call}, quantity="memory", at_least=4)', page)
    with pytest.raises(directives.DirectiveError, match="there is no 'bytes'"):
        directives.render(f'ratio({call}, quantity="bytes")', page)
    chart = directives.render(f'timing("{NAME}", x="elements", quantity="memory")', page)
    assert "peak memory of one call" in chart


@pytest.mark.parametrize(
    ("bytes_", "text"),
    [(0, "0 B"), (12, "12 B"), (4000, "4 kB"), (201_326_592, "201 MB"), (1.5e9, "1.5 GB")],
)
def test_sizes_in_bytes(bytes_: float, text: str) -> None:
    assert formats.size_in_bytes(bytes_) == text


# ---------------------------------------------------------------- claims

CLAIM = """
E3.3-memory:
  point: E3.3
  stated: {en: "less memory", zh: "更省内存"}
  setting: {en: "none given", zh: "未给出"}
  ratio: null
  quantity: memory
  benchmark: effective/broadcasting/add
  where: {elements: 1000}
  slow: SLOW
  fast: FAST
"""


def claim(tmp_path: Path, text: str) -> claims.Claim:
    path = tmp_path / "claims.yml"
    path.write_text(text, encoding="utf-8")
    return claims.load(path)["E3.3-memory"]


@pytest.mark.parametrize(
    ("slow", "fast", "verdict", "ratio"),
    [("thrice", "once", "holds", "3.0×"), ("once", "thrice", "does not hold", "0.33×")],
)
def test_a_claim_without_a_figure(
    tmp_path: Path, measured: records.Measured, slow: str, fast: str, verdict: str, ratio: str
) -> None:
    found = claim(tmp_path, CLAIM.replace("SLOW", slow).replace("FAST", fast))
    assert (found.ratio, found.quantity) == (None, "memory")
    html = claims.claim_html(found, [measured], "en")
    assert f"<b>{ratio}</b></td>" in html
    assert verdict in html
    assert "笔记的说法" in claims.claim_html(found, [measured], "zh")


def test_a_claim_of_time_shows_quartiles_as_before(
    tmp_path: Path, measured: records.Measured
) -> None:
    text = CLAIM.replace("  quantity: memory\n", "").replace("null", "1.5")
    found = claim(tmp_path, text.replace("SLOW", "thrice").replace("FAST", "once"))
    assert (found.ratio, found.quantity) == (1.5, "time")
    assert "quartiles" in claims.claim_html(found, [measured], "en")
    assert "笔记给出的数字" in claims.claim_html(found, [measured], "zh")


@pytest.mark.parametrize(
    ("median", "first_quartile", "expected"),
    [
        (3.0, 2.0, "holds"),
        (1.01, 1.0, "holds"),
        (1.2, 0.99, "does not hold"),
        (1.0, 1.0, "does not hold"),
        (0.5, 0.4, "does not hold"),
    ],
)
def test_verdicts_without_a_stated_figure(
    median: float, first_quartile: float, expected: str
) -> None:
    assert claims.verdict(None, records.Summary(median, first_quartile, 9.0)) == expected


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"null": "1"}, "expected null or a gain above 1; got 1"),
        ({"null": "much"}, "expected null or a gain above 1"),
        ({"memory\n": "bytes\n"}, "expected one of .*'time', 'memory'.*; got 'bytes'"),
        ({"quantity": "quantities"}, "unknown key"),
    ],
)
def test_a_wrong_claim_is_refused(tmp_path: Path, wrong: dict[str, str], message: str) -> None:
    text = CLAIM
    for old, new in wrong.items():
        text = text.replace(old, new)
    with pytest.raises(DataError, match=message):
        claim(tmp_path, text)


def test_a_case_without_memory_can_be_made_as_before() -> None:
    names = [each.name for each in dataclasses.fields(records.Case)]
    assert names[:4] == ["where", "samples", "missing", "steady"]
    case = records.Case({"rows": 1}, {"a": [1.0]}, {}, True)
    assert case.memory == {}
