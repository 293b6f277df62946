"""PDFs to documents."""

from __future__ import annotations

from collections.abc import Callable

import pypdfium2
import pytest
from tests.conftest import REPOSITORY

from citewell.config import IngestSettings
from citewell.errors import UnreadableFile
from citewell.ingest.pdf import parse as pdf
from citewell.ingest.pdf.lines import normalize_text
from citewell.ingest.pdf.page import read_page
from citewell.types import Document

SETTINGS = IngestSettings()
Maker = Callable[..., bytes]
WIDE = "数据库系统是由数据库及其管理软件组成的系统，它由硬件、软件、数据和人员几个部分组成，"
LONG = "Every line of this paragraph is about as wide as the page and so the next one goes on"


def lines(*texts: str, top: float = 700, size: float = 11) -> list[tuple[float, float, float, str]]:
    return [(50, top - 14 * n, size, text) for n, text in enumerate(texts)]


def paths(document: Document) -> list[tuple[str, ...]]:
    return [section.heading_path for section in document.sections]


def test_soft_line_breaks_join(make_pdf: Maker) -> None:
    """Lines of a paragraph join, with a space in English and none in Chinese; a wide gap begins a
    new one.
    """
    english = [*lines(LONG, LONG, "to its end."), *lines("New.", top=600)]
    document = pdf.parse(make_pdf([english, lines(WIDE, "用来存储数据。")]), "x.pdf", SETTINGS)
    assert document.text == f"{LONG} {LONG} to its end.\n\nNew.\n\n{WIDE}用来存储数据。"


def test_hyphens_at_line_ends(make_pdf: Maker) -> None:
    """A broken word is put together; a word with a hyphen of its own, seen elsewhere, keeps it."""
    page = lines(
        "The well-known way of fact-checking is used for every para-",
        "graph of the text here, which is a fact-",
        "checking job.",
    )
    text = pdf.parse(make_pdf([page]), "x.pdf", SETTINGS).text
    assert "every paragraph of" in text
    assert "a fact-checking job" in text


def test_paragraph_over_a_page_end(make_pdf: Maker) -> None:
    """A paragraph that runs over a page's end stays one, and both pages know their part of it."""
    data = make_pdf([lines(LONG, LONG, LONG), lines("over the page.", LONG + ".", LONG + ".")])
    document = pdf.parse(data, "x.pdf", SETTINGS)
    assert f"{LONG} over the page." in document.text
    first, second = document.pages
    assert (first.end, document.text[second.start :][:14]) == (second.start, "over the page.")


def test_running_lines_go(make_pdf: Maker) -> None:
    """Headers, footers and page numbers that repeat are left out; what stands there once is not."""
    body = ["Apples are red.", "Bananas are yellow.", "Cherries grow on trees.", "Dates are sweet."]
    pages = [
        [
            (50, 780, 9, f"Manual {n}"),
            *lines(text, LONG, f"{LONG} {text}", f"{text} end"),
            (300, 20, 9, f"- {n} -"),
        ]
        for n, text in enumerate(body, 1)
    ]
    pages[2][0] = (50, 780, 9, "A note that stands here once")
    text = pdf.parse(make_pdf(pages), "x.pdf", SETTINGS).text
    assert "Manual" not in text
    assert "- 2 -" not in text
    assert all(line in text for line in body)


def test_headings_from_the_outline(make_pdf: Maker) -> None:
    """The outline's entries are found in the text, numbering in front included."""
    page = [
        *lines("1 Start"),
        *lines("Some text of the start.", top=670),
        *lines("Chapter 2", "The end", top=600),
        *lines("Last text.", top=550),
    ]
    data = make_pdf([page], outline=[("Start", 1, 715), ("The end", 1, 615)], title="Named")
    document = pdf.parse(data, "x.pdf", SETTINGS)
    assert paths(document) == [("1 Start",), ("Chapter 2 The end",)]
    assert document.title == "Named"


def test_a_heading_in_the_type_of_the_title_is_no_part_of_it(make_pdf: Maker) -> None:
    title = [(50, 740, 16, "Pressure control of"), (50, 720, 16, "high-pressure pipes")]
    page = [*title, (50, 660, 16, "Abstract"), *lines(*[f"{LONG}."] * 6, top=620, size=11)]
    document = pdf.parse(make_pdf([page, lines(LONG)]), "x.pdf", SETTINGS)
    assert document.title == "Pressure control of high-pressure pipes"


