"""`citewell check`: each sentence of a text with its verdict and the quotes that show it; pairs of
a file. Exit 3 where a sentence of a text is not entailed.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import anyio.to_thread
import typer
from pydantic import ValidationError
from rich.console import Console

from citewell.errors import InvalidInput, NotFound, StorageError
from citewell.interfaces.cli.arguments import Json, argument, option
from citewell.interfaces.cli.ask.answer import WORDS, show_citation
from citewell.interfaces.cli.output.progress import show_progress
from citewell.interfaces.cli.output.terminal import (
    get_stdout,
    print_json,
    print_parts,
    print_warning,
    style_text,
    write_paragraph,
)
from citewell.interfaces.cli.run import DONE, NO_ANSWER, run
from citewell.runtime.app import App
from citewell.runtime.progress import Progress
from citewell.service.ask.default_collection import choose_collections
from citewell.service.check.check_text import check_pairs, check_text
from citewell.service.check.check_types import CheckedSentence, CheckResult, CheckVerdict, Pair
from citewell.text.charset import decode_text
from citewell.text.sentences import detect_language

STANDARD_INPUT = "-"
SUFFIXES = frozenset({".md", ".markdown", ".txt", ""})
LARGEST = 256 * 1024 * 1024  # bytes of a file of pairs
MARKS: dict[CheckVerdict, tuple[str, str]] = {
    "entailed": ("✓", "green"),
    "contradicted": ("✗", "red"),
    "not_stated": ("?", "yellow"),
}
VERDICTS: dict[str, dict[CheckVerdict, str]] = {
    "en": {"entailed": "entailed", "contradicted": "contradicted", "not_stated": "not stated"},
    "zh": {"entailed": "有依据", "contradicted": "与文档矛盾", "not_stated": "文档未说明"},
}
TEXTS = {
    "en": {"count": "{n} sentences", "judge": "judged by {}", "no_judge": "quotations only"},
    "zh": {"count": "共 {n} 句", "judge": "由 {} 判断", "no_judge": "只核对了引文"},
}


def run_check(
    draft: Annotated[
        str | None, argument("A text, .md or .txt; - reads standard input.", "DRAFT.md|-")
    ] = None,
    collections: Annotated[
        list[str] | None,
        typer.Option("--collection", "-c", help="Held against this collection; may be repeated."),
    ] = None,
    pairs: Annotated[
        str | None,
        option(
            'Instead of a text: lines {"id", "claim", "evidence": [texts]}.', metavar="FILE.jsonl"
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Hold a text against documents, sentence by sentence; exit 3 where a sentence of a text is not
    entailed.
    """
    if bool(draft) == bool(pairs):
        raise typer.BadParameter(
            "name a text (DRAFT.md, or - for standard input), or pairs with --pairs FILE.jsonl"
        )
    if pairs and collections:
        raise typer.BadParameter("--pairs brings its own evidence, and takes no collection")
    if pairs:
        run(lambda app: check_pairs_file(app, pairs, json=json), json=json)
    else:
        run(lambda app: check_draft(app, draft or "", collections or [], json=json), json=json)


async def check_draft(app: App, draft: str, collections: Sequence[str], *, json: bool) -> int:
    text = await anyio.to_thread.run_sync(read_draft, draft)
    async with show_progress() as tell:

        async def report_progress(done: int, total: int) -> None:
            await tell(Progress("check", done, total))

        where, chosen = await choose_collections(app, collections)
        result = await check_text(app, text, where, report_progress)
    for warning in (*chosen, *result.warnings):
        print_warning(warning)
    if json:
        print_json(result)
    else:
        show_result(result, detect_language(text), get_stdout())
    return DONE if all(each.verdict == "entailed" for each in result.sentences) else NO_ANSWER


async def check_pairs_file(app: App, file: str, *, json: bool) -> int:
    pairs = await anyio.to_thread.run_sync(read_pairs, file)
    result = await check_pairs(app, pairs)
    for warning in result.warnings:
        print_warning(warning)
    if json:
        return print_json({"items": result.items})
    for pair, item in zip(pairs, result.items, strict=True):
        mark, style = MARKS[item.verdict]
        verdict = VERDICTS[detect_language(pair.claim)][item.verdict]
        print_parts(
            (f"{mark} {verdict} ", style), (f"{item.score:.2f} {item.id}: ", "dim"), pair.claim
        )
    return DONE


def read_draft(draft: str) -> str:
    """A file's text, or that of standard input. Raises InvalidInput, NotFound, StorageError,
    UnreadableFile.
    """
    if draft != STANDARD_INPUT and Path(draft).suffix.lower() not in SUFFIXES:
        raise InvalidInput(
            f"{draft}: only .md and .txt are checked", hint="give its text: citewell check - < TEXT"
        )
    name = "standard input" if draft == STANDARD_INPUT else draft
    text, warnings = decode_text(_read_bytes(draft), name)
    for warning in warnings:
        print_warning(warning)
    return text


def read_pairs(file: str) -> list[Pair]:
    """The lines of a file of pairs that are not empty. Raises InvalidInput naming the line."""
    found = []
    for number, line in enumerate(_read_bytes(file).split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            found.append(Pair.model_validate_json(line))
        except ValidationError as error:
            fault = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(part) for part in fault["loc"])
            message = f"{file}, line {number}: {place + ': ' if place else ''}{fault['msg']}"
            raise InvalidInput(
                message, hint='a line is {"id": "...", "claim": "...", "evidence": ["..."]}'
            ) from None
    if not found:
        raise InvalidInput(
            f"{file} holds no pairs",
            hint='a line is {"id": "...", "claim": "...", "evidence": ["..."]}',
        )
    return found


def _read_bytes(file: str) -> bytes:
    if file == STANDARD_INPUT:
        return sys.stdin.buffer.read(LARGEST)
    try:
        with Path(file).open("rb") as opened:
            return opened.read(LARGEST)
    except FileNotFoundError:
        raise NotFound(
            f"{file}: no such file", hint="name a text, or - for standard input"
        ) from None
    except OSError as error:
        raise StorageError(f"{file} cannot be read: {error.strerror}") from None


def show_result(result: CheckResult, lang: str, console: Console) -> None:
    """Each sentence with its quotes below it, then the counts and who judged."""
    words = WORDS[lang]
    citations = {citation.n: citation for citation in result.citations}
    for sentence in result.sentences:
        mark, style = MARKS[sentence.verdict]
        head = style_text(f"{mark} {VERDICTS[lang][sentence.verdict]} ", style) + style_text(
            f"{sentence.score:.2f} ", "dim"
        )
        write_paragraph(console, head + style_text(" ".join(sentence.text.split())))
        if sentence.reason:
            write_paragraph(console, sentence.reason, "italic", indent=4)
        for n in sentence.citations:
            show_citation(console, citations[n], words, indent=4)
    write_paragraph(console, "\n" + _format_counts(result.sentences, result, lang), "dim")


def _format_counts(sentences: Sequence[CheckedSentence], result: CheckResult, lang: str) -> str:
    texts = TEXTS[lang]
    counts = {verdict: sum(each.verdict == verdict for each in sentences) for verdict in MARKS}
    parts = [texts["count"].format(n=len(sentences))]
    parts += [f"{VERDICTS[lang][verdict]} {count}" for verdict, count in counts.items() if count]
    parts.append(texts["judge"].format(result.judge) if result.judge else texts["no_judge"])
    return " · ".join([*parts, f"{result.seconds:.1f} s"])
