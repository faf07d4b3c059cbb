from __future__ import annotations

import pytest

from scripts.code_hash import CodeError, code_parts
from tests.projects import Project

SNIPPET = '''
"""An idea."""

import torch
from torch import Tensor

SCALE = 2
UNUSED = 1


def helper(x: Tensor) -> Tensor:
    """Scaled."""
    return x * SCALE


def idea(x: Tensor) -> Tensor:
    """The idea."""
    total = helper(x)  # a local name that the demonstration has too
    return total


def rival(x: Tensor) -> Tensor:
    """Another."""
    return torch.sin(x)


if __name__ == "__main__":
    total = idea(torch.ones(2))
    print(total)
'''

BENCHMARK = """
import pytest
import torch
from snippets.part.chapter import idea

SIZES = [1, 10]


@pytest.mark.benchmark
def test_idea(bench):
    for case in bench.sweep(n=SIZES):
        x = torch.randn(case["n"])
        case.compare({"idea": lambda: idea.idea(x)}, reference=lambda: x * 2)


@pytest.mark.benchmark
def test_rival(bench):
    for case in bench.sweep(n=SIZES):
        case.compare({"rival": idea.rival}, reference=torch.sin)
"""

HERE = "tests/benchmarks/part/test_chapter.py"
THERE = "snippets/part/chapter/idea.py"


def parts(project: Project, snippet: str = SNIPPET, benchmark: str = BENCHMARK) -> dict[str, str]:
    project.snippet(snippet)
    return code_parts(project.write(HERE, benchmark), "test_idea")


def changed(project: Project, old: str, new: str) -> set[str]:
    """The parts whose hash changes when the snippet or the benchmark does."""
    assert old in SNIPPET + BENCHMARK
    before = parts(project)
    after = parts(project, SNIPPET.replace(old, new), BENCHMARK.replace(old, new))
    return {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}


def test_the_parts_are_what_is_used(project: Project) -> None:
    assert list(parts(project)) == [
        f"{THERE}::SCALE",
        f"{THERE}::Tensor",
        f"{THERE}::helper",
        f"{THERE}::idea",
        f"{HERE}::SIZES",
        f"{HERE}::pytest",
        f"{HERE}::test_idea",
        f"{HERE}::torch",
    ]


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        ("    return total\n", "    return total + 0\n", f"{THERE}::idea"),
        ("x * SCALE", "SCALE * x", f"{THERE}::helper"),
        ("SCALE = 2", "SCALE = 3", f"{THERE}::SCALE"),
        ("SCALE = 2", 'SCALE = 2\nSCALE.__dict__["x"] = 1', f"{THERE}::SCALE"),
        (
            "from torch import Tensor",
            "from torch.nn import Parameter as Tensor",
            f"{THERE}::Tensor",
        ),
        ("[1, 10]", "[1, 100]", f"{HERE}::SIZES"),
        ("x * 2)", "x + x)", f"{HERE}::test_idea"),
    ],
)
def test_a_change_of_the_code_shows(project: Project, old: str, new: str, part: str) -> None:
    assert changed(project, old, new) == {part}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"""Scaled."""', '"""Scaled, as it should be."""'),
        ('    """The idea."""\n', ""),
        ("  # a local name that the demonstration has too", ""),
        ("    total = helper(x)", "\n    # first\n    total = helper(\n        (x),\n    )"),
        ("torch.sin(x)", "torch.cos(x)"),
        ("UNUSED = 1", "UNUSED = 3"),
        ("total = idea(torch.ones(2))", "total = idea(torch.ones(3))"),
        ("    print(total)", "    SCALE = 5\n    print(total)"),
        (
            "import torch\nfrom torch import Tensor",
            "from torch import Tensor, nn\nimport os, torch",
        ),
        ("import pytest\nimport torch\n", "import torch\nimport pytest\n"),
        ('{"rival": idea.rival}', '{"rival": idea.idea}'),
        ('"idea": lambda: idea.idea(x)', "'idea' : (lambda:idea . idea(x))"),
    ],
)
def test_what_does_not_change_the_code_does_not_show(project: Project, old: str, new: str) -> None:
    assert changed(project, old, new) == set()


