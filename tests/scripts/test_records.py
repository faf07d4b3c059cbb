from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts import records
from scripts.code_hash import code_parts
from scripts.records import RecordError, Summary
from tests.projects import ENVIRONMENT, Project

CASES: list[dict[str, Any]] = [
    {
        "where": {"rows": rows, "kind": kind},
        "samples": {"slow": [4.0 * rows, 6.0 * rows, 5.0 * rows], "fast": [2.0, 1.0, 2.0]},
    }
    for rows in (1, 10)
    for kind in ("a", "b")
]


@given(st.lists(st.floats(1e-9, 1e9), min_size=1, max_size=50))
def test_summaries_are_numpys(samples: list[float]) -> None:
    summary = Summary.of(samples)
    numpy.testing.assert_allclose(
        [summary.first_quartile, summary.median, summary.third_quartile],
        numpy.percentile(samples, [25, 50, 75]),
        rtol=1e-12,
    )


def test_ratios_are_taken_round_by_round(project: Project) -> None:
    (measured,) = records.load(project.record(CASES))
    summary = measured.ratio("slow", "fast", {"rows": 1, "kind": "a"})
    assert summary == Summary.of([4 / 2, 6 / 1, 5 / 2])
    assert summary.median == 2.5 != 5.0 / 2.0 + 1


def test_a_contender_that_was_left_out_has_no_figures(project: Project) -> None:
    case = {"where": {"n": 1}, "samples": {"a": [1.0]}, "missing": {"b": {"reason": "needs a GPU"}}}
    (measured,) = records.load(project.record([case]))
    assert measured.contenders == ["a", "b"]
    assert measured.ratio("a", "b", {"n": 1}) is None
    assert measured.cases[0].amount("b") is None
    assert measured.cases[0].amount("a") == Summary(1.0, 1.0, 1.0)


def test_cases_are_found(project: Project) -> None:
    (measured,) = records.load(project.record(CASES))
    assert [case.where["rows"] for case in measured.find({"kind": "a"}, x="rows")] == [1, 10]
    assert len(measured.find({"kind": "a", "rows": 10})) == 1


@pytest.mark.parametrize(
    ("where", "x", "message"),
    [
        ({"row": 1, "kind": "a"}, None, "has no axis 'row': its axes are rows, kind"),
        ({"rows": 1, "kind": "a"}, "row", "has no axis 'row': its axes are rows, kind"),
        ({"rows": 1}, None, "`where` leaves kind open: name a value for each"),
        ({}, "rows", "`where` leaves kind open"),
        ({"rows": 1, "kind": "a"}, "rows", "x='rows' is swept, so leave it out of `where`"),
        (
            {"rows": 2, "kind": "a"},
            None,
            "was not measured at {'rows': 2, 'kind': 'a'}; "
            "there are {'rows': [1, 10], 'kind': ['a', 'b']}",
        ),
    ],
)
def test_cases_that_are_not_there(
    project: Project, where: dict[str, object], x: str | None, message: str
) -> None:
    (measured,) = records.load(project.record(CASES))
    with pytest.raises(RecordError) as caught:
        measured.find(where, x)
    assert str(caught.value).startswith("part/chapter/idea")
    assert message in str(caught.value)


def test_unknown_contenders_are_named(project: Project) -> None:
    (measured,) = records.load(project.record(CASES))
    with pytest.raises(RecordError, match="no contender 'slwo': it has slow, fast"):
        measured.ratio("slwo", "fast", {"rows": 1, "kind": "a"})


