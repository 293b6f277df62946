"""How alike two questions are, over the confirmed items and rules of one source or collection.
Likeness is on one scale whatever the two languages: that of two English questions. The packaged
embedder puts two Chinese questions nearer to each other than two English ones that differ as much,
and two of different languages further apart.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from sqlalchemy import (
    Boolean,
    ColumnElement,
    Connection,
    RowMapping,
    Table,
    and_,
    bindparam,
    exists,
    func,
    literal,
    or_,
    select,
    union_all,
    update,
)

from citewell.store.memory_rows import Stored
from citewell.store.schema.knowledge import confirmed, rules

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
    """What two writings of a question share: case, width, space and end marks are ignored."""
    return " ".join(unicodedata.normalize("NFKC", question).casefold().split()).strip(_PUNCTUATION)


def rank_similar(rows: list[RowMapping], stored: Stored, lang: str) -> list[Candidate]:
    """Those of the same embedder, most alike first. `rows`: id, question, lang, embedder, vec."""
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
    connection: Connection, agents: str, source: str, collection: str, *states: str
) -> list[RowMapping]:
    """Of confirmed items in these states: vectors, questions. `agents`: `data` or `other`."""
    values = _name_place(agents, source, collection) | {"states": states}
    return list(connection.execute(_VECTORS["confirmed"], values).mappings())


def load_rule_vectors(
    connection: Connection, agents: str, source: str, collection: str
) -> list[RowMapping]:
    """Of the rules in force."""
    values = _name_place(agents, source, collection) | {"states": ["active"]}
    return list(connection.execute(_VECTORS["rules"], values).mappings())


def list_stale_vectors(
    connection: Connection, embedder: str, size: int, limit: int
) -> list[tuple[str, str, str]]:
    """(table, id, question) of what is in force without a vector of this embedder and length."""
    values = {"embedder": embedder, "size": size, "limit": limit}
    return [(row.kind, row.id, row.question) for row in connection.execute(_STALE, values)]


def set_vector(connection: Connection, table: str, id: str, question: str, stored: Stored) -> None:  # noqa: A002 - as in rows
    """Unless its question has changed since."""
    values = {"id": id, "asked": question} | stored._asdict()
    connection.execute(_SET_VECTOR[table], values)


def has_candidates(connection: Connection, agents: str, source: str, collection: str) -> bool:
    """Whether there is anything that a question could be like."""
    return bool(connection.execute(_ANY, _name_place(agents, source, collection)).scalar_one())


def _name_place(agents: str, source: str, collection: str) -> dict[str, object]:
    return {"data": agents == "data", "source": source, "collection": collection}


def _match_place(table: Table) -> ColumnElement[bool]:
    """Tables of one source for the data agent, one collection for all others."""
    data, own = bindparam("data", type_=Boolean), table.c.agent == "data"
    return or_(
        and_(data, own, table.c.source == bindparam("source")),
        and_(~data, ~own, table.c.collection == bindparam("collection")),
    )


# where each kind is kept, and in which states its vectors are kept up
_KINDS = {
    "confirmed": (confirmed, confirmed.c.item_id, ("active", "pending", "quarantined")),
    "rules": (rules, rules.c.rule_id, ("active", "waiting")),
}
_VECTORS = {
    kind: select(
        key.label("id"), table.c.question, table.c.lang, table.c.embedder, table.c.vec
    ).where(_match_place(table), table.c.state.in_(bindparam("states", expanding=True)))
    for kind, (table, key, _) in _KINDS.items()
}
_ANY = select(
    or_(
        *(
            exists().where(table.c.state == "active", _match_place(table))
            for table, _, _ in _KINDS.values()
        )
    )
)
_STALE = union_all(
    *(
        select(literal(kind).label("kind"), key.label("id"), table.c.question).where(
            table.c.state.in_(states),
            or_(
                table.c.embedder != bindparam("embedder"),
                func.length(table.c.vec) != bindparam("size"),
            ),
        )
        for kind, (table, key, states) in _KINDS.items()
    )
).limit(bindparam("limit"))
_SET_VECTOR = {
    kind: update(table).where(key == bindparam("id"), table.c.question == bindparam("asked"))
    for kind, (table, key, _) in _KINDS.items()
}
