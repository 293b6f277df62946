"""Every file of the ingestion and robustness sets through the reader, and what became of each:
docs/formats.md.

    .venv/bin/python evals/formats.py [--data ../shared/data] [--out docs/formats.md]

The one rule: files go the way that `citewell add` takes them: `unpack` and `parse`, in worker
processes, 60 s a file.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import json
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath

import anyio

from citewell.config import IngestSettings
from citewell.errors import UnreadableFile
from citewell.ingest import PARSERS, parse
from citewell.ingest.archive.unpack import CONTAINERS, unpack
from citewell.ingest.chunk.chunkers import chunk_document
from citewell.ingest.chunk.section_summaries import add_summaries
from citewell.types import Document

REPOSITORY = Path(__file__).resolve().parent.parent
SETS = (
    ("ingest/docling_index.jsonl", "ingest/docling"),
    ("robustness/pdf_index.jsonl", "robustness/pdf"),
)
SECONDS = 60.0
LACKING = 0.995  # a share of words below this is told
_NOISE = re.compile(
    r"<!--.*?-->|!?\[([^\]]*)\]\([^)]*\)|</?\w[^>]*>|https?://\S+|&\w+;|\\", re.DOTALL
)
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one file. `found`: the share of the reference's words that the text has, None
    without a reference.
    """

    file: str
    size: int
    seconds: float
    reason: str = ""
    warnings: tuple[str, ...] = ()
    pages: int = 0
    sections: int = 0
    chunks: int = 0
    characters: int = 0
    traits: frozenset[str] = frozenset()
    found: float | None = None


def files(data: Path) -> Iterator[tuple[Path, str, Path | None]]:
    """(path, name as the index has it, reference) of every file that an index lists."""
    for index, folder in SETS:
        for row in (data / index).read_text("utf-8").splitlines():
            record = json.loads(row)
            reference = record.get("reference")
            yield (
                data / folder / record["file"],
                record["file"],
                data / folder / reference if reference else None,
            )


async def outcome(
    path: Path, name: str, reference: Path | None, settings: IngestSettings
) -> list[Outcome]:
    """The file's own, then those of the files that it holds."""
    data = await anyio.Path(path).read_bytes()
    suffix = PurePath(name).suffix.lower()
    results = []
    if suffix not in CONTAINERS or suffix in PARSERS:
        results.append(await _parsed(data, name, reference, settings))
    if suffix in CONTAINERS:
        started = time.perf_counter()
        try:
            members, warnings, _ = await unpack(data, name, settings)
        except UnreadableFile as error:
            return [
                *results,
                Outcome(name, len(data), time.perf_counter() - started, reason=_said(error)),
            ]
        results += [
            await _parsed(member.data, f"{name}!/{member.name}", None, settings)
            for member in members
        ]
        if warnings and not members and not results:
            results.append(
                Outcome(name, len(data), time.perf_counter() - started, reason="; ".join(warnings))
            )
    return results


async def _parsed(
    data: bytes, name: str, reference: Path | None, settings: IngestSettings
) -> Outcome:
    started = time.perf_counter()
    try:
        document = await parse(data, PurePath(name).name, settings)
    except UnreadableFile as error:
        return Outcome(name, len(data), time.perf_counter() - started, reason=_said(error))
    seconds = time.perf_counter() - started
    cut = add_summaries(
        document,
        chunk_document(document, tokens=settings.chunk_tokens, overlap=settings.overlap_tokens),
    )
    return Outcome(
        name,
        len(data),
        seconds,
        warnings=document.warnings,
        pages=len(document.pages),
        sections=len(document.sections),
        chunks=sum(each.kind != "summary" for each in cut),
        characters=len(document.text),
        traits=frozenset(traits(document)),
        found=None
        if reference is None
        else share(await anyio.Path(reference).read_text("utf-8"), document.text),
    )


def traits(document: Document) -> Iterator[str]:
    """What the parser knows beside the text."""
    yield from ["pages"] if document.pages else []
    yield from ["sections"] if any(section.heading_path for section in document.sections) else []
    yield from ["anchors"] if any(section.anchor for section in document.sections) else []
    yield from ["tables"] if re.search(r"\S \| \S", document.text) else []
    yield from ["boxes"] if document.boxes else []
    yield from ["date"] if document.dated is not None else []


def share(reference: str, text: str) -> float:
    """Of the reference's words, each as often as it stands there, the share that `text` has. 1.0
    for an empty reference.
    """
    wanted = Counter(_words(_NOISE.sub(lambda match: f" {match[1] or ''} ", reference)))
    there = Counter(_words(text))
    return (
        sum(min(count, there[word]) for word, count in wanted.items()) / (wanted.total() or 1)
        if wanted
        else 1.0
    )


def _words(text: str) -> Iterable[str]:
    return _WORD.findall(text.casefold())


def _said(error: UnreadableFile) -> str:
    return f"{error.message} ({error.hint})" if error.hint else error.message


