"""Measures contenders against each other; the `bench` fixture of the benchmarks.

Needs torch, NumPy and pytest only. In every round each contender runs once, in an
order that changes from round to round, so that whatever disturbs the machine
disturbs all of them; ratios are taken within a round.
"""

from __future__ import annotations

import datetime
import importlib.metadata
import itertools
import math
import os
import platform
import random
import re
import subprocess
import sys
import time
import timeit
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeGuard

from scripts import records
from scripts.code_hash import code_parts
from scripts.paths import ROOT, TIMINGS

Contender = Callable[[], Any]
Axes = dict[str, Sequence[object]]

SAMPLE_SECONDS = 0.01  # one sample repeats the call until it lasts this long
CASE_SECONDS = 0.8  # what one contender may spend on one case
ROUNDS = (7, 25)  # at least, at most
SLOWEST_CALL_SECONDS = 1.5  # a contender that would need longer is left out of a case
UNSTEADY = 0.15  # relative interquartile range of a ratio above which more rounds are run
BATCHES = 3  # how often more rounds are run before a case counts as unsteady
LONGEST_CASE_SECONDS = 8.0  # no more rounds are begun after that

PACKAGES = (
    "torch", "numpy", "torchvision", "triton", "taichi", "numba", "opencv-python", "webdataset",
)  # fmt: skip


