"""Table sources that were added: where they are, what their tables are, what words mean in them.

The one rule: a location is handed out only by `location`, to whoever connects; all that is shown
has its password left out. Where it is an address, it is kept sealed (store/users/sealing.py).
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from pydantic import Field
from sqlalchemy import Connection, Row, text

from citewell.errors import Conflict, InvalidInput, NotFound
from citewell.store.db import Database
from citewell.store.users.audit import record_event
from citewell.store.users.sealing import is_secret, open_sealed, seal_secret
from citewell.types import Shown

LONGEST_NAME = 80
MOST_TERMS = 1_000
LONGEST_TERM = 200
LONGEST_MEANING = 1_000

SourceDialect = Literal["duckdb", "sqlite", "postgres", "mysql"]


class GlossaryTerm(Shown):
    """What a word means in these tables."""

    term: str
    meaning: str


class Source(Shown):
    """`location`: the path or the URL, without its password. `path`: the copy that is asked,
    relative to the home; empty where a database is asked itself. `stat`: of the file when it was
    read (`size`, `mtime_ns`, `sha256`). `tables`: the schema, JSON. `problem`: why the file or the
    server could not be reached when it was last tried; `warnings`: what reading it left out.
    `owner`: the one user who may see it; empty: everybody.
    """

    name: str
    dialect: SourceDialect
    location: str
    path: str = ""
    stat: dict[str, Any] = Field(default={})
    tables: list[dict[str, Any]] = Field(default=[])
    fingerprint: str = ""
    glossary: list[GlossaryTerm] = Field(default=[])
    warnings: list[str] = Field(default=[])
    problem: str = ""
    created_at: float = 0.0
    refreshed_at: float = 0.0
    owner: str = ""

    @property
    def is_file(self) -> bool:
        """A file whose copy is asked, or a database that is asked itself."""
        return bool(self.path)


Also = Callable[[Connection, Source | None, Source], object]  # the source before, and as it is kept


class Sources:
    """Each verb is one transaction. Raises NotFound for a name that is none, and StorageError.
    `viewer`: what is another user's is not found; None: everything is.
    """

    def __init__(
        self, db: Database, clock: Callable[[], float] = time.time, *, viewer: str | None = None
    ) -> None:
        self._db = db
        self._clock = clock
        self._viewer = viewer

    def restrict_to_viewer(self, viewer: str) -> Sources:
        """The same, with this user's eyes."""
        return Sources(self._db, self._clock, viewer=viewer)

    async def put(
        self, source: Source, location: str, *, unless: str | None = None, also: Also | None = None
    ) -> Source:
        """Keep a source in the place of one of its name, whose glossary and owner stay. `location`
        as it was given, with its password.

        `unless`: the location that a source of this name may have so far; Conflict where it has
        another. Its times are set. `also`: what else belongs to the transaction; it is given what
        the source was before, None where there was none.
        """
        now = self._clock()
        row = {
            "name": source.name,
            "dialect": source.dialect,
            "location": seal_secret(self._db.path.parent, location, source.name)
            if is_secret(location)
            else location,
            "path": source.path,
            "stat": json.dumps(
                {"shown": source.location, "warnings": source.warnings, **source.stat},
                ensure_ascii=False,
            ),
            "tables": json.dumps(source.tables, ensure_ascii=False),
            "fingerprint": source.fingerprint,
            "problem": source.problem,
            "owner": source.owner,
            "now": now,
        }

        def put(connection: Connection) -> Source:
            before = connection.execute(_GET, {"name": source.name, "viewer": None}).one_or_none()
            if (
                before is not None
                and self._viewer is not None
                and before.owner not in {"", self._viewer}
            ):
                raise _make_name_conflict(source.name)
            if (
                before is not None
                and unless is not None
                and self._unseal_location(before) != unless
            ):
                raise _make_name_conflict(source.name, _parse_source(before).location)
            connection.execute(_PUT, row)
            kept = _parse_source(
                connection.execute(_GET, {"name": source.name, "viewer": None}).one()
            )
            if before is None:
                record_event(
                    connection,
                    "source.add",
                    "source",
                    source.name,
                    person=kept.owner,
                    dialect=kept.dialect,
                )
            if also is not None:
                also(connection, None if before is None else _parse_source(before), kept)
            return kept

        return await self._db.write(put)

    async def get(self, name: str) -> Source:
        return await self._db.read(
            lambda connection: _parse_source(_get_row(connection, name, self._viewer))
        )

    async def find(self, name: str) -> Source | None:
        """Raises Conflict where the name is taken by what this user may not see."""

        def find(connection: Connection) -> Source | None:
            row = connection.execute(_GET, {"name": name, "viewer": None}).one_or_none()
            if row is not None and self._viewer is not None and row.owner not in {"", self._viewer}:
                raise _make_name_conflict(name)
            return None if row is None else _parse_source(row)

        return await self._db.read(find)

    async def location(self, name: str) -> str:
        """With the password, where it has one: for connecting, and for nothing else."""
        return self._unseal_location(
            await self._db.read(lambda connection: _get_row(connection, name, self._viewer))
        )

    async def list(self) -> list[Source]:
        """In the order of their names."""
        return await self._db.read(
            lambda connection: [
                _parse_source(row) for row in connection.execute(_ALL, {"viewer": self._viewer})
            ]
        )

    async def remove(
        self, name: str, also: Callable[[Connection, Source], object] | None = None
    ) -> Source:
        """Returns what it was. `also`: what else belongs to the transaction."""

        def remove(connection: Connection) -> Source:
            source = _parse_source(_get_row(connection, name, self._viewer))
            connection.execute(_REMOVE, {"name": name})
            record_event(
                connection,
                "source.remove",
                "source",
                name,
                person=source.owner,
                dialect=source.dialect,
            )
            if also is not None:
                also(connection, source)
            return source

        removed = await self._db.write(remove)
        await self._db.forget()  # a password may have stood in its location
        return removed

    async def set_glossary(self, name: str, terms: Sequence[GlossaryTerm]) -> Source:
        """Replace the glossary. Raises InvalidInput for what is too long or too much."""
        checked = check_glossary(terms)
        kept = json.dumps([term.model_dump() for term in checked], ensure_ascii=False)

        def put(connection: Connection) -> Source:
            _get_row(connection, name, self._viewer)
            connection.execute(_GLOSSARY, {"name": name, "glossary": kept})
            return _parse_source(_get_row(connection, name))

        return await self._db.write(put)

    async def change_glossary(
        self, name: str, put: Mapping[str, str], remove: Sequence[str] = ()
    ) -> Source:
        """Add terms or reword them, and take others out, in one transaction. Raises NotFound for a
        term that is none.
        """

        def change(connection: Connection) -> Source:
            terms = {
                term.term: term.meaning
                for term in _parse_source(_get_row(connection, name, self._viewer)).glossary
            }
            for term in remove:
                if term not in terms:
                    raise NotFound(
                        f"{name}: its glossary has no term {term!r}",
                        hint=_suggest_names(term, terms),
                    )
                del terms[term]
            terms.update(put)
            checked = check_glossary(
                [GlossaryTerm(term=term, meaning=meaning) for term, meaning in terms.items()]
            )
            kept = json.dumps([term.model_dump() for term in checked], ensure_ascii=False)
            connection.execute(_GLOSSARY, {"name": name, "glossary": kept})
            return _parse_source(_get_row(connection, name))

        return await self._db.write(change)

    async def set_problem(self, name: str, problem: str) -> None:
        """Say why it cannot be reached, or with nothing that it can again. One that is gone
        meanwhile stays gone.
        """
        await self._db.write(
            lambda connection: (
                connection.execute(_PROBLEM, {"name": name, "problem": problem}) and None
            )
        )

    def _unseal_location(self, row: Row[Any]) -> str:
        return open_sealed(self._db.path.parent, str(row.location), str(row.name))

    async def paths(self) -> set[str]:
        """The copies that are in use, whosever they are."""
        everything = {"viewer": None}
        return await self._db.read(
            lambda connection: {
                row.path for row in connection.execute(_ALL, everything) if row.path
            }
        )


