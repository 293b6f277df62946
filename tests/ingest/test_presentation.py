"""Presentations to documents."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from citewell.config import IngestSettings
from citewell.errors import UnreadableFile
from citewell.ingest.office import presentation
from citewell.types import Document

Maker = Callable[[dict[str, str | bytes]], bytes]
SPACES = (
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
    'xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" '
    'xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
)
CORE = (
    '<cp:coreProperties xmlns:cp="c" xmlns:dc="d" xmlns:t="t"><dc:title>PowerPoint '
    "演示文稿</dc:title>"
    "<t:created>2020-01-01T00:00:00Z</t:created><t:modified>2024-03-01T00:00:00Z</t:modified></cp:"
    "coreProperties>"
)


def shape(
    text: str, place: tuple[int, int, int, int] | None = None, kind: str = "", paragraph: str = ""
) -> str:
    frame = ""
    if place:
        x, y, width, height = place
        frame = f'<a:xfrm><a:off x="{x}" y="{y}"/><a:ext cx="{width}" cy="{height}"/></a:xfrm>'
    holder = f"<p:ph {kind}/>" if kind else ""
    lines = "".join(
        f"<a:p>{paragraph}<a:r><a:t>{line}</a:t></a:r></a:p>" for line in text.split("\n")
    )
    return (
        f"<p:sp><p:nvSpPr><p:nvPr>{holder}</p:nvPr></p:nvSpPr><p:spPr>{frame}</p:spPr><p:txBody>"
        f"{lines}</p:txBody></p:sp>"
    )


def relations(*pairs: tuple[str, str]) -> str:
    rows = "".join(
        f'<Relationship Id="r{n}" Type="x/{kind}" Target="{to}"/>'
        for n, (kind, to) in enumerate(pairs)
    )
    return f"<Relationships>{rows}</Relationships>"


def slides(
    *contents: str, extra: dict[str, str] | None = None, show: str = ""
) -> dict[str, str | bytes]:
    """The parts of a presentation; `contents` are the shapes of its slides, `show` an attribute of
    the last.
    """
    ids = "".join(f'<p:sldId r:id="r{n}"/>' for n in range(len(contents)))
    files: dict[str, str | bytes] = {
        "_rels/.rels": relations(("officeDocument", "ppt/presentation.xml")),
        "ppt/presentation.xml": "<p:presentation "
        f"{SPACES}><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations(
            *(("slide", f"slides/slide{n}.xml") for n in range(len(contents)))
        ),
        "docProps/core.xml": CORE,
        **(extra or {}),
    }
    for n, content in enumerate(contents):
        shown = show if n == len(contents) - 1 else ""
        files[f"ppt/slides/slide{n}.xml"] = (
            f"<p:sld {SPACES} {shown}><p:cSld><p:spTree>{content}</p:spTree></p:cSld></p:sld>"
        )
    return files


def parse(data: bytes) -> Document:
    return presentation.parse(data, "talk.pptx", IngestSettings())


def test_slides_are_pages(make_zip: Maker) -> None:
    """A slide is a page and its title a heading; a hidden slide is read and named; footers are not;
    the file is dated.
    """
    footer = shape("第 1 页", kind='type="sldNum"')
    first = (
        shape("一\n二", (0, 50, 9, 9), 'idx="1"')
        + shape("年度总结", (0, 0, 9, 9), 'type="ctrTitle"')
        + footer
    )
    document = parse(make_zip(slides(first, shape("无标题", (0, 0, 9, 9)), show='show="0"')))
    assert document.text == "年度总结\n\n- 一\n- 二\n\n无标题"
    assert [s.heading_path for s in document.sections] == [("年度总结",), ("无标题",)]
    assert [(p.number, document.text[p.start : p.end].strip()[:3]) for p in document.pages] == [
        (1, "年度总"),
        (2, "无标题"),
    ]
    assert document.title == "年度总结"
    assert document.warnings == ("hidden slides are read too: 2",)
    assert document.dated == 1709251200.0


def test_reading_order(make_zip: Maker) -> None:
    """Columns are read one after the other, a line across all of them where it stands; groups are
    read in their places.
    """
    group = (
        '<p:grpSp><p:grpSpPr><a:xfrm><a:off x="0" y="20"/><a:ext cx="40" cy="40"/><a:chOff x="0" '
        'y="0"/>'
        f'<a:chExt cx="400" cy="400"/></a:xfrm></p:grpSpPr>{shape("left low", (0, 200, 300, 99))}'
        f"{shape('left high', (0, 0, 300, 99))}</p:grpSp>"
    )
    right = shape("right low", (60, 50, 40, 9)) + shape("right high", (60, 20, 40, 9))
    across = shape("across", (0, 5, 100, 9))
    document = parse(make_zip(slides(shape("T", kind='type="title"') + right + group + across)))
    assert document.text.split("\n\n") == [
        "T",
        "across",
        "left high",
        "left low",
        "right high",
        "right low",
    ]


def test_placeholders_stand_where_the_layout_puts_them(make_zip: Maker) -> None:
    """A placeholder without a place of its own takes that of its layout."""
    layout = shape("x", (60, 20, 40, 9), 'type="body" idx="1"') + shape(
        "x", (0, 20, 40, 9), 'type="body" idx="2"'
    )
    extra = {
        "ppt/slides/_rels/slide0.xml.rels": relations(("slideLayout", "../slideLayouts/l.xml")),
        "ppt/slideLayouts/l.xml": "<p:x "
        f"{SPACES}><p:cSld><p:spTree>{layout}</p:spTree></p:cSld></p:x"
        ">",
    }
    content = (
        shape("T", kind='type="title"') + shape("B", kind='idx="1"') + shape("A", kind='idx="2"')
    )
    assert parse(make_zip(slides(content, extra=extra))).text == "T\n\nA\n\nB"


TABLE = (
    '<p:graphicFrame><a:graphic><a:tbl><a:tblPr firstRow="1"/>'
    "<a:tr><a:tc><a:txBody><a:p><a:r><a:t>型号</a:t></a:r></a:p></a:txBody></a:tc>"
    "<a:tc><a:txBody><a:p><a:r><a:t>载重</a:t></a:r></a:p></a:txBody></a:tc></a:tr>"
    '<a:tr><a:tc rowSpan="2"><a:txBody><a:p><a:r><a:t>T300</a:t></a:r></a:p></a:txBody></a:tc>'
    "<a:tc><a:txBody><a:p><a:r><a:t>120</a:t></a:r></a:p></a:txBody></a:tc></a:tr>"
    '<a:tr><a:tc vMerge="1"><a:txBody><a:p/></a:txBody></a:tc>'
    "<a:tc><a:txBody><a:p><a:r><a:t>130</a:t></a:r></a:p></a:txBody></a:tc></a:tr></a:tbl></a:grap"
    "hic></p:graphicFrame>"
)
CHART = (
    "<c:chartSpace "
    f"{SPACES}><c:chart><c:title><a:p><a:r><a:t>销量</a:t></a:r></a:p></c:title><c:ser><c:tx><c:pt"
    " idx='0'><c:v>整车</c:v></c:pt></c:tx><c:cat><c:pt idx='0'><c:v>一季度</c:v></c:pt><c:pt "
    "idx='1'><c:v>二季度</c:v></c:pt></c:cat><c:val><c:pt "
    "idx='0'><c:v>0.30000000000000004</c:v></c:pt><c:pt "
    "idx='1'><c:v>20</c:v></c:pt></c:val></c:ser></c:chart></c:chartSpace>"
)
DIAGRAM = (
    "<dgm:dataModel "
    f"{SPACES}><dgm:pt><dgm:t><a:p><a:r><a:t>计划</a:t></a:r></a:p></dgm:t></dgm:pt><dgm:pt "
    'type="pres"/>'
    "<dgm:pt><dgm:t><a:p><a:r><a:t>执行</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:dataModel>"
)


def test_tables_charts_diagrams_and_notes(make_zip: Maker) -> None:
    """Each row and each category reads by itself; SmartArt is a list; what the speaker says is
    labelled.
    """
    notes = shape("先讲这里。", kind='type="body"') + shape("1", kind='type="sldNum"')
    extra = {
        "ppt/slides/_rels/slide0.xml.rels": relations(
            ("chart", "../charts/c.xml"),
            ("diagramData", "../d.xml"),
            ("notesSlide", "../n.xml"),
            ("chart", "../missing.xml"),
        ),
        "ppt/charts/c.xml": CHART,
        "ppt/d.xml": DIAGRAM,
        "ppt/n.xml": f"<p:notes {SPACES}><p:cSld><p:spTree>{notes}</p:spTree></p:cSld></p:notes>",
    }
    frames = "".join(
        f"<p:graphicFrame>{inner}</p:graphicFrame>"
        for inner in ('<c:chart r:id="r0"/>', '<dgm:relIds r:dm="r1"/>', '<c:chart r:id="r3"/>')
    )
    document = parse(
        make_zip(slides(shape("T", kind='type="title"') + TABLE + frames, extra=extra))
    )
    assert document.text.split("\n\n")[1:] == [
        "型号 | 载重\n型号: T300 | 载重: 120\n型号: T300 | 载重: 130",
        "销量\n整车\n一季度 | 整车: 0.3\n二季度 | 整车: 20",
        "- 计划\n- 执行",
        "备注：先讲这里。",
    ]


def test_broken_parts_cost_only_themselves(make_zip: Maker) -> None:
    """A slide that is no XML is left out with a warning; a file without slides, or that is another,
    is refused.
    """
    files = slides(shape("one", kind='type="title"'), shape("two", kind='type="title"'))
    document = parse(make_zip(files | {"ppt/slides/slide0.xml": "<p:sld"}))
    assert document.text == "two"
    assert "ppt/slides/slide0.xml is broken" in document.warnings[0]
    with pytest.raises(UnreadableFile, match="holds no text"):
        parse(make_zip(slides()))
    with pytest.raises(UnreadableFile, match="is not a PowerPoint presentation"):
        parse(make_zip({"word/document.xml": "<x/>"}))


def test_no_entity_is_resolved(make_zip: Maker) -> None:
    """An entity neither reads a file nor swells: what it stands for is not there."""
    attack = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/hostname"><!ENTITY b "bomb">]>'
    files = slides(shape("T", kind='type="title"') + shape("x&a;&b;y", (0, 9, 9, 9)))
    files["ppt/slides/slide0.xml"] = attack + str(files["ppt/slides/slide0.xml"])
    assert parse(make_zip(files)).text in {"T\n\nxy", "T\n\nx"}
