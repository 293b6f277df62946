"""A conversation as Markdown, its citations as footnotes numbered through. Words are escaped, so
that none of them is read as Markdown or HTML.
"""

from __future__ import annotations

from collections.abc import Sequence

from citewell.service.papers.export_session import escape_markdown
from citewell.service.sessions.export.blocks import Block, Span
from citewell.service.sessions.export.conversation import Conversation, Note, Turn


def write_markdown(talk: Conversation) -> bytes:
    notes = [f"[^{n}]: {_write_note(each)}" for n, each in enumerate(talk.notes, start=1)]
    parts = [f"# {escape_markdown(talk.title)}", *map(_write_turn, talk.turns), "\n".join(notes)]
    parts.append(f"---\n\n*{escape_markdown(talk.made)}*")
    return ("\n\n".join(filter(None, parts)) + "\n").encode("utf-8", "replace")


def _write_turn(turn: Turn) -> str:
    text = f"## {escape_markdown(turn.question)}"
    before = ""
    for block in turn.blocks:
        text += "\n" if before == block.kind == "item" else "\n\n"
        text += _write_block(block)
        before = block.kind
    if turn.table:
        text += "\n\n" + _write_table(
            [[escape_markdown(cell) for cell in row] for row in turn.table]
        )
    if turn.sql:
        text += f"\n\n{_fence(turn.sql, 'sql')}"
    return text + "".join(f"\n\n> ⚠ {escape_markdown(each)}" for each in turn.remarks)


def _write_block(block: Block) -> str:
    if block.kind == "code":
        return _fence(block.spans[0].text)
    if block.kind == "table":
        return _write_table([[_write_spans(cell) for cell in row] for row in block.rows])
    words = _write_spans(block.spans)
    if block.kind == "heading":
        return f"{'#' * min(block.level + 2, 6)} {words}"
    if block.kind == "item":
        mark = "-" if block.mark == "•" else block.mark
        return f"{'    ' * (block.level - 1)}{mark or ' '} {words}"
    return words


def _write_spans(spans: Sequence[Span]) -> str:
    return "".join(_write_span(span) for span in spans).strip()


def _write_span(span: Span) -> str:
    if span.note is not None:
        return f"[^{span.note + 1}]"
    words = escape_markdown(span.text)
    if not words:
        return " " if span.text else ""
    if span.code and "`" not in span.text:
        return f"`{span.text}`"
    look = "**" * span.bold + "*" * span.italic
    text = f"{look}{words}{look}"
    return (" " if span.text[0].isspace() else "") + text + (" " if span.text[-1].isspace() else "")


def _write_note(note: Note) -> str:
    address = f" <{note.address}>" if note.address else ""
    return f"{escape_markdown(note.place)}{address}: “{escape_markdown(note.quote)}”"


def _write_table(rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]])


def _fence(text: str, kind: str = "") -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{kind}\n{text}\n{fence}"
