"""`citewell chunks`: how a file would be cut, or several ways side by side; stores nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any, cast

import typer
from rich.table import Table

from citewell.errors import InvalidInput
from citewell.ingest.chunk.chunkers import CHUNKERS
from citewell.interfaces.cli.arguments import Json, argument, option
from citewell.interfaces.cli.output.terminal import (
    get_stderr,
    get_stdout,
    print_json,
    print_parts,
    print_text,
    print_warning,
    write_paragraph,
)
from citewell.interfaces.cli.run import DONE, guard_command
from citewell.service.library.chunking import ChunkerName
from citewell.service.library.preview import Preview, PreviewChunk, Previews, preview_file

_SLOW = "semantic embeds every sentence; a long document takes minutes"


def run_chunks(
    file: Annotated[str, argument("A file.")],
    strategy: Annotated[
        list[str] | None,
        typer.Option(
            "--strategy",
            "-s",
            help="structure, sentences, fixed or semantic; several are compared.",
        ),
    ] = None,
    tokens: Annotated[int | None, option("Tokens of a passage at most.")] = None,
    overlap: Annotated[int | None, option("Tokens that a passage repeats.")] = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="A table of all strategies instead of the passages.")
    ] = False,
    summaries: Annotated[
        bool, typer.Option("--summaries", help="Show the summaries of sections too.")
    ] = False,
    json: Json = False,
) -> None:
    """Preview the passages that a file would be cut into; nothing is stored."""
    with guard_command(json=json) as settings:
        names = _check_strategies(strategy or (list(CHUNKERS) if compare else []))
        if "semantic" in names:
            write_paragraph(get_stderr(), _SLOW, "dim")
        options: dict[str, Any] = {"tokens": tokens, "overlap": overlap}
        found = asyncio.run(preview_file(settings, file, names, options))
        if json:
            print_json(found)
        else:
            _show_previews(found, compare=compare or len(found.previews) > 1, summaries=summaries)
        raise typer.Exit(DONE)


def _check_strategies(given: Sequence[str]) -> list[ChunkerName]:
    for name in given:
        if name not in CHUNKERS:
            raise InvalidInput(
                f"{name}: no such strategy", hint=f"there are: {', '.join(CHUNKERS)}"
            )
    return cast("list[ChunkerName]", list(dict.fromkeys(given)))


def _show_previews(found: Previews, *, compare: bool, summaries: bool) -> None:
    for warning in found.warnings:
        print_warning(warning)
    if compare:
        _show_comparison(found)
        return
    one = found.previews[0]
    for each in one.chunks:
        _show_chunk(each)
    for each in one.summaries if summaries else []:
        _show_chunk(each)
    print_text(_format_totals(one), "bold")


def _show_chunk(chunk: PreviewChunk) -> None:
    """Its place and size, then its text; what the chunk before holds too is dim."""
    place = [f"{chunk.start}-{chunk.end}"]
    place += [f"p. {chunk.page}"] if chunk.page is not None else []
    place += [" › ".join(chunk.heading_path)] if chunk.heading_path else []
    place += [f"{chunk.tokens} tokens", chunk.kind]
    place += [f"repeats {chunk.repeats} characters"] if chunk.repeats else []
    print_parts((f"#{chunk.n}  ", "bold cyan"), (" · ".join(place), "cyan"))
    repeated, new = chunk.text[: chunk.repeats], chunk.text[chunk.repeats :]
    style = "italic green" if chunk.kind == "summary" else ""
    print_parts((repeated, "dim yellow"), (new, style), indent=4)
    get_stdout().print()


def _format_totals(one: Preview) -> str:
    sums, way = one.totals, one.chunking
    return (
        f"{way.chunker}, {way.tokens} tokens, overlap {way.overlap}: {sums.chunks} chunks, "
        f"mean {sums.tokens_mean:g} tokens ({sums.tokens_min} to {sums.tokens_max}), "
        f"{sums.cut_sentences:.1%} of {sums.sentences} sentences cut, {sums.summaries} "
        f"summaries, {sums.seconds:.2f} s"
    )


def _show_comparison(found: Previews) -> None:
    table = Table(box=None, pad_edge=False)
    table.add_column("strategy")
    for name in ("chunks", "mean", "min", "max", "sentences cut", "summaries", "seconds"):
        table.add_column(name, justify="right")
    for one in found.previews:
        sums = one.totals
        sizes = (f"{sums.tokens_mean:g}", str(sums.tokens_min), str(sums.tokens_max))
        rest = (f"{sums.cut_sentences:.1%}", str(sums.summaries), f"{sums.seconds:.2f}")
        table.add_row(one.chunking.chunker, str(sums.chunks), *sizes, *rest)
    print_text(f"{found.title}: {found.characters} characters, {found.sections} sections", "bold")
    get_stdout().print(table)
