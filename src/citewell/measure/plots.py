"""Plots as inline SVG: reliability, places of the first gold document, seconds, differences with
their intervals. Only numbers and our own words enter; colours come from the page's style sheet, so
both its themes hold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from citewell.measure.report import Item, Reliability

SIDE, EDGE = 260, 34  # size of a square plot and room for its labels, in SVG units
WIDE, HIGH = 340, 190
BINS = 20


def _render_svg(width: float, height: float, label: str, parts: Sequence[str]) -> Markup:
    head = (
        f'<svg viewBox="0 0 {width:.0f} {height:.0f}" role="img" '
        f'aria-label="{Markup.escape(label)}">'
    )
    return Markup(head + "".join(parts) + "</svg>")  # noqa: S704 - made of numbers, and of words that are escaped


def _render_text(x: float, y: float, text: str, anchor: str = "middle") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{Markup.escape(text)}</text>'


def _render_line(x0: float, y0: float, x1: float, y1: float, kind: str) -> str:
    return f'<line x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}" class="{kind}"/>'


def plot_reliability(rated: Reliability) -> Markup:
    """What was said against how often it was right; the area of a point is its share of the items,
    the diagonal is perfect.
    """
    span = SIDE - 2 * EDGE

    def at(said: float, right: float) -> tuple[float, float]:
        return EDGE + said * span, SIDE - EDGE - right * span

    parts = [
        _render_line(*at(0, 0), *at(1, 1), "ideal"),
        _render_line(*at(0, 0), *at(1, 0), "axis"),
        _render_line(*at(0, 0), *at(0, 1), "axis"),
    ]
    for tick in (0.0, 0.5, 1.0):
        parts.append(_render_text(at(tick, 0)[0], SIDE - EDGE + 16, f"{tick:g}"))
        parts.append(_render_text(EDGE - 8, at(0, tick)[1] + 4, f"{tick:g}", "end"))
    parts.append(_render_text(SIDE / 2, SIDE - 3, "said"))
    parts.append(_render_text(EDGE - 20, EDGE - 14, "right", "start"))
    points = [at(one.said, one.right) for one in rated.bins]
    parts.append(
        '<polyline class="curve" points="' + " ".join(f"{x:.1f},{y:.1f}" for x, y in points) + '"/>'
    )
    for one, (x, y) in zip(rated.bins, points, strict=True):
        radius = 3 + 9 * (one.n / rated.n) ** 0.5
        told = f"said {one.said:.2f}, right {one.right:.2f}, {one.n} items"
        parts.append(
            f'<circle class="point" cx="{x:.1f}" cy="{y:.1f}" '
            f'r="{radius:.1f}"><title>{told}</title></circle>'
        )
    return _render_svg(
        SIDE, SIDE, f"Reliability: Brier {rated.brier:.3f} over {rated.n} items", parts
    )


def plot_ranks(items: Sequence[Item]) -> Markup:
    """How many questions have their first gold document in which place; last: not in ten."""
    places = Counter(item.search.first for item in items if item.search and item.search.figures)
    names = [str(place) for place in range(1, 11)] + ["none"]
    values = [float(places[place]) for place in range(1, 11)] + [float(places[None])]
    return _plot_bars(names, values, "Place of the first gold document", marked=len(names) - 1)


def plot_seconds(values: Sequence[float], label: str) -> Markup:
    """A histogram of seconds, without the widest tenth of a percent."""
    top = float(np.percentile(values, 99.9)) or 1.0
    counts, edges = np.histogram(np.minimum(values, top), bins=BINS, range=(0.0, top))
    names = [_format_number(edge) if at % 5 == 0 else "" for at, edge in enumerate(edges[:-1])]
    return _plot_bars(
        names,
        [float(count) for count in counts],
        label,
        tips=[f"{_format_number(edge)} s" for edge in edges],
    )


def _format_number(value: float) -> str:
    return f"{value:.2g}" if value < 10 else f"{value:.0f}"


def _plot_bars(
    names: Sequence[str],
    values: Sequence[float],
    label: str,
    *,
    marked: int | None = None,
    tips: Sequence[str] = (),
) -> Markup:
    tall, step = max([*values, 1.0]), (WIDE - 2 * EDGE) / len(values)
    floor, room = HIGH - EDGE, HIGH - 2 * EDGE
    parts = [
        _render_line(EDGE, floor, WIDE - EDGE, floor, "axis"),
        _render_text(EDGE - 6, floor - room + 4, f"{tall:.0f}", "end"),
    ]
    for at, (name, value) in enumerate(zip(names, values, strict=True)):
        height, x = room * value / tall, EDGE + at * step
        kind = "bar bad" if at == marked else "bar"
        told = f"{tips[at] if tips else name}: {value:.0f}"
        size = (
            f'x="{x + 1:.1f}" y="{floor - height:.1f}" width="{max(step - 2, 1):.1f}" '
            f'height="{height:.1f}"'
        )
        parts.append(
            f'<rect class="{kind}" {size} rx="1.5"><title>{Markup.escape(told)}</title></rect>'
        )
        parts.append(_render_text(x + step / 2, floor + 15, name))
        if value and len(values) <= 12:
            parts.append(_render_text(x + step / 2, floor - height - 4, f"{value:.0f}"))
    return _render_svg(WIDE, HIGH, label, parts)


def plot_change(value: float, low: float, high: float, widest: float) -> Markup:
    """A difference with its interval around a line at zero; `widest` ends the scale."""
    half, middle = 70.0, 11.0

    def at(x: float) -> float:
        return 80 + half * max(-1.0, min(1.0, x / (widest or 1.0)))

    parts = [
        _render_line(80, 2, 80, 20, "axis"),
        _render_line(at(low), middle, at(high), middle, "span"),
    ]
    parts.append(f'<circle class="point" cx="{at(value):.1f}" cy="{middle:.1f}" r="4"/>')
    return _render_svg(160, 22, f"{value:+.3f}, from {low:+.3f} to {high:+.3f}", parts)
