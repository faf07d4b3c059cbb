from __future__ import annotations

from pathlib import Path

import html5lib
import pytest

from scripts import benchmark_texts, catalogue
from scripts.catalogue import CatalogueError
from scripts.data_files import DataError
from scripts.records import RecordError
from tests.projects import Project

SNIPPET = '''"""An idea (E1.1)."""

# --8<-- [start:imports]
import os
from collections.abc import Callable

import torch
import torch.nn as nn
from numpy import array

# --8<-- [end:imports]


# --8<-- [start:one]
def one() -> None:
    """One."""
    # --8<-- [start:body]
    import matplotlib
    # --8<-- [end:body]


# --8<-- [end:one]


if __name__ == "__main__":
    print("# --8<-- [start:text]")
'''

DOWNLOAD = '''"""An idea (E1.1)."""

import os
from collections.abc import Callable

import torch
import torch.nn as nn
from numpy import array


def one() -> None:
    """One."""
    import matplotlib


if __name__ == "__main__":
    print("# --8<-- [start:text]")
'''

ENTRIES = """
part/chapter/idea.py:
  does: {en: "Sums `x`.", zh: "求 `x` 之和。"}
  speed: {benchmark: part/chapter/idea, slow: loop, fast: sum, where: {n: 1}}
"""


def test_downloads_have_no_marks() -> None:
    assert catalogue.download_text(SNIPPET) == DOWNLOAD
    assert catalogue.download_text(DOWNLOAD) == DOWNLOAD


def test_packages_are_those_imported_anywhere() -> None:
    assert catalogue.packages(SNIPPET) == ["matplotlib", "numpy", "torch"]


def test_files_are_published(project: Project) -> None:
    project.snippet(SNIPPET)
    project.write("snippets/part/__init__.py", "")
    project.write("tests/benchmarks/part/test_chapter.py", "x = 1\n")
    project.write("tests/benchmarks/conftest.py", "")
    assert catalogue.published_files() == {
        "snippets/part/chapter/idea.py": DOWNLOAD,
        "benchmarks/part/test_chapter.py": "x = 1\n",
    }


@pytest.fixture
def listed(project: Project, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The list of a project with one snippet, whose benchmark ran on two machines."""
    project.snippet(SNIPPET)
    project.pair("# 章 <一>\n", "# A chapter { #x }\n")
    path = project.write("docs/data/snippets.yml", ENTRIES)
    texts = project.write(
        "docs/data/benchmarks.yml",
        "part/chapter/idea:\n  title: x\n  contenders: {loop: {en: a < loop, zh: 循环}}\n",
    )
    for machine, slow in (("a", 4.0), ("b", 38.0)):
        case = {"where": {"n": 1}, "samples": {"loop": [slow], "sum": [1.0]}}
        project.record([case], machine=machine)
    entries, load = catalogue.entries, benchmark_texts.load
    monkeypatch.setattr(catalogue, "entries", lambda: entries(path))
    monkeypatch.setattr(benchmark_texts, "load", lambda: load(texts))
    return path


def test_the_catalogue(listed: Path) -> None:
    html = catalogue.catalogue_html("en", "../../../")
    html5lib.HTMLParser(strict=True).parseFragment(html)
    assert '<h2 id="part-chapter"><a href="../../../en/part/chapter/">A chapter</a>' in html
    assert '<a href="../../../snippets/part/chapter/idea.py" download><code>idea.py</code>' in html
    assert "<td>Sums <code>x</code>.</td><td>matplotlib, numpy, torch</td>" in html
    assert "<td>sum: 4.0–38× as fast as a &lt; loop</td>" in html
    assert ">章 &lt;一&gt;</a></h2>" in catalogue.catalogue_html("zh", "../../../")
    assert "<td>求 <code>x</code> 之和。</td>" in catalogue.catalogue_html("zh", "../../../")
    assert "sum：速度是 循环 的 4.0–38 倍" in catalogue.catalogue_html("zh", "../../../")


def test_a_chapter_without_a_page(project: Project, listed: Path) -> None:
    (project.docs / "en/part/chapter.md").unlink()
    with pytest.raises(CatalogueError, match=r"snippets/part/chapter/ has no page: write docs/en"):
        catalogue.catalogue_html("en", "")


def test_a_snippet_that_is_not_listed(project: Project, listed: Path) -> None:
    project.snippet(SNIPPET, "part/chapter/other.py")
    with pytest.raises(CatalogueError, match=r"snippets\.yml: add part/chapter/other\.py"):
        catalogue.catalogue_html("en", "")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            ENTRIES + "part/chapter/gone.py:\n  does: {en: x, zh: 一}\n",
            "there is no part/chapter/gone",
        ),
        (ENTRIES.replace("does:", "do:"), 'part/chapter/idea.py: "does" is missing'),
        (ENTRIES.replace("求 `x` 之和。", "Sums."), "part/chapter/idea.py, does, zh: no Chinese"),
        (ENTRIES.replace(", slow: loop", ""), 'idea.py, speed: "slow" is missing'),
        (ENTRIES.replace("slow: loop", "slow: lop"), "part/chapter/idea has no contender 'lop'"),
        (ENTRIES.replace("{n: 1}", "{n: 2}"), "was not measured at {'n': 2}"),
        ("- x\n", "docs/data/snippets.yml: expected snippets by name"),
    ],
)
def test_lists_that_are_refused(listed: Path, text: str, message: str) -> None:
    listed.write_text(text, encoding="utf-8")
    with pytest.raises((CatalogueError, DataError, RecordError)) as caught:
        catalogue.catalogue_html("en", "")
    assert message in str(caught.value)
