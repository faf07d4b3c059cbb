"""What a benchmark, its axes and its contenders are called on pages (docs/data/benchmarks.yml)."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from scripts.paths import DATA, shown
from scripts.texts import in_language


class BenchmarkTexts:
    """The texts of docs/data/benchmarks.yml."""

    def __init__(self, entries: dict[str, Any], source: str) -> None:
        self._entries = entries
        self._source = source

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
    return BenchmarkTexts(yaml.safe_load(path.read_text(encoding="utf-8")) or {}, shown(path))


def load(path: Path = DATA / "benchmarks.yml") -> BenchmarkTexts:
    """The texts as the file has them now."""
    return _load(path, path.stat().st_mtime_ns)
