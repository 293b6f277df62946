"""JSON and JSON lines into tables: a list of records is a table, an object of lists several. A text
stays text (`"007"`), and what nests deeper than a table can is kept as JSON, and said.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

from citewell.errors import UnreadableFile
from citewell.ingest.assemble import get_file_stem
from citewell.ingest.tables.table_store import Store
from citewell.messages import Text
from citewell.text.charset import decode_text

_LINES: Final = (".jsonl", ".ndjson", ".jsonlines")
_MOST_VALUES: Final = 20_000_000  # about 100 bytes of memory each
_DEPTH: Final = 3  # objects within a record that become columns `a.b.c`
_NAMED: Final = 5  # broken lines that a refusal names

Record = dict[str, Any]


def import_tables(store: Store, data: bytes, name: str) -> None:
    """Raises UnreadableFile where it is no JSON, or holds no records."""
    text, warnings = decode_text(data, name)
    store.done.warnings += warnings
    if sum(data.count(sign) for sign in (b",", b"[", b"{")) > _MOST_VALUES:
        raise UnreadableFile(
            Text(
                "{name} holds more than {most_values:,} values", name=name, most_values=_MOST_VALUES
            ),
            hint=Text("split the file"),
        )
    try:
        tables = _find_tables(_load_values(text, name), get_file_stem(name))
        for wanted, records in tables:
            _add_table(store, wanted, records)
    except RecursionError:
        raise UnreadableFile(Text("{name} nests too deep", name=name)) from None
    if not store.done.tables:
        raise UnreadableFile(
            Text("{name} holds no records", name=name),
            hint=Text("a table is a list of objects, or one object a line"),
        )


def _load_values(text: str, name: str) -> Any:
    if not name.lower().endswith(_LINES):
        try:
            return json.loads(text)
        except ValueError as error:
            if "Extra data" not in str(error):
                raise UnreadableFile(
                    Text("{name} is not valid JSON: {error}", name=name, error=error)
                ) from None
    records, broken = [], []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                records.append(json.loads(line))
            except ValueError as error:
                broken.append(f"{number} ({str(error).partition(':')[0]})")
    if broken:
        more = (
            Text(" and {broken} more", broken=len(broken) - _NAMED) if len(broken) > _NAMED else ""
        )
        lines = "; line ".join(broken[:_NAMED])
        hint = (
            Text("mend these lines or take them out: a file is read whole or not at all")
            if records
            else ""
        )
        raise UnreadableFile(
            Text("{name} is not valid JSON: line {lines}{more}", name=name, lines=lines, more=more),
            hint=hint,
        )
    if not records:
        raise UnreadableFile(Text("{name} is empty", name=name))
    return records


def _find_tables(value: Any, name: str) -> Iterator[tuple[str, list[Record]]]:
    """Which parts of a value are tables."""
    if isinstance(value, list):
        yield name, [item if isinstance(item, dict) else {"value": item} for item in value]
        return
    if not isinstance(value, dict):
        return
    lists = {
        key: part
        for key, part in value.items()
        if isinstance(part, list) and any(isinstance(x, dict) for x in part)
    }
    if lists:
        for key, part in lists.items():
            yield (
                (key if len(lists) > 1 else name),
                [item if isinstance(item, dict) else {"value": item} for item in part],
            )
    elif len(value) > 1 and all(isinstance(part, dict) for part in value.values()):
        yield name, [{"key": key, **part} for key, part in value.items()]
    elif value:
        yield name, [value]


def _add_table(store: Store, wanted: str, records: Sequence[Record]) -> None:
    rows = [flatten_record(record) for record in records]
    names = list(dict.fromkeys(key for row in rows for key in row))
    if not names:
        return
    texts, nested = set(), []
    for n, key in enumerate(names):
        kinds = {type(value) for row in rows if (value := row.get(key)) is not None}
        if str in kinds:
            texts.add(n)
        if kinds & {list, dict}:
            texts.add(n)
            nested.append(key)
    lines = ([str(n), *(_to_text(row.get(key)) for key in names)] for n, row in enumerate(rows, 1))
    added = store.add_text(wanted, names, lines, texts=frozenset(texts))
    if nested:
        store.warn(
            added.name,
            Text("what nests is kept as JSON text: {nested}", nested=", ".join(nested[:10])),
        )


def flatten_record(record: Record, depth: int = _DEPTH) -> Record:
    """Objects within a record as columns of their own: `{"a": {"b": 1}}` is `{"a.b": 1}`."""
    found: Record = {}
    for key, value in record.items():
        if isinstance(value, dict) and value and depth:
            found.update(
                {f"{key}.{inner}": each for inner, each in flatten_record(value, depth - 1).items()}
            )
        else:
            found[key] = value
    return found


def _to_text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else None  # NaN is no JSON, and no number
    return json.dumps(value, ensure_ascii=False)
