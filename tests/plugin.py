"""The project's pytest plugin: runs the blocks of pages and measures benchmarks.

Loaded by `-p tests.plugin` in pyproject.toml. Measuring must work where only torch,
NumPy and pytest are installed, so what pages need is imported when a page is collected.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from scripts import measuring, records
from scripts.paths import BENCHMARKS, DOCS, LANGUAGES, ROOT, shown

if TYPE_CHECKING:
    from scripts.blocks import Block


SITE_TESTS = ROOT / "tests" / "site"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("pytorch-measured")
    group.addoption(
        "--bench",
        action="store_true",
        help="measure the benchmarks and write this machine's record "
        "(without it they are only checked, at their smallest size)",
    )
    group.addoption("--only", default="", help="comma-separated benchmarks to measure, by name")
    group.addoption("--machine", default=None, help="name of the record, if not the machine's own")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "benchmark: measures speed when run with --bench")
    config.addinivalue_line("markers", "gpu: needs a CUDA GPU, is skipped without one")
    config.addinivalue_line("markers", "browser: needs a Chromium")


def pytest_itemcollected(item: pytest.Item) -> None:
    """Say which tests belong to one worker: those that share what is slow to make.

    Both languages of a page share the results of its blocks, the tests of the site its build.
    """
    if item.config.pluginmanager.hasplugin("xdist"):
        item.add_marker(pytest.mark.xdist_group(_shared(item.path)))


def _shared(path: Path) -> str:
    for language in LANGUAGES:
        if path.is_relative_to(DOCS / language):
            return path.relative_to(DOCS / language).as_posix()
    return "site" if path.parent == SITE_TESTS else str(path)


def _benchmark_name(item: pytest.Item) -> str:
    if not item.path.is_relative_to(BENCHMARKS):
        raise pytest.UsageError(f"{item.nodeid}: benchmarks stand in {shown(BENCHMARKS)}")
    relative = item.path.relative_to(BENCHMARKS)
    chapter = relative.with_name(relative.stem.removeprefix("test_"))
    function = getattr(item, "originalname", item.name).removeprefix("test_")
    return f"{chapter.as_posix()}/{function}"


def _is_benchmark(item: pytest.Item) -> bool:
    return item.get_closest_marker("benchmark") is not None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if any(item.get_closest_marker("gpu") for item in items):
        import torch

        if not torch.cuda.is_available():
            for item in items:
                if item.get_closest_marker("gpu"):
                    item.add_marker(pytest.mark.skip(reason="needs a CUDA GPU"))
    if not config.getoption("--bench"):
        if config.getoption("--only"):
            raise pytest.UsageError("--only chooses what --bench measures: add --bench")
        return
    wanted = [name.strip() for name in config.getoption("--only").split(",") if name.strip()]
    names = {item: _benchmark_name(item) for item in items if _is_benchmark(item)}
    unknown = [
        name for name in wanted if not any(_is_within(each, name) for each in names.values())
    ]
    if unknown:
        raise pytest.UsageError(
            f"no benchmark is called {', '.join(unknown)}; "
            f"there are: {', '.join(sorted(set(names.values())))}"
        )
    kept = [
        item
        for item, name in names.items()
        if not wanted or any(_is_within(name, each) for each in wanted)
    ]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept


def _is_within(benchmark: str, name: str) -> bool:
    return benchmark == name or benchmark.startswith(f"{name}/")


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def bench(request: pytest.FixtureRequest) -> Iterator[measuring.Bench]:
    """Checks contenders, or with --bench measures them and writes the record.

    On a CPU with one thread, as torch.utils.benchmark does by default: on a machine
    that others use too, every barrier between threads may cost a scheduler's time
    slice. `@pytest.mark.benchmark(threads="all")` measures with all of torch's threads.
    """
    import torch

    device: str = request.param
    mark = request.node.get_closest_marker("benchmark")
    if mark is None or set(request.node.callspec.params) != {"bench"}:
        pytest.fail("mark it @pytest.mark.benchmark, and sweep instead of parametrising", False)
    threads = torch.get_num_threads()
    name = _benchmark_name(request.node)
    record = None
    plugins = request.config.pluginmanager
    reporter = plugins.get_plugin("terminalreporter")
    capture = plugins.get_plugin("capturemanager")

    def tell(text: str) -> None:
        if reporter and capture:
            with capture.global_and_fixture_disabled():
                reporter.write_line(f"  {text}")

    if request.config.getoption("--bench"):
        record = measuring.record_path(device, request.config.getoption("--machine"))
        if record.exists():
            records.read(record)  # a broken one is refused before anything is measured
        tell(f"\n{name} on {device} → {record.name}")
    start = time.monotonic()
    measured = measuring.Bench(
        name, Path(request.node.path), request.node.originalname, device, record, tell
    )
    if mark.kwargs.get("threads") != "all":
        torch.set_num_threads(1)
    try:
        yield measured
        if getattr(request.node, "passed", False):
            measured.save()
            if record:
                tell(f"written after {time.monotonic() - start:.1f} s")
    finally:
        torch.set_num_threads(threads)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.when == "call":
        item.passed = report.passed  # type: ignore[attr-defined]
    return report


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.suffix == ".md" and any(
        file_path.is_relative_to(DOCS / language) for language in LANGUAGES
    ):
        return PageFile.from_parent(parent, path=file_path)
    return None


class PageFile(pytest.File):
    """A page: one item for each of its blocks."""

    def collect(self) -> Iterator[pytest.Item]:
        from scripts.blocks import BlockError, page_blocks
        from scripts.page_runs import remember_chains

        try:
            blocks = page_blocks(self.path)
        except BlockError as error:
            raise self.CollectError(str(error)) from error
        remember_chains(blocks)
        for block in blocks:
            item = BlockItem.from_parent(self, name=block.name, block=block)
            for mark in block.marks:
                try:
                    item.add_marker(eval(mark, {"pytest": pytest, "sys": sys}))
                except Exception as error:
                    raise self.CollectError(f"{block.place}: {mark}: {error}") from error
            yield item


class BlockItem(pytest.Item):
    """One block of a page."""

    def __init__(self, *, block: Block, **kwargs: object) -> None:
        super().__init__(**kwargs)  # type: ignore[arg-type]
        self.block = block

    def runtest(self) -> None:
        from scripts.blocks import RUNNABLE
        from scripts.page_runs import BlockFailure, check

        if self.block.importorskip:
            pytest.importorskip(self.block.importorskip.strip("\"'"))
        if self.block.language not in RUNNABLE:
            raise BlockFailure(
                f"{self.block.place}: this fence ({self.block.fence.info or 'no language'}) "
                "neither runs nor says why not. Make it Python, or put above it "
                '<!--pytest.mark.skip(reason="…")-->, or, if a block prints it, '
                "<!--pytest-codeblocks:expected-output-->."
            )
        check(self.block)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> str:  # type: ignore[override]
        from scripts.page_runs import BlockFailure

        if isinstance(excinfo.value, BlockFailure):
            return str(excinfo.value)
        return str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[Path, int, str]:
        page = self.path.relative_to(DOCS).as_posix()
        return self.path, self.block.fence.line - 1, f"{page}:{self.block.fence.line}"
