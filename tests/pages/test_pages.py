"""Every page keeps the rules that readers rely on."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts import benchmark_texts, claims, escapes, pairs, records, sources
from scripts.blocks import page_blocks, page_fences
from scripts.glossary import forbidden, instead
from scripts.paths import DOCS, LANGUAGES, ROOT, TIMINGS, pages

PAGES = pages()
NAMES = [path.relative_to(DOCS).as_posix() for path in PAGES]
PAIRS = pairs.page_names()


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_no_block_escapes(page: Path) -> None:
    """What a reader sees as code is exactly what is run or carries a mark."""
    message = escapes.escape(page)
    assert message is None, message


def test_every_page_belongs_to_a_language() -> None:
    """Only these are run and compared; the root page has no code to run."""
    root = DOCS / "index.md"
    assert sorted(DOCS.rglob("*.md")) == sorted([root, *PAGES])
    assert not page_fences(root.read_text(encoding="utf-8"), root)


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_each_block_is_an_item(page: Path, request: pytest.FixtureRequest) -> None:
    """The plugin makes one test item of each block."""
    from tests.plugin import PageFile

    collector = PageFile.from_parent(request.session, path=page)
    outputs = sum(block.output_fence is not None for block in page_blocks(page))
    fences = page_fences(page.read_text(encoding="utf-8"), page)
    assert len(list(collector.collect())) + outputs == len(fences)


@pytest.mark.parametrize("page", PAIRS)
def test_both_languages_have_the_same_structure(page: str) -> None:
    pairs.compare(page)


def test_pairs_are_agreed() -> None:
    messages = pairs.disagreements()
    assert not messages, "\n".join(messages)


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_pages_describe_themselves(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert "\ndescription: " in text.partition("\n---\n")[0], f"{page} needs a description"


def test_source_points_have_their_place() -> None:
    """Each point of the notes whose chapter exists stands on a heading of it, in both languages."""
    missing = []
    for point in sources.load().points:
        for language in LANGUAGES:
            page = DOCS / language / f"{point.chapter}.md"
            if not page.exists():
                continue
            marked = {
                name
                for element in pairs.structure(page.read_text(encoding="utf-8"), page)
                if element.kind == "heading" and 'data-points="' in element.content
                for name in element.content.partition('data-points="')[2].partition('"')[0].split()
            }
            if point.id not in marked:
                missing.append(f"{page}: no heading carries data-points={point.id}")
    assert not missing, "\n".join(missing)


@pytest.mark.parametrize("path", sorted(TIMINGS.glob("*.json")), ids=lambda path: path.stem)
def test_records_are_of_the_code_as_it_is(path: Path) -> None:
    messages = [message for each in records.load(path) if (message := records.staleness(each))]
    assert not messages, "\n".join(messages)


@pytest.mark.parametrize("language", LANGUAGES)
def test_claims_are_measured(language: str) -> None:
    measured = records.load_all()
    for claim in claims.load().values():
        assert claims.claim_html(claim, records.of_benchmark(measured, claim.benchmark), language)


@pytest.mark.parametrize("name", benchmark_texts.load().names())
def test_benchmarks_with_texts_exist(name: str) -> None:
    path, function = records.benchmark_source(name)
    assert path.is_file(), f"docs/data/benchmarks.yml: there is no {path}; take {name} out"
    assert f"def {function}(" in path.read_text(encoding="utf-8"), (
        f"docs/data/benchmarks.yml: {path} has no {function}; take {name} out"
    )


CHINESE_PAGES = [page for page in PAGES if page.is_relative_to(DOCS / "zh")]


@pytest.mark.parametrize("page", CHINESE_PAGES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_chinese_typography(page: Path) -> None:
    import autocorrect_py

    text = page.read_text(encoding="utf-8")
    found = autocorrect_py.lint_for(text, page.name)
    messages = [
        f"{page.relative_to(ROOT)}:{line.line}: {line.old!r} should be {line.new!r}"
        for line in found.lines
    ]
    assert not messages, "\n".join(messages)


@pytest.mark.parametrize("page", CHINESE_PAGES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_chinese_terms(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    messages = [
        f"{page.relative_to(ROOT)}:{text.count(chr(10), 0, offset) + 1}: "
        f"{form}: write {instead(form)}"
        for form, offset in forbidden(text)
    ]
    assert not messages, "\n".join(messages)
