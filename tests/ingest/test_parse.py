"""The one way in: which parser reads a file, and what becomes of files that none can read."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import anyio
import docx
import pytest

from citewell.config import IngestSettings
from citewell.errors import UnreadableFile
from citewell.ingest import PARSERS, parse, parse_here, worker
from citewell.ingest.chunk.chunkers import chunk_document
from citewell.types import Document

Maker = Callable[..., bytes]
SETTINGS = IngestSettings(parse_seconds=60)
PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 50


def word(text: str) -> bytes:
    document, buffer = docx.Document(), io.BytesIO()
    document.add_paragraph(text)
    document.save(buffer)
    return buffer.getvalue()


async def test_worker_process(make_pdf: Maker) -> None:
    """A file is read in a process of its own, and its document comes back whole; errors come back
    with their hint.
    """
    data = make_pdf([[(50, 700, 11, "Hello there.")]])
    document = await parse(data, "a.pdf", SETTINGS)
    assert (document.text, document.pages[0].number) == ("Hello there.", 1)
    with pytest.raises(UnreadableFile, match=r"a\.pdf is broken") as caught:
        await parse(data[:40], "a.pdf", SETTINGS)
    assert caught.value.hint


async def test_a_parser_that_takes_too_long() -> None:
    """A parser is stopped when its time is up."""
    with pytest.raises(UnreadableFile, match=r"slow\.md could not be read within 0\.05 s"):
        await parse(
            ("|a" * 200_000 + "\n" + "|-" * 200_000 + "\n|b").encode(),
            "slow.md",
            IngestSettings(parse_seconds=0.05),
        )


class Deadly(bytes):
    """Bytes that end the process which receives them."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.abort, ()


async def test_a_parser_that_crashes() -> None:
    """A worker that dies makes its file unreadable, and the next file is read all the same."""
    with pytest.raises(UnreadableFile, match=r"bad\.txt cannot be read: its parser crashed"):
        await parse(Deadly(b"x"), "bad.txt", SETTINGS)
    assert (await parse(b"fine", "good.txt", SETTINGS)).text == "fine"


UNGUARDED = """
import asyncio, sys
from citewell.config import IngestSettings
from citewell.ingest import parse
print("started")
print(asyncio.run(parse(b"Hello there.", "a.txt", IngestSettings(parse_seconds=60))).text)
"""


def test_script_without_a_guard(tmp_path: Path) -> None:
    """A script that only calls `parse` runs once; a module that lies in the current folder is not
    taken for one of Python's.
    """
    script, folder = tmp_path / "script.py", tmp_path / "here"
    script.write_text(UNGUARDED, "utf-8")
    folder.mkdir()
    (folder / "pickle.py").write_text("raise SystemExit('taken')", "utf-8")
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.stdout, done.stderr) == ("started\nHello there.\n", "")


async def test_cancelling_kills_the_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who stops waiting stops the work: its process is dead at once, and the next file is read."""
    start: Any = subprocess.Popen
    started: list[subprocess.Popen[bytes]] = []

    def kept(*arguments: Any, **named: Any) -> subprocess.Popen[bytes]:
        started.append(start(*arguments, **named))
        return started[-1]

    monkeypatch.setattr("citewell.ingest.worker.subprocess.Popen", kept)
    worker.kill_idle_workers()
    with anyio.move_on_after(0.5) as scope:
        await parse(("|a" * 600_000 + "\n" + "|-" * 600_000 + "\n|b").encode(), "slow.md", SETTINGS)
    assert scope.cancelled_caught
    assert [process.returncode for process in started] == [-signal.SIGKILL]
    assert (await parse(b"fine", "good.txt", SETTINGS)).text == "fine"


async def test_other_work_in_a_worker() -> None:
    """A worker runs any function of ours by its name, hands errors through, and no other's."""
    assert (
        await worker.run_in_worker("citewell.text.timestamps:parse_timestamp", "1970-01-02")
        == 86400.0
    )
    with pytest.raises(ValueError, match="os is not ours"):
        await worker.run_in_worker("os:getcwd")
    assert await worker.run_in_worker("citewell.text.timestamps:parse_timestamp", "soon") is None


