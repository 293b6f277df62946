"""The shapes of a slide: which there are, what they are for, where they stand, in which order they
are read. A shape that says nothing of its place stands where its layout puts it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from citewell.ingest.office.drawing import A
from citewell.ingest.office.package import Package, get_local_name

P: Final = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
Place = tuple[float, float, float, float]  # left, top, right, bottom, in any unit
_ROLES: Final = {
    **dict.fromkeys(("title", "ctrTitle"), "title"),
    **dict.fromkeys(("body", "obj", ""), "body"),
    "subTitle": "text",
    **dict.fromkeys(("ftr", "dt", "sldNum", "hdr", "sldImg"), "furniture"),
}
# share of the smaller shape by which two may overlap and still stand beside one another
_OVERLAP: Final = 0.15
_DEEPEST: Final = 20  # groups within groups


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """`role`: `title`, `body` (a placeholder with a list), `text`, or empty (placed freely)."""

    element: Any
    role: str
    place: Place


class Places:
    """Where layouts put their placeholders, each layout read once."""

    def __init__(self, package: Package) -> None:
        self._package = package
        self._known: dict[str, dict[tuple[str, str], Place]] = {}

    def get_layout_places(self, part: str) -> dict[tuple[str, str], Place]:
        """Places by placeholder (type, index), the master's where the layout says nothing."""
        if part not in self._known:
            related = self._package.read_relations(part).values() if part else []
            master = next((r.target for r in related if r.kind == "slideMaster"), "")
            above = {} if not master or master == part else self.get_layout_places(master)
            root = self._package.parse_optional_part(part) if part else None
            self._known[part] = above | ({} if root is None else _read_placeholders(root))
        return self._known[part]


def _read_placeholders(root: Any) -> dict[tuple[str, str], Place]:
    found: dict[tuple[str, str], Place] = {}
    for element in root.iter(f"{P}sp"):
        holder, place = element.find(f".//{P}ph"), _get_own_place(element)
        if holder is not None and place is not None:
            kind = holder.get("type") or ""
            found.setdefault((kind, ""), place)
            found["", holder.get("idx") or ""] = place
    return found


def read_shapes(root: Any, inherited: dict[tuple[str, str], Place]) -> list[Shape]:
    """The shapes of a slide in file order, groups resolved, every slide's furniture left out."""
    tree = root.find(f"{P}cSld/{P}spTree")
    return [] if tree is None else _collect_shapes(tree, inherited, (1.0, 1.0, 0.0, 0.0), 0)


def _collect_shapes(
    parent: Any, inherited: dict[tuple[str, str], Place], scale: Place, depth: int
) -> list[Shape]:
    """`scale`: by what a group stretches (x, y) and moves (x, y) what stands in it."""
    found: list[Shape] = []
    for element in parent:
        kind = get_local_name(element)
        if kind == "AlternateContent":
            choices = [
                child for child in element if get_local_name(child) in {"Choice", "Fallback"}
            ]
            found += _collect_shapes(choices[0], inherited, scale, depth) if choices else []
        elif kind == "grpSp" and depth < _DEEPEST:
            found += _collect_shapes(element, inherited, _compose_scale(element, scale), depth + 1)
        elif kind in {"sp", "graphicFrame"}:
            holder = element.find(f".//{P}nvPr/{P}ph")
            role = "" if holder is None else _ROLES.get(holder.get("type") or "", "")
            if role != "furniture":
                found.append(Shape(element, role, _get_place(element, holder, inherited, scale)))
    return found


def _get_place(
    element: Any, holder: Any | None, inherited: dict[tuple[str, str], Place], scale: Place
) -> Place:
    own = _get_own_place(element)
    if own is None and holder is not None:
        known = inherited.get(("", holder.get("idx") or "-")) or inherited.get(
            (holder.get("type") or "", "")
        )
        return known or (0.0, 0.0, 0.0, 0.0)
    left, top, right, bottom = own or (0.0, 0.0, 0.0, 0.0)
    return (
        left * scale[0] + scale[2],
        top * scale[1] + scale[3],
        right * scale[0] + scale[2],
        bottom * scale[1] + scale[3],
    )


def _get_own_place(element: Any) -> Place | None:
    for frame in element.iter(f"{A}xfrm", f"{P}xfrm"):
        offset, size = frame.find(f"{A}off"), frame.find(f"{A}ext")
        if offset is not None and size is not None:
            x, y, width, height = (
                _to_float(node.get(key))
                for node, key in zip(
                    (offset, offset, size, size), ("x", "y", "cx", "cy"), strict=True
                )
            )
            return x, y, x + width, y + height
    return None


def _compose_scale(group: Any, scale: Place) -> Place:
    """How the coordinates inside a group become those of the slide."""
    frame = group.find(f"{P}grpSpPr/{A}xfrm")
    parts = {} if frame is None else {get_local_name(child): child for child in frame}
    if not {"off", "ext", "chOff", "chExt"} <= set(parts):
        return scale
    values = []
    for axis, size in (("x", "cx"), ("y", "cy")):
        inner = _to_float(parts["chExt"].get(size))
        stretch = _to_float(parts["ext"].get(size)) / inner if inner else 1.0
        values.append(
            (
                stretch,
                _to_float(parts["off"].get(axis)) - stretch * _to_float(parts["chOff"].get(axis)),
            )
        )
    (sx, dx), (sy, dy) = values
    return sx * scale[0], sy * scale[1], dx * scale[0] + scale[2], dy * scale[1] + scale[3]


def _to_float(text: str | None) -> float:
    try:
        return float(text or 0)
    except ValueError:
        return 0.0


def sort_shapes(found: list[Shape]) -> list[Shape]:
    """Column by column where a gap runs from top to bottom, else row by row where one runs across,
    else as the file has them.

    Rows that stand in the same columns are read together, as a comparison of two things under two
    headings is.
    """
    columns = _group_by_gaps(found, 0, 2)
    if len(columns) > 1:
        return [shape for part in columns for shape in sort_shapes(part)]
    bands: list[list[Shape]] = []
    open_band = False  # whether the last band stands in columns
    for row in _group_by_gaps(found, 1, 3):
        if open_band and len(_group_by_gaps(bands[-1] + row, 0, 2)) > 1:
            bands[-1] += row
        else:
            bands.append(row)
            open_band = len(_group_by_gaps(row, 0, 2)) > 1
    return [shape for band in bands for shape in sort_shapes(band)] if len(bands) > 1 else found


def _group_by_gaps(found: list[Shape], low: int, high: int) -> list[list[Shape]]:
    """The shapes in groups that do not overlap between `low` and `high`, in order."""
    parts: list[list[Shape]] = []
    end = 0.0
    for shape in sorted(found, key=lambda shape: shape.place[low]):
        start, stop = shape.place[low], shape.place[high]
        if parts and start < end - _OVERLAP * min(
            stop - start, end - min(s.place[low] for s in parts[-1])
        ):
            parts[-1].append(shape)
            end = max(end, stop)
        else:
            parts.append([shape])
            end = stop
    keep = {id(shape): n for n, shape in enumerate(found)}
    return [sorted(part, key=lambda shape: keep[id(shape)]) for part in parts]
