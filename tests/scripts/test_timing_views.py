from __future__ import annotations

import itertools
import re
from typing import Any

import html5lib
import pytest

from scripts import records, timing_views
from scripts.benchmark_texts import BenchmarkTexts
from scripts.records import RecordError
from tests.projects import ENVIRONMENT, Project

NAME = "part/chapter/idea"
TEXTS = BenchmarkTexts(
    {
        "common": {"axes": {"rows": {"en": "rows", "zh": "行数"}}},
        NAME: {
            "title": {"en": "an idea", "zh": "想法"},
            "axes": {"kind": {"en": "kind", "zh": "类别"}},
            "contenders": {"loop": {"en": "loop <i>", "zh": "循环 <i>"}},
        },
    },
    "benchmarks.yml",
)
GPU = {**ENVIRONMENT, "gpu": "Test GPU", "driver": "1.2", "cuda": "13.0"}
MISSING = {"jit": {"reason": "needs a GPU"}}


def case(rows: object, steady: bool = True, **samples: list[float]) -> dict[str, Any]:
    missing: dict[str, Any] = dict(MISSING)
    if "loop" not in samples:
        missing["loop"] = {"reason": "too slow", "axis": "rows", "size": 20000, "seconds": 1.5}
    return {"where": {"rows": rows}, "steady": steady, "samples": samples, "missing": missing}


def view(
    project: Project,
    cases: list[dict[str, Any]],
    language: str = "en",
    x: str | None = "rows",
    where: dict[str, object] | None = None,
    baseline: str | None = None,
    contenders: list[str] | None = None,
) -> str:
    project.record(cases)
    return timing_views.timing_html(
        records.load_all(project.timings),
        TEXTS, language, "d1", "../", x, where or {}, baseline, contenders,
    )  # fmt: skip


SWEEP = [
    case(10, loop=[3e-3, 4e-3, 5e-3], sum=[1e-3, 1e-3, 1e-3]),
    case(20000, steady=False, loop=[1.0, 1.5, 2.0], sum=[1e-3, 1e-3, 1e-3]),
    case(50000, sum=[2e-3, 2e-3, 2e-3]),
]


def rows(html: str) -> list[list[str]]:
    """The text of the table's cells, with `|` between their parts."""
    document = html5lib.parseFragment(html, namespaceHTMLElements=False)
    return [
        ["|".join(filter(None, cell.itertext())) for cell in row]
        for row in document.find(".//table").iter("tr")
    ]


def test_the_table_holds_the_figures(project: Project) -> None:
    html = view(project, SWEEP)
    assert rows(html) == [
        ["rows", "loop <i>", "sum", "jit"],
        ["10", "4 ms|3.5 ms – 4.5 ms|baseline", "1 ms|1 ms – 1 ms|4.0×", "not measured*"],
        ["≈ 20,000", "1.5 s|1.25 s – 1.75 s|baseline", "1 ms|1 ms – 1 ms|1,500×", "not measured*"],
        ["50,000", "not measured**", "2 ms|2 ms – 2 ms", "not measured*"],
    ]
    assert "* needs a GPU<br>** left out as too slow: at 20,000 one call already took 1.5 s" in html
    assert "≈ marks a size" in html
    assert "speed against loop &lt;i&gt;" in html


def test_the_page_decides_what_is_shown(project: Project) -> None:
    html = view(project, SWEEP, "zh", baseline="sum", contenders=["sum", "loop"])
    assert rows(html)[:2] == [
        ["行数", "sum", "循环 <i>"],
        ["10", "1 ms|1 ms – 1 ms|基线", "4 ms|3.5 ms – 4.5 ms|0.25×"],
    ]
    assert "速度是 sum 的几倍" in html
    assert "needs a GPU" not in html
    assert "过慢，未测：规模为 20,000 时单次调用已需 1.5 s" in html


def test_steady_sizes_are_not_marked(project: Project) -> None:
    assert "≈" not in view(project, SWEEP[:1])