def edited(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    record = json.loads(path.read_text(encoding="utf-8"))
    change(record)
    path.write_text(json.dumps(record), encoding="utf-8")


def entry(record: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = record["benchmarks"]["part/chapter/idea"]
    return found


def rename(record: dict[str, Any]) -> None:
    record["benchmarks"] = {"part/chapter/other": entry(record)}


@pytest.mark.parametrize(
    "change",
    [
        lambda r: entry(r)["cases"][0]["samples"]["fast"].__setitem__(0, 2.1),
        lambda r: entry(r)["cases"][0]["where"].update(rows=2),
        lambda r: entry(r)["cases"].pop(),
        lambda r: entry(r)["code"].update({"x": "y"}),
        lambda r: entry(r).update(device="cuda"),
        lambda r: entry(r).update(environment="0"),
        lambda r: entry(r).pop("checksum"),
        lambda r: next(iter(r["environments"].values())).update(cpu="Faster CPU"),
        rename,
    ],
)
def test_an_edited_record_is_refused(
    project: Project, change: Callable[[dict[str, Any]], object]
) -> None:
    path = project.record(CASES)
    edited(path, change)
    with pytest.raises(RecordError, match=r"^docs/timings/box\.json: part/chapter/\w+ was changed"):
        records.load(path)


def test_formatting_a_record_is_no_edit(project: Project) -> None:
    path = project.record(CASES)
    edited(path, lambda record: None)
    records.load(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"format": 1,\n"mach', r"box\.json:2: not JSON .*Restore the file from git, or delete"),
        ("", r"box\.json:1: not JSON"),
        ("[]", r"box\.json: format 'list', expected 1\. Restore"),
        ('{"format": 0}', r"box\.json: format 0, expected 1\. Restore"),
        ('{"benchmarks": {}}', r"box\.json: format None, expected 1\."),
        ('{"format": 1, "machine": "box"}', r"box\.json: its keys are format, machine\. Restore"),
    ],
)
def test_a_broken_record_is_refused(project: Project, content: str, message: str) -> None:
    project.write("docs/timings/box.json", content)
    with pytest.raises(RecordError, match=message):
        records.load_all(project.timings)


def test_a_renamed_record_is_refused(project: Project) -> None:
    path = project.record(CASES)
    other = path.rename(path.with_name("other.json"))
    with pytest.raises(RecordError, match=r"other\.json: this is the record of box"):
        records.load(other)


def test_entries_are_added_and_replaced(project: Project) -> None:
    path = project.record(CASES)
    project.record(CASES[:1], "part/chapter/second", environment={**ENVIRONMENT, "threads": 2})
    project.record(CASES[:2], device="cuda")
    found = {(each.name, each.device): each for each in records.load(path)}
    assert [len(each.cases) for each in found.values()] == [4, 2, 1]
    assert found["part/chapter/second", "cpu"].environment["threads"] == 2
    project.record(CASES[:3], "part/chapter/second")
    record = records.read(path)
    assert list(record["environments"].values()) == [ENVIRONMENT]
    assert records.read(path)["machine"] == "box"


def test_writing_is_all_or_nothing(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    path = project.record(CASES)
    before = path.read_bytes()

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        project.record(CASES[:1])
    assert path.read_bytes() == before
    assert list(project.timings.iterdir()) == [path]


def test_lists_of_samples_take_a_line(project: Project) -> None:
    text = project.record(CASES).read_text(encoding="utf-8")
    assert '"fast": [2.0, 1.0, 2.0]\n' in text
    assert '"contenders": ["slow", "fast"],\n' in text
    assert text.endswith("}\n")


def test_a_record_is_read_again_when_it_changes(project: Project) -> None:
    path = project.record(CASES)
    assert len(records.load(path)[0].cases) == 4
    project.record(CASES[:1])
    assert len(records.load(path)[0].cases) == 1


def test_machines_are_in_order(project: Project) -> None:
    project.record(CASES, machine="b")
    project.record(CASES, machine="a", device="cuda")
    project.record(CASES, machine="c")
    project.record(CASES, machine="a", name="part/chapter/other")
    measured = records.load_all(project.timings)
    assert [(each.device, each.machine) for each in measured] == [
        ("cpu", "a"), ("cpu", "b"), ("cpu", "c"), ("cuda", "a"),
    ]  # fmt: skip
    of_idea = records.of_benchmark(measured, "part/chapter/idea")
    assert [each.machine for each in of_idea] == ["b", "c", "a"]
    assert [
        each.machine for each in records.of_benchmark(measured, "part/chapter/idea", "cuda")
    ] == ["a"]
    assert records.of_benchmark(measured, "part/chapter/other", "cuda") == []


def test_unknown_benchmarks_and_devices(project: Project) -> None:
    project.record(CASES)
    measured = records.load_all(project.timings)
    with pytest.raises(
        RecordError,
        match=r"'part/chapter/ide' \(known: part/chapter/idea\).*make bench ONLY=part/ch",
    ):
        records.of_benchmark(measured, "part/chapter/ide")
    with pytest.raises(RecordError, match="no device 'gpu': write one of cpu, cuda"):
        records.of_benchmark(measured, "part/chapter/idea", "gpu")


SNIPPET = "def idea(x):\n    return x + 1\n"
BENCHMARK = "from snippets.part.chapter import idea\n\n\ndef test_idea(bench):\n    idea.idea(1)\n"


@pytest.fixture
def measured(project: Project) -> records.Measured:
    """A benchmark whose record is up to date."""
    project.snippet(SNIPPET)
    path = project.write("tests/benchmarks/part/test_chapter.py", BENCHMARK)
    (measured,) = records.load(project.record(CASES, code=code_parts(path, "test_idea")))
    assert records.staleness(measured) is None
    return measured


def test_a_record_gets_stale(project: Project, measured: records.Measured) -> None:
    project.snippet(SNIPPET.replace("x + 1", "1 + x"))
    assert records.staleness(measured) == (
        "docs/timings/box.json: part/chapter/idea is out of date, since these changed: "
        "snippets/part/chapter/idea.py::idea. Measure again: make bench ONLY=part/chapter/idea"
    )
    project.snippet(SNIPPET.replace("(x):", "(x):\n    # new\n    'Doc.'\n") + "\ny = 1\n")
    assert records.staleness(measured) is None


@pytest.mark.parametrize("change", ["rename", "delete"])
def test_a_benchmark_that_is_gone(
    project: Project, measured: records.Measured, change: str
) -> None:
    path = project.root / "tests/benchmarks/part/test_chapter.py"
    if change == "rename":
        path.write_text(BENCHMARK.replace("test_idea", "test_other"))
    else:
        path.unlink()
    assert records.staleness(measured) == (
        "docs/timings/box.json: part/chapter/idea was measured, but "
        "tests/benchmarks/part/test_chapter.py has no `test_idea` any more. "
        "Delete the entry: python -m scripts.build forget part/chapter/idea"
    )


def test_code_that_cannot_be_followed(project: Project, measured: records.Measured) -> None:
    project.write("tests/benchmarks/part/test_chapter.py", f"from . import x\n{BENCHMARK}")
    message = records.staleness(measured)
    assert message
    assert message.startswith("tests/benchmarks/part/test_chapter.py:1: import by full name")
