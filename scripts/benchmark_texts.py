"""What a benchmark, its axes and its contenders are called on pages (docs/data/benchmarks.yml)."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from scripts import data_files, formats
from scripts.data_files import DataError
from scripts.paths import DATA, shown
from scripts.texts import in_language


class BenchmarkTexts:
    """The texts of docs/data/benchmarks.yml."""

    def __init__(self, entries: dict[str, Any], source: str) -> None:
        self._entries = entries
        self._source = source

    def names(self) -> list[str]:
        """The benchmarks that have texts."""
        return [name for name in self._entries if name != "common"]

    def title(self, name: str, language: str) -> str:
        """What the benchmark measures."""
        entry = self._entries.get(name)
        if not entry or "title" not in entry:
            raise LookupError(f"{self._source}: add a `title` for {name}")
        return in_language(entry["title"], language, f"{self._source}: title of {name}")

    def axis(self, name: str, axis: str, language: str) -> str:
        """An axis, such as `rows`."""
        text = self._find(name, "axes", axis)
        if text is None:
            raise LookupError(f"{self._source}: add the axis {axis!r} under `common: axes:`")
        return in_language(text, language, f"{self._source}: axis {axis} of {name}")

    def value(self, name: str, axis: str, value: object, language: str) -> str:
        """A value on an axis: `forward` in words, a number as it is."""
        text = self._find(name, "values", str(value))
        what = f"{self._source}: value {value} of {axis} of {name}"
        return in_language(text, language, what) if text else formats.size(value)

    def contender(self, name: str, contender: str, language: str) -> str:
        """A contender; one without an entry is called what the code calls it."""
        text = self._find(name, "contenders", contender)
        return in_language(text or contender, language, f"{self._source}: {contender} of {name}")

    def _find(self, name: str, kind: str, key: str) -> Any:
        for entry in (self._entries.get(name), self._entries.get("common")):
            found = (entry or {}).get(kind, {}).get(key)
            if found is not None:
                return found
        return None


@lru_cache(maxsize=2)
def _load(path: Path, modified: int) -> BenchmarkTexts:
    found = data_files.read(path)
    if not isinstance(found, dict):
        raise DataError(f"{shown(path)}: expected benchmarks by name, and `common:`")
    for name, entry in found.items():
        required = () if name == "common" else ("title",)
        optional = ("axes", "contenders", "values")
        data_files.fields(entry, f"{shown(path)}, {name}", required, optional)
    return BenchmarkTexts(found, shown(path))


def load(path: Path = DATA / "benchmarks.yml") -> BenchmarkTexts:
    """The texts as the file has them now."""
    return _load(path, path.stat().st_mtime_ns)
