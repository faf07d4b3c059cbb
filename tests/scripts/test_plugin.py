"""The pytest plugin, by runs of pytest within this one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from scripts import measuring, records
from scripts.paths import ROOT
from tests import plugin
from tests.projects import Project

BENCHMARKS = """
import pytest
import torch

@pytest.mark.benchmark
def test_first(bench):
    for case in bench.sweep(n=[1, 2]):
        case.compare({"a": lambda: 1}, reference=lambda: 1)

@pytest.mark.benchmark(threads="all")
def test_second(bench):
    for case in bench.sweep(threads=[torch.get_num_threads()]):
        case.compare({"a": lambda: 1}, reference=lambda: 1)

def test_that_is_no_benchmark():
    pass
"""

Run = Callable[..., tuple[pytest.ExitCode | int, str]]


@pytest.fixture
def run(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """Runs pytest on the project's benchmarks; the exit code, and what was printed."""
    folder = project.root / "tests" / "benchmarks"
    monkeypatch.setattr(plugin, "BENCHMARKS", folder)
    monkeypatch.setattr(measuring, "SAMPLE_SECONDS", 1e-5)
    monkeypatch.setattr(measuring, "CASE_SECONDS", 1e-4)

    def record_path(device: str, machine: str | None) -> Path:
        return project.timings / f"{machine or 'box'}.json"

    monkeypatch.setattr(measuring, "record_path", record_path)
    project.write("pytest.ini", "[pytest]\n")

    def ran(*arguments: str) -> tuple[pytest.ExitCode | int, str]:
        capsys.readouterr()
        status = pytest.main(
            [str(folder), "-c", str(project.root / "pytest.ini"), "-p", "tests.plugin",
             "-p", "no:cacheprovider", "--import-mode=importlib", "--strict-markers", "-s", "-q",
             *arguments],
        )  # fmt: skip
        for name, module in list(sys.modules.items()):
            if str(getattr(module, "__file__", None)).startswith(str(project.root)):
                del sys.modules[name]
        said = capsys.readouterr()
        return status, said.out + said.err

    return ran


def benchmarks(project: Project, text: str = BENCHMARKS) -> None:
    project.write("tests/benchmarks/part/test_chapter.py", text)


def recorded(project: Project) -> dict[str, records.Measured]:
    return {each.name: each for each in records.load_all(project.timings)}


def test_without_bench_benchmarks_are_only_checked(project: Project, run: Run) -> None:
    benchmarks(project)
    status, said = run()
    assert status == 0
    assert "3 passed, 2 skipped" in said
    assert not recorded(project)


def test_bench_measures_and_records(project: Project, run: Run) -> None:
    benchmarks(project)
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        status, said = run("--bench", "--machine", "mine")
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)
    assert status == 0
    assert "part/chapter/first on cpu → mine.json" in said
    assert "n=2: a" in said
    found = recorded(project)
    assert [len(found[f"part/chapter/{name}"].cases) for name in ("first", "second")] == [2, 1]
    assert found["part/chapter/first"].environment["threads"] == 1
    assert found["part/chapter/second"].environment["threads"] == 2
    assert found["part/chapter/second"].cases[0].where == {"threads": 2}
    assert found["part/chapter/first"].machine == "mine"


@pytest.mark.parametrize(
    ("only", "names"),
    [
        ("part/chapter/second", ["part/chapter/second"]),
        ("part/chapter", ["part/chapter/first", "part/chapter/second"]),
        ("part/chapter/second, part/chapter/first", ["part/chapter/first", "part/chapter/second"]),
        ("", ["part/chapter/first", "part/chapter/second"]),
    ],
)
def test_only_chooses(project: Project, run: Run, only: str, names: list[str]) -> None:
    benchmarks(project)
    assert run("--bench", "--only", only)[0] == 0
    assert sorted(recorded(project)) == names


@pytest.mark.parametrize("only", ["part/chapter/third", "part/chap", "part/chapter/first,x"])
def test_only_knows_the_names(project: Project, run: Run, only: str) -> None:
    benchmarks(project)
    status, said = run("--bench", "--only", only)
    assert status == pytest.ExitCode.USAGE_ERROR
    unknown = only.rpartition(",")[2]
    names = "part/chapter/first, part/chapter/second"
    assert f"no benchmark is called {unknown}; there are: {names}" in said
    assert not recorded(project)


def test_only_needs_bench(project: Project, run: Run) -> None:
    benchmarks(project)
    status, said = run("--only", "part/chapter/first")
    assert status == pytest.ExitCode.USAGE_ERROR
    assert "--only chooses what --bench measures: add --bench" in said


def test_an_interrupted_run_keeps_what_was_finished(project: Project, run: Run) -> None:
    interrupted = BENCHMARKS.replace(
        "for case in bench.sweep(threads", "raise KeyboardInterrupt\n    for case in bench.sweep(t"
    )
    benchmarks(project, interrupted)
    assert run("--bench")[0] == pytest.ExitCode.INTERRUPTED
    assert list(recorded(project)) == ["part/chapter/first"]


def test_a_failing_benchmark_is_not_recorded(project: Project, run: Run) -> None:
    benchmarks(project, BENCHMARKS.replace('{"a": lambda: 1}', '{"a": lambda: 2}', 1))
    status, said = run("--bench")
    assert status == pytest.ExitCode.TESTS_FAILED
    assert "part/chapter/first {'n': 1}: a does not agree with the reference" in said
    assert list(recorded(project)) == ["part/chapter/second"]


@pytest.mark.parametrize("flags", [[], ["--bench"]])
def test_a_benchmark_that_compares_nothing_fails(
    project: Project, run: Run, flags: list[str]
) -> None:
    benchmarks(project, "import pytest\n@pytest.mark.benchmark\ndef test_idle(bench):\n    pass\n")
    status, said = run(*flags)
    assert status == pytest.ExitCode.TESTS_FAILED
    assert "part/chapter/idle compared nothing: loop over bench.sweep" in said


def test_a_broken_record_is_refused_before_measuring(project: Project, run: Run) -> None:
    benchmarks(project)
    project.write("docs/timings/box.json", "{")
    status, said = run("--bench")
    assert status == pytest.ExitCode.TESTS_FAILED
    assert "docs/timings/box.json:1: not JSON" in said
    assert "n=1" not in said


@pytest.mark.parametrize(
    "mark", ["", '@pytest.mark.benchmark\n@pytest.mark.parametrize("n", [1, 2])']
)
def test_how_to_write_a_benchmark(project: Project, run: Run, mark: str) -> None:
    argument = ", n" if mark else ""
    benchmarks(project, f"import pytest\n{mark}\ndef test_idea(bench{argument}):\n    pass\n")
    status, said = run()
    assert status == pytest.ExitCode.TESTS_FAILED
    assert "mark it @pytest.mark.benchmark, and sweep instead of parametrising" in said
    assert "compared nothing" not in said


def test_benchmarks_stand_in_their_folder(project: Project, run: Run) -> None:
    path = project.write("elsewhere/test_x.py", BENCHMARKS)
    status, said = run("--bench", str(path))
    assert status == pytest.ExitCode.USAGE_ERROR
    assert "elsewhere/test_x.py::test_first[cpu]: benchmarks stand in tests/benchmarks" in said


def test_measuring_needs_torch_numpy_and_pytest_only() -> None:
    absent = "yaml markdown pymdownx mkdocs matplotlib html5lib jieba pytest_codeblocks hypothesis"
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({absent.split()!r}))\n"
        "import tests.plugin, tests.conftest, scripts.measuring, scripts.records"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
