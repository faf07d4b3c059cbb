"""Charts and tables made from records."""

from __future__ import annotations

import inspect
from html import escape
from typing import TYPE_CHECKING, Any

from scripts import figures, formats
from scripts.benchmark_texts import BenchmarkTexts
from scripts.records import Case, Measured, Missing, Where
from scripts.texts import TEXTS, say

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_WRITTEN = {"time": formats.seconds, "memory": formats.size_in_bytes}


def timing_html(
    measured: list[Measured],
    texts: BenchmarkTexts,
    language: str,
    identifier: str,
    to_root: str,
    x: str | None,
    where: Where,
    baseline: str | None,
    contenders: list[str] | None,
    quantity: str = "time",
) -> str:
    """Chart, table and provenance of one benchmark, a tab for each machine and device."""
    views = []
    for number, each in enumerate(measured, start=1):
        each_id = f"{identifier}-{number}"
        view = _view(
            each, texts, language, each_id, to_root, x, where, baseline, contenders, quantity
        )
        views.append((tab_label(each, language), view))
    return f'<div class="timing">{tabs(views, identifier)}</div>'


def tab_label(measured: Measured, language: str) -> str:
    """What a machine is called in a tab: the GPU's name, or the CPU's with its cores."""
    environment = measured.environment
    if measured.device != "cpu":
        return str(environment["gpu"])
    return say("cpu with cores", language, cpu=environment["cpu"], cores=environment["cores"])


def tabs(views: list[tuple[str, str]], identifier: str) -> str:
    """Material's content tabs, made by hand because the content is HTML already."""
    inputs = "".join(
        f'<input id="{identifier}-tab-{n}" name="{identifier}-tab" type="radio"'
        f"{' checked' if n == 1 else ''}>"
        for n in range(1, len(views) + 1)
    )
    labels = "".join(
        f'<label for="{identifier}-tab-{n}">{escape(label)}</label>'
        for n, (label, _) in enumerate(views, start=1)
    )
    contents = "".join(f'<div class="tabbed-block">{content}</div>' for _, content in views)
    return (
        f'<div class="tabbed-set tabbed-alternate" data-tabs="1:{len(views)}">{inputs}'
        f'<div class="tabbed-labels">{labels}</div>'
        f'<div class="tabbed-content">{contents}</div></div>'
    )


def _view(
    measured: Measured,
    texts: BenchmarkTexts,
    language: str,
    identifier: str,
    to_root: str,
    x: str | None,
    where: Where,
    baseline: str | None,
    contenders: list[str] | None,
    quantity: str,
) -> str:
    measured.require_quantity(quantity)
    cases = measured.find(where, x)
    names = contenders or measured.contenders
    baseline = baseline or names[0]
    measured.require(*names, baseline)
    labels = {name: texts.contender(measured.name, name, language) for name in names}
    title = texts.title(measured.name, language)
    if quantity != "time":
        title = f"{title}{'：' if language == 'zh' else ': '}{say(quantity, language)}"
    label = say("chart", language, title=title)
    x_label = texts.axis(measured.name, x, language) if x else ""
    y_label = say(quantity, language)
    if x and len(cases) > 1:
        draw = _line_chart(cases, labels, x, x_label, y_label, quantity)
    else:
        draw = _bar_chart(cases[0], labels, y_label, quantity)
    drawn_by = [inspect.getsource(each) for each in (_line_chart, _bar_chart, formats)]
    content = repr((cases, x, x_label, y_label, labels, identifier, label, drawn_by))
    chart = figures.remembered(content, lambda: figures.responsive_svg(draw, identifier, label))
    return (
        f"<figure data-search-exclude>{_setting(measured, texts, where, language)}{chart}</figure>"
        + _table(measured, cases, labels, x, x_label, baseline, language, quantity)
        + provenance(measured, language, to_root)
    )


