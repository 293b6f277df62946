"""XML files to documents: papers, texts, feeds, data."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from citewell.config import IngestSettings
from citewell.errors import UnreadableFile
from citewell.ingest import parse_here
from citewell.ingest.markup import xml_text

SETTINGS = IngestSettings()
JATS = """<article><front><journal-meta><journal-title>J</journal-title></journal-meta>
<article-meta>
<article-id pub-id-type="doi">10.1/x</article-id>
<title-group><article-title>On <italic>mice</italic></article-title></title-group>
<contrib-group>
<contrib contrib-type="author">
<name><surname>Lee</surname><given-names>Ann</given-names></name></contrib></contrib-group>
<pub-date><year>2020</year></pub-date>
<pub-date><day>7</day><month>5</month><year>2020</year></pub-date>
<abstract><p>We show it.</p></abstract></article-meta></front>
<body><sec id="s1"><label>1</label><title>Methods</title><p>Text <xref>(Wolf, 2019)</xref>.</p>
<table-wrap><label>Table 1.</label><caption><title>Sizes.</title></caption>
<table><thead><tr><th>Name</th><th>Size</th></tr></thead>
<tbody><tr><td>A</td><td>3.1</td></tr></tbody></table></table-wrap></sec></body>
<back><ref-list><ref><element-citation>
<person-group><name><surname>Wolf</surname><given-names>G</given-names></name></person-group>
<year>2019</year><article-title>Genes.</article-title><source>PNAS</source>
<volume>3</volume><fpage>1</fpage><lpage>9</lpage>
</element-citation></ref></ref-list></back></article>"""


def read(text: str | bytes, name: str = "x.xml") -> Any:
    return xml_text.parse(text.encode() if isinstance(text, str) else text, name, SETTINGS)


def test_a_paper() -> None:
    """A paper in JATS: title, authors, abstract, numbered sections with anchors, tables, references
    put together, its day.
    """
    document = read(JATS, "x.nxml")
    assert (document.title, document.dated, document.media_type) == (
        "On mice",
        1588809600.0,
        "application/jats+xml",
    )
    assert document.text == (
        "On mice\n\nAnn Lee\n\nDOI: 10.1/x\n\nAbstract\n\nWe show it.\n\n1 Methods\n\nText "
        "(Wolf, 2019).\n\nTable 1. Sizes.\n\n"
        "Name | Size\nName: A | Size: 3.1\n\nReferences\n\n- Wolf G. (2019). Genes. PNAS. 3. 1–9"
    )
    assert [(s.heading_path[-1], s.anchor) for s in document.sections][2] == ("1 Methods", "s1")


def test_a_text() -> None:
    """DocBook: titles become nested sections, lists and code stay what they are, tags in running
    text go.
    """
    document = read(
        '<book xmlns="http://docbook.org/ns/docbook"><info><title>Guide</title></info><chapter '
        'xml:id="c1"><title>Start</title>'
        "<para>Use <command>ls</command>.<itemizedlist><listitem><para>one</para></listitem>"
        "<listitem><para>two</para></listitem>"
        "</itemizedlist></para><programlisting>x = 1\n  y</programlisting></chapter></book>"
    )
    assert document.text == "Guide\n\nStart\n\nUse ls.\n\n- one\n- two\n\nx = 1\n  y"
    assert [(s.heading_path, s.anchor) for s in document.sections] == [
        (("Guide",), ""),
        (("Guide", "Start"), "c1"),
    ]


def test_data() -> None:
    """Records of any names, in an encoding that the file declares, read as `key: value`."""
    data = '<?xml version="1.0" encoding="gb2312"?><目录><书 编号="1"><书名>三体</书名></书>'
    data += '<书 编号="2"><书名>活着</书名></书></目录>'
    document = read(data.encode("gb2312"))
    assert document.text == "书\n\n编号: 1\n书名: 三体\n\n编号: 2\n书名: 活着"


def test_a_feed() -> None:
    """A feed's entries are sections with their date; the HTML in them is read as HTML."""
    document = read(
        "<rss><channel><title>News</title><item><title>One</title><pubDate>Wed, 01 May 2024 "
        "10:00:00 GMT</pubDate><description>&lt;p&gt;Hello "
        "&lt;b&gt;there&lt;/b&gt;&lt;/p&gt;</description></item></channel></rss>"
    )
    assert (document.title, document.dated) == ("News", 1714557600.0)
    assert document.text == "News\n\nOne\n\nWed, 01 May 2024 10:00:00 GMT\n\nHello there"


def test_entities() -> None:
    """Characters by name are read, texts that the file defines too; files outside never."""
    document = read(
        '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/hostname"><!ENTITY c "Acme '
        'Ltd">]><a><p>one&#160;&x;&c; &eacute;</p></a>'
    )
    assert document.text == "one Acme Ltd é"


def test_many_entities() -> None:
    """What short names stand for is read to the end, in time; a document that swells by them is
    refused.
    """
    defined = "".join(f'<!ENTITY n{n} "name {n}">' for n in range(3000))
    started = time.process_time()
    document = read(f"<!DOCTYPE a [{defined}]><a><p>{'&n2999; ' * 20_000}end</p></a>")
    assert document.text.count("name 2999") == 20_000
    assert document.text.endswith("end")
    assert time.process_time() - started < 5
    with pytest.raises(UnreadableFile, match="by its entities"):
        read(f'<!DOCTYPE a [<!ENTITY e "{"x" * 200}">]><a>{"&e;" * 10_000}</a>')


def test_broken_xml_is_read_as_far_as_it_goes() -> None:
    """A missing end tag is a warning; XHTML is read as the page it is."""
    document = read("<a><b>unclosed</a>")
    assert (document.text, len(document.warnings)) == ("b: unclosed", 1)
    assert "line 1" in document.warnings[0]
    page = parse_here(
        b'<?xml version="1.0"?><html><body><h1>T</h1><p>x</p></body></html>', "x.xml", SETTINGS
    )
    assert (page.text, page.warnings) == ("T\n\nx", ("named .xml but is an HTML page",))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "<!DOCTYPE l [<!ENTITY l0 'lol'>"
            + "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
            + "]><l>&l9;</l>",
            "holds no text",
        ),
        ("<a>" * 100_000 + "x", "nests too deep"),
        ("no xml at all", "no XML"),
    ],
)
def test_hostile_files(text: str, reason: str) -> None:
    """Entity bombs are not expanded and depth is limited, in no time."""
    started = time.process_time()
    with pytest.raises(UnreadableFile, match=reason):
        read(text)
    assert time.process_time() - started < 10


def test_a_paper_of_others(shared_data: Path) -> None:
    """A real paper: its sections, its tables and nearly all of its words are there."""
    path = shared_data / "ingest" / "docling" / "jats" / "elife-56337.nxml"
    document = xml_text.parse(path.read_bytes(), path.name, SETTINGS)
    paths = [section.heading_path[1:] for section in document.sections]
    assert ("Results", "Mouse KRAB-ZFPs target retrotransposons") in paths
    assert (
        "Cluster: Chr2 | Location: Chr2 qH4 | Size (Mb): 3.1 | # of KRAB-ZFPs*: 40 | ChIP-seq "
        "data: 17" in document.text
    )
    wanted = path.with_name(path.name + ".ref.md").read_text("utf-8").split()
    there = set(document.text.split())
    assert sum(word in there for word in wanted) > 0.97 * len(wanted)
