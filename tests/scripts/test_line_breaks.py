from __future__ import annotations

from scripts.line_breaks import breakable


def test_long_names_may_break_at_their_seams() -> None:
    page = "<code>torch.nn.functional.cross_entropy</code> <code>CrossEntropyLossFunction</code>"
    assert breakable(page) == (
        "<code>torch<wbr>.nn<wbr>.functional<wbr>.cross_<wbr>entropy</code> "
        "<code>Cross<wbr>Entropy<wbr>Loss<wbr>Function</code>"
    )


def test_the_rest_is_left_alone() -> None:
    page = "<pre><code>torch.nn.functional.cross_entropy(x)</code></pre><code>x.sum()</code>"
    assert breakable(page) == page
