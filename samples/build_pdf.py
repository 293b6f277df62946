"""A PDF from a sample's source: outline, running header, page numbers, embedded fonts. The one
rule: no clock, no chance.
"""

# ruff: noqa: INP001 - a folder of scripts

from __future__ import annotations

import hashlib
import re
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from fontTools import subset
from fontTools.ttLib import TTFont
from markdown_it import MarkdownIt
from weasyprint import HTML
from weasyprint.text.fonts import FontConfiguration

if TYPE_CHECKING:
    from build import Source

PAGE_OF = {
    "en": '"Page " counter(page) " of " counter(pages)',
    "zh": '"第" counter(page) "页，共" counter(pages) "页"',
}
FONTS = {"en": '"Open Sans"', "zh": '"Sample Hans"'}
CJK = "/usr/share/fonts/opentype/noto/NotoSansCJK-{}.ttc"
SIMPLIFIED = 2  # the face of mainland China in that collection

# For whoever copies or indexes the text: ligatures are off, so that "fi" is two characters, and
# list marks are part of the line, because real markers come after all other text of their page.
STYLE = """
@page { size: A4; margin: 23mm 22mm 20mm 22mm;
  @top-left { content: "%(title)s"; %(running)s } @top-right { content: "%(number)s"; %(running)s }
  @bottom-left { content: "%(company)s"; %(running)s }
  @bottom-right { content: %(page_of)s; %(running)s } }
@page :first { @top-left { content: "" } @top-right { content: "%(number)s" } }
html { font: %(size)s/1.5 %(fonts)s; font-variant-ligatures: none; color: #20282a }
h1 { font-size: 27pt; line-height: 1.25; color: #17463e; margin: 38mm 0 6mm; padding-bottom: 4mm;
  border-bottom: 1.2mm solid #e0912f }
h2 { font-size: 17pt; color: #17463e; margin: 9mm 0 3mm; break-after: avoid }
h3 { font-size: 12.5pt; color: #2b6a5e; margin: 6mm 0 2mm; break-after: avoid }
p, ul, ol { margin: 0 0 2.6mm } ul, ol { list-style: none; padding: 0; counter-reset: item }
li { margin: 0 0 0.8mm 5mm; text-indent: -4mm; counter-increment: item }
ul > li::before { content: "● "; font-size: 55%%; vertical-align: 0.3em; word-spacing: 2mm }
ol > li::before { content: counter(item) ". " } .whole { white-space: nowrap }
table { border-collapse: collapse; width: 100%%; margin: 2mm 0 4mm; font-size: 9.5pt;
  line-height: 1.4 }
tr { break-inside: avoid } th { background: #17463e; color: white; text-align: left }
th, td { padding: 1.4mm 2.5mm; border: 0.2mm solid #b9c6c2; vertical-align: top }
tbody tr:nth-child(even) { background: #f1f5f3 }
blockquote { margin: 3mm 0 4mm; padding: 2.5mm 4mm 0.4mm; break-inside: avoid;
  background: #fdf3e3; border-left: 1.2mm solid #e0912f }
hr.page { break-after: page; border: 0; margin: 0 } hr.page + h2 { margin-top: 0 }
"""
# What must not be torn apart at the end of a line: a number and its unit, a telephone number, words
# with a hyphen.
WHOLE = re.compile(
    r"\d[\d.,]* (?:mm|cm|m|km|km/h|kg|V|A|W|Wh|Ah|N·m|bar|kPa|°C|℃|%|h|min|lux|days|months|"
    r"minutes)(?![\w·/])"
    r"|\+1(?:-\d+)+|\b[A-Za-z]+(?:-[A-Za-z0-9]+)+\b"
)
RUNNING = "font-size: 8pt; color: #5f6f6b;"


def pdf_bytes(source: Source) -> bytes:
    """Dates come from the source and the file's identifier from its text, so that equal text gives
    equal bytes.
    """
    style = STYLE % {
        "title": source.title,
        "number": source.number,
        "company": source.company,
        "running": RUNNING,
        "page_of": PAGE_OF[source.lang],
        "fonts": FONTS[source.lang],
        "size": "10pt" if source.lang == "en" else "10.5pt",
    }
    body = (
        MarkdownIt("commonmark")
        .enable("table")
        .render(source.body)
        .replace("<!-- page -->", '<hr class="page">')
    )
    body = WHOLE.sub(r'<span class="whole">\g<0></span>', body)
    stamp = source.date.strftime("%Y-%m-%dT%H:%M:%SZ")
    head = (
        f"<title>{escape(source.title)}</title><meta name=author "
        f"content='{escape(source.company)}'>"
    )
    head += (
        f"<meta name=dcterms.created content={stamp}><meta name=dcterms.modified content={stamp}>"
    )
    identifier = hashlib.sha256(source.body.encode()).hexdigest()[:32].encode()
    with TemporaryDirectory() as folder:
        faces = _hans(source, Path(folder)) if source.lang == "zh" else ""
        head += f"<style>{faces}{style}</style>"
        page = HTML(
            string="<!DOCTYPE html><html "
            f"lang={source.lang}><head>{head}</head><body>{body}</body></html>"
        )
        data = page.write_pdf(pdf_identifier=identifier, font_config=FontConfiguration())
    assert data is not None  # it is None only when a target file is named
    return data


def _hans(source: Source, folder: Path) -> str:
    used = source.body + source.title + source.number + source.company + "0123456789第页，共●"
    return faces("Sample Hans", CJK, used, folder)


def faces(family: str, files: str, text: str, folder: Path) -> str:
    """`@font-face` rules of a family in two weights, its files cut to the characters of a text:
    WeasyPrint itself keeps the widths of all 65,535 glyphs, 400 kB of them.
    """
    rules = ""
    for name, weight in (("Regular", 400), ("Bold", 700)):
        options = subset.Options(font_number=SIMPLIFIED, notdef_outline=True)
        font = subset.load_font(files.format(name), options)
        cut = subset.Subsetter(options)
        cut.populate(text=text)
        cut.subset(font)
        path = folder / f"{name}.otf"
        subset.save_font(font, path, options)
        renumber(path)
        rules += (
            f'@font-face {{ font-family: "{family}"; font-weight: {weight}; src: '
            f"url({path.as_uri()}) }}\n"
        )
    return rules


def renumber(path: Path) -> None:
    """Give every glyph of a cut font its place as its CID.

    WeasyPrint writes the places of glyphs where a PDF has their CIDs. A cut font keeps the CIDs of
    the whole one, so a reader that goes by the book (pdf.js) would draw other glyphs than one that
    does not (pdfium). Only the CFF table is written anew.
    """
    with TTFont(path, lazy=True, recalcTimestamp=False) as font:
        top = font["CFF "].cff.topDictIndex[0]
        glyphs = top.CharStrings.charStrings
        places = {old: f"cid{place:05d}" if place else old for place, old in enumerate(top.charset)}
        top.charset = list(places.values())
        top.CharStrings.charStrings = {places[old]: glyph for old, glyph in glyphs.items()}
        font.setGlyphOrder(top.charset)
        font.save(path)