def check_source_name(name: str) -> str:
    """Names stand in addresses and on command lines: printable, no slash, no space at the ends.
    Raises InvalidInput.
    """
    wrong = (
        not name
        or len(name) > LONGEST_NAME
        or name != name.strip()
        or not name.isprintable()
        or "/" in name
        or "\\" in name
    )
    if wrong or name in {".", ".."}:
        shown = name if len(name) <= LONGEST_NAME else name[:LONGEST_NAME] + "…"
        hint = f"1 to {LONGEST_NAME} printable characters, no slash, no space at the ends"
        raise InvalidInput(f"source name {shown!r}: not allowed", hint=hint)
    return name


def check_glossary(terms: Sequence[GlossaryTerm]) -> list[GlossaryTerm]:
    """Each term once, the last meaning counts; neither empty nor too long. Raises InvalidInput."""
    kept: dict[str, str] = {}
    for each in terms:
        term, meaning = " ".join(each.term.split()), " ".join(each.meaning.split())
        if not term or not meaning:
            raise InvalidInput(
                f"glossary: {each.term!r} = {each.meaning!r} says nothing",
                hint="write TERM=MEANING",
            )
        if len(term) > LONGEST_TERM or len(meaning) > LONGEST_MEANING:
            hint = f"{LONGEST_TERM} characters for a term, {LONGEST_MEANING:,} for its meaning"
            raise InvalidInput(f"glossary: {term[:40]!r} is too long", hint=hint)
        kept[term] = meaning
    if len(kept) > MOST_TERMS:
        raise InvalidInput(f"glossary: {len(kept):,} terms; {MOST_TERMS:,} are kept")
    return [GlossaryTerm(term=term, meaning=meaning) for term, meaning in kept.items()]