def test_text_larger_than_a_long_appendix_is_no_heading(make_pdf: Maker) -> None:
    """Most characters are the appendix's; the text runs on as no heading does."""
    text = [*lines("1 Model", top=740, size=16), *lines(*[f"{LONG}."] * 6, top=700, size=12)]
    listing = [lines(*[f"{LONG} {n} {k}." for n in range(40)], top=740, size=9) for k in range(3)]
    document = pdf.parse(make_pdf([text, text, *listing]), "x.pdf", SETTINGS)
    assert {path[-1] for path in paths(document) if path} == {"1 Model"}


def test_headings_from_type(make_pdf: Maker) -> None:
    """Without an outline larger and bold numbered lines are headings; the largest type of page one
    is the title.
    """
    page = lines("The Great Report", top=760, size=22)
    for n, (head, text) in enumerate(
        [("*1 Method", "method"), ("*1.1 Data", "data"), ("*2 Result", "result")]
    ):
        page += [
            (50, 700 - 90 * n, 12, head),
            *lines(f"{LONG} {text}", f"{LONG}.", top=670 - 90 * n),
        ]
    document = pdf.parse(make_pdf([page]), "x.pdf", SETTINGS)
    assert document.title == "The Great Report"
    assert paths(document) == [(), ("1 Method",), ("1 Method", "1.1 Data"), ("2 Result",)]


@pytest.mark.parametrize("stated", ["draft.doc", "My page.html", "untitled"])
def test_title_of_last_resort(make_pdf: Maker, stated: str) -> None:
    """A title that a program made up does not count."""
    data = make_pdf([lines("one", "two")], title=stated)
    assert pdf.parse(data, "my report.pdf", SETTINGS).title == "my report"


def test_pages_without_text(make_pdf: Maker) -> None:
    """A page that is only a picture gets a warning; a file of such pages is refused as scanned."""
    document = pdf.parse(make_pdf([lines("text"), None, None]), "x.pdf", SETTINGS)
    [warning] = document.warnings
    assert warning.startswith(
        "no text layer on pages 2-3: scanned or drawn; OCR is off: set ingest.ocr"
    )
    assert [page.number for page in document.pages] == [1, 2, 3]
    with pytest.raises(UnreadableFile, match="no text layer: it is scanned or drawn") as caught:
        pdf.parse(make_pdf([None]), "x.pdf", SETTINGS)
    assert "citewell[ocr]" in caught.value.hint
    with pytest.raises(UnreadableFile, match="pages are blank"):
        pdf.parse(make_pdf([[]]), "x.pdf", SETTINGS)


def test_broken_files_say_so(make_pdf: Maker) -> None:
    """A cut or empty PDF is broken, not silent."""
    for data in (b"%PDF-1.7\n", make_pdf([lines("text")])[:60]):
        with pytest.raises(UnreadableFile, match="is broken"):
            pdf.parse(data, "x.pdf", SETTINGS)


def test_plain_characters() -> None:
    """Ligatures and radicals become letters and characters; spread-out Chinese closes up; other
    signs stay.
    """
    assert normalize_text("eﬃcient ﬁne x² ① ！") == "efficient fine x² ① ！"
    assert normalize_text("⽤⼾⻚⾯⻓⽅") == "用户页面长方"
    assert normalize_text("关 于 红 军 的 原 则 … … … … … … １") == "关于红军的原则 … １"
    assert normalize_text("张三 经理 北京") == "张三 经理 北京"


def test_hyphens_where_a_page_is_read_character_by_character(
    make_pdf: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where pdfium's text and its characters do not pair, each is asked for by itself, and a hyphen
    has another sign there.
    """
    data = make_pdf(
        [
            lines(
                "The well-known way of fact-checking is for every para-",
                "graph, which is a fact-",
                "checking job.",
            )
        ]
    )
    whole = pdf.parse(data, "x.pdf", SETTINGS).text
    asked = pypdfium2.PdfTextPage.get_text_range
    monkeypatch.setattr(
        pypdfium2.PdfTextPage, "get_text_range", lambda page: asked(page)[:-1]
    )  # one short
    single = pdf.parse(data, "x.pdf", SETTINGS).text
    assert "every paragraph, which is a fact-checking job." in single
    assert single == whole


def test_a_stretched_line_keeps_its_size() -> None:
    """Spaces that pdfium puts into the wide gaps of a justified line have a size of their own,
    which is not the line's.
    """
    sample = REPOSITORY / "samples" / "papers" / "reserve-forecasting-for-cargo-bike-fleets.pdf"
    document = pdf.open_pdf(sample.read_bytes(), sample.name)
    body = {
        line.size
        for n in range(5)
        for line in read_page(document[n], n + 1)
        if len(line.text) > 30 and not line.row
    }
    document.close()
    assert body <= {6.7, 8.0, 8.5, 9.6, 11.0, 11.4, 11.8, 17.0}
