from __future__ import annotations

from xml.etree import ElementTree

import pytest

from scripts.mathml import InvalidFormula, replace_formulas, to_mathml


def _shape(latex: str, *, block: bool = False) -> str:
    """The MathML without attributes, written as tag(children)."""

    def write(element: ElementTree.Element) -> str:
        inside = (element.text or "") + ",".join(map(write, element))
        return f"{element.tag}({inside})"

    row = ElementTree.fromstring(to_mathml(latex, block=block))[0]
    return ",".join(map(write, row))


def test_a_formula_in_a_line_keeps_its_punctuation() -> None:
    page = '<p>（<span class="arithmatex">\\(a &lt; b\\)</span>），于是</p>'
    made = replace_formulas(page)
    assert made.startswith('<p><span class="math">（<math alttext="a &lt; b" data-search-exclude')
    assert "<mo>&lt;</mo>" in made
    assert made.endswith("</math>），</span>于是</p>")


def test_a_block_is_set_as_a_block() -> None:
    page = '<div class="arithmatex">\\[\nx^2\n\\]</div>'
    assert replace_formulas(page).startswith(
        '<div class="math"><math display="block" alttext="x^2"'
    )


def test_several_formulas_do_not_run_into_each_other() -> None:
    page = "".join(f'<p><span class="arithmatex">\\({x}\\)</span></p>' for x in "abc")
    assert replace_formulas(page).count("<math") == 3


def test_text_without_formulas_is_left_alone() -> None:
    page = "<p>\\(x\\) costs $5</p>"
    assert replace_formulas(page) == page


@pytest.mark.parametrize(
    ("latex", "expected"),
    [
        (r"\operatorname{softmax}(x)", "mi(softmax),mo((),mi(x),mo())"),
        (r"\mathrm{eps}", "mrow(mi(eps))"),
        (r"a \log x", "mi(a),mspace(),mi(log),mspace(),mi(x)"),
        (r"\log(x)", "mi(log),mo((),mi(x),mo())"),
        (r"\mathbf{Wh}", "mrow(mi(𝐖),mi(𝐡))"),
        (r"\mathit{h}", "mrow(mi(ℎ))"),
        (r"a \implies b", "mi(a),mo(⟹),mi(b)"),
        (r"\lfloor x \rfloor", "mo(⌊),mi(x),mo(⌋)"),
        (r"\sum_j x_j", "munder(mo(∑),mi(j)),msub(mi(x),mi(j))"),
        (r"\max_j x_j", "munder(mo(max),mi(j)),msub(mi(x),mi(j))"),
    ],
)
def test_what_browsers_need_is_mended(latex: str, expected: str) -> None:
    assert _shape(latex, block=True) == expected


@pytest.mark.parametrize(
    ("latex", "reason"),
    [
        (r"\foo{x}", r"\foo is not a known command"),
        (r"\frac{1}{2", "braces do not match"),
        (r"a}{b", "braces do not match"),
        (r"\frac{1}", "argument is missing"),
        (r"x^", "missing super script or subscript"),
        (r"a & b", "outside of a table"),
        (r"\left( x", "missing right"),
        (r"\begin{aligned} a \end{aligned}", "environment aligned is not known"),
        (r"\operatorname*{arg\,max}", r"\operatorname* is not known"),
    ],
)
def test_a_formula_without_meaning_is_named(latex: str, reason: str) -> None:
    with pytest.raises(InvalidFormula) as raised:
        replace_formulas(f'<span class="arithmatex">\\({latex}\\)</span>')
    assert reason in str(raised.value)
    assert latex in str(raised.value)


def test_escaped_braces_are_text() -> None:
    assert "mo({)" in _shape(r"\{1, 2\}")