async def test_worker_that_ended_is_replaced() -> None:
    """A worker that went while it had nothing to do (idle, killed by the system) costs no file."""
    await parse(b"fine", "a.txt", SETTINGS)
    assert worker._idle
    for each in worker._idle:
        each._process.kill()
        each._process.wait()
    assert (await parse(b"fine", "b.txt", SETTINGS)).text == "fine"


async def test_limits(make_pdf: Maker) -> None:
    """Empty files, files over the byte limit and over the page limit are refused with figures."""
    with pytest.raises(UnreadableFile, match=r"e\.pdf is empty"):
        await parse(b"", "e.pdf", SETTINGS)
    with pytest.raises(UnreadableFile, match="has 11 bytes; 10 are allowed"):
        await parse(b"12345678901", "a.txt", IngestSettings(max_bytes=10))
    with pytest.raises(UnreadableFile, match="has 3 pages; 2 are allowed"):
        parse_here(make_pdf([[(50, 700, 11, "x")]] * 3), "a.pdf", IngestSettings(max_pages=2))


def test_true_type_counts(make_pdf: Maker) -> None:
    """A file that is another type than its name says is read as what it is, with a warning."""
    page = make_pdf([[(50, 700, 11, "Hello")]])
    cases: list[tuple[bytes, str, str, str]] = [
        (page, "a.txt", "application/pdf", "named .txt but is a PDF"),
        (b"<!DOCTYPE html><p>Hello", "a.pdf", "text/html", "named .pdf but is an HTML page"),
        (
            word("Hello"),
            "a.md",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            "named .md but is a Word document",
        ),
        (b"Hello", "a.docx", "text/plain", "named .docx but is plain text"),
    ]
    for data, name, media_type, warning in cases:
        document = parse_here(data, name, SETTINGS)
        assert (document.text, document.media_type, document.warnings) == (
            "Hello",
            media_type,
            (warning,),
        )


def test_names_without_suffix(make_pdf: Maker) -> None:
    """A name without a suffix is read by what the bytes say."""
    assert (
        parse_here(make_pdf([[(50, 700, 11, "Hello")]]), "report", SETTINGS).media_type
        == "application/pdf"
    )
    assert parse_here(b"<html><p>Hello", "page", SETTINGS).media_type == "text/html"
    assert parse_here(b"Hello", "README", SETTINGS).media_type == "text/plain"


@pytest.mark.parametrize(
    ("data", "name", "reason"),
    [
        (PNG, "a.docx", r"a\.docx is a picture"),
        (PNG, "a.png", "with OCR, which is off"),
        (b"GIF89a" + b"\0" * 50, "photo", "photo is a GIF picture"),
        (b"x", "a.xyz", "xyz is not a known type"),
        (
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"),
            "a.docx",
            "protected by a password",
        ),
        (b"\0\1\2\3" * 99, "a.pdf", "not a PDF"),
        (b"PK\x03\x04" + b"\0" * 99, "a.docx", "broken zip archive"),
        (b"1 0 obj endobj startxref", "a.pdf", "broken"),
    ],
)
def test_refusals_name_the_type(data: bytes, name: str, reason: str) -> None:
    """What cannot be read is refused with what it is; the known types are in the hint."""
    with pytest.raises(UnreadableFile, match=reason) as caught:
        parse_here(data, name, SETTINGS)
    if name == "a.xyz":
        assert all(suffix in caught.value.hint for suffix in PARSERS)


def test_other_zips_are_named(make_zip: Maker) -> None:
    """An office file that is not read is called by its kind, whatever its name, and a folder's name
    alone makes none.
    """
    drawing = {"mimetype": "application/vnd.oasis.opendocument.graphics", "content.xml": "<x/>"}
    with pytest.raises(UnreadableFile, match="an OpenDocument file"):
        parse_here(make_zip(drawing), "a.docx", SETTINGS)
    with pytest.raises(UnreadableFile, match=r"xlsb\); save it as \.xlsx"):
        parse_here(
            make_zip({"[Content_Types].xml": "<x/>", "xl/workbook.bin": "x"}), "a.xlsb", SETTINGS
        )
    with pytest.raises(UnreadableFile, match="a zip archive"):
        parse_here(make_zip({"xl/notes.bin": "x"}), "a.docx", SETTINGS)


