from __future__ import annotations

from pathlib import Path

import pytest

from scripts import pairs
from scripts.pairs import PairError, agree, compare, disagreements, structure
from tests.projects import Project

PAGE = """\
---
description: d
---
# {title}

{text} $x^2$ [`torch`](https://example.org/) {{{{ ratio("part/chapter/a", slow="a", fast="b") }}}}

## {title} {{ #one data-points="E1.1" }}

- {text}

!!! warning "{title}"

    {text}

=== "{title}"

    ```python title="x.py"
    x = 1
    y = 2
    ```

$$
x = 1
$$

| {title} | {title} |
|---|---|
| {text} | 1 |

![{title}](../assets/pictures/x.svg)

{{{{ picture("part/chapter/idea", alt="{text}") }}}}
"""
ZH = PAGE.format(title="标题", text="中文 `$y$`")
EN = PAGE.format(title="Title", text="English `$y$ and $z$`")


def differ(project: Project, en: str, zh: str = ZH) -> str:
    """The message about a pair that differs."""
    project.pair(zh, en)
    with pytest.raises(PairError) as caught:
        compare("part/chapter.md", project.docs)
    return str(caught.value)


def test_pairs_that_agree(project: Project) -> None:
    project.pair(ZH, EN)
    compare("part/chapter.md", project.docs)


@pytest.mark.parametrize(
    ("old", "new", "zh_line", "en_line", "shown"),
    [
        ("    y = 2", "    y = 3", 20, 20, "fence 'y = 3'"),
        ("    y = 2\n", "", 20, 20, "fence ''"),
        ('python title="x.py"', 'python title="y.py"', 18, 18, "fence 'python title=\"y.py\"'"),
        ("#one", "#two", 8, 8, "heading '## #two data-points=\"E1.1\"'"),
        ("## Title", "### Title", 8, 8, "heading '### #one data-points=\"E1.1\"'"),
        ('"E1.1"', '"E1.2"', 8, 8, "heading '## #one data-points=\"E1.2\"'"),
        ("$x^2$", "$x^3$", 6, 6, "inline formula 'x^3'"),
        ("x = 1\n$$", "x = 2\n$$", 23, 23, "formula 'x = 2'"),
        ("example.org", "example.com", 6, 6, "link 'https://example.com/'"),
        ("x.svg", "y.svg", 31, 31, "picture '../assets/pictures/y.svg'"),
        ('slow="a"', 'slow="c"', 6, 6, "directive \"ratio ['part/chapter/a'] {'fast': 'b'"),
        ("- English", "1. English", 10, 10, "list 'numbered item'"),
        ("!!! warning", "!!! note", 12, 12, "box '!!! note'"),
        ("!!! warning", "??? warning", 12, 12, "box '??? warning'"),
        ('=== "Title"\n', "\n", 16, 18, "fence"),
        ("| English `$y$ and $z$` | 1 |\n", "", 29, 30, "picture"),
        ("|---|---|", "|---|---|---|", 28, 28, "table row '4 bars'"),
        ("description: d", "description: d\nisolate: true", 1, 1, "front matter 'description, is"),
        ("![Title](../assets/pictures/x.svg)\n", "", 31, 32, "directive"),
        ('picture("part/chapter/idea"', 'picture("part/chapter/x"', 33, 33, 'directive "picture'),
    ],
)
def test_what_differs_is_named(
    project: Project, old: str, new: str, zh_line: int, en_line: int, shown: str
) -> None:
    message = differ(project, EN.replace(old, new, 1))
    assert message.startswith("the languages of part/chapter.md differ: ")
    assert f"docs/zh/part/chapter.md:{zh_line} has " in message
    assert f"docs/en/part/chapter.md:{en_line} has {shown}" in message
    assert message.endswith("Make both sides alike.")


def test_a_side_that_ends_early(project: Project) -> None:
    message = differ(project, EN + "\n## More { #more }\n")
    assert "docs/zh/part/chapter.md has nothing more" in message
    assert "docs/en/part/chapter.md:35 has heading '## #more'" in message


def test_sentences_may_order_their_parts_differently(project: Project) -> None:
    first = '{{ ratio("a/b", slow="a", fast="b") }}'
    second = first.replace('"a"', '"c"')
    project.pair(
        f"中 $a$ $b$ [x](y.md) [z](z.md) {first} {second}\n\n- 一\n\n$c$ $d$\n",
        f"[z](z.md) {second} $b$ then $a$,\nand [x](y.md) {first}\n\n- one\n\n$d$ $c$\n",
    )
    compare("part/chapter.md", project.docs)
    assert "link" in differ(project, "[x](y.md)\n\n- $a$\n", "$a$\n\n- [x](y.md)\n")


def test_code_spans_are_prose(project: Project) -> None:
    project.pair("`[a](b)` 和 `$c` 与 ``d ` $e``\n", "`[f](g)`, `$h` and ``i`` `$j`\n")
    compare("part/chapter.md", project.docs)


@pytest.mark.parametrize("heading", ["## Name", "## Name { .wide }", "#### 名字"])
def test_headings_need_an_id(project: Project, heading: str) -> None:
    message = differ(project, f"# T\n\n{heading}\n")
    assert message.startswith(
        "docs/en/part/chapter.md:3: give this heading an id, the same in both"
    )