def test_the_chart_names_what_it_shows(project: Project) -> None:
    for language, label, axis in (("en", "Chart: an idea.", "rows"), ("zh", "图：想法。", "行数")):
        html = view(project, SWEEP, language)
        assert len(re.findall(f'<svg [^>]*role="img" aria-label="{label}', html)) == 2
        chart = html[: html.index("</figure>")]
        for text in (axis, "50k", "sum"):
            assert f">{text}</text>" in chart
        assert chart.count('id="d1-1-chart-wide-') > 0


@pytest.mark.parametrize(
    ("cases", "x"),
    [
        (SWEEP[:1], None),
        (SWEEP[:1], "rows"),
        ([case("a", loop=[1.0], sum=[2.0]), case("b", loop=[1.0], sum=[2.0])], "rows"),
        ([case(0, loop=[1.0], sum=[2.0]), case(1, loop=[1.0], sum=[2.0])], "rows"),
        ([case(1, sum=[2.0]), case(2, sum=[2.0])], "rows"),
        ([case(1)], "rows"),
    ],
)
def test_every_kind_of_chart_is_valid(
    project: Project, cases: list[dict[str, Any]], x: str | None
) -> None:
    where = None if x else {"rows": cases[0]["where"]["rows"]}
    html = view(project, cases, x=x, where=where)
    html5lib.HTMLParser(strict=True).parseFragment(html)
    assert html.count("<svg ") == 2


@pytest.mark.parametrize("values", [[0, 1, 2], ["a", "b"]])
def test_every_value_has_its_place(project: Project, values: list[object]) -> None:
    html = view(project, [case(value, loop=[1.0], sum=[2.0]) for value in values])
    chart = html[: html.index('<div class="chart chart-narrow">')]
    places = [re.search(rf' x="([\d.]+)" [^>]*>{value}</text>', chart) for value in values]
    assert all(places)
    numbers = [float(place[1]) for place in places if place]
    assert numbers == sorted(set(numbers))
    gaps = [b - a for a, b in itertools.pairwise(numbers)]
    assert gaps == pytest.approx([gaps[0]] * len(gaps), rel=1e-3)


def test_a_tab_for_each_machine(project: Project) -> None:
    project.record(SWEEP, machine="gpu", device="cuda", environment=GPU)
    html = view(project, SWEEP)
    labels = re.findall(r"<label for=\"(d1-tab-\d)\">(.*?)</label>", html)
    assert labels == [("d1-tab-1", "Test CPU, 4 cores"), ("d1-tab-2", "Test GPU")]
    assert html.count('class="tabbed-block"') == 2
    assert html.count(" checked>") == 1
    assert len(re.findall(r' id="([^"]+)"', html)) == len(set(re.findall(r' id="([^"]+)"', html)))


def test_figures_say_where_they_come_from(project: Project) -> None:
    project.record(SWEEP, machine="gpu", device="cuda", environment=GPU)
    html = view(project, SWEEP)
    assert (
        '<p class="provenance" data-search-exclude>Test CPU · 1 of 4 cores · torch 2.0.0 · '
        "Python 3.11.0 · Test OS 1 · measured 2026-01-02 · "
        '<a href="../timings/box.json">raw record</a> · '
        '<a href="../benchmarks/part/test_chapter.py">benchmark code</a></p>'
    ) in html
    assert "Test GPU · Test CPU · 1 of 4 cores · torch 2.0.0 · CUDA 13.0, driver 1.2 · " in html


def test_reasons_need_both_languages(project: Project) -> None:
    cases = [case(1, loop=[1.0], sum=[1.0])]
    cases[0]["missing"] = {"jit": {"reason": "needs luck"}}
    with pytest.raises(LookupError, match=r"scripts/texts\.py: add 'needs luck' in both languages"):
        view(project, cases)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"baseline": "sums"}, "no contender 'sums': it has loop, sum, jit"),
        ({"contenders": ["sum", "x"]}, "no contender 'x'"),
        ({"x": "row"}, "no axis 'row'"),
    ],
)
def test_names_that_are_wrong(project: Project, more: dict[str, Any], message: str) -> None:
    with pytest.raises(RecordError, match=message):
        view(project, SWEEP, **more)
