"""The sample library is complete and its questions can be answered from it.

The one rule: texts are read here with the libraries themselves, so that a fault of our parsers
cannot hide one of the samples; the last tests then hold our parsers against the same questions.
"""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import docx
import pypdfium2
import pytest
from selectolax.lexbor import LexborHTMLParser

from citewell.config import IngestSettings
from citewell.ingest import parse, parse_here

SAMPLES = Path(__file__).resolve().parent.parent / "samples"
LIBRARY = SAMPLES / "library"
QUESTIONS: list[dict[str, Any]] = [
    json.loads(line)
    for line in (SAMPLES / "questions.jsonl").read_text(encoding="utf-8").splitlines()
]
ANSWERABLE = [q for q in QUESTIONS if q["answerable"]]

# unanswerable question -> what the library says about its subject, and a pattern that would be an
# answer
NEAR_MISSES = {
    "en-u1": ("WF-DB", r"WF-DB[^.|]{0,80}(€|USD|CAD)|(€|USD|CAD)[^.|]{0,80}WF-DB"),
    "en-u2": ("mid motor, 250 W", r"motor[^.]{0,40}(made|built|supplied) by"),
    "en-u3": ("London", r"London office|office in London"),
    "en-u4": ("travel insurance", r"[Ii]nsurance (Ltd|Inc|plc|company,)|insured (by|with)"),
    "zh-u1": ("保温内胆WF-KC", r"WF-KC[^。]{0,40}\d+元|\d+元[^。]{0,40}WF-KC"),
    "zh-u2": ("班车", r"班车[^。<]{0,40}\d{1,2}:\d{2}"),
    "zh-u3": ("年终奖", r"年终奖[^。]{0,40}(个月工资|个月的工资|倍工资)"),
    "zh-u4": ("水雾系统", r"水雾系统[^。]{0,40}(安装于|20\d\d年)"),
}
CLUTTER = ("€55", "每天100元", "8 km/h对吗", "Lunch orders", "本周菜单", "值班表", "访问量")


@cache
def pages(name: str) -> tuple[str, ...]:
    """What a reader sees, a string a page; other formats have one."""
    data = (LIBRARY / name).read_bytes()
    if name.endswith(".pdf"):
        with pypdfium2.PdfDocument(data) as pdf:
            return tuple(page.get_textpage().get_text_bounded() for page in pdf)
    if name.endswith(".docx"):
        document = docx.Document(io.BytesIO(data))
        cells = [cell.text for table in document.tables for row in table.rows for cell in row.cells]
        return ("\n".join([p.text for p in document.paragraphs] + cells),)
    if name.endswith(".html"):
        main = LexborHTMLParser(data).css_first("main, article")
        assert main is not None
        return (main.text(separator="\n"),)
    return (data.decode("utf-8"),)


def flat(text: str) -> str:
    """Without white space: a line of a PDF may end anywhere."""
    return re.sub(r"\s+", "", text)


def chinese(text: str) -> bool:
    return len(re.findall(r"[\u4e00-\u9fff]", text)) > len(text) / 10


def test_twelve_documents_half_of_them_chinese_in_four_formats() -> None:
    names = sorted(path.name for path in LIBRARY.iterdir())
    assert Counter(Path(name).suffix for name in names) == {
        ".md": 4,
        ".html": 3,
        ".docx": 2,
        ".pdf": 3,
    }
    assert sum(chinese("".join(pages(name))) for name in names) == 6


@pytest.mark.parametrize("name", sorted(path.name for path in LIBRARY.glob("*.pdf")))
def test_pdfs_are_small_and_have_pages_an_outline_and_clean_text(name: str) -> None:
    assert (LIBRARY / name).stat().st_size < 400_000
    text = "".join(pages(name))
    assert len(pages(name)) >= 5
    # compatibility forms, private characters and pdfium's marks for hyphens and errors
    assert not re.search(
        r"[\x00-\x08\x0b\x0c\x0e-\x1f\u2e80-\u2fdf\ue000-\uf8ff\ufb00-\ufb06\ufffd-\uffff]", text
    )
    with pypdfium2.PdfDocument(LIBRARY / name) as pdf:
        assert pdf.get_metadata_value("Title") in pages(name)[0]
        levels = {entry.level for entry in pdf.get_toc()}
    assert levels == {0, 1, 2}