def _setting(measured: Measured, texts: BenchmarkTexts, where: Where, language: str) -> str:
    """The sizes at which a chart was measured, other than the one along its axis."""
    if not where:
        return ""
    between = say("between name and value", language)
    parts = [
        texts.axis(measured.name, axis, language)
        + between
        + texts.value(measured.name, axis, value, language)
        for axis, value in where.items()
    ]
    return f'<figcaption class="setting">{escape(" · ".join(parts))}</figcaption>'


def _line_chart(
    cases: list[Case], labels: dict[str, str], x: str, x_label: str, y_label: str, quantity: str
) -> figures.Draw:
    def draw(width: float) -> Figure:
        from matplotlib.figure import Figure
        from matplotlib.ticker import FuncFormatter, NullLocator

        figure = Figure(figsize=(width, 3.6 if width > 5 else 3.4))
        axes = figure.subplots()
        values: list[Any] = [case.where[x] for case in cases]
        numeric = all(isinstance(v, int | float) and v > 0 for v in values)
        positions = values if numeric else list(range(len(values)))
        for index, (name, label) in enumerate(labels.items()):
            points = [
                (position, amount)
                for position, case in zip(positions, cases, strict=True)
                if (amount := case.amount(name, quantity)) and amount.median > 0
            ]
            if not points:
                continue
            xs = [position for position, _ in points]
            colour = figures.CYCLE[index % len(figures.CYCLE)]
            marker = figures.MARKERS[index % len(figures.MARKERS)]
            medians = [amount.median for _, amount in points]
            if not numeric:  # no line joins what has no order
                aside = 0.09 * (index - (len(labels) - 1) / 2)
                spread = [
                    [amount.median - amount.first_quartile for _, amount in points],
                    [amount.third_quartile - amount.median for _, amount in points],
                ]
                places = [x + aside for x in xs]
                axes.errorbar(places, medians, spread, color=colour, fmt=marker, label=label)
                continue
            axes.plot(
                xs,
                medians,
                color=colour,
                marker=marker,
                linestyle="-" if index < len(figures.CYCLE) else "--",
                label=label,
            )
            axes.fill_between(
                xs,
                [amount.first_quartile for _, amount in points],
                [amount.third_quartile for _, amount in points],
                color=colour,
                alpha=0.18,
                linewidth=0,
            )
        if numeric:
            axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xticks(positions, [formats.tick(value) for value in values])
        axes.xaxis.set_minor_locator(NullLocator())
        written = _WRITTEN[quantity]
        axes.yaxis.set_major_formatter(FuncFormatter(lambda t, _: written(t, 1)))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.set_xlabel(x_label)
        axes.set_title(y_label, loc="left", fontsize=9)
        figure.legend(loc="outside upper left", ncols=4 if width > 5 else 2)
        return figure

    return draw


def _bar_chart(case: Case, labels: dict[str, str], y_label: str, quantity: str) -> figures.Draw:
    def draw(width: float) -> Figure:
        from matplotlib.figure import Figure
        from matplotlib.ticker import FuncFormatter

        amounts = {
            label: amount
            for name, label in labels.items()
            if (amount := case.amount(name, quantity))
        }
        written = _WRITTEN[quantity]
        figure = Figure(figsize=(width, 0.8 + 0.34 * len(amounts)))
        axes = figure.subplots()
        medians = [amount.median for amount in amounts.values()]
        spread = [
            [each.median - each.first_quartile for each in amounts.values()],
            [each.third_quartile - each.median for each in amounts.values()],
        ]
        axes.barh(list(amounts), medians, xerr=spread, color=figures.CYCLE[0], height=0.6)
        axes.bar_label(
            axes.containers[-1],  # type: ignore[arg-type]
            [written(median) for median in medians],
            padding=4,
        )
        axes.invert_yaxis()
        axes.margins(x=0.18)
        axes.grid(axis="y", visible=False)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda t, _: written(t, 2) if t else "0"))
        axes.locator_params(axis="x", nbins=4)
        axes.set_title(y_label, loc="left", fontsize=9)
        return figure

    return draw