def _make_name_conflict(name: str, location: str = "") -> Conflict:
    """`location` is not said to who may not see the source."""
    hint = f"choose another with --name, or `citewell data remove` that one first; it is {location}"
    if not location:
        return Conflict(f"the name {name!r} is taken", hint="choose another name")
    return Conflict(f"a source {name!r} is there already, from another place", hint=hint)


def _suggest_names(name: str, known: Sequence[str] | Mapping[str, Any]) -> str:
    import difflib

    close = difflib.get_close_matches(name, list(known), n=3, cutoff=0.5)
    return f"did you mean {' or '.join(close)}?" if close else ""


def _get_row(connection: Connection, name: str, viewer: str | None = None) -> Row[Any]:
    row = connection.execute(_GET, {"name": name, "viewer": viewer}).one_or_none()
    if row is None:
        known = [each.name for each in connection.execute(_ALL, {"viewer": viewer})]
        hint = (
            _suggest_names(name, known)
            or "`citewell data list` shows them; `citewell data add FILE|URL` adds one"
        )
        shown = name if len(name) <= LONGEST_NAME else name[:LONGEST_NAME] + "…"
        raise NotFound(f"no source {shown!r}", hint=hint)
    return row


def _parse_source(row: Row[Any]) -> Source:
    stat = json.loads(row.stat)
    return Source(
        name=row.name,
        dialect=row.dialect,
        location=stat.pop("shown", ""),
        warnings=stat.pop("warnings", []),
        path=row.path,
        stat=stat,
        tables=json.loads(row.tables),
        fingerprint=row.fingerprint,
        glossary=[GlossaryTerm(**each) for each in json.loads(row.glossary)],
        problem=row.problem,
        created_at=row.created_at,
        refreshed_at=row.refreshed_at,
        owner=row.owner,
    )


_SEEN = "(:viewer IS NULL OR owner IN ('', :viewer))"
_GET = text(f"SELECT * FROM sources WHERE name = :name AND {_SEEN}")  # noqa: S608 - words of ours only
_ALL = text(f"SELECT * FROM sources WHERE {_SEEN} ORDER BY name")  # noqa: S608
_PUT = text(
    """INSERT INTO sources
        (name, dialect, location, path, stat, tables, fingerprint, glossary, problem, created_at,
        refreshed_at, owner)
    VALUES (:name, :dialect, :location, :path, :stat, :tables, :fingerprint, '[]', :problem, :now,
        :now, :owner)
    ON CONFLICT (name) DO UPDATE SET dialect = excluded.dialect, location = excluded.location,
        path = excluded.path, stat = excluded.stat, tables = excluded.tables,
        fingerprint = excluded.fingerprint, problem = excluded.problem,
        refreshed_at = excluded.refreshed_at"""
)
_REMOVE = text("DELETE FROM sources WHERE name = :name")
_GLOSSARY = text("UPDATE sources SET glossary = :glossary WHERE name = :name")
_PROBLEM = text("UPDATE sources SET problem = :problem WHERE name = :name")