def test_a_definition_that_is_gone(project: Project) -> None:
    assert f"{THERE}::idea" in changed(project, "def idea(", "def renamed(")
    with pytest.raises(LookupError, match=rf"{HERE} defines no `test_other`"):
        code_parts(project.root / HERE, "test_other")


@pytest.mark.parametrize(
    ("statement", "use"),
    [
        ("from snippets.part.chapter.idea import idea", "idea"),
        ("from snippets.part.chapter.idea import idea as f", "f"),
        ("from snippets.part.chapter import idea as m", "m.idea"),
        ("import snippets.part.chapter.idea", "snippets.part.chapter.idea.idea"),
        ("import snippets.part.chapter.idea as m", "m.idea"),
    ],
)
def test_every_way_to_import(project: Project, statement: str, use: str) -> None:
    for text in (
        f"{statement}\n\ndef test_idea(bench):\n    {use}(1)\n",
        f"def test_idea(bench):\n    {statement}\n    {use}(1)\n",
        f"try:\n    {statement}\nexcept OSError:\n    pass\n\ndef test_idea(b):\n    {use}(1)\n",
    ):
        used = parts(project, benchmark=text)
        assert {f"{THERE}::idea", f"{THERE}::helper"} <= used.keys()
        assert f"{THERE}::rival" not in used


def test_a_module_passed_on_is_used_whole(project: Project) -> None:
    text = "from snippets.part.chapter import idea\n\ndef test_idea(bench):\n    vars(idea)\n"
    assert {f"{THERE}::idea", f"{THERE}::rival", f"{THERE}::UNUSED"} <= parts(
        project, benchmark=text
    ).keys()


@pytest.mark.parametrize(
    "statement",
    [
        "from snippets.part.chapter.idea import *",
        "from snippets.part import chapter",
        "from . import idea",
        "import snippets.part.chapter",
    ],
)
def test_imports_that_hide_what_is_used(project: Project, statement: str) -> None:
    with pytest.raises(CodeError, match=rf"{HERE}:1: "):
        parts(project, benchmark=f"{statement}\n\ndef test_idea(bench):\n    pass\n")


def test_local_names_do_not_hide_global_ones(project: Project) -> None:
    text = (
        "LIMIT = 1\n\n"
        "def inner(LIMIT):\n    return LIMIT\n\n"
        "def test_idea(bench):\n    print([LIMIT for LIMIT in range(3)], LIMIT, inner(1))\n"
    )
    assert list(parts(project, benchmark=text)) == [
        f"{HERE}::LIMIT", f"{HERE}::inner", f"{HERE}::test_idea",
    ]  # fmt: skip
    text = "LIMIT = 1\n\ndef test_idea(LIMIT):\n    return LIMIT\n"
    assert list(parts(project, benchmark=text)) == [f"{HERE}::test_idea"]


def test_definitions_in_a_branch_are_followed(project: Project) -> None:
    text = "if True:\n    def inner():\n        return 1\n\ndef test_idea(b):\n    inner()\n"
    before = parts(project, benchmark=text)
    assert list(before) == [f"{HERE}::inner", f"{HERE}::test_idea"]
    after = parts(project, benchmark=text.replace("1", "2"))
    assert before[f"{HERE}::inner"] != after[f"{HERE}::inner"]


def test_definitions_that_use_each_other(project: Project) -> None:
    text = "def test_idea(n):\n    return b(n)\n\ndef b(n):\n    return test_idea(n - 1) or b(n)\n"
    assert list(parts(project, benchmark=text)) == [f"{HERE}::b", f"{HERE}::test_idea"]
