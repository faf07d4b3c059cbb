"""Records of timings: one JSON file a machine, in docs/timings.

A record is written by `make bench` alone. Each benchmark in it carries the
environment it was measured in, the hash of the code it measured and a checksum,
so a figure that was edited, or whose code has changed since, is refused.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from statistics import quantiles
from typing import Any

from scripts.code_hash import CodeError, code_parts
from scripts.paths import BENCHMARKS, TIMINGS, shown

FORMAT = 1
DEVICES = ("cpu", "cuda")
QUANTITIES = ("time", "memory")

Where = dict[str, object]
Missing = dict[str, object]


class RecordError(Exception):
    """A record that can't be used; the message says why and what to do."""


@dataclass(frozen=True)
class Summary:
    """Median and quartiles of a list of samples, in the samples' unit."""

    median: float
    first_quartile: float
    third_quartile: float

    @classmethod
    def of(cls, samples: list[float]) -> Summary:
        """Summarise one or more samples."""
        if len(samples) == 1:
            return cls(samples[0], samples[0], samples[0])
        low, middle, high = quantiles(samples, n=4, method="inclusive")
        return cls(middle, low, high)


@dataclass(frozen=True)
class Case:
    """One combination of sizes: what each contender took there.

    `samples` holds seconds per call, one a round, the same rounds for every contender.
    `missing` says of the others why: {"reason": "needs a GPU"}. `memory` holds the peak
    bytes of one call, where they were measured too.
    """

    where: Where
    samples: dict[str, list[float]]
    missing: dict[str, Missing]
    steady: bool
    memory: dict[str, int] = field(default_factory=dict)

    def amount(self, contender: str, quantity: str = "time") -> Summary | None:
        """Seconds per call or peak bytes of a call, None where it was not measured."""
        if quantity == "memory":
            return Summary.of([self.memory[contender]]) if contender in self.memory else None
        samples = self.samples.get(contender)
        return Summary.of(samples) if samples else None

    def ratio(self, slow: str, fast: str, quantity: str = "time") -> Summary | None:
        """How many times more `slow` takes than `fast`: of time, round by round."""
        if quantity == "memory":
            more, less = self.memory.get(slow), self.memory.get(fast)
            return Summary.of([more / less]) if more is not None and less else None
        if slow not in self.samples or fast not in self.samples:
            return None
        rounds = zip(self.samples[slow], self.samples[fast], strict=True)
        return Summary.of([a / b for a, b in rounds])


@dataclass(frozen=True)
class Measured:
    """One benchmark as measured on one machine and device."""

    name: str
    device: str
    machine: str
    path: Path
    environment: dict[str, Any]
    contenders: list[str]
    cases: list[Case]
    code: dict[str, str]

    def find(self, where: Where, x: str | None = None) -> list[Case]:
        """The cases that agree with `where`; every other axis than `x` must be named."""
        axes = self.cases[0].where
        unknown = [key for key in [*where, *([x] if x else [])] if key not in axes]
        if unknown:
            raise RecordError(
                f"{self.name} has no axis {', '.join(map(repr, unknown))}: "
                f"its axes are {', '.join(axes)}"
            )
        if x in where:
            raise RecordError(f"{self.name}: x={x!r} is swept, so leave it out of `where`")
        open_axes = [key for key in axes if key not in where and key != x]
        if open_axes:
            raise RecordError(
                f"{self.name}: `where` leaves {', '.join(open_axes)} open: name a value for each"
            )
        found = [c for c in self.cases if all(c.where[k] == v for k, v in where.items())]
        if not found:
            values = {key: list(dict.fromkeys(c.where[key] for c in self.cases)) for key in where}
            raise RecordError(f"{self.name} was not measured at {where}; there are {values}")
        return found

    def ratio(self, slow: str, fast: str, where: Where, quantity: str = "time") -> Summary | None:
        """How many times more `slow` takes than `fast` in one case, None if not measured."""
        self.require(slow, fast)
        self.require_quantity(quantity)
        return self.find(where)[0].ratio(slow, fast, quantity)

    def require(self, *contenders: str) -> None:
        """RecordError unless the benchmark has contenders of these names."""
        unknown = [name for name in contenders if name not in self.contenders]
        if unknown:
            raise RecordError(
                f"{self.name} has no contender {', '.join(map(repr, unknown))}: "
                f"it has {', '.join(self.contenders)}"
            )

    def require_quantity(self, quantity: str) -> None:
        """RecordError unless that was measured: "time" always is, "memory" if asked for."""
        if quantity not in QUANTITIES:
            raise RecordError(f"there is no {quantity!r}: write one of {', '.join(QUANTITIES)}")
        if quantity == "memory" and not any(case.memory for case in self.cases):
            raise RecordError(
                f"{shown(self.path)}: {self.name} was measured without memory: "
                f"write compare(…, memory=True), then make bench ONLY={self.name}"
            )


