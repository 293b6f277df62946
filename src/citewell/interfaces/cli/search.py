"""`citewell search`: passages that match, without an answer. Exit 3 where there are none.

The one rule: what is shown of a passage is verbatim, with the question's words in it marked.
"""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Any

from rich.console import Console
from rich.text import Text

from citewell.interfaces.cli.answer import WORDS
from citewell.interfaces.cli.run import DONE, NO_ANSWER
from citewell.interfaces.cli.terminal import one_line, out, plain, print_json, styled, warn, write
from citewell.runtime.app import App
from citewell.service.ask.search import Passage, SearchResult, request_of
from citewell.service.ask.search import search as passages
from citewell.text.sentences import language


async def search(app: App, query: str, options: dict[str, Any], json: bool) -> int:
    result = await passages(app, request_of(query, options))
    for warning in result.warnings:
        warn(warning)
    if json:
        print_json(result.model_dump(mode="json"))
    else:
        show(result, out())
    return DONE if result.hits else NO_ANSWER


def show(result: SearchResult, console: Console) -> None:
    """A head and a snippet for each passage, then how sure the search is."""
    words = WORDS[language(result.query)]
    for hit in result.hits:
        write(console, _head(hit, words, several=len(result.collections) > 1))
        write(console, _marked(hit), indent=4)
    if not result.hits:
        write(console, styled("nothing found"))
        return
    confidence = words["confidence"].format(result.confidence)
    write(console, styled(f"\n{confidence} · {result.strategy} · {result.seconds:.2f} s", "dim"))


def _head(hit: Passage, words: dict[str, str], *, several: bool) -> Text:
    """The place, then which file it is in and, where several are searched, in which collection."""
    title = hit.title or hit.uri
    # many a document's first heading is its title
    section = hit.section.removeprefix(title).removeprefix(" › ")
    place = [
        title,
        *([words["page"].format(hit.page)] if hit.page is not None else []),
        *([section] if section else []),
    ]
    file = one_line(PurePath(hit.uri).name) + (f" in {hit.collection}" if several else "")
    facts = f"  {file} {hit.doc_id} {hit.score:.2f}"
    return styled(f"{hit.n}. ", "cyan") + styled(" · ".join(place), "bold") + styled(facts, "dim")


def _marked(hit: Passage) -> Text:
    """On one line, whatever white space stands in it."""
    text, at = Text(), 0
    for start, end in hit.marks:
        text.append(_line(hit.snippet[at:start])).append(
            _line(hit.snippet[start:end]), "bold yellow"
        )
        at = end
    return text.append(_line(hit.snippet[at:]))


def _line(part: str) -> str:
    return re.sub(r"\s+", " ", plain(part))
