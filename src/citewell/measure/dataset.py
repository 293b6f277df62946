"""Questions with their gold, and the corpora they are asked on: JSON lines in UTF-8
(docs/evaluation.md has the fields). Nothing is passed over in silence. A broken line is named and
the rest goes on; an unknown field is named with the nearest known one.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from citewell.errors import InvalidInput
from citewell.text.sentences import detect_language
from citewell.types import Message

EXAMPLES = 5  # broken lines told one by one; the others are counted


def _to_list(value: Any) -> Any:
    return (
        [value] if isinstance(value, str | int | float) and not isinstance(value, bool) else value
    )


def _to_text(value: Any) -> Any:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _check_filled(value: str) -> str:
    if not value.strip():
        raise ValueError("is empty")
    return value.strip()


Word = Annotated[str, BeforeValidator(_to_text)]
Filled = Annotated[str, BeforeValidator(_to_text), AfterValidator(_check_filled)]
Asked = Annotated[str, AfterValidator(_check_filled)]
Grade = Annotated[float, Field(allow_inf_nan=False)]
Words = Annotated[list[Word], BeforeValidator(_to_list)]


class Line(BaseModel):
    """Base of what a line holds. Unknown fields are told by the reader, not refused."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class Question(Line):
    """One question. `answers`: any one counts. `answer_parts`: every part has to be there, each in
    any of its wordings.

    `gold`: grade of relevance by document, 0 not relevant; it stands in for `gold_doc_ids`, which
    are all of grade 1. `gold_pages`: 1-based pages of the gold documents. `gold_sql` and `db` are
    for data questions, which are not asked yet.
    """

    id: Filled
    question: Asked
    lang: str = ""
    answers: Words = []
    answer_parts: list[Words] = []
    answerable: bool = True
    gold_doc_ids: Words = []
    gold_pages: list[int] = []
    gold: dict[str, Grade] = {}
    history: list[Message] = []
    gold_sql: str = ""
    db: str = ""

    @model_validator(mode="before")
    @classmethod
    def _accept_aliases(cls, values: Any) -> Any:
        """`turns` for `history`, `text` for `content`; without a question the last turn asks it."""
        if not isinstance(values, dict):
            return values
        values = dict(values)
        turns = values.pop("turns", None) or values.get("history") or []
        if isinstance(turns, list):
            turns = [_normalize_turn(turn) for turn in turns]
            if (
                turns
                and "question" not in values
                and isinstance(turns[-1], dict)
                and turns[-1].get("role") == "user"
            ):
                values["question"] = turns.pop()["content"]
        values["history"] = turns
        if not values.get("lang"):
            values["lang"] = detect_language(str(values.get("question", "")))
        return {name: value for name, value in values.items() if value is not None}

    @property
    def grades(self) -> dict[str, float]:
        """Relevant documents with their grades."""
        graded = self.gold or dict.fromkeys(self.gold_doc_ids, 1.0)
        return {doc: grade for doc, grade in graded.items() if grade > 0}


def _normalize_turn(turn: Any) -> Any:
    if isinstance(turn, dict):
        return {"role": turn.get("role"), "content": turn.get("content", turn.get("text"))}
    return turn


class CorpusDocument(Line):
    """A document, or a `page` of it (lines of a `doc_id`): `text`, or a `file` beside."""

    doc_id: Filled
    title: str = ""
    text: str = ""
    file: str = ""
    lang: str = ""
    url: str = ""
    page: int | None = Field(None, ge=1)

    @model_validator(mode="after")
    def _check_content(self) -> CorpusDocument:
        if not self.text.strip() and not self.file:
            raise ValueError("has neither text nor file")
        return self


class Trouble(BaseModel):
    """What is wrong with a line. `broken`: it is left out."""

    model_config = ConfigDict(frozen=True)

    file: str
    line: int
    message: str
    kind: Literal["broken", "unknown field", "repeated id"]

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}: {self.message}"


T = TypeVar("T", bound=Line)


@dataclass(frozen=True, slots=True)
class Read(Generic[T]):
    """The usable lines of a file, and what is wrong with the others."""

    records: list[T]
    troubles: list[Trouble]

    @property
    def broken(self) -> int:
        return sum(trouble.kind == "broken" for trouble in self.troubles)


