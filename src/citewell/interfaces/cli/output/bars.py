"""A chart in letters: a bar a row, or for many points one line of heights. A bar is as long as its
figure, from zero; where the terminal has no blocks, signs that every one has stand in.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from citewell.interfaces.cli.output.terminal import style_text
from citewell.sql.cell_text import format_cell, shorten_text
from citewell.sql.column_label import build_headings, label_columns
from citewell.sql.engines.engine import Rows, Value
from citewell.types import Chart

EIGHTHS = " ▏▎▍▌▋▊▉█"
HEIGHTS = "▁▂▃▄▅▆▇█"
MOST_BARS = 30
LEAST_BAR = 4  # characters, below which there is no bar
COLOURS = ("cyan", "magenta", "yellow", "green")


def show_chart(console: Console, chart: Chart, rows: Rows, lang: str) -> None:
    """Nothing for points in a plane: a terminal has no room for them."""
    if chart.kind == "scatter" or not rows.rows:
        return
    blocks = not console.is_dumb_terminal and (console.encoding or "").lower().startswith("utf")
    lines = (
        _render_heights(chart, rows, lang, console.width, blocks)
        if len(rows.rows) > MOST_BARS
        else None
    )
    lines = lines if lines is not None else _render_bars(chart, rows, lang, console.width, blocks)
    if lines:
        console.print(style_text(chart.title, "bold"))
    for line in lines:
        line.no_wrap, line.overflow = True, "crop"
        console.print(line)


def _render_bars(chart: Chart, rows: Rows, lang: str, width: int, blocks: bool) -> list[Text]:
    known, at = label_columns(rows, lang), rows.columns.index(chart.x)
    series = [rows.columns.index(name) for name in chart.y]
    shown = rows.rows[:MOST_BARS]
    names = [format_cell(row[at], known[at], lang) for row in shown]
    figures = {
        (r, s): format_cell(row[s], known[s], lang) for r, row in enumerate(shown) for s in series
    }
    label_width = min(max(map(cell_len, names)), width // 3)
    room = width - label_width - max(map(cell_len, figures.values())) - 2
    largest = max(
        (abs(value) for row in shown for s in series if (value := _to_float(row[s])) is not None),
        default=0.0,
    )
    if room < LEAST_BAR or not largest:
        return []
    lines = [_render_legend(series, build_headings(rows, lang))] if len(series) > 1 else []
    for r, row in enumerate(shown):
        for n, s in enumerate(series):
            head = style_text(names[r] if n == 0 else "")
            head.truncate(label_width, overflow="ellipsis", pad=True)
            value = _to_float(row[s])
            bar = "" if value is None else _render_bar(value / largest, room, blocks)
            line = (
                head
                + Text(" ")
                + Text(bar, COLOURS[n % len(COLOURS)])
                + Text(" " * bool(bar))
                + style_text(figures[r, s])
            )
            lines.append(line)
    return lines


def _render_legend(series: Sequence[int], names: Sequence[str]) -> Text:
    text = Text()
    for n, s in enumerate(series):
        text = (
            text
            + Text("■ " if n == 0 else "  ■ ", COLOURS[n % len(COLOURS)])
            + style_text(shorten_text(names[s], 40))
        )
    return text


def _to_float(value: Value) -> float | None:
    fits = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if fits else None  # type: ignore[arg-type]  # it is a figure then


def _render_bar(share: float, room: int, blocks: bool) -> str:
    """Below zero it is hatched."""
    if not blocks:
        return ("#" if share >= 0 else "-") * max(share != 0, round(abs(share) * room))
    eighths = max(share != 0, round(abs(share) * room * 8))
    if share < 0:
        return "░" * math.ceil(eighths / 8)
    return "█" * (eighths // 8) + EIGHTHS[eighths % 8].strip()


def _render_heights(
    chart: Chart, rows: Rows, lang: str, width: int, blocks: bool
) -> list[Text] | None:
    """A line of heights of each series, thinned to the width; None without blocks to draw."""
    if not blocks:
        return None
    known, at = label_columns(rows, lang), rows.columns.index(chart.x)
    lines = []
    for name in chart.y:
        s = rows.columns.index(name)
        values = [value for row in rows.rows if (value := _to_float(row[s])) is not None]
        low, high = min(values), max(values)
        points = _downsample_values(values, max(LEAST_BAR, min(width, len(values))))
        scale = (len(HEIGHTS) - 1) / (high - low) if high > low else 0.0
        lines.append(
            Text("".join(HEIGHTS[round((value - low) * scale)] for value in points), "cyan")
        )
        lines.append(
            style_text(
                f"{format_cell(low, known[s], lang)} … {format_cell(high, known[s], lang)}", "dim"
            )
        )
    first, last = (
        format_cell(rows.rows[0][at], known[at], lang),
        format_cell(rows.rows[-1][at], known[at], lang),
    )
    return [*lines, style_text(f"{first} → {last}", "dim")]


def _downsample_values(values: Sequence[float], most: int) -> list[float]:
    """Means of as many stretches as there is room for."""
    cuts = [round(n * len(values) / most) for n in range(most + 1)]
    return [sum(values[a:b]) / (b - a) for a, b in pairwise(cuts) if b > a]
