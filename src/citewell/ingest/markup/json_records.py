"""JSON and JSON lines as text that reads: `key: value` a line, each record a block, numbers as they
are written. Nothing is told but what stands in the file; what is left out (encoded data) is named
in a warning.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from citewell.config import IngestSettings
from citewell.errors import UnreadableFile
from citewell.ingest.assemble import Assembly, clean_text, get_file_stem
from citewell.ingest.markup import json_text, notebook
from citewell.ingest.markup import plain_text as text
from citewell.ingest.markup.json_text import Number
from citewell.messages import Text
from citewell.text.charset import decode_text
from citewell.types import Document

MEDIA_TYPE: Final = "application/json"
LINES_TYPE: Final = "application/jsonl"
_MOST_VALUES: Final = 5_000_000  # about 100 bytes of memory each
_LINES: Final = (".jsonl", ".ndjson", ".jsonlines")
_NAMED: Final = 5  # broken lines that a warning names


def parse(data: bytes, name: str, settings: IngestSettings) -> Document:
    """A JSON file, Jupyter notebook, or JSON lines; what is none is plain text, with a warning."""
    raw, warnings = decode_text(data, name)
    if sum(data.count(sign) for sign in (b",", b"[", b"{")) > _MOST_VALUES:
        hint = Text("split the file")
        raise UnreadableFile(
            Text(
                "{name} holds more than {most_values:,} values", name=name, most_values=_MOST_VALUES
            ),
            hint=hint,
        )
    body = clean_text(raw)
    if not name.lower().endswith(_LINES):
        try:
            return _read_single_value(_load_json(body), name, warnings)
        except RecursionError:
            raise UnreadableFile(Text("{name} nests too deep", name=name)) from None
        except ValueError as error:
            reason = str(error)
            if "Extra data" not in reason:
                return _read_as_text(data, name, settings, reason)
    return _read_lines(body, data, name, settings, warnings)


def _load_json(body: str) -> Any:
    return json.loads(body, parse_int=Number, parse_float=Number, parse_constant=Number)


def _read_as_text(data: bytes, name: str, settings: IngestSettings, reason: str) -> Document:
    document = text.parse(data, name, settings)
    return replace(
        document,
        warnings=(
            Text("it is not valid JSON ({reason}) and is read as plain text", reason=reason),
            *document.warnings,
        ),
    )


def _read_single_value(value: Any, name: str, warnings: list[str]) -> Document:
    assembly = Assembly()
    if notebook.is_notebook(value):
        return notebook.build_document(value, name, warnings)
    writer = json_text.Writer(assembly)
    writer.write_value(value)
    return assembly.document(
        name,
        MEDIA_TYPE,
        title=json_text.find_title(value),
        warnings=[*warnings, *writer.warnings()],
    )


def _read_lines(
    body: str, data: bytes, name: str, settings: IngestSettings, warnings: list[str]
) -> Document:
    """One record a line; the numbers of broken lines are named, and all broken is no JSON."""
    broken: list[str] = []
    records = list(_iterate_records(body, broken))
    if not records:
        return _read_as_text(
            data,
            name,
            settings,
            Text("line {broken}", broken=broken[0]) if broken else Text("it has no lines"),
        )
    if broken:
        more = (
            Text(" and {broken} more", broken=len(broken) - _NAMED) if len(broken) > _NAMED else ""
        )
        warnings = [
            *warnings,
            Text(
                "left out, as they are not valid JSON: line {broken}{more}",
                broken="; line ".join(broken[:_NAMED]),
                more=more,
            ),
        ]
    assembly = Assembly()
    writer = json_text.Writer(assembly)
    writer.write_records(records, 1)
    return assembly.document(
        name, LINES_TYPE, title=get_file_stem(name), warnings=[*warnings, *writer.warnings()]
    )


def _iterate_records(body: str, broken: list[str]) -> Iterator[Any]:
    """The values of the lines that hold one; `broken` gets the number of each other, and why."""
    for number, line in enumerate(body.split("\n"), 1):
        if not line.strip():
            continue
        try:
            yield _load_json(line)
        except RecursionError:
            broken.append(f"{number} (nests too deep)")
        except ValueError as error:
            broken.append(f"{number} ({str(error).partition(':')[0]})")
