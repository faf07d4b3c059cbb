from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from scripts import measuring, records
from scripts.measuring import Bench, Case
from tests.projects import Project


@pytest.fixture
def make(project: Project) -> Callable[..., Bench]:
    """Makes a bench of the project's one benchmark."""
    source = project.write("tests/benchmarks/part/test_chapter.py", "def test_idea(bench): ...\n")

    def made(record: bool = True) -> Bench:
        path = project.timings / "box.json" if record else None
        return Bench("part/chapter/idea", source, "test_idea", "cpu", path)

    return made


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Every sample that is taken: its contender's name and how often that was called.

    Contenders are callables with `name` and `seconds`, which the sample is said to last;
    where `seconds` is an iterator, it gives a value for each sample.
    """
    taken: list[tuple[str, int]] = []

    def sample(contender: Any, repeat: int) -> float:
        taken.append((contender.name, repeat))
        seconds = contender.seconds
        return float(next(seconds) if hasattr(seconds, "__next__") else seconds)

    monkeypatch.setattr(measuring, "_sample", sample)
    return taken


class Takes:
    """A contender that is said to take so long."""

    def __init__(self, name: str, seconds: float | Iterator[float]) -> None:
        self.name = name
        self.seconds = seconds
        self.calls = 0

    def __call__(self) -> int:
        self.calls += 1
        return 1


def one() -> int:
    return 1


def compared(case: Case, *contenders: Takes) -> Case:
    case.compare({each.name: each for each in contenders}, reference=one)
    return case


def test_a_sweep_covers_all_combinations(make: Callable[..., Bench]) -> None:
    bench = make()
    found = []
    for case in bench.sweep(kind=["a", "b"], n=[1, 10]):
        found.append((case["kind"], case["n"]))
        case.compared = True
    assert found == [("a", 1), ("a", 10), ("b", 1), ("b", 10)]


def test_checking_takes_the_smallest_sizes_only(make: Callable[..., Bench]) -> None:
    bench = make(record=False)
    found = []
    for case in bench.sweep(kind=["a", "b"], n=[1, 10], fused=[True, False]):
        found.append(tuple(case.where.values()))
        contender = Takes("x", 1.0)
        compared(case, contender)
        assert contender.calls == 1
        assert case.samples == {}
    assert found == [(k, 1, f) for k in "ab" for f in (True, False)]
    bench.save()


@pytest.mark.parametrize("values", [[], [torch.float32], [(1, 2)], [None]])
def test_axes_hold_what_a_record_can(make: Callable[..., Bench], values: list[object]) -> None:
    with pytest.raises(TypeError, match="part/chapter/idea: give kind a list of texts and numbers"):
        next(make().sweep(n=[1], kind=values))


def test_sweeps_have_the_same_axes(make: Callable[..., Bench], clock: object) -> None:
    bench = make()
    for case in bench.sweep(n=[1]):
        compared(case, Takes("x", 1.0))
    with pytest.raises(ValueError, match="every sweep must have the same axes"):
        next(bench.sweep(n=[1], m=[1]))


def test_a_case_is_compared_once(make: Callable[..., Bench], clock: object) -> None:
    with pytest.raises(RuntimeError, match=r"the case \{'n': 1\} was never compared"):
        for _ in make().sweep(n=[1]):
            pass
    case = compared(next(make().sweep(n=[1])), Takes("x", 1.0))
    with pytest.raises(RuntimeError, match="once a case"):
        compared(case, Takes("x", 1.0))


@pytest.mark.parametrize("record", [False, True])
def test_a_benchmark_compares_something(make: Callable[..., Bench], record: bool) -> None:
    with pytest.raises(RuntimeError, match="part/chapter/idea compared nothing: loop over bench"):
        make(record).save()


X = torch.tensor([1.0, 2.0])


@pytest.mark.parametrize(
    "wrong",
    [
        X + 1e-3,
        X[:1],
        X.view(1, 2),
        torch.tensor([1, 2]),
        X.to(torch.complex64),
        torch.tensor([1.0, float("nan")]),
        [1.0, 2.0],
        None,
    ],
)
@pytest.mark.parametrize("record", [False, True])
def test_a_wrong_contender_is_named(make: Callable[..., Bench], wrong: Any, record: bool) -> None:
    case = next(make(record).sweep(n=[1]))
    contenders = {"first": lambda: X, "second": lambda: wrong}
    with pytest.raises(
        AssertionError, match=r"^part/chapter/idea \{'n': 1\}: second does not agree with the ref"
    ):
        case.compare(contenders, reference=X.double)


@pytest.mark.parametrize(
    ("result", "reference"),
    [
        (X, X.double()),
        (X.half(), X.double()),
        (X.clone().requires_grad_(), X.double()),
        (torch.tensor([1 + 2j]), torch.tensor([1 + 2j], dtype=torch.complex128)),
        (torch.tensor([1, 2]), torch.tensor([1, 2])),
        (torch.tensor([float("nan")]), torch.tensor([float("nan")])),
        ((X, [X]), (X.double(), [X.double()])),
        (True, True),
    ],
)
def test_right_contenders_pass(make: Callable[..., Bench], result: Any, reference: Any) -> None:
    for case in make(record=False).sweep(n=[1]):
        case.compare({"x": lambda: result}, reference=lambda: reference)


def test_a_check_of_its_own_names_the_contender(make: Callable[..., Bench]) -> None:
    def check(name: str, result: int) -> None:
        assert result == 1, "not one"

    case = next(make(record=False).sweep(n=[1]))
    with pytest.raises(AssertionError, match=r"part/chapter/idea \{'n': 1\}: second: not one"):
        case.compare({"first": one, "second": lambda: 2}, check=check)


def test_results_must_be_checked(make: Callable[..., Bench]) -> None:
    case = next(make(record=False).sweep(n=[1]))
    with pytest.raises(TypeError, match=r"compare\(\) needs a reference or a check"):
        case.compare({"x": one})


def test_contenders_take_turns(make: Callable[..., Bench], clock: list[tuple[str, int]]) -> None:
    for case in make().sweep(n=[1]):
        compared(case, Takes("a", 0.1), Takes("b", 0.1), Takes("c", 0.1))
        assert {len(samples) for samples in case.samples.values()} == {8}  # 0.8 s at 0.1 s a call
    rounds = [tuple(name for name, _ in clock[i : i + 3]) for i in range(3, len(clock), 3)]
    assert all(sorted(each) == ["a", "b", "c"] for each in rounds)
    assert len(set(rounds)) > 1


@pytest.mark.parametrize(
    ("seconds", "repeat", "rounds"),
    [(1e-12, 100_000, 25), (1e-5, 1000, 25), (0.004, 3, 25), (0.05, 1, 16), (1.0, 1, 7)],
)
def test_short_calls_are_repeated(
    make: Callable[..., Bench],
    clock: list[tuple[str, int]],
    seconds: float,
    repeat: int,
    rounds: int,
) -> None:
    for case in make().sweep(n=[1]):
        compared(case, Takes("x", seconds))
        assert case.steady
        assert [times for _, times in clock[-rounds:]] == [repeat] * rounds
        assert max(times for _, times in clock) <= 100_000
        assert len(case.samples["x"]) == rounds


def test_scattered_rounds_are_run_again_and_marked(
    make: Callable[..., Bench], clock: object
) -> None:
    restless = iter([0.1, *[0.1, 0.2] * 100])
    for case in make().sweep(n=[1]):
        compared(case, Takes("a", 0.1), Takes("b", restless))
        assert not case.steady
        assert len(case.samples["b"]) == 3 * 8
        assert len(case.samples["a"]) == 3 * 8
        assert case.as_json()["steady"] is False


def test_a_case_does_not_go_on_for_ever(
    make: Callable[..., Bench], clock: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measuring, "LONGEST_CASE_SECONDS", -1)
    case = next(make().sweep(n=[1]))
    compared(case, Takes("a", 0.1), Takes("b", iter([0.1, *[0.1, 0.2] * 100])))
    assert len(case.samples["a"]) == 8
    assert not case.steady


def test_rounds_that_settle_are_steady(make: Callable[..., Bench], clock: object) -> None:
    settling = iter([0.1, *[0.1, 0.2] * 4, *[0.1] * 100])
    for case in make().sweep(n=[1]):
        compared(case, Takes("a", 0.1), Takes("b", settling))
        assert case.steady
        assert 8 < len(case.samples["b"]) <= 3 * 8


def test_what_disturbs_a_whole_round_does_not_scatter_ratios(
    make: Callable[..., Bench], clock: object
) -> None:
    noise = [0.1 * (1 + n % 5) for n in range(100)]
    for case in make().sweep(n=[1]):
        compared(case, Takes("a", iter([0.1, *noise])), Takes("b", iter([0.1, *noise])))
        assert case.steady


def test_slow_contenders_are_left_out(make: Callable[..., Bench], clock: object) -> None:
    bench = make()
    calls = []
    for case in bench.sweep(kind=["a"], n=[1, 10, 100, 1000]):
        slow = Takes("slow", 0.01 * case["n"])
        compared(case, Takes("fast", 0.001), slow)
        calls.append(slow.calls)
    assert calls == [1, 1, 1, 0]  # 100 → 1 s, so 1000 would take 10 s
    last = bench.cases[-1]
    assert last.missing == {
        "slow": {"reason": "too slow", "axis": "n", "size": 100, "seconds": 1.0}
    }
    assert list(last.samples) == ["fast"]
    assert last.contenders == ["fast", "slow"]


def test_growth_faster_than_the_size_is_foreseen(make: Callable[..., Bench], clock: object) -> None:
    bench = make()
    for case in bench.sweep(n=[1, 10, 100]):
        compared(case, Takes("square", 0.001 * case["n"] ** 2))
    assert [list(case.samples) for case in bench.cases] == [["square"], ["square"], []]


def test_what_was_left_out_stays_out_on_every_axis(
    make: Callable[..., Bench], clock: object
) -> None:
    bench = make()
    for case in bench.sweep(width=[1, 10], rows=[1, 1000, 2000]):
        compared(case, Takes("x", 0.1 * case["rows"] * case["width"]))
    assert [bool(case.samples) for case in bench.cases] == [True, False, False, True, False, False]
    assert bench.cases[2].missing["x"]["size"] == 1
    assert bench.cases[5].missing["x"]["reason"] == "too slow"


def test_what_was_too_slow_on_one_axis_is_not_tried_on_another(
    make: Callable[..., Bench], clock: object
) -> None:
    bench = make()
    for case in bench.sweep(width=[1, 10], rows=[1, 1000]):
        compared(case, Takes("x", case["rows"] * (0.1 if case["width"] == 1 else 1e-4)))
    assert [bool(case.samples) for case in bench.cases] == [True, False, True, False]


def test_an_axis_that_costs_nothing_leaves_nothing_out(
    make: Callable[..., Bench], clock: object
) -> None:
    bench = make()
    for case in bench.sweep(width=[1, 100], rows=[1, 1000]):
        compared(case, Takes("x", 0.001 * case["rows"]))
    assert all(case.samples for case in bench.cases)


def test_the_nearest_size_is_projected(make: Callable[..., Bench], clock: object) -> None:
    bench = make()
    for case in bench.sweep(n=[10, 1, 1000]):
        compared(case, Takes("x", 0.01 * case["n"]))
    assert bench.cases[-1].missing["x"]["size"] == 10


def test_only_sizes_are_projected(make: Callable[..., Bench], clock: object) -> None:
    bench = make()
    for case in bench.sweep(dim=[0, 1], fused=[False, True], kind=["a", "b"]):
        compared(case, Takes("x", 100.0))
    assert all(case.samples for case in bench.cases)


def test_contenders_that_cannot_run_here(make: Callable[..., Bench], clock: object) -> None:
    bench = make()
    for case in bench.sweep(n=[1, 10]):
        if case["n"] == 1:
            case.compare({"a": Takes("a", 0.1)}, reference=one, missing={"b": "needs a GPU"})
            assert case.missing == {"b": {"reason": "needs a GPU"}}
        else:
            compared(case, Takes("a", 0.1), Takes("b", 0.1))
    assert "b" in bench.cases[1].samples
    bench.save()
    assert bench.record
    (measured,) = records.load(bench.record)
    assert measured.contenders == ["a", "b"]


def test_a_record_holds_what_was_measured(make: Callable[..., Bench], clock: object) -> None:
    bench = make()
    for case in bench.sweep(n=[1, 2]):
        compared(case, Takes("a", 0.2), Takes("b", 0.1))
    bench.save()
    assert bench.record
    raw = json.loads(bench.record.read_text(encoding="utf-8"))
    case_ = raw["benchmarks"]["part/chapter/idea"]["cases"][1]
    assert case_["where"] == {"n": 2}
    assert case_["samples"] == {"a": [0.2] * 7, "b": [0.1] * 7}
    assert case_["quartiles"]["a"] == [0.2, 0.2, 0.2]
    assert case_["ratios"] == {"a/b": [2.0] * 7}
    (measured,) = records.load(bench.record)
    assert list(measured.code) == ["tests/benchmarks/part/test_chapter.py::test_idea"]
    assert records.staleness(measured) is None


def test_code_must_not_change_while_it_is_measured(
    project: Project, make: Callable[..., Bench], clock: object
) -> None:
    bench = make()
    for case in bench.sweep(n=[1]):
        compared(case, Takes("a", 0.2))
    project.write("tests/benchmarks/part/test_chapter.py", "def test_idea(bench): return 1\n")
    with pytest.raises(RuntimeError, match="was edited while it was measured; run again"):
        bench.save()
    assert not list(project.timings.iterdir())


def test_samples_are_seconds_per_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.utils.benchmark.utils.timer.timer", iter([7.0, 57.0]).__next__)
    calls = []
    assert measuring._sample(lambda: calls.append(1), 50) == 1.0
    assert len(calls) == 50


def test_the_environment_is_complete() -> None:
    found = measuring.environment("cpu")
    assert found.keys() == {
        "cpu", "cores", "threads", "memory_gib", "os", "python", "packages", "date", "commit",
    }  # fmt: skip
    assert all(value for key, value in found.items() if key != "commit")  # there may be no git
    assert found["packages"]["torch"] == torch.__version__.partition("+")[0]
    assert "numpy" in found["packages"]
    assert found["python"] == platform.python_version()
    assert found["threads"] == torch.get_num_threads()
    json.dumps(found)


def test_a_gpu_adds_its_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "NVIDIA H200")
    monkeypatch.setattr(measuring, "_driver", lambda: "580.1")
    found = measuring.environment("cuda")
    assert (found["gpu"], found["driver"]) == ("NVIDIA H200", "580.1")
    assert "cuda" in found
    assert measuring.machine_name("cuda") == "nvidia-h200"


@pytest.mark.parametrize(
    ("cpu", "name"),
    [
        ("AMD EPYC 7B13", "amd-epyc-7b13-4-cores"),
        ("Intel(R) Xeon(R) Platinum 8480C CPU @ 2.00GHz", "intel-xeon-platinum-8480c-4-cores"),
        ("AMD Ryzen 9 5950X 16-Core Processor", "amd-ryzen-9-5950x-16-core-4-cores"),
        ("Apple M3 Pro", "apple-m3-pro-4-cores"),
    ],
)
def test_machines_have_names_for_files(
    monkeypatch: pytest.MonkeyPatch, cpu: str, name: str
) -> None:
    monkeypatch.setattr(measuring, "cpu_name", lambda: cpu)
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    assert measuring.machine_name("cpu") == name
    assert measuring.record_path("cpu", None, Path("x")) == Path("x", f"{name}.json")
    assert measuring.record_path("cpu", "My Box/2", Path("x")) == Path("x", "my-box-2.json")
