"""Builds the two PDF files of `papers/` from `source/papers/`: two columns, captions, equations,
drawings.

The one rule: as in `build.py`, whose docstring says what it needs, the same text gives the same
bytes. Each source is Markdown with front matter; what stands before `<!-- columns -->` runs over
the whole page. `outline: no` leaves the PDF without one.
"""

# ruff: noqa: INP001 - a folder of scripts

from __future__ import annotations

import hashlib
import sys
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))  # so that the other writer is found wherever this is started from

from build_pdf import faces  # noqa: E402
from markdown_it import MarkdownIt  # noqa: E402
from weasyprint import HTML  # noqa: E402
from weasyprint.text.fonts import FontConfiguration  # noqa: E402

SERIF = "/usr/share/fonts/opentype/noto/NotoSerifCJK-{}.ttc"
STYLE = """
@page { size: A4; margin: 24mm 17mm 22mm 17mm;
  @top-center { content: "%(running)s"; %(small)s }
  @bottom-center { content: counter(page); %(small)s } }
html { font: %(size)s/%(lines)s "Sample Serif"; font-variant-ligatures: none; color: #111 }
h1, h2, h3 { bookmark-level: %(level)s }
h1 { font-size: 17pt; line-height: 1.3; text-align: center; margin: 4mm 8mm 4mm;
  bookmark-level: none }
.authors { text-align: center; font-size: 11pt; margin: 0 0 1.5mm }
.places { text-align: center; font-size: 8.5pt; margin: 0 0 6mm }
.columns { columns: 2; column-gap: 6mm; text-align: justify; hyphens: auto;
  hyphenate-character: "-" }
h2, h3 { text-align: left; hyphens: none; break-after: avoid }
h2 { font-size: 13.5pt; margin: 4.5mm 0 1.8mm } h3 { font-size: 11.8pt; margin: 3.2mm 0 1.2mm }
h2.plain { text-align: center }
p { margin: 0 0 1.5mm; orphans: 2; widows: 2 }
p + p { text-indent: %(indent)s }
sup { font-size: 65%%; vertical-align: super; line-height: 0 }
.equation { text-align: left; display: flex; justify-content: space-between;
  margin: 2mm 0 2.4mm 3mm; hyphens: none }
.equation sup { font-size: 75%% }
figure { margin: 3mm 0 4mm; break-inside: avoid; hyphens: none }
figcaption { font-size: 9.6pt; line-height: 1.4; text-align: left; margin: 1.5mm 0 }
figure p { margin: 0 }
table { border-collapse: collapse; width: 100%%; font-size: 8.6pt; line-height: 1.4;
  white-space: nowrap; border-top: 0.4mm solid #111; border-bottom: 0.4mm solid #111 }
th { border-bottom: 0.2mm solid #111 } th, td { padding: 0.9mm 1.2mm; text-align: right }
th:first-child, td:first-child { text-align: left; padding-left: 0 }
th:last-child, td:last-child { padding-right: 0 }
.wide table { font-size: 7.6pt }
.references p { font-size: 9.6pt; line-height: 1.4; margin: 0 0 1.2mm; padding-left: 5mm;
  text-indent: -5mm }
"""
SMALL = "font-size: 8pt; color: #555;"


def read(path: Path) -> tuple[dict[str, str], str]:
    """Front matter, `key: value` lines between two `---`, and the Markdown behind it."""
    _, head, body = path.read_text(encoding="utf-8").split("---\n", 2)
    return dict(line.split(": ", 1) for line in head.splitlines()), body.strip() + "\n"


def pdf_bytes(fields: dict[str, str], body: str) -> bytes:
    """Dates come from the source and the file's identifier from its text."""
    chinese = fields["lang"] == "zh"
    style = STYLE % {
        "running": fields["running"],
        "small": SMALL,
        "size": "11.8pt" if chinese else "11.4pt",
        "lines": "1.7" if chinese else "1.52",
        "indent": "2em" if chinese else "4mm",
        "level": "auto" if fields["outline"] == "yes" else "none",
    }
    if fields["outline"] == "yes":
        style += "h2 { bookmark-level: 1 } h3 { bookmark-level: 2 }"
    whole, columns = (
        MarkdownIt("commonmark").enable("table").render(part)
        for part in body.split("<!-- columns -->")
    )
    stamp = f"{fields['date']}T09:00:00Z"
    head = (
        f"<title>{escape(fields['title'])}</title><meta name=author "
        f"content='{escape(fields['authors'])}'>"
    )
    head += (
        f"<meta name=dcterms.created content={stamp}><meta name=dcterms.modified content={stamp}>"
    )
    page = f"{whole}<div class=columns>{columns}</div>"
    with TemporaryDirectory() as folder:
        used = body + fields["running"] + "0123456789- "  # and what a hyphenated line adds
        head += f"<style>{faces('Sample Serif', SERIF, used, Path(folder))}{style}</style>"
        html = HTML(
            string="<!DOCTYPE html><html "
            f"lang={fields['lang']}><head>{head}</head><body>{page}</body></html>"
        )
        identifier = hashlib.sha256(body.encode()).hexdigest()[:32].encode()
        data = html.write_pdf(pdf_identifier=identifier, font_config=FontConfiguration())
    assert data is not None  # it is None only when a target file is named
    return data


def main(check: bool) -> int:
    """Write both, or say which would change. Exit code 1 when one does."""
    changed = []
    for path in sorted((HERE / "source" / "papers").glob("*.md")):
        target = HERE / "papers" / f"{path.stem}.pdf"
        data = pdf_bytes(*read(path))
        same = target.is_file() and target.read_bytes() == data
        if not same:
            changed.append(target.name)
        if not check:
            target.write_bytes(data)
        sys.stdout.write(
            f"{target.name}: {len(data):,} bytes, {'unchanged' if same else 'changed'}\n"
        )
    return 1 if check and changed else 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