@pytest.mark.parametrize(
    "path", sorted((SAMPLES / "source").glob("*.md")), ids=lambda path: path.stem
)
def test_built_files_hold_every_line_of_their_source(path: Path) -> None:
    head, body = path.read_text(encoding="utf-8").split("---\n", 2)[1:]
    form = re.search(r"^format: (\w+)$", head, re.MULTILINE)
    assert form
    built = flat("".join(pages(f"{path.stem}.{form[1]}")))
    lines = [line for line in body.splitlines() if not re.fullmatch(r"[|-]*|<!-- page -->", line)]
    parts = [
        flat(part) for line in lines for part in re.sub(r"^(#+|>|-|\d+\.) |\*", "", line).split("|")
    ]
    assert [part for part in parts if part not in built] == []


def test_forty_questions_of_the_kinds_promised() -> None:
    assert len(QUESTIONS) == len({q["id"] for q in QUESTIONS}) == 40
    kinds = Counter(re.sub(r"\d+$", "", q["id"]) for q in QUESTIONS)
    assert kinds == {"en-": 14, "zh-": 14, "en-x": 2, "zh-x": 2, "en-u": 4, "zh-u": 4}
    assert sum("history" in q for q in QUESTIONS) == 6
    known = {
        "id",
        "question",
        "lang",
        "answers",
        "answerable",
        "gold_doc_ids",
        "gold_pages",
        "history",
    }
    for q in QUESTIONS:
        assert set(q) <= known
        assert q["lang"] == q["id"][:2]
        assert (q["lang"] == "zh") == chinese(q["question"])
        assert (
            q["answerable"]
            == bool(q["answers"])
            == bool(q["gold_doc_ids"])
            == ("-u" not in q["id"])
        )


@pytest.mark.parametrize("q", ANSWERABLE, ids=lambda q: q["id"])
def test_gold_answers_stand_in_their_gold_document(q: dict[str, Any]) -> None:
    crossing = "-x" in q["id"]
    for name in q["gold_doc_ids"]:
        text = flat("".join(pages(name)))
        found = [answer for answer in q["answers"] if flat(answer) in text]
        # a question in the other language also lists how its own language would say it
        assert found if crossing else found == q["answers"]
        assert (chinese(text) != (q["lang"] == "zh")) == crossing


@pytest.mark.parametrize(
    "q", [q for q in ANSWERABLE if q["gold_doc_ids"][0].endswith(".pdf")], ids=lambda q: q["id"]
)
def test_gold_pages_hold_the_answer(q: dict[str, Any]) -> None:
    by_page = pages(q["gold_doc_ids"][0])
    assert q["gold_pages"]
    for number in q["gold_pages"]:
        assert any(flat(answer) in flat(by_page[number - 1]) for answer in q["answers"])


def test_unanswerable_questions_are_near_misses() -> None:
    everything = "\n".join(page for path in sorted(LIBRARY.iterdir()) for page in pages(path.name))
    assert set(NEAR_MISSES) == {q["id"] for q in QUESTIONS if not q["answerable"]}
    for key, (mentioned, answer) in NEAR_MISSES.items():
        assert mentioned in everything, key
        assert not re.search(answer, everything), key


@pytest.mark.parametrize("name", sorted(path.name for path in LIBRARY.iterdir()))
async def test_our_parsers_find_the_gold_answers_headings_and_pages(name: str) -> None:
    document = await parse((LIBRARY / name).read_bytes(), name, IngestSettings())
    assert document.lang == ("zh" if chinese(document.text) else "en")
    assert max(len(section.heading_path) for section in document.sections) >= 2
    assert not [words for words in CLUTTER if words in document.text]
    for q in (q for q in ANSWERABLE if name in q["gold_doc_ids"]):
        places = [document.text.find(answer) for answer in q["answers"] if answer in document.text]
        assert places, q["id"]
        if "gold_pages" in q:
            assert document.find_page_at(places[0]) in q["gold_pages"], q["id"]


def test_two_tables_and_the_heading_between_them() -> None:
    """A note below one table and the heading of the next are no rows of either, and each table's
    header names its own cells.
    """
    name = "fleet-service-agreement.pdf"
    read = parse_here((LIBRARY / name).read_bytes(), name, IngestSettings())
    assert "Service: Lost battery key | Fee: €18" in read.text
    assert (
        "Replacement bike | Basic: no | Plus: after 3 working days | Premier: same day" in read.text
    )
    assert "2.2 Single fees" in {
        section.heading_path[-1] for section in read.sections if section.heading_path
    }
