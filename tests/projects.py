"""Small projects in a temporary folder, for tests that break things."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from scripts import (
    blocks,
    catalogue,
    code_hash,
    directives,
    paths,
    pictures,
    records,
)

ENVIRONMENT = {
    "cpu": "Test CPU",
    "cores": 4,
    "threads": 1,
    "memory_gib": 8,
    "os": "Test OS 1",
    "python": "3.11.0",
    "packages": {"torch": "2.0.0", "numpy": "2.0.0"},
    "date": "2026-01-02",
    "commit": "0123456789",
}


@dataclass(frozen=True)
class Project:
    """The folders of a project, empty at first."""

    root: Path

    @property
    def docs(self) -> Path:
        return self.root / "docs"

    @property
    def timings(self) -> Path:
        return self.docs / "timings"

    def write(self, path: str, text: str) -> Path:
        """A file of the project; the text may be indented as a whole."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
        return file

    def page(self, text: str, language: str = "en", name: str = "part/chapter.md") -> Path:
        return self.write(f"docs/{language}/{name}", text)

    def pair(self, zh: str, en: str, name: str = "part/chapter.md") -> None:
        self.page(zh, "zh", name)
        self.page(en, "en", name)

    def snippet(self, text: str, name: str = "part/chapter/idea.py") -> Path:
        return self.write(f"snippets/{name}", text)

    def record(
        self,
        cases: list[dict[str, Any]],
        name: str = "part/chapter/idea",
        machine: str = "box",
        device: str = "cpu",
        environment: dict[str, Any] | None = None,
        code: dict[str, str] | None = None,
    ) -> Path:
        """Put a benchmark into a record; a case is its axes and its contenders' samples."""
        entry = {
            "device": device,
            "contenders": list(
                dict.fromkeys(
                    each for case in cases for each in [*case["samples"], *case.get("missing", {})]
                )
            ),
            "code": code or {},
            "cases": [{"missing": {}, "steady": True, **case} for case in cases],
        }
        path = self.timings / f"{machine}.json"
        key = records.entry_key(name, device)
        records.write_entry(path, key, entry, environment or ENVIRONMENT)
        return path


def in_folder(root: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project that the scripts take for their own."""
    project = Project(root)
    for folder in ("docs/zh", "docs/en", "docs/timings", "snippets", "tests/benchmarks"):
        (root / folder).mkdir(parents=True)
    for module in (paths, code_hash):
        monkeypatch.setattr(module, "ROOT", root)
    for module in (blocks, catalogue, pictures):
        monkeypatch.setattr(module, "SNIPPETS", root / "snippets")
    for module in (records, catalogue):
        monkeypatch.setattr(module, "BENCHMARKS", root / "tests" / "benchmarks")
    monkeypatch.setattr(catalogue, "DOCS", root / "docs")
    for module in (catalogue, directives):
        monkeypatch.setattr(module, "TIMINGS", root / "docs" / "timings")
    return project