def test_old_office_files_are_refused_with_a_hint() -> None:
    """Old Word and PowerPoint files are named, with what to do; so is an Outlook message."""
    for stream, name, hint in (
        ("WordDocument", "a.doc", ".docx"),
        ("PowerPoint Document", "b.ppt", ".pptx"),
    ):
        with pytest.raises(UnreadableFile, match="cannot be read: it is an old") as caught:
            parse_here(
                b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + stream.encode("utf-16-le"), name, SETTINGS
            )
        assert hint in caught.value.hint


def test_a_table_of_text_named_as_a_workbook() -> None:
    """What many programs export as .xls is plain text between tabs: it is read as the table that it
    is.
    """
    document = parse_here("型号\t载重\nT300\t120\n".encode("gb18030"), "导出.xls", SETTINGS)
    assert document.text == "型号 | 载重\n型号: T300 | 载重: 120"
    assert document.warnings == ("named .xls but is plain text",)


def check(document: Document) -> None:
    """What holds for every document: clean text, spans that cover it in order, chunks that cover it
    exactly.
    """
    text = document.text
    assert document.title
    assert not any(char in text for char in "\0\r\x0c")
    text.encode("utf-8")
    sections = [(section.start, section.end) for section in document.sections]
    for spans in (sections, [(page.start, page.end) for page in document.pages] or sections):
        assert (spans[0][0], spans[-1][1]) == (0, len(text))
        assert all(a[1] == b[0] for a, b in pairwise(spans))
    last = 0
    for piece in chunk_document(document, tokens=220, overlap=40):
        assert piece.text == text[piece.start : piece.end]
        assert piece.tokens <= 330
        assert piece.page == document.find_page_at(piece.start)
        assert not text[last : piece.start].strip()
        last = max(last, piece.end)
    assert not text[last:].strip()


def test_hostile_strings_as_files(shared_data: Path) -> None:
    """Each naughty string, as a file of every text type, ends in a sound document or a reason."""
    import json

    lines = (shared_data / "robustness" / "naughty_strings.jsonl").read_text("utf-8").split("\n")
    for line in filter(None, lines):
        data = json.loads(line)["text"].encode("utf-8", errors="surrogatepass")
        for suffix in (".txt", ".md", ".html"):
            outcome = attempt(data, "x" + suffix)
            if isinstance(outcome, Document):
                check(outcome)


def attempt(data: bytes, name: str) -> Any:
    try:
        return parse_here(data, name, SETTINGS)
    except UnreadableFile as error:
        return error


def test_files_of_others(shared_data: Path) -> None:
    """Every sample file ends in a sound document or in a reason that names it: none crashes, hangs
    or falls silent.
    """
    kinds = ("docx", "pptx", "xlsx", "csv", "html", "md", "pdf")
    folders = (*(f"ingest/docling/{kind}" for kind in kinds), "robustness/pdf")
    files = [
        path
        for folder in folders
        for path in sorted((shared_data / folder).iterdir())
        if path.suffix in PARSERS
    ]
    outcomes = {path.name: attempt(path.read_bytes(), path.name) for path in files}
    for name, outcome in outcomes.items():
        if isinstance(outcome, Document):
            check(outcome)
        else:
            assert name in outcome.message
    for name in ("issue21579.pdf", "issue6010_2.pdf"):
        assert "is protected by a password" in outcomes[name].message
    assert "it is scanned" in outcomes["bitmap-p32-eof.pdf"].message
    assert "is broken" in outcomes["REDHAT-1531897-0.pdf"].message
    assert "关于红军作战的原则" in outcomes["XiaoBiaoSong.pdf"].text


def test_a_chinese_manual(shared_data: Path) -> None:
    """A Chinese PDF: sections from its outline, paragraphs joined without spaces, running headers
    gone, pages right.
    """
    path = shared_data / "ingest" / "pdf_zh" / "maint-guide.zh-cn.pdf"
    document = parse_here(path.read_bytes(), path.name, SETTINGS)
    check(document)
    assert (document.title, document.lang, len(document.pages)) == ("Debian 新维护者手册", "zh", 63)
    assert ("Chapter 1 正确的起点", "1.3 需要的开发文档") in [
        section.heading_path for section in document.sections
    ]
    start = document.text.index("请详细阅读每个程序（包括通过依赖关系安装的程序，比如 make）的文档")
    assert document.find_page_at(start) == 10
    assert "4 / 57" not in document.text
