"""Every page keeps the rules that readers rely on."""

from __future__ import annotations

from pathlib import Path

import html5lib
import pytest
from markdown import Markdown
from mkdocs.config import load_config

from scripts import pairs, records, sources
from scripts.blocks import page_blocks, page_fences
from scripts.glossary import forbidden
from scripts.paths import DOCS, LANGUAGES, ROOT, pages

PAGES = pages()
NAMES = [path.relative_to(DOCS).as_posix() for path in PAGES]
PAIRS = pairs.page_names()


def rendered_code(page: Path) -> list[str]:
    """The text of every code block that a reader of the page sees."""
    config = load_config(str(ROOT / "mkdocs.yml"))
    markdown = Markdown(
        extensions=config.markdown_extensions, extension_configs=config.mdx_configs
    )
    text = page.read_text(encoding="utf-8")
    if text.startswith("---\n"):
        text = text.partition("\n---\n")[2]
    document = html5lib.parse(markdown.convert(text), namespaceHTMLElements=False)
    return ["".join(block.itertext()) for block in document.iter("pre")]


def shown_blocks(page: Path) -> list[str]:
    """The text of every block and output that the tests know of."""
    shown = {}
    for block in page_blocks(page):
        shown[block.fence.line] = block.source
        if block.output_fence:
            shown[block.output_fence.line] = "\n".join(block.output_fence.body)
    return [shown[line] for line in sorted(shown)]


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_no_block_escapes(page: Path) -> None:
    """What a reader sees as code is exactly what is run or carries a mark."""
    seen = [code.strip("\n") for code in rendered_code(page)]
    tested = [code.strip("\n") for code in shown_blocks(page)]
    for number, (left, right) in enumerate(zip(seen, tested, strict=False), start=1):
        assert left == right, f"code block {number} of {page} is not the one that is tested"
    assert len(seen) == len(tested), (
        f"{page} shows {len(seen)} code blocks, but {len(tested)} are tested. Look for an info "
        "string that Markdown does not know, an indented block without a fence, or raw HTML."
    )


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_each_block_is_an_item(page: Path, request: pytest.FixtureRequest) -> None:
    """The plugin makes one test item of each block."""
    from tests.plugin import PageFile

    collector = PageFile.from_parent(request.session, path=page)
    outputs = sum(block.output_fence is not None for block in page_blocks(page))
    fences = page_fences(page.read_text(encoding="utf-8"), page)
    assert len(list(collector.collect())) + outputs == len(fences)


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_skips_say_why(page: Path) -> None:
    for block in page_blocks(page):
        for mark in block.marks:
            if "skip" in mark or "xfail" in mark:
                assert "reason=" in mark, f"{block.place}: {mark} needs a reason"


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


@pytest.mark.parametrize("record", records.load_all(), ids=lambda m: f"{m.machine}-{m.name}")
def test_records_are_of_the_code_as_it_is(record: records.Measured) -> None:
    assert records.staleness(record) is None, records.staleness(record)


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
        f"{page.relative_to(ROOT)}:{text.count(chr(10), 0, offset) + 1}: see {term.en} in the glossary"
        for term, offset in forbidden(text)
    ]
    assert not messages, "\n".join(messages)
