"""Figures of an evaluation on a terminal: tables with their intervals, reliability as bars,
differences of two reports. No figure without how far it can be trusted.
"""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from citewell.interfaces.cli.output.terminal import (
    get_stdout,
    strip_controls,
    style_text,
    write_paragraph,
)
from citewell.measure.compare import Comparison
from citewell.measure.report import Fit, Reliability, Report

GROUPS = {
    "retrieval": "Retrieval, by document",
    "pages": "Retrieval, by page",
    "answer": "Answers, of the answerable",
    "citations": "Citations",
    "refusal": "Refusals",
    "confidence": "Confidence",
    "cost": "Cost of a question",
    "latency_s": "Seconds",
}
NOTES = {
    "refusal.precision": "of the refusals: were due",
    "refusal.recall": "of the unanswerable: refused",
    "refusal.wrongly": "of the answerable: refused",
    "confidence.brier": "squared error, a refusal counts as not right",
    "confidence.brier_answered": "the same, of answers given",
    "confidence.brier_search": "that gold is among the best three",
    "citations.grounded": "of the sentences shown: proved by their quotes",
    "cost.calls": "of the chat model",
    "answer.right": "as it stands, or a long one in 4 of 5 words",
}
WIDE = 240  # columns of a table that is not for a terminal
BAR = 30  # characters of a full bar


def make_table() -> Table:
    return Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")


def show_report(report: Report) -> None:
    """The figures of a report, then those of its data sets and languages."""
    console = get_wide_console()
    for group, title in GROUPS.items():
        values = {name: value for name, value in report.group(group).items() if value is not None}
        if not values:
            continue
        rows = make_table()
        for column in (title, "", "95 %", "n", ""):
            rows.add_column(
                column,
                justify="left" if column in {title, ""} else "right",
                style="dim" if column == "n" else "",
            )
        for name, value in values.items():
            full = f"{group}.{name}"
            low_high = report.intervals.get(full)
            span = f"{low_high[0]:.3f}–{low_high[1]:.3f}" if low_high else ""
            rows.add_row(
                name,
                f"{value:.3f}",
                span,
                str(report.counted.get(full, "")),
                style_text(NOTES.get(full, ""), "dim"),
            )
        console.print(rows)
        console.print()
    _show_slices(console, report)


def _show_slices(console: Console, report: Report) -> None:
    """A row for each data set and each pair of languages, with the main figures."""
    ranked = tuple(f"retrieval.{name}" for name in ("hit@1", "recall@10", "mrr@10", "ndcg@10"))
    asked = (
        "answer.right",
        "answer.f1",
        "citations.precision",
        "refusal.recall",
        "refusal.wrongly",
        "latency_s.p50",
    )
    wanted = (*ranked, "pages.hit@1", "pages.ndcg@10", *asked)
    used = [
        w for w in wanted if any(_get_figure(one.figures, w) is not None for one in report.slices)
    ]
    if not report.slices:
        return
    rows = make_table()
    rows.add_column("of which")
    rows.add_column("n", justify="right", style="dim")
    for name in used:
        rows.add_column(name.replace("retrieval.", ""), justify="right")
    for one in report.slices:
        cells = [_get_figure(one.figures, name) for name in used]
        rows.add_row(
            style_text(one.name),
            str(one.n),
            *("" if cell is None else f"{cell:.3f}" for cell in cells),
        )
    console.print(rows)
    console.print()


def _get_figure(figures: dict[str, dict[str, float | None]], full: str) -> float | None:
    group, _, name = full.partition(".")
    return figures.get(group, {}).get(name)


def show_fit(fit: Fit, now: Reliability | None) -> None:
    """New weights: how well they foretell against those in force, in all and by languages, with the
    reliability curve.
    """
    console = get_wide_console()
    write_paragraph(console, f"{fit.name} confidence, fitted anew", "bold")
    rows = make_table()
    for name in ("", "n", "positive", "Brier", "always the mean", "AUC", "ECE"):
        rows.add_column(name, justify="left" if not name else "right")
    if now:
        rows.add_row("in force now", *_format_rating(now))
    rows.add_row("fitted, cross-validated", *_format_rating(fit.whole))
    for pair, part in fit.pairs.items():
        rows.add_row(style_text(f"  {pair}"), *_format_rating(part))
    console.print(rows)
    weights = "  ".join(f"{name} {weight:+.3f}" for name, weight in fit.weights.items())
    write_paragraph(console, strip_controls(f"bias {fit.bias:+.3f}  {weights}"), "dim")
    for each in fit.whole.bins:
        length = round(BAR * each.right)
        mark = round(BAR * each.said)
        bar = "".join("|" if at == mark else "█" if at < length else " " for at in range(BAR + 1))
        told = (
            f"said {100 * each.low:3.0f}–{100 * each.high:3.0f} %  right "
            f"{100 * each.right:3.0f} %  "
        )
        write_paragraph(
            console,
            style_text(told) + style_text(bar, "green") + style_text(f" {each.n}", "dim"),
            indent=2,
        )
    write_paragraph(
        console,
        "█ how often it was right, | what was said: the closer, the better",
        "dim",
        indent=2,
    )
    console.print()


def _format_rating(part: Reliability) -> list[str]:
    area = "" if part.auc is None else f"{part.auc:.3f}"
    return [
        str(part.n),
        f"{part.positive:.2f}",
        f"{part.brier:.3f}",
        f"{part.brier_of_the_mean:.3f}",
        area,
        f"{part.ece:.3f}",
    ]


def show_comparison(found: Comparison) -> None:
    """Differences with their intervals; a mark where they are more than chance."""
    console = get_wide_console()
    write_paragraph(
        console,
        f"{found.both} questions in both, {found.only_old} only in the old, {found.only_new} "
        "only in the new",
    )
    rows = make_table()
    for name in ("", "old", "new", "change", "95 %", ""):
        rows.add_column(name, justify="left" if not name else "right")
    marks = {
        True: style_text("better", "green"),
        False: style_text("worse", "red"),
        None: style_text(""),
    }
    for one in found.differences:
        span = f"{one.change.low:+.3f} to {one.change.high:+.3f}"
        rows.add_row(
            one.name,
            f"{one.old:.3f}",
            f"{one.new:.3f}",
            f"{one.change.value:+.3f}",
            span,
            marks[one.better],
        )
    console.print(rows)
    for changed in found.changed[:10]:
        way = "better" if changed.gain > 0 else "worse"
        write_paragraph(
            console,
            style_text(
                f"{way} ({changed.what} {changed.gain:+.2f}): ",
                "green" if changed.gain > 0 else "red",
            )
            + style_text(f"{changed.new.id} {changed.new.question}"),
        )
    if len(found.changed) > 10:
        write_paragraph(
            console,
            f"{len(found.changed) - 10} more questions changed; --html shows them all",
            "dim",
        )


def get_wide_console() -> Console:
    console = get_stdout()
    return (
        console
        if console.is_terminal
        else Console(highlight=False, markup=False, emoji=False, width=WIDE)
    )
