"""LaTeX on the pages becomes MathML while the site is built.

pymdownx.arithmatex (``generic: true``) marks a formula as
``<span class="arithmatex">\\(…\\)</span>`` or ``<div class="arithmatex">\\[…\\]</div>``.
latex2mathml translates it. It lets most mistakes pass (an unknown command becomes the text of an
identifier), so ``to_mathml`` looks for what it leaves behind, and mends what MathML Core, the part
that browsers agree on, shows badly.
"""

import html
import re
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from latex2mathml import commands, converter

# Browsers would break a line between a formula and the mark beside it, so it is taken along.
FORMULA = re.compile(
    r'(?P<before>[（(“‘]?)<(?P<tag>span|div) class="arithmatex">\s*'
    r"(?:\\\((?P<inline>.*?)\\\)|\\\[(?P<block>.*?)\\\])\s*</(?P=tag)>"
    r"(?P<after>[，。、；：！？）”’…,.;:!?)]*)",
    re.DOTALL,
)
ENVIRONMENTS = {name.removeprefix("\\") for name in commands.MATRICES}
CHILDREN = {"mfrac": 2, "msub": 2, "msup": 2, "msubsup": 3, "munder": 2, "mover": 2,
            "munderover": 3, "mroot": 2}  # fmt: skip
LIMITS = {"∑", "∏", "⋃", "⋂", "max", "min", "sup", "inf", "lim", "arg max", "arg min"}
UNDER = {"msub": "munder", "msup": "mover", "msubsup": "munderover"}
THIN_SPACE = "0.167em"
# The first letters of the styled alphabets in Unicode: capitals, small letters, digits.
# Browsers know no other mathvariant than "normal".
ALPHABETS = {
    "bold": (0x1D400, 0x1D41A, 0x1D7CE),
    "italic": (0x1D434, 0x1D44E, None),
    "bold-italic": (0x1D468, 0x1D482, None),
    "monospace": (0x1D670, 0x1D68A, 0x1D7F6),
}


class InvalidFormula(ValueError):
    """A formula that has no meaning, with the reason and the formula in the message."""


def replace_formulas(page: str) -> str:
    """The HTML of a page with each formula that arithmatex marked replaced by MathML."""

    def replace(match: re.Match[str]) -> str:
        block = match["block"] is not None
        latex = html.unescape(match["block"] if block else match["inline"]).strip()
        formula = match["before"] + to_mathml(latex, block=block) + match["after"]
        return f'<{match["tag"]} class="math">{formula}</{match["tag"]}>'

    return FORMULA.sub(replace, page)


def to_mathml(latex: str, *, block: bool = False) -> str:
    """The formula as a ``<math>`` element for HTML, out of reach of the search index.

    Raises InvalidFormula for what has no meaning or what latex2mathml does not know.
    """
    _check_latex(latex)
    try:
        text = converter.convert(latex, display="block" if block else "inline")
        root = ElementTree.fromstring(re.sub(r' xmlns="[^"]*"', "", text))
    except ElementTree.ParseError:
        raise _invalid(latex, "an & stands outside of a table") from None
    except Exception as error:  # latex2mathml's errors have no common base, and some say nothing
        reason = str(error) or re.sub(r"(?<!^)(?=[A-Z])", " ", type(error).__name__).lower()
        raise _invalid(latex, reason.removesuffix(" error")) from error
    _check_tree(latex, root)
    _tidy(root)
    if not block:
        del root.attrib["display"]
    root.set("alttext", latex)
    root.set("data-search-exclude", "true")
    return ElementTree.tostring(root, encoding="unicode", short_empty_elements=False)


def _invalid(latex: str, reason: str) -> InvalidFormula:
    return InvalidFormula(f"{reason}, in the formula: {latex}")


def _check_latex(latex: str) -> None:
    depth = 0
    for brace in re.findall(r"\\.|[{}]", latex):
        depth += {"{": 1, "}": -1}.get(brace, 0)
        if depth < 0:
            break
    if depth:
        raise _invalid(latex, "the braces do not match")
    for name in re.findall(r"\\begin\{(.*?)\}", latex):
        if name not in ENVIRONMENTS:
            known = ", ".join(sorted(ENVIRONMENTS & {"array", "bmatrix", "cases", "split"}))
            raise _invalid(latex, f"the environment {name} is not known here; use {known}")
    if r"\operatorname*" in latex:
        raise _invalid(latex, r"\operatorname* is not known here; use \operatorname or \argmax")