class Bench:
    """What a benchmark function receives: the device, and the cases to measure.

    With `record=None` nothing is measured: each contender runs once and is checked,
    at the first value of every numeric axis.
    """

    def __init__(
        self,
        name: str,
        source: Path,
        function: str,
        device: str,
        record: Path | None,
        tell: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.name = name
        self.device = device
        self.record = record
        self.tell = tell
        self.cases: list[Case] = []
        self._source = source
        self._function = function
        self._code = code_parts(source, function)

    def sweep(self, **axes: Sequence[object]) -> Iterator[Case]:
        """Every combination of the axes' values, the last axis fastest.

        List sizes from small to large: a contender that gets too slow is then left
        out of the larger ones.
        """
        for axis, values in axes.items():
            if not values or not all(isinstance(value, str | int | float) for value in values):
                raise TypeError(f"{self.name}: give {axis} a list of texts and numbers")
        if self.cases and self.cases[0].where.keys() != axes.keys():
            raise ValueError(f"{self.name}: every sweep must have the same axes")
        if self.record is None:
            axes = {
                axis: values[:1] if _is_size(values[0]) else values for axis, values in axes.items()
            }
        for values in itertools.product(*axes.values()):
            case = Case(self, dict(zip(axes, values, strict=True)))
            yield case
            if not case.compared:
                raise RuntimeError(f"{self.name}: the case {case.where} was never compared")
            self.cases.append(case)

    def save(self) -> None:
        """Write what was measured into the machine's record, if there is to be one."""
        if not self.cases:
            raise RuntimeError(f"{self.name} compared nothing: loop over bench.sweep(…)")
        if self.record is None:
            return
        if self._code != code_parts(self._source, self._function):
            raise RuntimeError(f"{self.name}: its code was edited while it was measured; run again")
        contenders = list(dict.fromkeys(name for c in self.cases for name in c.contenders))
        records.write_entry(
            self.record,
            records.entry_key(self.name, self.device),
            {
                "device": self.device,
                "contenders": contenders,
                "code": self._code,
                "cases": [case.as_json() for case in self.cases],
            },
            environment(self.device),
        )

    def _slow_before(self, contender: str, where: dict[str, object]) -> records.Missing | None:
        """Why a contender is left out, going by what it took at smaller sizes.

        Every axis gives a forecast, in proportion to the size or steeper where it has
        grown faster before; the lowest counts, since not every axis costs time.
        """
        forecasts: list[tuple[float, records.Missing]] = []
        for axis, size in where.items():
            if not _is_size(size):
                continue
            smaller = self._smaller(axis, where)
            for case in smaller:
                if case.missing.get(contender, {}).get("reason") == "too slow":
                    return case.missing[contender]
            timed = [(case[axis], time) for case in smaller if (time := case.median(contender))]
            if not timed:
                continue
            last, took = timed[-1]
            slope = 1.0
            if len(timed) > 1:
                before, took_before = timed[-2]
                slope = max(slope, math.log(took / took_before) / math.log(last / before))
            reason: records.Missing = {
                "reason": "too slow",
                "axis": axis,
                "size": last,
                "seconds": _rounded(took),
            }
            forecasts.append((took * (size / last) ** slope, reason))
        if not forecasts:
            return None
        seconds, reason = min(forecasts, key=lambda forecast: forecast[0])
        return reason if seconds > SLOWEST_CALL_SECONDS else None

    def _smaller(self, axis: str, where: dict[str, object]) -> list[Case]:
        """The measured cases that differ from `where` by a smaller size on `axis`, in order."""
        others = {key: value for key, value in where.items() if key != axis}
        smaller = [
            case
            for case in self.cases
            if {key: value for key, value in case.where.items() if key != axis} == others
            and _is_size(case[axis])
            and case[axis] < where[axis]
        ]
        return sorted(smaller, key=lambda case: float(case[axis]))


class Case:
    """One combination of sizes. `case["rows"]` is its value on an axis."""

    def __init__(self, bench: Bench, where: dict[str, object]) -> None:
        self._bench = bench
        self.where = where
        self.contenders: list[str] = []
        self.samples: dict[str, list[float]] = {}
        self.memory: dict[str, int] = {}
        self.missing: dict[str, records.Missing] = {}
        self.steady = True
        self.compared = False

    def __getitem__(self, axis: str) -> Any:
        return self.where[axis]

    def median(self, contender: str) -> float | None:
        """Seconds per call, or None where it was not measured."""
        samples = self.samples.get(contender)
        return records.Summary.of(samples).median if samples else None

    def compare(
        self,
        contenders: Mapping[str, Contender],
        *,
        reference: Contender | None = None,
        rtol: float = 1e-5,
        atol: float = 1e-6,
        check: Callable[[str, Any], None] | None = None,
        missing: Mapping[str, str] | None = None,
        memory: bool = False,
    ) -> None:
        """Check every contender, then measure them.

        `reference()` is called once; each contender's result must be close to it, in
        float64. `check(name, result)` replaces that test. `missing` names contenders
        that can't run on this machine, with the reason. With `memory` the peak bytes of
        one call of each are measured too.
        """
        if self.compared:
            raise RuntimeError(f"{self._bench.name}: compare() once a case: {self.where}")
        self.compared = True
        self.missing = {name: {"reason": reason} for name, reason in (missing or {}).items()}
        self.contenders = [*contenders, *self.missing]
        if reference is None and check is None:
            raise TypeError(f"{self._bench.name}: compare() needs a reference or a check")
        expected = reference() if reference else None
        running: dict[str, Contender] = {}
        for name, contender in contenders.items():
            reason = self._bench._slow_before(name, self.where)
            if reason:
                self.missing[name] = reason
                continue
            label = f"{self._bench.name} {self.where}: {name}"
            result = contender()
            if check:
                try:
                    check(name, result)
                except AssertionError as error:
                    raise AssertionError(f"{label}: {error}") from error
            else:
                _assert_close(label, result, expected, rtol, atol)
            del result
            running[name] = contender
        if self._bench.record is not None:
            if memory:
                self._measure_memory(running)
            self._measure(running)
            self._bench.tell(self._progress())

    def as_json(self) -> dict[str, Any]:
        """The case as it stands in a record."""
        first = next(iter(self.samples), None)
        memory = {"memory": self.memory} if self.memory else {}
        return {
            "where": self.where,
            "steady": self.steady,
            "missing": self.missing,
            "samples": self.samples,
            "quartiles": {name: _quartiles(samples) for name, samples in self.samples.items()},
            "ratios": {
                f"{first}/{name}": [
                    _rounded(a / b) for a, b in zip(self.samples[first], samples, strict=True)
                ]
                for name, samples in self.samples.items()
                if first is not None and name != first
            },
            **memory,
        }

    def _measure_memory(self, contenders: Mapping[str, Contender]) -> None:
        from snippets.effective.broadcasting.peak_memory import peak_bytes

        for name, contender in contenders.items():
            self.memory[name] = peak_bytes(contender, self._bench.device)

    def _measure(self, contenders: Mapping[str, Contender]) -> None:
        if not contenders:
            return
        repeats: dict[str, int] = {}
        rounds = ROUNDS[1]
        for name, contender in contenders.items():
            once = max(_sample(contender, 1), 1e-9)
            repeat = max(1, min(math.ceil(SAMPLE_SECONDS / once), 100_000))
            if repeat > 1:
                once = max(_sample(contender, max(1, repeat // 4)), 1e-9)
                repeat = max(1, min(math.ceil(SAMPLE_SECONDS / once), 100_000))
            repeats[name] = repeat
            rounds = min(rounds, max(ROUNDS[0], int(CASE_SECONDS / (once * repeat))))
        order = random.Random(0)
        names = list(contenders)
        self.samples = {name: [] for name in names}
        start = time.monotonic()
        for _ in range(BATCHES):
            for _ in range(rounds):
                order.shuffle(names)
                for name in names:
                    sample = _sample(contenders[name], repeats[name])
                    self.samples[name].append(_rounded(sample))
            self.steady = self._spread() <= UNSTEADY
            if self.steady or time.monotonic() - start > LONGEST_CASE_SECONDS:
                break

    def _spread(self) -> float:
        """The widest interquartile range of a ratio to the first contender, relative to it."""
        first, *others = self.samples.values()
        if not others:
            summary = records.Summary.of(first)
            return (summary.third_quartile - summary.first_quartile) / summary.median
        widest = 0.0
        for samples in others:
            ratios = records.Summary.of([a / b for a, b in zip(first, samples, strict=True)])
            spread = (ratios.third_quartile - ratios.first_quartile) / ratios.median
            widest = max(widest, spread)
        return widest

    def _progress(self) -> str:
        where = " ".join(f"{key}={value}" for key, value in self.where.items())
        times = ", ".join(f"{name} {self.median(name):.3g} s" for name in self.samples)
        left_out = "".join(f"; {name}: {each['reason']}" for name, each in self.missing.items())
        return f"{where}: {times}{'' if self.steady else ' (unsteady)'}{left_out}"


def _is_size(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


def _rounded(value: float) -> float:
    return float(f"{value:.5g}")


def _quartiles(samples: list[float]) -> list[float]:
    summary = records.Summary.of(samples)
    return [
        _rounded(value)
        for value in (summary.first_quartile, summary.median, summary.third_quartile)
    ]


def _sample(contender: Contender, repeat: int) -> float:
    """Seconds per call over `repeat` calls; waits for the accelerator where there is one."""
    from torch.utils.benchmark.utils.timer import timer

    return timeit.Timer(contender, timer=timer).timeit(repeat) / repeat


def _assert_close(label: str, result: Any, expected: Any, rtol: float, atol: float) -> None:
    import torch

    def in_float64(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            value = value.detach().cpu()
            if value.is_complex():
                return value.to(torch.complex128)
            return value.double() if value.is_floating_point() else value
        if isinstance(value, list | tuple):
            return [in_float64(each) for each in value]
        return value

    try:
        torch.testing.assert_close(
            in_float64(result), in_float64(expected), rtol=rtol, atol=atol, equal_nan=True
        )
    except (AssertionError, TypeError) as error:
        raise AssertionError(f"{label} does not agree with the reference. {error}") from error


def environment(device: str) -> dict[str, Any]:
    """The machine and the software as they are now."""
    import torch

    packages = {}
    for package in PACKAGES:
        try:
            packages[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    found: dict[str, Any] = {
        "cpu": cpu_name(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "memory_gib": _memory_gib(),
        "os": _os_name(),
        "python": platform.python_version(),
        "packages": packages,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "commit": _commit(),
    }
    if device != "cpu":
        found["gpu"] = torch.cuda.get_device_name()
        found["driver"] = _driver()
        found["cuda"] = torch.version.cuda
    return found


def machine_name(device: str) -> str:
    """A name for this machine's record, such as `amd-epyc-7b13-2-cores`."""
    import torch

    name = torch.cuda.get_device_name() if device != "cpu" else cpu_name()
    if device == "cpu":
        name += f" {os.cpu_count()} cores"
    name = re.sub(r"\((R|TM|C)\)|\bCPU\b|\bProcessor\b|@.*?Hz", " ", name, flags=re.IGNORECASE)
    return _slug(name)


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def record_path(device: str, machine: str | None, folder: Path = TIMINGS) -> Path:
    """The record of this machine, or of the name given for it."""
    return folder / f"{_slug(machine or '') or machine_name(device)}.json"


def cpu_name() -> str:
    """The processor's own name for itself."""
    if sys.platform == "linux":
        match = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.M)
        if match:
            return match.group(1).strip()
    if sys.platform == "darwin":
        brand = _output("sysctl", "-n", "machdep.cpu.brand_string")
        if brand:
            return brand
    return platform.processor() or platform.machine()


def _os_name() -> str:
    if sys.platform == "linux":
        try:
            return platform.freedesktop_os_release()["PRETTY_NAME"]
        except (OSError, KeyError):
            return f"Linux {platform.release()}"
    if sys.platform == "darwin":
        return f"macOS {platform.mac_ver()[0]}"
    return f"{platform.system()} {platform.release()}"


def _memory_gib() -> int | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)
    except (AttributeError, ValueError, OSError):
        return None


def _driver() -> str | None:
    found = _output("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader")
    return found.splitlines()[0] if found else None


def _commit() -> str | None:
    commit = _output("git", "rev-parse", "--short=10", "HEAD")
    if not commit:
        return None
    changed = _output("git", "status", "--porcelain", "--", "snippets", "scripts", "tests")
    return commit + ("+changes" if changed else "")


def _output(*command: str) -> str | None:
    try:
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=20
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