def test_headings_by_underline_are_refused(project: Project) -> None:
    assert "docs/en/part/chapter.md:4: mark headings with #" in differ(
        project, "# T\n\nName\n---\n"
    )
    structure("# T\n\nText\n\n---\n\nText\n", Path("x.md"))


def test_a_directive_that_is_wrong(project: Project) -> None:
    message = differ(project, 'text\n\n{{ timeing("x") }}\n')
    assert message.startswith("docs/en/part/chapter.md:3: {{ timeing")


@pytest.mark.parametrize("language", ["zh", "en"])
def test_a_missing_translation(project: Project, language: str) -> None:
    other = {"zh": "en", "en": "zh"}[language]
    project.page("# T\n", other)
    expected = (
        f"docs/{other}/part/chapter.md has no translation: "
        f"write docs/{language}/part/chapter.md with the same structure"
    )
    with pytest.raises(PairError) as caught:
        compare("part/chapter.md", project.docs)
    assert str(caught.value) == expected
    assert disagreements(project.docs, project.root / "lock") == [expected]


@pytest.fixture
def lock(project: Project) -> Path:
    """The lock of a project with one pair, which is agreed."""
    project.pair(ZH, EN)
    lock = project.root / "docs" / "data" / "pairs.json"
    lock.parent.mkdir()
    assert agree([], project.docs, lock) == ["part/chapter.md"]
    assert disagreements(project.docs, lock) == []
    return lock


@pytest.mark.parametrize(("language", "other"), [("zh", "en"), ("en", "zh")])
def test_one_side_changed(project: Project, lock: Path, language: str, other: str) -> None:
    page = project.docs / language / "part/chapter.md"
    page.write_text(page.read_text(encoding="utf-8") + "\nMore 更多\n", encoding="utf-8")
    assert disagreements(project.docs, lock) == [
        f"docs/{language}/part/chapter.md changed and docs/{other}/part/chapter.md did not. "
        "Bring the other side up to date, then: make agree PAGE=part/chapter.md"
    ]
    assert agree(["part/chapter.md"], project.docs, lock) == ["part/chapter.md"]
    assert disagreements(project.docs, lock) == []
    assert agree([], project.docs, lock) == []


def test_both_sides_changed(project: Project, lock: Path) -> None:
    project.pair(ZH + "\n更多\n", EN + "\nMore\n")
    assert disagreements(project.docs, lock) == [
        "part/chapter.md: both sides changed. Compare them, then: make agree PAGE=part/chapter.md"
    ]


def test_code_and_outputs_are_compared_not_agreed(project: Project, lock: Path) -> None:
    output = "\n    <!--pytest-codeblocks:expected-output-->\n\n    ```text\n    1\n    ```\n\n$$"
    for language, text in (("zh", ZH), ("en", EN)):
        project.page(text.replace("x = 1\n", "x = 9\n", 1).replace("\n$$", output, 1), language)
    compare("part/chapter.md", project.docs)
    assert disagreements(project.docs, lock) == []


def test_a_new_pair(project: Project, lock: Path) -> None:
    project.pair("新\n", "New\n", "part/other.md")
    assert disagreements(project.docs, lock) == [
        "part/other.md: this pair was never agreed. Compare it, then: make agree PAGE=part/other.md"
    ]
    assert agree([], project.docs, lock) == ["part/other.md"]


def test_a_pair_that_is_gone(project: Project, lock: Path) -> None:
    for language in ("zh", "en"):
        (project.docs / language / "part/chapter.md").unlink()
    assert disagreements(project.docs, lock) == [
        "part/chapter.md: docs/data/pairs.json names it, but it is gone: make agree"
    ]
    agree([], project.docs, lock)
    assert disagreements(project.docs, lock) == []


def test_agreeing_refuses_what_differs(project: Project, lock: Path) -> None:
    before = lock.read_text(encoding="utf-8")
    project.page(EN.replace("y = 2", "y = 3"))
    with pytest.raises(PairError, match=r"docs/en/part/chapter\.md:20 has fence 'y = 3'"):
        agree(["part/chapter.md"], project.docs, lock)
    assert lock.read_text(encoding="utf-8") == before


def test_agreeing_on_an_unknown_page(project: Project, lock: Path) -> None:
    with pytest.raises(PairError, match=r"no page part/chapters\.md; there are part/chapter\.md"):
        agree(["part/chapters.md"], project.docs, lock)


def test_a_broken_lock(project: Project, lock: Path) -> None:
    lock.write_text('{\n"a": \n<<<<<<< HEAD\n')
    with pytest.raises(PairError, match=r"docs/data/pairs\.json:3: not JSON .* or delete it and"):
        disagreements(project.docs, lock)


@pytest.mark.parametrize("given", ["part/a.md", "en/part/a.md", "docs/zh/part/a.md"])
def test_names_of_pages(given: str) -> None:
    assert pairs.name_of(given) == "part/a.md"


def test_notebooks_have_structure_too(project: Project) -> None:
    script = "# %% [markdown]\n# ## Name {{ #name }}\n# {text}\n\n# %%\nx = 1\n"
    project.pair(script.format(text="中"), script.format(text="a"), "labs/one.py")
    assert pairs.page_names(project.docs) == ["labs/one.py"]
    compare("labs/one.py", project.docs)
    project.page(script.format(text="a").replace("x = 1", "x = 2"), name="labs/one.py")
    with pytest.raises(PairError, match="'x = 2'"):
        compare("labs/one.py", project.docs)
