"""How alike two questions are, over the confirmed items and rules of one source or collection.

The one rule: likeness is on one scale whatever the two languages: that of two English questions.
The packaged embedder puts two Chinese questions nearer to each other than two English ones that
differ as much, and two of different languages further apart.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from sqlalchemy import Connection, RowMapping, text

from citewell.store.memory_rows import Stored

_PUNCTUATION = " \t\n?？!！.。…,，;；:：\"'“”‘’「」"


@dataclass(frozen=True, slots=True)
class Scale:
    """Of one embedder. `cross` and `chinese` are added to the cosine of questions of two languages,
    or both Chinese. `floor`: below it nothing is worth showing. `same`: so alike that one statement
    or one set of quotes answers both. `alone`: so alike that they are one question where only the
    words of the answer agree.
    """

    cross: float = 0.0
    chinese: float = 0.0
    floor: float = 0.5
    same: float = 0.6
    alone: float = 0.9


# Chosen by hand on what `evals/feedback.py` prints, over pairs of questions to one database of
# text2sql: with the same statement and with another the median cosine is 0.954 and 0.840 (English),
# 0.969 and 0.885 (Chinese), 0.867 and 0.796 (mixed). Each question confirmed in one language by
# chance, the five nearest hold one of the same statement in 58 of 100 cases without the shifts (13
# where all of these are in the other language), with them in 85 (82). `floor` keeps all pairs of
# one language and 96 of 100 mixed ones; `alone` keeps 46 to 61 of 100, and 1 to 3 of 100 with
# another statement.
SCALES = {
    "builtin:multilingual-e5-small": Scale(
        cross=0.08, chinese=-0.015, floor=0.86, same=0.87, alone=0.95
    )
}
# not measured: embedders that spread wider, where unrelated questions are far below a half
OTHER = Scale()


def get_scale(embedder: str) -> Scale:
    return SCALES.get(embedder, OTHER)


class Candidate(NamedTuple):
    """An item or a rule that a search looks at."""

    id: str
    question: str
    lang: str
    likeness: float


def normalize_question(question: str) -> str:
    """What two writings of one question share: case, width, space and marks at its ends do not
    count.
    """
    return " ".join(unicodedata.normalize("NFKC", question).casefold().split()).strip(_PUNCTUATION)


def rank_similar(rows: list[RowMapping], stored: Stored, lang: str) -> list[Candidate]:
    """Those of the same embedder, the most alike first. `rows` have id, question, lang, embedder
    and vec.
    """
    mine = [
        row
        for row in rows
        if row["embedder"] == stored.embedder and len(row["vec"]) == len(stored.vec)
    ]
    if not mine:
        return []
    matrix = np.frombuffer(b"".join(row["vec"] for row in mine), dtype="<f4").reshape(len(mine), -1)
    cosines = matrix @ np.frombuffer(stored.vec, dtype="<f4")
    scale = get_scale(stored.embedder)
    found = [
        Candidate(
            row["id"],
            row["question"],
            row["lang"],
            compute_likeness(float(cosine), lang, row["lang"], scale),
        )
        for row, cosine in zip(mine, cosines, strict=True)
    ]
    return sorted(found, key=lambda each: (-each.likeness, each.id))


def compute_likeness(cosine: float, one: str, other: str, scale: Scale) -> float:
    """0 to 1, on the scale of two English questions."""
    shift = scale.cross if one != other else scale.chinese if one == "zh" else 0.0
    return round(min(1.0, max(0.0, cosine + shift)), 4)


def load_item_vectors(
    connection: Connection, agents: str, source: str, collection: str, states: str
) -> list[RowMapping]:
    """Of the confirmed items with these states (with commas between): vectors and questions.
    `agents`: `data` or `other`.
    """
    return _load_vectors(connection, "confirmed", "item_id", agents, source, collection, states)


def load_rule_vectors(
    connection: Connection, agents: str, source: str, collection: str
) -> list[RowMapping]:
    """Of the rules in force."""
    return _load_vectors(connection, "rules", "rule_id", agents, source, collection, "active")


def list_stale_vectors(
    connection: Connection, embedder: str, size: int, limit: int
) -> list[tuple[str, str, str]]:
    """(table, id, question) of what is in force and has no vector of this embedder and length in
    bytes.
    """
    values = {"embedder": embedder, "size": size, "limit": limit}
    return [(row.kind, row.id, row.question) for row in connection.execute(_STALE, values)]


def set_vector(connection: Connection, table: str, id: str, question: str, stored: Stored) -> None:  # noqa: A002 - as in rows
    """Unless its question has changed since."""
    query = _SET_VECTOR["confirmed" if table == "confirmed" else "rules"]
    connection.execute(query, {"id": id, "question": question} | stored._asdict())


def has_candidates(connection: Connection, agents: str, source: str, collection: str) -> bool:
    """Whether there is anything that a question could be like."""
    values = {"data": agents == "data", "source": source, "collection": collection}
    return bool(connection.execute(_ANY, values).scalar_one())


def _load_vectors(
    connection: Connection,
    table: str,
    key: str,
    agents: str,
    source: str,
    collection: str,
    states: str,
) -> list[RowMapping]:
    of = (
        "agent = 'data' AND source = :source"
        if agents == "data"
        else "agent <> 'data' AND collection = :collection"
    )
    query = text(
        f"""SELECT {key} AS id, question, lang, embedder, vec FROM {table}
        WHERE {of} AND ',' || :states || ',' LIKE '%,' || state || ',%'"""  # noqa: S608 - names of ours only
    )
    values = {"states": states} | (
        {"source": source} if agents == "data" else {"collection": collection}
    )
    return list(connection.execute(query, values).mappings())


_HERE = """state = 'active' AND ((:data AND agent = 'data' AND source = :source)
    OR (NOT :data AND agent <> 'data' AND collection = :collection))"""
_ANY = text(
    f"SELECT EXISTS (SELECT 1 FROM confirmed WHERE {_HERE}) OR EXISTS (SELECT 1 FROM rules "  # noqa: S608
    f"WHERE {_HERE})"
)
_STALE = text(
    """SELECT * FROM (
        SELECT 'confirmed' AS kind, item_id AS id, question FROM confirmed
        WHERE state IN ('active', 'pending', 'quarantined')
            AND (embedder <> :embedder OR length(vec) <> :size)
        UNION ALL SELECT 'rules', rule_id, question FROM rules
        WHERE state IN ('active', 'waiting') AND (embedder <> :embedder OR length(vec) <> :size))
    LIMIT :limit"""
)
_SET_VECTOR = {
    "confirmed": text(
        "UPDATE confirmed SET embedder = :embedder, vec = :vec WHERE item_id = :id AND question "
        "= :question"
    ),
    "rules": text(
        "UPDATE rules SET embedder = :embedder, vec = :vec WHERE rule_id = :id AND question = "
        ":question"
    ),
}
