"""`citewell chunks`: how a file would be cut, chunk by chunk, or several ways side by side. Nothing
is stored.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, cast

import typer
from rich.table import Table

from citewell.errors import InvalidInput
from citewell.ingest.chunk.chunkers import CHUNKERS
from citewell.interfaces.cli.run import DONE, boundary
from citewell.interfaces.cli.terminal import err, out, print_json, styled, warn, write
from citewell.service.library.chunking import ChunkerName
from citewell.service.library.preview import Preview, PreviewChunk, Previews, preview

_SLOW = "semantic embeds every sentence; a long document takes minutes"


def chunks(
    file: str,
    *,
    strategies: Sequence[str],
    tokens: int | None,
    overlap: int | None,
    compare: bool,
    summaries: bool,
    json: bool,
) -> None:
    with boundary(json=json) as settings:
        names = _names(strategies or (list(CHUNKERS) if compare else []))
        if "semantic" in names:
            write(err(), styled(_SLOW, "dim"))
        options: dict[str, Any] = {"tokens": tokens, "overlap": overlap}
        found = asyncio.run(preview(settings, file, names, options))
        if json:
            print_json(found.model_dump(mode="json"))
        else:
            _show(found, compare=compare or len(found.previews) > 1, summaries=summaries)
        raise typer.Exit(DONE)


def _names(given: Sequence[str]) -> list[ChunkerName]:
    for name in given:
        if name not in CHUNKERS:
            raise InvalidInput(
                f"{name}: no such strategy", hint=f"there are: {', '.join(CHUNKERS)}"
            )
    return cast("list[ChunkerName]", list(dict.fromkeys(given)))


def _show(found: Previews, *, compare: bool, summaries: bool) -> None:
    for warning in found.warnings:
        warn(warning)
    if compare:
        _compare(found)
        return
    one = found.previews[0]
    for each in one.chunks:
        _chunk(each)
    for each in one.summaries if summaries else []:
        _chunk(each)
    write(out(), styled(_sums(one), "bold"))


def _chunk(chunk: PreviewChunk) -> None:
    """Its place and size, then its text; what the chunk before holds too is dim."""
    console = out()
    place = [f"{chunk.start}-{chunk.end}"]
    place += [f"p. {chunk.page}"] if chunk.page is not None else []
    place += [" › ".join(chunk.heading_path)] if chunk.heading_path else []
    place += [f"{chunk.tokens} tokens", chunk.kind]
    place += [f"repeats {chunk.repeats} characters"] if chunk.repeats else []
    write(console, styled(f"#{chunk.n}  ", "bold cyan") + styled(" · ".join(place), "cyan"))
    repeated, new = chunk.text[: chunk.repeats], chunk.text[chunk.repeats :]
    style = "italic green" if chunk.kind == "summary" else ""
    write(console, styled(repeated, "dim yellow") + styled(new, style), indent=4)
    console.print()


def _sums(one: Preview) -> str:
    sums, way = one.totals, one.chunking
    return (
        f"{way.chunker}, {way.tokens} tokens, overlap {way.overlap}: {sums.chunks} chunks, "
        f"mean {sums.tokens_mean:g} tokens ({sums.tokens_min} to {sums.tokens_max}), "
        f"{sums.cut_sentences:.1%} of {sums.sentences} sentences cut, {sums.summaries} "
        f"summaries, {sums.seconds:.2f} s"
    )


def _compare(found: Previews) -> None:
    table = Table(box=None, pad_edge=False)
    table.add_column("strategy")
    for name in ("chunks", "mean", "min", "max", "sentences cut", "summaries", "seconds"):
        table.add_column(name, justify="right")
    for one in found.previews:
        sums = one.totals
        sizes = (f"{sums.tokens_mean:g}", str(sums.tokens_min), str(sums.tokens_max))
        rest = (f"{sums.cut_sentences:.1%}", str(sums.summaries), f"{sums.seconds:.2f}")
        table.add_row(one.chunking.chunker, str(sums.chunks), *sizes, *rest)
    write(
        out(),
        styled(f"{found.title}: {found.characters} characters, {found.sections} sections", "bold"),
    )
    out().print(table)
