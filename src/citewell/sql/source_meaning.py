"""How near a question is in meaning to tables: to texts that tell their names, comments and stored
values, as it is held against passages of documents. The nearest text counts, for a question is
about few columns of a source.
"""

from __future__ import annotations

import numpy as np

from citewell.models.base import Embedder, Vector
from citewell.sql.engines.engine import Column, Schema, Table
from citewell.sql.name_likeness import embed_texts, to_phrase

VALUES, LONGEST = 6, 40  # stored values told of a column, and the characters of one


async def measure_likeness(question: Vector, schema: Schema, embedder: Embedder) -> float:
    """Cosine of a question's vector and the nearest text of the tables; -1 where there are none."""
    texts = list(dict.fromkeys(list_texts(schema)))
    if not texts:
        return -1.0
    vectors = await embed_texts(texts, embedder)
    return float(max(np.stack([vectors[text] for text in texts]) @ question))


def list_texts(schema: Schema) -> list[str]:
    """One a table, with the names of its columns, and one a column."""
    found = []
    for table in schema.tables:
        columns = ", ".join(to_phrase(column.name) for column in table.columns)
        found.append(f"{_join_names(table)}: {columns}")
        found += [
            f"{to_phrase(table.name)} {_join_names(column)} {_list_values(column)}".strip()
            for column in table.columns
        ]
    return found


def _join_names(named: Table | Column) -> str:
    return " ".join([to_phrase(named.name), named.comment, *named.synonyms]).strip()


def _list_values(column: Column) -> str:
    if column.kind != "text":
        return ""
    return ", ".join(value[:LONGEST] for value in column.values[:VALUES])
