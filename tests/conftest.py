"""Fixtures of several folders. Imports little: benchmarks run where only torch is installed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.projects import Project


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """An empty project that the scripts take for their own."""
    from tests.projects import in_folder

    return in_folder(tmp_path, monkeypatch)
