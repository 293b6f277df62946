"""Sites to explore and questions about them: folders of pages served from the loopback, with what
people asked of them.

The one rule: a page is known by the last part of its address, which is unique in each of these
sites; ports change.
"""

from __future__ import annotations

import random
import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, Self

from citewell.types import Event
from convert import Record, read

SETS = ("en", "zh", "zh-on-en")
_ENDS = {"en": ".en.html", "zh": ".zh-cn.html"}
_TO_SECTION = re.compile(rb'<a\b[^>]*\bhref="[^"]*#[^"]*"[^>]*>.*?</a>', re.DOTALL)


@dataclass(frozen=True)
class Question:
    """`gold_page` tells it; empty: no page does. `golds`: the section that tells it, each with the
    question in its language.
    """

    id: str
    question: str
    gold_page: str = ""
    golds: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class SiteSet:
    """`rewritten`: pages that are served otherwise than they lie in the folder. `foreign`:
    questions that the site does not tell, of the data sets beside it.
    """

    name: str
    folder: Path
    start: str
    questions: Sequence[Question]
    foreign: Sequence[Question] = ()
    rewritten: Mapping[str, bytes] = field(default_factory=dict)


def site_set(name: str, data: Path, *, no_toc: bool = False) -> SiteSet:
    """`no_toc`: the start page has links to chapters only. Raises FileNotFoundError where its data
    is not there.
    """
    asked, _, on = name.partition("-on-")
    site = on or asked
    folder, start = data / f"website_{site}/site_debian_faq", f"index{_ENDS[site]}"
    questions = _sections(data, asked)
    inside = _sections(data, site)
    made = []
    for anchor, source in questions.items():
        golds = {
            lang: (each["question"], each["answer_section_text"])
            for lang, each in ((site, inside[anchor]), (asked, source))
        }
        made.append(
            Question(
                source["id"], source["question"], inside[anchor]["gold_page"], tuple(golds.values())
            )
        )
    rewritten = {start: without_toc((folder / start).read_bytes())} if no_toc else {}
    return SiteSet(name, folder, start, made, _foreign(data, asked), rewritten)


def _sections(data: Path, lang: str) -> dict[str, Record]:
    """By anchor, which is the same in every language."""
    return {
        each["gold_url"].partition("#")[2]: each
        for each in read(data / f"website_{lang}/debian_faq_questions.jsonl")
    }


def _foreign(data: Path, lang: str) -> list[Question]:
    """Questions that have an answer, elsewhere: of SQuAD 2.0 and of CMRC 2018."""
    file = {
        "en": "qa_refusal_en/squad2_questions.jsonl",
        "zh": "retrieval_zh/cmrc_questions.jsonl",
    }[lang]
    return [
        Question(each["id"], each["question"]) for each in read(data / file) if each["answerable"]
    ]


def without_toc(page: bytes) -> bytes:
    """Without its links to a place within a page, and without their words: here these are the
    questions, word for word.
    """
    return _TO_SECTION.sub(b"", page)


def sample(questions: Sequence[Question], limit: int | None, seed: int) -> list[Question]:
    """As they stand, or so many of them; the same ones for the same seed."""
    if limit is None or limit >= len(questions):
        return list(questions)
    return [questions[n] for n in sorted(random.Random(seed).sample(range(len(questions)), limit))]


class Served:
    """A set's site on a free port of the loopback, as long as it is open, in a thread. `requests`:
    how many it has answered.
    """

    def __init__(self, site: SiteSet) -> None:
        self.requests = 0
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, self, site))
        self._thread = threading.Thread(
            target=lambda: self._server.serve_forever(poll_interval=0.05), daemon=True
        )
        self.start = f"http://127.0.0.1:{self._server.server_port}/{site.start}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, served: Served, site: SiteSet, *args: Any) -> None:
        self._served, self._site = served, site
        super().__init__(*args, directory=str(site.folder))

    def send_head(self) -> BytesIO | BinaryIO | None:
        self._served.requests += 1
        body = self._site.rewritten.get(self.path.lstrip("/"))
        if body is None:
            return super().send_head()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        return BytesIO(body)

    def log_message(self, *_: object) -> None:
        """Nothing on the terminal."""


@dataclass(frozen=True)
class Fetched:
    """A page that an agent asked for. `round`: 0 for the start page. `problem`: why it could not be
    read.
    """

    page: str
    round: int
    why: str
    problem: str = ""


def fetched(event: Event) -> Fetched | None:
    """What an event tells of a page."""
    data = event.data
    if event.kind != "progress" or not isinstance(data, dict) or data.get("kind") != "page":
        return None
    return Fetched(page_name(data["url"]), data["iteration"], data["why"], data["problem"])


def page_name(url: str) -> str:
    """The last part of an address, as in `gold_page`."""
    return url.partition("#")[0].rpartition("/")[2]