def _table(
    measured: Measured,
    cases: list[Case],
    labels: dict[str, str],
    x: str | None,
    x_label: str,
    baseline: str,
    language: str,
    quantity: str,
) -> str:
    head = "".join(f'<th scope="col">{escape(label)}</th>' for label in labels.values())
    rows: list[str] = []
    notes: dict[str, str] = {}  # why contenders are missing, and the mark that refers to it
    for case in cases:
        cells = "".join(_cell(case, name, baseline, language, notes, quantity) for name in labels)
        steady = case.steady or quantity != "time"
        mark = "" if steady else "≈ "
        first = f'<th scope="row">{mark}{formats.size(case.where[x])}</th>' if x else ""
        rows.append(f"<tr>{first}{cells}</tr>")
    corner = f'<th scope="col">{escape(x_label)}</th>' if x else ""
    key = "figures" if quantity == "time" else f"figures of {quantity}"
    summary = say(key, language, baseline=labels.get(baseline, baseline))
    under = [escape(f"{number} {reason}") for reason, number in notes.items()]
    if quantity == "time" and not all(case.steady for case in cases):
        under.append(say("unsteady", language))
    note = f'<p class="timing-notes">{"<br>".join(under)}</p>' if under else ""
    return (
        f"<details data-search-exclude><summary>{escape(summary)}</summary>"
        f'<div class="timing-scroll" tabindex="0" role="region" '
        f'aria-label="{escape(say("scrollable table", language))}">'
        f'<table class="timing-table"><thead><tr>{corner}{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>{note}</details>"
    )


def _cell(
    case: Case, name: str, baseline: str, language: str, notes: dict[str, str], quantity: str
) -> str:
    amount = case.amount(name, quantity)
    if amount is None:
        reason = missing_reason(case.missing.get(name), language)
        number = notes.setdefault(reason, "*" * (len(notes) + 1))
        return f"<td>{say('not measured', language)}{number}</td>"
    written = _WRITTEN[quantity]
    quartiles = ""
    if quantity == "time":
        low, high = written(amount.first_quartile), written(amount.third_quartile)
        quartiles = f"<small>{low} – {high}</small>"
    against = ""
    ratio = case.ratio(baseline, name, quantity)
    if name == baseline:
        against = say("baseline", language)
    elif ratio:
        against = f"{formats.ratio(ratio.median)}×"
    return f"<td><b>{written(amount.median)}</b>{quartiles}<small>{against}</small></td>"


def missing_reason(missing: Missing | None, language: str) -> str:
    """Why a contender has no figure, in the page's language."""
    if missing is None:
        return say("not measured", language)
    reason = str(missing["reason"])
    if reason == "too slow":
        return say(
            "too slow",
            language,
            time=formats.seconds(float(str(missing["seconds"]))),
            size=formats.size(missing["size"]),
        )
    if reason not in TEXTS:
        raise LookupError(f"scripts/texts.py: add {reason!r} in both languages")
    return say(reason, language)


def provenance(measured: Measured, language: str, to_root: str) -> str:
    """Where a figure comes from, with links to the record and the benchmark's code."""
    environment = measured.environment
    part, _, page = measured.name.rpartition("/")[0].rpartition("/")
    parts = [
        f"{environment['gpu']} · {environment['cpu']}"
        if measured.device != "cpu"
        else str(environment["cpu"]),
        say("threads", language, threads=environment["threads"], cores=environment["cores"]),
        f"torch {environment['packages']['torch']}",
        f"Python {environment['python']}",
        str(environment["os"]),
        say("measured on", language, date=environment["date"]),
    ]
    if environment.get("driver"):
        parts.insert(3, f"CUDA {environment['cuda']}, driver {environment['driver']}")
    links = [
        f'<a href="{to_root}timings/{measured.path.name}">{say("record", language)}</a>',
        f'<a href="{to_root}benchmarks/{part}/test_{page}.py">{say("benchmark", language)}</a>',
    ]
    return (
        f'<p class="provenance" data-search-exclude>{escape(" · ".join(parts))} · '
        f"{' · '.join(links)}</p>"
    )
