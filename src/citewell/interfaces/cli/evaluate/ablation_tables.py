"""An ablation on a terminal: one row a variant, in all and set by set, with marks where a variant
is surely better or worse. A mark stands only where the difference to the first row, question by
question, is more than chance.
"""

from __future__ import annotations

from rich.console import Console

from citewell.interfaces.cli.evaluate.figure_tables import get_wide_console, make_table
from citewell.interfaces.cli.output.terminal import print_text, style_text
from citewell.measure.compare import compare_reports
from citewell.measure.report import Ablation, Group, Report

# heading, figure, decimals
COLUMNS = (
    ("right", "answer.right", 2),
    ("f1", "answer.f1", 2),
    ("refused rightly", "refusal.recall", 2),
    ("refusals due", "refusal.precision", 2),
    ("refused wrongly", "refusal.wrongly", 2),
    ("cited gold", "citations.precision", 2),
    ("grounded", "citations.grounded", 2),
    ("calls", "cost.calls", 1),
    ("tokens", "cost.tokens", 0),
    ("seconds", "cost.seconds", 1),
)
MARKS = {True: "+", False: "-", None: ""}
NOTE = (
    "+ surely better than the first row, - surely worse (95 %, over the same questions); the "
    "rest may be chance"
)


def show_ablation(found: Ablation) -> None:
    """In all, then of each data set."""
    console = get_wide_console()
    reports = found.variants
    first = next(iter(reports.values()))
    marks = {name: _compute_marks(first, report) for name, report in reports.items()}
    _show_table(
        console,
        f"all {first.n} questions",
        {n: _collect_groups(r) for n, r in reports.items()},
        marks,
    )
    for one in first.slices:
        figures = {
            n: {s.name: s.figures for s in r.slices}.get(one.name, {}) for n, r in reports.items()
        }
        _show_table(console, f"{one.name}, {one.n} questions", figures, {})
    print_text(NOTE, "dim")


def _collect_groups(report: Report) -> dict[str, Group]:
    return {
        name: report.group(name) for name in {figure.partition(".")[0] for _, figure, _ in COLUMNS}
    }


def _compute_marks(first: Report, report: Report) -> dict[str, str]:
    return {one.name: MARKS[one.better] for one in compare_reports(first, report).differences}


def _show_table(
    console: Console,
    title: str,
    figures: dict[str, dict[str, Group]],
    marks: dict[str, dict[str, str]],
) -> None:
    rows = make_table()
    rows.add_column(title)
    for heading, _, _ in COLUMNS:
        rows.add_column(heading, justify="right")
    for name, groups in figures.items():
        cells = []
        for _, full, decimals in COLUMNS:
            group, _, figure = full.partition(".")
            value = groups.get(group, {}).get(figure)
            cells.append(
                "" if value is None else f"{value:.{decimals}f}{marks.get(name, {}).get(full, '')}"
            )
        rows.add_row(style_text(name), *cells)
    console.print(rows)
    console.print()