def read_questions(path: Path) -> Read[Question]:
    """Raises InvalidInput where the file cannot be read or has no usable line."""
    found = _read_records(path, Question, {"turns"})
    taken = {question.id for _, question in found.records}
    seen: set[str] = set()
    records = []
    for line, question in found.records:
        if question.id in seen:
            renamed = next(name for n in count(2) if (name := f"{question.id}#{n}") not in taken)
            taken.add(renamed)
            message = f"id {question.id!r} stands there already; this one is called {renamed!r}"
            found.troubles.append(
                Trouble(file=path.name, line=line, message=message, kind="repeated id")
            )
            question = question.model_copy(update={"id": renamed})  # noqa: PLW2901
        seen.add(question.id)
        records.append(question)
    return Read(records, found.troubles)


def read_corpus(path: Path) -> Read[CorpusDocument]:
    """Raises InvalidInput where the file cannot be read or has no usable line."""
    found = _read_records(path, CorpusDocument, set())
    return Read([document for _, document in found.records], found.troubles)


@dataclass(slots=True)
class _Numbered(Generic[T]):
    records: list[tuple[int, T]]
    troubles: list[Trouble]


def _read_records(path: Path, kind: type[T], others: set[str]) -> _Numbered[T]:
    """`others`: fields known beside those of `kind`."""
    known = sorted({*kind.model_fields, *others})
    found: _Numbered[T] = _Numbered([], [])
    strange: dict[str, list[int]] = {}
    for number, raw in _read_lines(path):
        try:
            values = json.loads(raw.decode("utf-8-sig" if number == 1 else "utf-8"))
            if not isinstance(values, dict):
                raise ValueError("is no JSON object; each line holds one")  # noqa: TRY301, TRY004  # told like the others
            values.setdefault("id", str(number))
            # what cannot be written could not be kept or shown
            json.dumps(values, ensure_ascii=False).encode("utf-8")
            record = kind.model_validate(values)
        except (ValueError, RecursionError) as error:
            found.troubles.append(
                Trouble(file=path.name, line=number, message=_describe_error(error), kind="broken")
            )
            continue
        found.records.append((number, record))
        for name in values:
            if name not in known and name != "id":
                strange.setdefault(name, []).append(number)
    if not found.records:
        first = f"{found.troubles[0]}" if found.troubles else "the file is empty"
        raise InvalidInput(
            f"{path}: no usable line; {first}",
            hint=f"one JSON object a line, with {', '.join(known)}",
        )
    found.troubles += [
        _report_unknown_field(path, name, lines, known) for name, lines in strange.items()
    ]
    return found


def _read_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Lines that are not blank, with their 1-based numbers."""
    try:
        with path.open("rb") as file:
            for number, raw in enumerate(file, 1):
                if raw.strip():
                    yield number, raw
    except OSError as error:
        raise InvalidInput(f"{path}: {error.strerror}", hint="name a file of JSON lines") from None


def _describe_error(error: ValueError | RecursionError) -> str:
    """One clause on what is wrong with a line."""
    if isinstance(error, RecursionError):
        return "nests too deep"
    if isinstance(error, UnicodeEncodeError):
        return "holds half a character (a lone surrogate)"
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        message = (
            "is missing"
            if first["type"] == "missing"
            else first["msg"].removeprefix("Value error, ")
        )
        return f"{where} {message}".strip()
    if isinstance(error, UnicodeDecodeError):
        return "is not UTF-8"
    if isinstance(error, json.JSONDecodeError):
        return f"is no JSON: {error.msg} at character {error.pos + 1}"
    return str(error)


def _report_unknown_field(path: Path, name: str, lines: list[int], known: Sequence[str]) -> Trouble:
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.7)
    more = f" (and {len(lines) - 1} more lines)" if len(lines) > 1 else ""
    meant = f"; did you mean {near[0]!r}?" if near else ", not used"
    return Trouble(
        file=path.name,
        line=lines[0],
        message=f"unknown field {name!r}{more}{meant}",
        kind="unknown field",
    )


def format_troubles(troubles: Sequence[Trouble]) -> list[str]:
    """A line for each trouble, the first few broken lines one by one and the rest counted."""
    broken = [trouble for trouble in troubles if trouble.kind == "broken"]
    shown = [
        f"{trouble}"
        for trouble in (*broken[:EXAMPLES], *(t for t in troubles if t.kind != "broken"))
    ]
    if len(broken) > EXAMPLES:
        shown.insert(EXAMPLES, f"{broken[0].file}: {len(broken) - EXAMPLES} more broken lines")
    return shown
