from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from scripts import build, outputs, pairs, records
from tests.projects import Project

PAGE = "# {title}\n\n```python\nprint(1)\n```\n"


@pytest.fixture
def built(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project that the commands work on, with one pair of pages."""
    monkeypatch.setattr(build, "ROOT", project.root)
    monkeypatch.setattr(build, "DOCS", project.docs)
    monkeypatch.setattr(build, "TIMINGS", project.timings)
    monkeypatch.setattr(build, "pages", lambda: sorted(project.docs.rglob("*.md")))
    lock = project.root / "pairs.json"
    compare, disagreements, agree, names = (
        pairs.compare, pairs.disagreements, pairs.agree, pairs.page_names,
    )  # fmt: skip
    monkeypatch.setattr(pairs, "compare", lambda page, docs=None: compare(page, project.docs))
    monkeypatch.setattr(pairs, "disagreements", lambda: disagreements(project.docs, lock))
    monkeypatch.setattr(pairs, "agree", lambda pages: agree(pages, project.docs, lock))
    monkeypatch.setattr(pairs, "page_names", lambda docs=None: names(project.docs))
    load_all = records.load_all
    monkeypatch.setattr(records, "load_all", lambda: load_all(project.timings))
    project.pair(PAGE.format(title="题"), PAGE.format(title="T"))
    return project


def run(capsys: pytest.CaptureFixture[str], *command: str) -> tuple[int, str]:
    status = build.main(list(command))
    said = capsys.readouterr()
    return status, said.out + said.err


def test_outputs(built: Project, capsys: pytest.CaptureFixture[str]) -> None:
    status, said = run(capsys, "outputs", "--check")
    assert status == 1
    assert said.splitlines() == [
        f"docs/{language}/part/chapter.md: outputs differ; run `make outputs`"
        for language in ("en", "zh")
    ]
    assert run(capsys, "outputs", "en/part/chapter.md") == (0, "docs/en/part/chapter.md: written\n")
    assert run(capsys, "outputs", "--check")[0] == 1
    assert run(capsys, "outputs") == (0, "docs/zh/part/chapter.md: written\n")
    assert run(capsys, "outputs", "--check") == (0, "outputs of 2 pages are up to date\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("```python\n1 / 0\n```\n", "docs/en/part/chapter.md:2: line 1 of the block"),
        ("```python\n", "docs/en/part/chapter.md:1: this fence has no end"),
    ],
)
def test_outputs_of_a_broken_page(
    built: Project, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    built.page(text)
    for flags in ([], ["--check"]):
        status, said = run(capsys, "outputs", *flags)
        assert status == 1
        assert said.startswith(message)


def test_outputs_of_an_unknown_page(built: Project) -> None:
    with pytest.raises(SystemExit, match=r"there is no page en/part/chapters\.md"):
        build.main(["outputs", "en/part/chapters.md"])


def test_agree(built: Project, capsys: pytest.CaptureFixture[str]) -> None:
    status, said = run(capsys, "agree", "--check")
    assert (status, said.startswith("part/chapter.md: this pair was never agreed")) == (1, True)
    assert run(capsys, "agree", "docs/en/part/chapter.md") == (0, "part/chapter.md: agreed\n")
    assert run(capsys, "agree", "--check") == (0, "all pairs are agreed\n")
    assert run(capsys, "agree") == (0, "all pairs were agreed already\n")
    built.page(PAGE.format(title="Other"))
    status, said = run(capsys, "agree", "--check")
    assert (status, said.startswith("docs/en/part/chapter.md changed and docs/zh")) == (1, True)
    for flags in ([], ["--check"]):
        built.page(PAGE.format(title="T").replace("print(1)", "print(2)"))
        status, said = run(capsys, "agree", *flags)
        assert (status, "the languages of part/chapter.md differ" in said) == (1, True)
        built.page("```\n")
        status, said = run(capsys, "agree", *flags)
        assert (status, "docs/en/part/chapter.md:1: this fence has no end" in said) == (1, True)
    assert run(capsys, "agree", "part/other.md")[0] == 1


CASE = {"where": {"n": 1}, "samples": {"a": [1.0]}}


def test_timings(built: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "timings") == (0, "all records are up to date\n")
    path = built.record([CASE])
    status, said = run(capsys, "timings")
    assert (status, "part/chapter/idea was measured, but" in said) == (1, True)
    path.write_text("{")
    status, said = run(capsys, "timings")
    assert (status, said.startswith("docs/timings/box.json:1: not JSON")) == (1, True)


def test_forget(built: Project, capsys: pytest.CaptureFixture[str]) -> None:
    path = built.record([CASE])
    built.record([CASE], device="cuda")
    built.record([CASE], name="part/chapter/kept")
    command = ("forget", "part/chapter/idea")
    assert run(capsys, *command) == (0, "docs/timings/box.json: written\n")
    assert [each.name for each in records.load(path)] == ["part/chapter/kept"]
    assert run(capsys, *command) == (1, "no record holds part/chapter/idea\n")
    path.write_text("{")
    status, said = run(capsys, *command)
    assert (status, said.startswith("docs/timings/box.json:1: not JSON")) == (1, True)


def test_environment(capsys: pytest.CaptureFixture[str]) -> None:
    status, said = run(capsys, "environment")
    assert status == 0
    assert '"packages": {' in said


def test_clean(built: Project) -> None:
    kept = built.write(".venv/x", "")
    gone = [built.write(f"{name}/x", "") for name in ("site", ".mypy_cache", ".pytest_cache")]
    assert build.main(["clean"]) == 0
    assert kept.exists()
    assert not any(path.parent.exists() for path in gone)


def test_site_and_serve_are_mkdocs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    commands = []

    class Done:
        returncode = 3

    def ran(command: list[str], **options: object) -> Done:
        commands.append(command[2:])
        return Done()

    monkeypatch.setattr(subprocess, "run", ran)
    assert build.main(["site", "--folder", str(tmp_path)]) == 3
    assert build.main(["serve"]) == 3
    assert commands == [
        ["mkdocs", "build", "--strict", "--clean", "--site-dir", str(tmp_path)],
        ["mkdocs", "serve", "--livereload", "-a", "localhost:8000"],
    ]


def test_check_mode_writes_nothing(built: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {path: path.read_bytes() for path in built.root.rglob("*") if path.is_file()}
    build.main(["outputs", "--check"])
    build.main(["agree", "--check"])
    build.main(["timings"])
    assert before == {path: path.read_bytes() for path in built.root.rglob("*") if path.is_file()}
    assert outputs.write([], check=True) == []
