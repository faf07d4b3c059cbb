"""The points of the source notes: the list, the lookups, and the boxes on the pages."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import autocorrect_py
import html5lib
import pytest
import yaml

from scripts import glossary, sources
from scripts.data_files import HAN, DataError, Text
from scripts.paths import DOCS

# The points of each chapter: prefix, first and last number.
CHAPTERS = {
    "effective/basics": ("E1.", 1, 7),
    "effective/modules": ("E2.", 1, 5),
    "effective/broadcasting": ("E3.", 1, 5),
    "effective/operators": ("E4.", 1, 5),
    "effective/torchscript": ("E5.", 1, 3),
    "effective/loading": ("E6.", 1, 7),
    "effective/stability": ("E7.", 1, 8),
    "kernels/padding": ("T", 1, 6),
    "kernels/convolution": ("T", 7, 12),
    "notes/pitfalls": ("N1.", 1, 4),
    "notes/models": ("N2.", 1, 5),
    "notes/optimizers": ("N3.", 1, 4),
    "notes/losses": ("N4.", 1, 1),
    "notes/activations": ("N5.", 1, 1),
    "notes/tensors": ("N6.", 1, 6),
    "notes/datasets": ("N7.", 1, 7),
    "notes/checkpoints": ("N8.", 1, 2),
}
FAULTLESS = (
    "E1.1 E1.7 E2.1 E2.5 E3.2 E3.5 E4.1 E5.1 E7.1 E7.3 E7.4 E7.7 T1 T10 "
    "N1.1 N1.2 N1.4 N2.1 N3.1 N6.1 N6.5 N7.1 N7.3"
)


def texts() -> Iterator[tuple[str, Text]]:
    """Every text of the file with the place it stands at."""
    loaded = sources.sources()
    for note in loaded.notes:
        yield f"{note.id}, name", note.name
        yield f"{note.id}, about", note.about
    for point in loaded.points:
        yield f"{point.id}, point", point.point
        for number, fault in enumerate(point.faults, 1):
            yield f"{point.id}, fault {number}, says", fault.says
            yield f"{point.id}, fault {number}, right", fault.right
            if fault.since:
                yield f"{point.id}, fault {number}, since", fault.since


# ------------------------------------------------------------------------------ the list


def test_every_point_is_there_in_its_chapter() -> None:
    expected = {
        chapter: [f"{prefix}{number}" for number in range(first, last + 1)]
        for chapter, (prefix, first, last) in CHAPTERS.items()
    }
    loaded = sources.sources()
    found = {chapter: [p.id for p in loaded.chapter(chapter)] for chapter in loaded.chapters}
    assert found == expected
    assert [note.id for note in loaded.notes] == ["E", "T", "N"]


def test_points_with_and_without_faults() -> None:
    faultless = [point.id for point in sources.sources().points if not point.faults]
    assert " ".join(faultless) == FAULTLESS


def test_every_fault_speaks_both_languages() -> None:
    for where, text in texts():
        assert text.en, where
        assert text.zh, where
        assert not HAN.search(text.en), where
        if not where.endswith("since"):
            assert HAN.search(text.zh), where


def test_chinese_typography() -> None:
    wrong = [
        (where, autocorrect_py.format_for(text.zh, "md"))
        for where, text in texts()
        if autocorrect_py.format_for(text.zh, "md") != text.zh
    ]
    assert wrong == []


def test_chinese_punctuation_is_full_width() -> None:
    half = re.compile(rf"{HAN.pattern}[,;:?!()]|[,;:?!()]{HAN.pattern}")
    prose = [(where, re.sub("`[^`]*`", "码", text.zh)) for where, text in texts()]
    assert [(where, zh) for where, zh in prose if half.search(zh)] == []


def test_chinese_terms_follow_the_glossary() -> None:
    wrong = [(where, glossary.forbidden(text.zh)) for where, text in texts()]
    assert [found for found in wrong if found[1]] == []


def test_sentences_end() -> None:
    for where, text in texts():
        if where.endswith((", says", ", right")):
            assert text.en.endswith("."), where
            assert text.zh.endswith("。"), where


def test_anchors_stand_on_the_pages_of_their_chapter() -> None:
    """A chapter that is written shows where each of its faults is settled."""
    lost = []
    written = 0
    for point in sources.sources().points:
        for language in ("en", "zh"):
            page = DOCS / language / f"{point.chapter}.md"
            if not page.exists():
                continue
            written += 1
            ids = set(re.findall(r"^#+ .*\{[^}]*#([\w-]+)", page.read_text("utf-8"), re.M))
            lost += [
                f"{point.id}: the fault “{fault.says.en}” needs an anchor on {language}/"
                f"{point.chapter}.md; it has {fault.anchor}"
                for fault in point.faults
                if fault.anchor not in ids
            ]
    assert written
    assert lost == []


# ----------------------------------------------------------------------- broken entries


def note(**changes: Any) -> dict[str, Any]:
    return {
        "id": "E",
        "name": {"en": "A guide", "zh": "一份指南"},
        "about": {"en": "Seven chapters.", "zh": "共七章。"},
    } | changes


def fault(**changes: Any) -> dict[str, Any]:
    whole = {
        "kind": "wrong",
        "says": {"en": "They say `a < b`.", "zh": "说 `a < b`。"},
        "right": {"en": "It is “b” & more.", "zh": "应为 b。"},
        "since": {"en": "torch 2.0", "zh": "torch 2.0"},
        "anchor": "row-sum",
    }
    return {key: value for key, value in (whole | changes).items() if value is not None}


def point(*faults: object, **changes: Any) -> dict[str, Any]:
    whole: dict[str, Any] = {
        "id": "E4.2",
        "chapter": "effective/operators",
        "point": {"en": "Summing rows.", "zh": "按行求和。"},
    }
    if faults:
        whole["faults"] = list(faults)
    return {key: value for key, value in (whole | changes).items() if value is not None}


def write(folder: Path, *points: object, notes: object = None) -> Path:
    path = folder / "sources.yml"
    whole = {"notes": [note()] if notes is None else notes, "points": list(points)}
    path.write_text(yaml.safe_dump(whole, allow_unicode=True), "utf-8")
    return path


def test_a_good_file_loads(tmp_path: Path) -> None:
    loaded = sources.load(write(tmp_path, point(fault()), point(id="E5", faults=None)))
    assert loaded.notes == (sources.Notes("E", Text("A guide", "一份指南"), _seven()),)
    first, second = loaded.points
    assert first == sources.Point(
        "E4.2", "effective/operators", Text("Summing rows.", "按行求和。"), (_fault(),)
    )
    assert second.faults == ()
    assert loaded.point("E5") is second


def _seven() -> Text:
    return Text("Seven chapters.", "共七章。")


def _fault() -> sources.Fault:
    return sources.Fault(
        "wrong",
        Text("They say `a < b`.", "说 `a < b`。"),
        Text("It is “b” & more.", "应为 b。"),
        Text("torch 2.0", "torch 2.0"),
        "row-sum",
    )


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (point(point=None), 'E4.2: "point" is missing'),
        (point(chapter=None), 'E4.2: "chapter" is missing'),
        (point(chapter="operators"), "E4.2, chapter: 'operators' is not part/chapter"),
        (point(id="4.2"), "4.2, id: '4.2' is not the letter of one of the notes (E)"),
        (point(id="T1"), "T1, id: 'T1' is not the letter of one of the notes (E)"),
        (point(id=4.2), "point 1, id: expected a text; got 4.2"),
        (point(claim="100x"), 'E4.2: unknown key "claim"'),
        (point(point={"en": "Summing."}), 'E4.2, point: "zh" is missing; give both languages'),
        (point(faults=[]), "E4.2, faults: expected a list with at least one entry"),
        (point("wrong"), "E4.2, fault 1: expected keys kind, says, right"),
        (point(fault(), fault(kind=None)), 'E4.2, fault 2: "kind" is missing'),
        (
            point(fault(kind="false")),
            "E4.2, fault 1, kind: 'false' is not one of wrong, missing, outdated, unmeasured",
        ),
        (point(fault(says=None)), 'E4.2, fault 1: "says" is missing'),
        (point(fault(right={"zh": "应为。"})), 'E4.2, fault 1, right: "en" is missing'),
        (
            point(fault(right={"en": "It is.", "zh": "It is."})),
            "E4.2, fault 1, right, zh: no Chinese in the Chinese text: It is.",
        ),
        (
            point(fault(says={"en": "他们说。", "zh": "他们说。"})),
            "E4.2, fault 1, says, en: Chinese characters in the English text",
        ),
        (
            point(fault(says={"en": "They say `a.", "zh": "说 `a`。"})),
            "E4.2, fault 1, says, en: a backtick is not closed",
        ),
        (point(fault(since="torch 2.0")), 'E4.2, fault 1, since: expected "en" and "zh"'),
        (point(fault(anchor="#row-sum")), "E4.2, fault 1, anchor: '#row-sum' is not the id"),
        (point(fault(anker="row-sum")), 'E4.2, fault 1: unknown key "anker"'),
    ],
)
def test_a_broken_entry_is_named(tmp_path: Path, entry: object, message: str) -> None:
    with pytest.raises(DataError) as error:
        sources.load(write(tmp_path, entry))
    assert message in str(error.value)
    assert "sources.yml" in str(error.value)


def test_ids_are_unique(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"points: E4\.2 stands twice"):
        sources.load(write(tmp_path, point(), point()))
    with pytest.raises(DataError, match="notes: E stands twice"):
        sources.load(write(tmp_path, point(), notes=[note(), note()]))


@pytest.mark.parametrize(
    ("notes", "message"),
    [
        ([], "notes: expected a list"),
        ([note(id="Ef")], "notes 1, id: 'Ef' is not one capital letter"),
        ([note(author="A")], 'notes 1: unknown key "author"'),
        ([{"id": "E", "name": {"en": "A", "zh": "甲"}}], 'notes 1: "about" is missing'),
    ],
)
def test_broken_notes_are_named(tmp_path: Path, notes: object, message: str) -> None:
    with pytest.raises(DataError) as error:
        sources.load(write(tmp_path, point(), notes=notes))
    assert message in str(error.value)


# --------------------------------------------------------------------------- the lookups


def test_an_unknown_point_or_chapter_is_named() -> None:
    loaded = sources.sources()
    with pytest.raises(DataError, match=r'"E4\.9"; there are E4\.1, E4\.2, E4\.3, E4\.4, E4\.5$'):
        loaded.point("E4.9")
    with pytest.raises(DataError, match='"X1"; there are E…, T…, N…'):
        loaded.point("X1")
    with pytest.raises(DataError, match='"effective/ops"; the chapters are effective/basics, '):
        loaded.chapter("effective/ops")


# ----------------------------------------------------------------------------- the boxes


def parse(fragment: str) -> Any:
    parser = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False)
    return parser.parseFragment(fragment)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_fault_has_a_valid_box(language: str) -> None:
    for one in sources.sources().points:
        if not one.faults:
            continue
        root = parse(sources.fault_html(one.id, language))
        boxes = root.findall("div")
        assert len(boxes) == len(one.faults)
        for box, settled in zip(boxes, one.faults, strict=True):
            assert box.get("class") == f"admonition fault fault-{settled.kind}"
            assert box.find("p").get("class") == "admonition-title"
            said = ["".join(part.itertext()) for part in box.iter("dd")]
            wanted = [settled.says, settled.right, *([settled.since] if settled.since else [])]
            assert said == [text.in_language(language).replace("`", "") for text in wanted]


def made(tmp_path: Path) -> sources.Sources:
    second = fault(kind="outdated", since=None, anchor=None)
    return sources.load(write(tmp_path, point(fault(), second)))


def test_a_box_in_english(tmp_path: Path) -> None:
    assert sources.fault_html("E4.2", "en", 1, made(tmp_path)) == "\n".join(
        [
            '<div class="admonition fault fault-wrong">',
            '<p class="admonition-title">The notes are wrong '
            '<span class="fault-point">E4.2</span></p>',
            "<dl>",
            "<dt>The notes</dt>",
            "<dd>They say <code>a &lt; b</code>.</dd>",
            "<dt>Right</dt>",
            "<dd>It is “b” &amp; more.</dd>",
            "<dt>Since</dt>",
            "<dd>torch 2.0</dd>",
            "</dl>",
            "</div>",
        ]
    )


def test_a_box_in_chinese_without_since(tmp_path: Path) -> None:
    box = sources.fault_html("E4.2", "zh", 2, made(tmp_path))
    assert '<p class="admonition-title">原笔记已过时 ' in box
    assert re.findall("<dt>(.*)</dt>", box) == ["原笔记", "正确"]


def test_kinds_have_titles_of_their_own() -> None:
    for language in ("en", "zh"):
        titles = {sources.TITLES[kind].in_language(language) for kind in sources.KINDS}
        assert len(titles) == 4


def test_all_boxes_or_one(tmp_path: Path) -> None:
    among = made(tmp_path)
    both = [sources.fault_html("E4.2", "en", number, among) for number in (1, 2)]
    assert both[0] != both[1]
    assert sources.fault_html("E4.2", "en", among=among) == "\n".join(both)


@pytest.mark.parametrize("index", [0, 3, -1])
def test_a_fault_that_is_not_there_is_named(tmp_path: Path, index: int) -> None:
    with pytest.raises(DataError, match=rf"E4\.2 has no fault {index}; .* numbered 1 to 2"):
        sources.fault_html("E4.2", "en", index, made(tmp_path))


def test_a_point_without_faults_is_named() -> None:
    with pytest.raises(DataError, match=r"E4\.1 has no faults in docs/data/sources\.yml"):
        sources.fault_html("E4.1", "en")


def test_an_unknown_language_is_named() -> None:
    with pytest.raises(ValueError, match="'fr'"):
        sources.fault_html("E4.2", "fr")
