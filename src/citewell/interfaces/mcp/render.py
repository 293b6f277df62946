"""What the tools give back as text with citations, for models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from mcp_types import CallToolResult

from citewell.errors import InvalidInput
from citewell.interfaces.links import (
    build_citation_url,
    format_source_line,
    link_citations,
    truncate_text,
)
from citewell.interfaces.mcp.shown import (
    LONGEST_PASSAGE,
    LONGEST_QUOTE,
    MOST_ROWS,
    Added,
    Asked,
    Checked,
    CheckedShown,
    Collections,
    CollectionShown,
    DocumentPart,
    Found,
    Search,
    Source,
    Table,
    TablesShown,
    build_result,
)
from citewell.service.ask.search import Passage, SearchResult
from citewell.service.check.check_types import CheckResult
from citewell.service.library.add_report import FileReport
from citewell.store.job_rows import Job
from citewell.store.library.collection_rows import CollectionInfo
from citewell.store.library.documents import DocumentInfo
from citewell.store.source_rows import Source as TableSource
from citewell.types import Answer, Citation, Document

MOST_LISTED = 200  # collections; tables of a source


def render_answer(answer: Answer, base: str) -> CallToolResult:
    shown = Asked.of(
        answer,
        citations=[_to_source(citation, base) for citation in answer.citations],
        unproved=[each.text for each in answer.sentences if each.verdict != "supported"],
        table=_to_table(answer.data) if answer.data else None,
    )
    text = link_citations(answer, base).text
    if shown.table and shown.table.rows:
        text += "\n\n" + _format_rows(shown.table)
    notes = [
        f"status: {answer.status}",
        f"confidence: {answer.confidence:.2f}",
        f"agent: {answer.agent}",
    ]
    notes += [f"session_id: {answer.session_id}"] if answer.session_id else []
    notes += [
        f"trace_id: {answer.trace_id}",
        *(f"warning: {warning}" for warning in answer.warnings),
    ]
    return build_result(shown, text + "\n\n" + "\n".join(notes))


def render_search(search: SearchResult, base: str) -> CallToolResult:
    shown = Search(
        passages=[_to_found(passage, base) for passage in search.hits],
        confidence=search.confidence,
        warnings=search.warnings,
    )
    if not shown.passages:
        return build_result(
            shown,
            "\n".join(
                ["nothing was found", *(f"warning: {warning}" for warning in search.warnings)]
            ),
        )
    heads = [
        f"{format_source_line(_to_citation(hit), base)} ({hit.doc_id}, offset {hit.start})"
        for hit in search.hits
    ]
    lines = [f"{head}\n{each.text}" for head, each in zip(heads, shown.passages, strict=True)]
    return build_result(
        shown, "\n\n".join([*lines, *(f"warning: {warning}" for warning in search.warnings)])
    )


def render_check(found_: CheckResult, base: str) -> CallToolResult:
    shown = Checked(
        sentences=[CheckedShown.of(each) for each in found_.sentences],
        citations=[_to_source(citation, base) for citation in found_.citations],
        judge=found_.judge,
        warnings=found_.warnings,
    )
    lines = [
        f"{s.verdict} ({s.score:.2f}): "
        f"{s.text}{''.join(f'[{n}]' for n in s.citations)}{f' ({s.reason})' if s.reason else ''}"
        for s in shown.sentences
    ]
    sources = [
        f"{format_source_line(c, base)}: {truncate_text(c.quote, LONGEST_QUOTE)}"
        for c in found_.citations
    ]
    return build_result(
        shown,
        "\n".join([*lines, "", *sources, *(f"warning: {warning}" for warning in shown.warnings)]),
    )


def render_added(
    collection: str, job: Job | None, files: list[FileReport], links: Sequence[str] = ()
) -> CallToolResult:
    state: Literal["done", "running"] = "done" if job is None or job.state == "done" else "running"
    shown = Added(
        state=state,
        collection=collection,
        files=files,
        job_id=job.job_id if job else "",
        links=[*links],
    )
    lines = [
        f"{each.status}: {each.path} ({each.doc_id}, {each.chunks} passages)" for each in files
    ]
    lines += [f"not followed, for it leads out of its folder: {link}" for link in links]
    if state == "running":
        lines.append(f"still being read, as job {shown.job_id}; it can be searched in a moment")
    return build_result(shown, "\n".join(lines))


def _to_source(citation: Citation, base: str) -> Source:
    return Source.of(
        citation,
        url=build_citation_url(citation, base),
        quote=truncate_text(citation.quote, LONGEST_QUOTE),
        verified=citation.status == "verified",
    )


def _to_citation(passage: Passage) -> Citation:
    return Citation(
        n=passage.n,
        doc_id=passage.doc_id,
        title=passage.title,
        uri=passage.uri,
        page=passage.page,
        section=passage.section,
        quote="",
        start=passage.start,
        end=passage.end,
    )


def _to_found(passage: Passage, base: str) -> Found:
    return Found.of(
        passage,
        url=build_citation_url(_to_citation(passage), base),
        text=passage.text
        if len(passage.text) <= LONGEST_PASSAGE
        else passage.text[: LONGEST_PASSAGE - 1] + "…",
        score=round(passage.score, 4),
    )


def _to_table(data: dict[str, Any]) -> Table | None:
    if "sql" not in data:
        return None
    rows = list(data.get("rows") or [])
    return Table(
        source=str(data.get("source", "")),
        sql=str(data["sql"]),
        columns=list(data.get("columns") or []),
        rows=rows[:MOST_ROWS],
        more=len(rows) > MOST_ROWS or bool(data.get("truncated")),
    )


def _format_rows(table: Table) -> str:
    """A table in Markdown."""
    cells = [table.columns, ["---"] * len(table.columns), *table.rows]
    lines = [
        "| " + " | ".join(truncate_text(str(cell), 200).replace("|", "\\|") for cell in row) + " |"
        for row in cells
    ]
    return "\n".join([*lines, *(["(there are more rows)"] if table.more else [])])


def render_listing(
    default: str,
    found: Sequence[CollectionInfo],
    sources: Sequence[TableSource],
    sites: Sequence[str],
) -> CallToolResult:
    """Collections, tables and sites; what is beyond MOST_LISTED is counted."""
    listing = Collections(
        default=default,
        collections=[
            CollectionShown(name=info.name, documents=info.documents, passages=info.chunks)
            for info in found[:MOST_LISTED]
        ],
        sources=[
            TablesShown(
                name=each.name,
                kind=each.dialect,
                tables=[str(table["name"]) for table in each.tables[:MOST_LISTED]],
            )
            for each in sources[:MOST_LISTED]
        ],
        sites=list(sites[:MOST_LISTED]),
    )
    lines = [f"collection {each.name}: {each.documents} documents" for each in listing.collections]
    lines += [
        f"tables {each.name} ({each.kind}): {', '.join(each.tables)}" for each in listing.sources
    ]
    lines += [f"web site {name}" for name in listing.sites]
    left = max(len(found), len(sources)) - MOST_LISTED
    lines += [f"... and {left} more"] if left > 0 else []
    return build_result(
        listing, "\n".join(lines) or "nothing was added yet; add_document adds something"
    )


def render_document(
    info: DocumentInfo, document: Document, offset: int, limit: int, base: str
) -> CallToolResult:
    """A part of a document's text. Raises InvalidInput for an offset behind its end."""
    text = document.text[offset : offset + limit]
    end, total = offset + len(text), len(document.text)
    if offset and offset >= total:
        raise InvalidInput(
            f"offset {offset}: the document has {total} characters", hint="begin with offset 0"
        )
    cited = Citation(  # as a whole
        n=1, doc_id=info.doc_id, title=info.title, uri=info.uri, quote="", start=0, end=0
    )
    part = DocumentPart.of(
        info,
        url=build_citation_url(cited, base),
        offset=offset,
        end=end,
        total=total,
        next_offset=end if end < total else None,
        pages=[page.number for page in document.pages if page.start < end and page.end > offset],
        text=text,
    )
    more = (
        f"\n\n[characters {offset} to {end} of {total}; go on with offset={end}]"
        if end < total
        else ""
    )
    return build_result(part, f"# {info.title}\n\n{text}{more}")