def checksum(key: str, entry: dict[str, Any], environment: dict[str, Any]) -> str:
    """The seal of one benchmark in a record: it covers its name and all but itself."""
    sealed = {name: value for name, value in entry.items() if name != "checksum"}
    text = json.dumps([FORMAT, key, sealed, environment], sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def entry_key(name: str, device: str) -> str:
    """The key of a benchmark in a record."""
    return name if device == "cpu" else f"{name}@{device}"


def read(path: Path) -> dict[str, Any]:
    """The raw record; raises RecordError where it is broken, edited or of another format."""
    remedy = "Restore the file from git, or delete it and run `make bench`."
    try:
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise RecordError(
            f"{shown(path)}:{error.lineno}: not JSON ({error.msg}). {remedy}"
        ) from error
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        found = record.get("format") if isinstance(record, dict) else type(record).__name__
        raise RecordError(f"{shown(path)}: format {found!r}, expected {FORMAT}. {remedy}")
    if record.keys() != {"format", "machine", "environments", "benchmarks"}:
        raise RecordError(f"{shown(path)}: its keys are {', '.join(record)}. {remedy}")
    if record["machine"] != path.stem:
        raise RecordError(
            f"{shown(path)}: this is the record of {record['machine']}. Give the file that name."
        )
    for key, entry in record["benchmarks"].items():
        environment = record["environments"].get(entry.get("environment"))
        if environment is None or entry.get("checksum") != checksum(key, entry, environment):
            raise RecordError(
                f"{shown(path)}: {key} was changed by hand (its checksum does not match). {remedy}"
            )
    return record


def write_entry(path: Path, key: str, entry: dict[str, Any], environment: dict[str, Any]) -> None:
    """Put one benchmark into the machine's record; what else it holds stays as it was."""
    record: dict[str, Any] = (
        read(path)
        if path.exists()
        else {"format": FORMAT, "machine": path.stem, "environments": {}, "benchmarks": {}}
    )
    text = json.dumps(environment, sort_keys=True)
    identifier = hashlib.sha256(text.encode()).hexdigest()[:12]
    entry = {**entry, "environment": identifier}
    record["environments"][identifier] = environment
    record["benchmarks"][key] = {**entry, "checksum": checksum(key, entry, environment)}
    replace(path, record)


def replace(path: Path, record: dict[str, Any]) -> None:
    """Write a record at once, so that an interruption leaves the old file or the new."""
    used = {each["environment"] for each in record["benchmarks"].values()}
    record = {
        **record,
        "environments": {k: v for k, v in record["environments"].items() if k in used},
        "benchmarks": dict(sorted(record["benchmarks"].items())),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(_pretty(record))
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _pretty(record: dict[str, Any]) -> str:
    """JSON with one line for each list of samples, so that differences can be read."""
    text = json.dumps(record, indent=1, ensure_ascii=False)
    lines: list[str] = []
    joining = False
    for line in text.splitlines():
        if joining:
            item = line.strip()
            joining = not item.startswith("]")
            lines[-1] += f"{item} " if joining and item.endswith(",") else item
        else:
            lines.append(line)
            joining = line.endswith("[") and '"cases"' not in line
    return "\n".join(lines) + "\n"


def load(path: Path) -> list[Measured]:
    """Every benchmark of one machine's record, as the file is now."""
    return list(_load(path, path.stat().st_mtime_ns))


@lru_cache(maxsize=32)
def _load(path: Path, modified: int) -> tuple[Measured, ...]:
    record = read(path)
    return tuple(
        Measured(
            name=key.partition("@")[0],
            device=entry["device"],
            machine=record["machine"],
            path=path,
            environment=record["environments"][entry["environment"]],
            contenders=entry["contenders"],
            cases=[
                Case(
                    case["where"],
                    case["samples"],
                    case["missing"],
                    case["steady"],
                    case.get("memory", {}),
                )
                for case in entry["cases"]
            ],
            code=entry["code"],
        )
        for key, entry in record["benchmarks"].items()
    )


def load_all(folder: Path = TIMINGS) -> list[Measured]:
    """Every benchmark of every machine, CPU before GPU, then by machine."""
    measured = [each for path in sorted(folder.glob("*.json")) for each in load(path)]
    return sorted(measured, key=lambda each: (each.device != "cpu", each.machine, each.name))


def of_benchmark(measured: list[Measured], name: str, device: str | None = None) -> list[Measured]:
    """What was measured of one benchmark; RecordError names the command where nothing was."""
    if device not in (None, *DEVICES):
        raise RecordError(f"there is no device {device!r}: write one of {', '.join(DEVICES)}")
    found = [m for m in measured if m.name == name and device in (None, m.device)]
    if not found and not any(m.name == name for m in measured):
        known = ", ".join(sorted({m.name for m in measured})) or "none"
        raise RecordError(
            f"no record holds the benchmark {name!r} (known: {known}). "
            f"Measure it: make bench ONLY={name}"
        )
    return found


def benchmark_source(name: str) -> tuple[Path, str]:
    """File and function of a benchmark: effective/operators/row_sum is test_row_sum
    in tests/benchmarks/effective/test_operators.py."""
    chapter, _, function = name.rpartition("/")
    part, _, page = chapter.rpartition("/")
    return BENCHMARKS / part / f"test_{page}.py", f"test_{function}"


def staleness(measured: Measured) -> str | None:
    """What changed in the measured code since, as a message, or None where nothing did."""
    path, function = benchmark_source(measured.name)
    try:
        code = code_parts(path, function)
    except CodeError as error:
        return str(error)
    except (LookupError, OSError):
        return (
            f"{shown(measured.path)}: {measured.name} was measured, but "
            f"{shown(path)} has no `{function}` any more. "
            f"Delete the entry: python -m scripts.build forget {measured.name}"
        )
    keys = sorted(set(code) | set(measured.code))
    changed = [key for key in keys if code.get(key) != measured.code.get(key)]
    if not changed:
        return None
    return (
        f"{shown(measured.path)}: {measured.name} is out of date, since these changed: "
        f"{', '.join(changed)}. Measure again: make bench ONLY={measured.name}"
    )
