"""DrawingML, which Word, PowerPoint and Excel share: the words of shapes, charts and diagrams. A
chart says what it shows (title, names, figures), never how it looks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from citewell.ingest.office.package import get_local_name
from citewell.ingest.tables.table_text import format_table_lines

A: Final = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
C: Final = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
DIAGRAM: Final = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
# says again what Choice says
FALLBACK: Final = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_MATH: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_MOST_POINTS: Final = 200  # categories of a chart that are written out


def iterate_paragraphs(root: Any | None) -> Iterator[str]:
    """The words of each DrawingML paragraph below `root`, empty ones left out."""
    for element in [] if root is None else root.iter(f"{A}p"):
        if not any(above.tag == FALLBACK for above in element.iterancestors()):
            text = get_paragraph_text(element)
            if text.strip():
                yield text


def get_paragraph_text(paragraph: Any) -> str:
    """What an `a:p` says; a line break in it stays one."""
    pieces = []
    for element in paragraph.iter():
        if element.tag in {f"{A}t", f"{_MATH}t"}:
            pieces.append(element.text or "")
        elif element.tag == f"{A}br":
            pieces.append("\n")
        elif element.tag == f"{A}tab":
            pieces.append("\t")
    return "".join(pieces)


def iterate_diagram_items(root: Any | None) -> Iterator[str]:
    """The words of a SmartArt diagram's data part, one item a point."""
    for element in [] if root is None else root.iter(f"{DIAGRAM}pt"):
        if element.get("type") not in {"pres", "parTrans", "sibTrans"}:
            text = " ".join(" ".join(get_paragraph_text(p) for p in element.iter(f"{A}p")).split())
            if text:
                yield text


def get_chart_title(root: Any | None) -> str:
    """The title that a chart shows, typed in or taken from a cell."""
    title = None if root is None else root.find(f"{C}chart/{C}title")
    if title is None:
        return ""
    return " ".join(" ".join(iterate_paragraphs(title)).split()) or " ".join(
        _read_cached_values(title)
    )


def summarize_chart(root: Any | None) -> str:
    """Title, axes and series of a chart whose figures stand elsewhere."""
    if root is None:
        return ""
    titles = [
        " ".join(" ".join(iterate_paragraphs(title)).split()) for title in root.iter(f"{C}title")
    ]
    names = [name for name, _, _ in _read_series(root) if name]
    return " | ".join(dict.fromkeys(text for text in [*titles, *names] if text))


def format_chart_lines(root: Any | None) -> list[str]:
    """A chart's title, then its figures as a table: one line a category."""
    if root is None:
        return []
    series = _read_series(root)
    title = get_chart_title(root)
    categories = max((labels for _, labels, _ in series), key=len, default=[])
    rows = [["", *(name for name, _, _ in series)]]
    longest = max((len(values) for _, _, values in series), default=0)
    for n in range(min(max(longest, len(categories)), _MOST_POINTS)):
        label = categories[n] if n < len(categories) else ""
        rows.append([label, *(values[n] if n < len(values) else "" for _, _, values in series)])
    named = any(name for name, _, _ in series)
    return ([title] if title else []) + format_table_lines(rows, header=1 if named else 0)


def _read_series(root: Any) -> list[tuple[str, list[str], list[str]]]:
    """Name, categories and values of each series, as the file caches them."""
    found = []
    for series in root.iter(f"{C}ser"):
        parts = {get_local_name(child): child for child in series}
        name = "".join(_read_cached_values(parts.get("tx"))[:1])
        labels = _read_cached_values(parts.get("cat", parts.get("xVal")))
        found.append((name, labels, _read_cached_values(parts.get("val", parts.get("yVal")))))
    return found


def _read_cached_values(element: Any | None) -> list[str]:
    """The values that a reference keeps beside itself, by their index."""
    values: dict[int, str] = {}
    if element is None:
        return []
    for point in element.iter(f"{C}pt"):
        index = point.get("idx") or ""
        value = point.find(f"{C}v")
        if index.isdigit() and int(index) < _MOST_POINTS and value is not None:
            values[int(index)] = _format_figure(value.text or "")
    if not values:
        return [element.findtext(f"{C}v")] if element.findtext(f"{C}v") else []
    return [values.get(n, "") for n in range(max(values) + 1)]


def _format_figure(text: str) -> str:
    """A cached value without the noise of binary fractions."""
    try:
        return format(float(text), ".12g") if "." in text and "e" not in text.lower() else text
    except ValueError:
        return text