# ---------------------------------------------------------------- the page


def page(outcomes: list[Outcome]) -> str:
    """docs/formats.md."""
    taken = [each for each in outcomes if not each.reason]
    scored = [each for each in taken if each.found is not None]
    mean = sum(each.found or 0.0 for each in scored) / (len(scored) or 1)
    slowest = max(outcomes, key=lambda each: each.seconds)
    refused = len(outcomes) - len(taken)
    return f"""<!-- made by evals/formats.py; do not edit -->
# Formats

```sh
citewell add handbook.pdf costs.xlsx notes.md -c work
```

[ingest.md](ingest.md) says how each is read.

{lines(_formats(outcomes))}

## Files of other projects

    .venv/bin/python evals/formats.py    # writes this page, where the files are beside the checkout

{len(outcomes)} files of two other projects' tests: {len(taken)} read, {refused} refused, each with
its reason. None hung (the slowest took {slowest.seconds:.1f} s of the {SECONDS:.0f} allowed), none
brought a process down. Of the words of the other project's own rendering our text has {mean:.3f} on
average over {len(scored)} files; renderings also keep what we leave out, and spell formulas
otherwise.

{lines(_remarks(outcomes))}
"""


def lines(made: Iterable[str]) -> str:
    return "\n".join(made)


def _formats(outcomes: list[Outcome]) -> Iterator[str]:
    yield "| suffix | read by | what it is | seen below |"
    yield "|---|---|---|---|"
    for module, suffixes in modules().items():
        own = [each for each in outcomes if PurePath(each.file).suffix.lower() in suffixes]
        seen = sorted(frozenset().union(*(each.traits for each in own)))
        count = f"({len(own)} file{'s' if len(own) > 1 else ''})" if own else ""
        said = f" {', '.join(seen)} {count}".replace("  ", " ").rstrip()
        names = " ".join(f"`{suffix}`" for suffix in suffixes)
        file = f"{module.replace('.', '/')}.py"
        yield f"| {names} | `{file}` | {summary(f'citewell.ingest.{module}')} |{said} |"
    inside = " ".join(f"`{suffix}`" for suffix in CONTAINERS)
    yield f"| {inside} | `archive/unpack.py` | {summary('citewell.ingest.archive.unpack')} | |"


def modules() -> dict[str, list[str]]:
    """The suffixes of PARSERS by the module whose `parse` reads them."""
    found: dict[str, list[str]] = {}
    for suffix, parser in PARSERS.items():
        found.setdefault(str(getattr(parser, "module", "")) or _module_of(parser), []).append(
            suffix
        )
    return found


def _module_of(parser: object) -> str:
    """`_parser` closes over the module's name."""
    cells = getattr(parser, "__closure__", None) or ()
    return next(str(cell.cell_contents) for cell in cells if isinstance(cell.cell_contents, str))


def summary(module: str) -> str:
    """The first sentence of its docstring."""
    text = " ".join((importlib.import_module(module).__doc__ or "").split())
    return re.split(r"(?<=[.]) ", text)[0].rstrip(".").replace("|", "\\|")


def _remarks(outcomes: list[Outcome]) -> Iterator[str]:
    """Refused files by reason, read ones by warning, and those that lack words of their
    reference.
    """
    groups: dict[str, list[str]] = {}
    for each in outcomes:
        name = PurePath(each.file).name
        if each.reason:
            groups.setdefault(f"refused: {each.reason.removeprefix(name).strip()}", []).append(name)
        for warning in each.warnings:
            groups.setdefault(f"read, with the warning: {warning}", []).append(name)
        if not each.reason and not each.chunks:
            groups.setdefault("read, but empty", []).append(name)
        if each.found is not None and each.found < LACKING:
            groups.setdefault("read, without some words of the rendering (share found)", []).append(
                f"{name} ({each.found:.2f})"
            )
    yield "| what became of it | files |"
    yield "|---|---|"
    for said, names in sorted(groups.items(), reverse=True):
        yield f"| {_cell(said)} | {_cell(', '.join(names))} |"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")[:1000]


async def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=REPOSITORY.parent / "shared" / "data")
    parser.add_argument("--out", type=Path, default=REPOSITORY / "docs" / "formats.md")
    args = parser.parse_args()
    if not args.data.is_dir():
        raise SystemExit(
            f"{args.data}: no such folder; --data names the one with ingest/ and robustness/"
        )
    settings = IngestSettings(parse_seconds=SECONDS)
    outcomes = []
    for path, name, reference in files(args.data):
        for each in await outcome(path, name, reference, settings):
            outcomes.append(each)
            print(
                f"{each.seconds:6.1f} s  {each.file}: {each.reason or f'{each.chunks} chunks'}",
                flush=True,
            )
    args.out.write_text(page(outcomes), "utf-8")
    print(
        f"{args.out}: {len(outcomes)} files, {sum(bool(each.reason) for each in outcomes)} refused"
    )


if __name__ == "__main__":
    asyncio.run(main())
