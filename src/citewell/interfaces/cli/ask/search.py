"""`citewell search`: passages that match, without an answer. Exit 3 where there are none. What is
shown of a passage is verbatim, with the question's words in it marked.
"""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from citewell.interfaces.cli.arguments import (
    Docs,
    Json,
    Langs,
    Least,
    Since,
    Strategy,
    Types,
    Until,
    argument,
    collect_filters,
    option,
)
from citewell.interfaces.cli.ask.answer import WORDS
from citewell.interfaces.cli.output.terminal import (
    escape_line_breaks,
    get_stdout,
    print_json,
    print_warning,
    strip_controls,
    style_text,
    write_paragraph,
)
from citewell.interfaces.cli.run import DONE, NO_ANSWER, command
from citewell.runtime.app import App
from citewell.service.ask.default_collection import choose_collections
from citewell.service.ask.search import Passage, SearchResult, parse_search_request
from citewell.service.ask.search import search as passages
from citewell.text.sentences import detect_language


@command
async def search_passages(
    app: App,
    query: Annotated[str, argument("What to look for.")],
    collections: Annotated[
        list[str] | None, option("Collection; may be repeated.", "--collection", "-c")
    ] = None,
    docs: Docs = None,
    types: Types = None,
    langs: Langs = None,
    since: Since = None,
    until: Until = None,
    priority: Least = None,
    strategy: Strategy = None,
    k: Annotated[int, typer.Option("-k", min=1, max=100, help="Passages shown.")] = 10,
    recency: Annotated[
        float | None, option("What being of today adds; 0: nothing, 1: clearly.", min=0, max=5)
    ] = None,
    diversity: Annotated[
        float | None, option("0: the best, 1: those least alike.", min=0, max=1)
    ] = None,
    json: Json = False,
) -> int:
    """Find passages, without an answer; exit 3 where there are none."""
    options = collect_filters(docs, types, langs, since, until, priority, strategy)
    where, chosen = await choose_collections(app, collections or [])
    options |= {
        "k": k,
        "collections": where,
        "recency": recency,
        "diversity": diversity,
    }
    result = await passages(app, parse_search_request(query, options))
    for warning in (*chosen, *result.warnings):
        print_warning(warning)
    if json:
        print_json(result)
    else:
        show_result(result, get_stdout())
    return DONE if result.hits else NO_ANSWER


def show_result(result: SearchResult, console: Console) -> None:
    """A head and a snippet for each passage, then how sure the search is."""
    words = WORDS[detect_language(result.query)]
    for hit in result.hits:
        write_paragraph(console, _format_head(hit, words, several=len(result.collections) > 1))
        write_paragraph(console, _mark_snippet(hit), indent=4)
    if not result.hits:
        write_paragraph(console, "nothing found")
        return
    confidence = words["confidence"].format(result.confidence)
    write_paragraph(console, f"\n{confidence} · {result.strategy} · {result.seconds:.2f} s", "dim")


def _format_head(hit: Passage, words: dict[str, str], *, several: bool) -> Text:
    """The place, then which file it is in and, where several are searched, in which collection."""
    title = hit.title or hit.uri
    # many a document's first heading is its title
    section = hit.section.removeprefix(title).removeprefix(" › ")
    place = [
        title,
        *([words["page"].format(hit.page)] if hit.page is not None else []),
        *([section] if section else []),
    ]
    file = escape_line_breaks(PurePath(hit.uri).name) + (f" in {hit.collection}" if several else "")
    facts = f"  {file} {hit.doc_id} {hit.score:.2f}"
    return (
        style_text(f"{hit.n}. ", "cyan")
        + style_text(" · ".join(place), "bold")
        + style_text(facts, "dim")
    )


def _mark_snippet(hit: Passage) -> Text:
    """On one line, whatever white space stands in it."""
    text, at = Text(), 0
    for start, end in hit.marks:
        text.append(_flatten_text(hit.snippet[at:start])).append(
            _flatten_text(hit.snippet[start:end]), "bold yellow"
        )
        at = end
    return text.append(_flatten_text(hit.snippet[at:]))


def _flatten_text(part: str) -> str:
    return re.sub(r"\s+", " ", strip_controls(part))