def _check_tree(latex: str, root: Element) -> None:
    for element in root.iter():
        text = element.text or ""
        if text.startswith("\\"):
            raise _invalid(latex, f"{text} is not a known command")
        if len(element) != CHILDREN.get(element.tag, len(element)):
            raise _invalid(latex, f"an argument is missing ({element.tag})")


def _tidy(parent: Element) -> None:
    """Mends the tree below ``parent`` for browsers."""
    for child in parent:
        _tidy(child)
    for child in parent:
        _style(child)
        _set_limits(child)
    _join_upright(parent)
    if parent.tag in ("math", "mrow", "mtd"):
        _space_functions(parent)


def _style(element: Element) -> None:
    """Letters of a styled alphabet, and operators that came as identifiers or the reverse."""
    text = element.text or ""
    if variant := ALPHABETS.get(element.get("mathvariant", "")):
        element.text = "".join(_styled(letter, *variant) for letter in text)
        del element.attrib["mathvariant"]
    if element.tag == "mi" and re.fullmatch("[←-⇿⟰-⟿⌈-⌋]", text):  # \implies, \lfloor
        element.tag = "mo"
    elif element.tag == "mo" and re.fullmatch("[a-zA-Z]{2,}", text) and text not in LIMITS:
        element.tag = "mi"  # \operatorname{softmax}
        element.attrib.pop("movablelimits", None)
    if element.tag == "mo" and text in "|‖" and "form" not in element.attrib:
        element.attrib |= {"lspace": "0", "rspace": "0"}


def _styled(letter: str, capital: int, small: int, digit: int | None) -> str:
    if "A" <= letter <= "Z":
        return chr(capital + ord(letter) - ord("A"))
    if letter == "h" and small == ALPHABETS["italic"][1]:
        return "ℎ"  # the one hole in the italic alphabet
    if "a" <= letter <= "z":
        return chr(small + ord(letter) - ord("a"))
    if "0" <= letter <= "9" and digit is not None:
        return chr(digit + ord(letter) - ord("0"))
    return letter


def _set_limits(element: Element) -> None:
    """The index of a sum goes below the sign in a block, and stays beside it in a line."""
    if element.tag in UNDER and element[0].tag == "mo" and element[0].text in LIMITS:
        element.tag = UNDER[element.tag]
    if element.tag in UNDER.values() and element[0].text in LIMITS:
        element[0].set("movablelimits", "true")


def _join_upright(parent: Element) -> None:
    r"""The letters of \mathrm{eps} become one identifier, which is upright by nature."""
    previous: Element | None = None
    for child in list(parent):
        upright = child.tag == "mi" and child.get("mathvariant") == "normal"
        if upright and previous is not None:
            previous.text = (previous.text or "") + (child.text or "")
            previous.attrib.pop("mathvariant", None)
            parent.remove(child)
        else:
            previous = child if upright else None


def _space_functions(row: Element) -> None:
    """A thin space before and after a function's name, as TeX sets it."""
    for position in range(len(row) - 1, -1, -1):
        base = row[position]
        while len(base) and base.tag in (*UNDER, *UNDER.values()):
            base = base[0]
        name = base.text or ""
        if base.tag == "mo" and name in LIMITS and name.isascii():
            base.attrib |= {"lspace": THIN_SPACE if position else "0", "rspace": THIN_SPACE}
        if not (base.tag == "mi" and len(name) > 1 and name.isascii() and name.isalpha()):
            continue
        if position + 1 < len(row) and not _is_operator(row[position + 1]):
            row.insert(position + 1, Element("mspace", width=THIN_SPACE))
        if position and not _is_operator(row[position - 1]):
            row.insert(position, Element("mspace", width=THIN_SPACE))


def _is_operator(element: Element) -> bool:
    """True for an operator, a space, or a row that opens with a fence: no more space is needed."""
    if element.tag == "mrow" and len(element):
        return element[0].get("fence") == "true"
    return element.tag in ("mo", "mspace")
