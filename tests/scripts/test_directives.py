from __future__ import annotations

import re
from typing import Any

import pytest
from markdown import Markdown

from scripts import benchmark_texts, claims, directives
from scripts.directives import DirectiveError, DirectiveExtension, context_for, parse, render
from tests.projects import Project

NAME = "part/chapter/idea"


def case(rows: int, slow: float, fast: float) -> dict[str, Any]:
    samples = {"loop": [slow] * 3, "sum": [fast] * 3}
    return {"where": {"rows": rows, "kind": "a"}, "samples": samples}


@pytest.fixture
def measured(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project with a benchmark on two machines: 4 and 8 times faster at 500 rows."""
    project.record([case(5, 1.0, 1.0), case(500, 4.0, 1.0)], machine="a")
    project.record([case(5, 1.0, 1.0), case(500, 8.0, 1.0)], machine="b")
    texts = project.write(
        "docs/data/benchmarks.yml",
        f"{NAME}: {{title: {{en: an idea, zh: 想法}}, axes: {{rows: {{en: rows, zh: 行数}}}}}}\n",
    )
    path = project.write("docs/data/claims.yml", "{}\n")
    load_texts, load_claims = benchmark_texts.load, claims.load
    monkeypatch.setattr(benchmark_texts, "load", lambda: load_texts(texts))
    monkeypatch.setattr(claims, "load", lambda: load_claims(path))
    return project


def rendered(call: str, language: str = "en", before: str = "") -> str:
    page = context_for(f"{language}/part/chapter.md", f"{language}/part/chapter/", before + call)
    return render(call, page)


RATIO = f'ratio("{NAME}", slow="loop", fast="sum", where={{"rows": 500, "kind": "a"}})'


def ratio(**more: object) -> str:
    return RATIO[:-1] + "".join(f", {key}={value!r}" for key, value in more.items()) + ")"


def test_calls_are_parsed() -> None:
    call = parse('timing("a/b", x="n", where={"kind": "a", "n": [1, -2.5, None, True]})')
    assert (call.name, call.positional) == ("timing", ("a/b",))
    assert call.named == {"x": "n", "where": {"kind": "a", "n": [1, -2.5, None, True]}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("timming()", "there is no directive 'timming'; there are timing, ratio, claim, fault"),
        ("timing()", "missing a required argument: 'benchmark'"),
        ('timing("a", y="n")', "got an unexpected keyword argument 'y'"),
        ('claim("a", "b")', "too many positional arguments"),
        ('timing(name, x="n")', "write arguments as text, numbers, lists and dicts"),
        ('timing("a" x="n")', "not a call that Python can read"),
        ('timing["a"]', "write it as name(arguments)"),
        ('x.timing("a")', "write it as name(arguments)"),
    ],
)
def test_what_is_no_call(text: str, message: str) -> None:
    with pytest.raises(DirectiveError) as caught:
        parse(text)
    assert message in str(caught.value)


def test_a_ratio_is_a_range_over_machines(measured: Project) -> None:
    html = rendered(RATIO)
    assert html == (
        '<span class="measured" title="Test CPU, 4 cores: 4; Test CPU, 4 cores: 8">4.0–8.0</span>'
    )
    assert ">1.00<" in rendered(RATIO.replace("500", "5"))


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"at_least": 4.1}, "says at least 4.1, but the record of Test CPU, 4 cores has 4."),
        ({"at_most": 7.9}, "says at most 7.9, but the record of Test CPU, 4 cores has 8."),
        (
            {"at_least": 1, "at_most": 5},
            "says at most 5, but the record of Test CPU, 4 cores has 8",
        ),
    ],
)
def test_a_sentence_that_a_record_contradicts(
    measured: Project, limits: dict[str, float], message: str
) -> None:
    assert rendered(ratio(at_least=4, at_most=8))
    with pytest.raises(DirectiveError) as caught:
        rendered(ratio(**limits), before="\n\ntext {{ ")
    assert str(caught.value).startswith("docs/en/part/chapter.md:3: {{ ratio(")
    assert message in str(caught.value)
    assert "Change the sentence and its limit, in both languages" in str(caught.value)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            RATIO.replace("/idea", "/ide"),
            f"known: {NAME}). Measure it: make bench ONLY=part/chapte",
        ),
        (RATIO.replace('"sum"', '"sums"'), "has no contender 'sums': it has loop, sum"),
        (RATIO.replace('"rows"', '"row"'), "has no axis 'row': its axes are rows, kind"),
        (RATIO.replace(', "kind": "a"', ""), "`where` leaves kind open: name a value for each"),
        (RATIO.replace("500", "50"), "was not measured at {'rows': 50, 'kind': 'a'}; there are"),
        (ratio(device="gpu"), "there is no device 'gpu': write one of cpu, cuda"),
        (ratio(device="cuda"), "no record on cuda has both 'loop' and 'sum'"),
        (ratio(quantity="size"), "there is no 'size'"),
        (ratio(at_least="4"), "TypeError: "),
        (f'timing("{NAME}", x="row", where={{"kind": "a"}})', "has no axis 'row'"),
        (f'timing("{NAME}", x="rows", where={{"knd": "a"}})', "has no axis 'knd'"),
        (f'timing("{NAME}", x="rows")', "`where` leaves kind open"),
        (f'timing("{NAME}", x="rows", where={{"kind": "b"}})', "was not measured at"),
        (f'timing("{NAME}", x="rows", where={{"kind": "a"}}, baseline="x")', "no contender 'x'"),
        (f'timing("{NAME}", x="rows", where={{"kind": "a"}}, contenders=["x"])', "contender 'x'"),
        (f'timing("{NAME}", x="kind", where={{"rows": 5}})', "add the axis 'kind'"),
        (f'timing("{NAME}", device="gpu")', "there is no device 'gpu'"),
        ('claim("E1.1")', "docs/data/claims.yml has no 'E1.1'"),
        ('fault("E99.9")', 'there is no source point "E99.9"'),
        ('picture("part/chapter/idea", alt="x")', "there is no snippets/part/chapter/idea.py"),
        ('table("part/chapter/idea")', "there is no snippets/part/chapter/idea.py"),
    ],
)
def test_directives_that_cannot_be_carried_out(measured: Project, call: str, message: str) -> None:
    with pytest.raises(DirectiveError) as caught:
        rendered(call, before="# T\n\n{{ ")
    assert str(caught.value).startswith(f"docs/en/part/chapter.md:3: {{{{ {call} }}}}: ")
    assert message in str(caught.value)


def test_a_machine_of_another_kind_is_not_made_up(measured: Project) -> None:
    call = f'timing("{NAME}", x="rows", where={{"kind": "a"}}, device="cuda")'
    assert rendered(call) == "<p>Not measured on a GPU yet.</p>"
    assert rendered(call, "zh") == "<p>尚无 GPU 上的测量记录。</p>"


def converted(text: str, failure: type[Exception] = DirectiveError) -> str:
    page = context_for("en/part/chapter.md", "en/part/chapter/", text)
    extension = DirectiveExtension(lambda: page, failure)
    return Markdown(extensions=["pymdownx.superfences", "admonition", extension]).convert(text)


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> None:
    """A directive that makes a block, and one that makes a word."""
    monkeypatch.setitem(
        directives.DIRECTIVES, "block", lambda page, n: f"<div>{page.identifier()}</div>"
    )
    monkeypatch.setitem(directives.DIRECTIVES, "word", lambda page, n: f"<b>{n}</b>")


@pytest.mark.usefixtures("said")
def test_directives_become_blocks_and_words() -> None:
    html = converted(
        'a {{ word(1) }} b {{ word("x)}") }}\n\n{{ block(\n    1\n) }}\n\n'
        "!!! note\n\n    {{ block(2) }}\n"
    )
    assert html.startswith("<p>a <b>1</b> b <b>x)}</b></p>\n<div>d1</div>\n")
    assert re.search(r'<div class="admonition note">.*<div>d2</div>\n</div>', html, re.DOTALL)


@pytest.mark.usefixtures("said")
@pytest.mark.parametrize("text", ["```\n{{ word(1) }}\n```", "`{{ word(1) }}`", "$x_{{a}}$"])
def test_code_is_left_alone(text: str) -> None:
    assert text.strip("`\n") in re.sub("<.*?>", "", converted(text))


@pytest.mark.usefixtures("said")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "a\n\nb {{ wrod(1) }}\n",
            "docs/en/part/chapter.md:3: {{ wrod(1) }}: there is no directive",
        ),
        ("a\n\n{{ word 1 }}\n", "docs/en/part/chapter.md:3: {{ word 1 }}: write it as {{ name(arg"),
        ("a\n\n{{ word(1) }\n", "docs/en/part/chapter.md:3: {{ word(1) }: write it as {{ name(arg"),
        ("a\n\n{{ Word(1) }}\n", "docs/en/part/chapter.md:3: {{ Word(1) }}: write it as"),
    ],
)
def test_what_looks_like_a_directive_is_one(text: str, message: str) -> None:
    with pytest.raises(RuntimeError) as caught:
        converted(text, failure=RuntimeError)
    assert str(caught.value).startswith(message)


def test_contexts() -> None:
    page = context_for("zh/part/chapter.md", "zh/part/chapter/")
    assert (page.language, page.to_root) == ("zh", "../../../")
    assert [page.identifier(), page.identifier()] == ["d1", "d2"]
    assert context_for("index.md", "").to_root == "./"
