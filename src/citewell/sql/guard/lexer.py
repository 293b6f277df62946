"""A statement's text taken apart by the engine's own rules of quoting, and put together again
without its comments. What is run holds no comment and nothing that two readers could end at
different places, so that the parser, which is not the engine, sees the same strings, names and
words as the engine. Where its tokens end elsewhere, it is refused.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from citewell.errors import StatementRefused
from citewell.messages import Text
from citewell.sql.engines.engine import Dialect
from citewell.sql.guard.token_reader import Piece, Reader

LONGEST = 20_000  # characters; the longest of the 235 gold statements of text2sql has 340
MOST_TOKENS = 4_000
# Parentheses, brackets and CASE inside one another. sqlglot 30 ends in RecursionError at 35 to 97
# levels with Python's limit of 1 000 frames, by the kind of level (28 frames a level at most); our
# callers have some hundred frames themselves.
DEEPEST = 20
_JOINERS = "\u200c\u200d"  # in Persian words and in emoji: allowed inside quotes


@dataclass(frozen=True, slots=True)
class Token:
    """`text` as it stands in the statement; `start` is its place in `StatementText.sql`."""

    kind: Piece
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def word(self) -> str:
        """Of an unquoted word, in lower case; empty of anything else."""
        return self.text.lower() if self.kind == "word" else ""


@dataclass(frozen=True, slots=True)
class StatementText:
    """`sql`: what may be run: no comment, no semicolon, nothing before and after."""

    sql: str
    tokens: tuple[Token, ...]


def read_statement(sql: str, dialect: Dialect) -> StatementText:
    """Raises StatementRefused for all that engines and parsers may read in different ways."""
    _check_characters(sql)
    pieces = Reader(sql, dialect).pieces()
    while pieces and pieces[-1][1] == ";":
        pieces.pop()
    if not pieces:
        raise StatementRefused(Text("There is no statement."), hint=Text("Write one SELECT."))
    if any(text == ";" for kind, text, _ in pieces if kind == "mark"):
        raise StatementRefused(
            Text("There are several statements."),
            hint=Text("Write one statement, without a semicolon inside it."),
        )
    if len(pieces) > MOST_TOKENS:
        raise StatementRefused(
            Text("The statement has {pieces} words and marks.", pieces=len(pieces)),
            hint=Text("At most {most_tokens} are taken.", most_tokens=MOST_TOKENS),
        )
    joined, tokens = "", []
    for kind, text, gap in pieces:
        joined += gap if joined else ""
        tokens.append(Token(kind, text, len(joined)))
        joined += text
    _check_depth(tokens)
    return StatementText(joined, tuple(tokens))


def has_same_tokens(tokens: Sequence[Token], spans: Iterable[tuple[int, int]]) -> bool:
    """Whether another reader's tokens (start, end) begin and end where ours do, and a quoted one of
    ours is one of theirs.
    """
    starts, ends = {token.start for token in tokens}, {token.end for token in tokens}
    quoted = {(token.start, token.end) for token in tokens if token.kind in ("name", "string")}
    covered = 0
    for start, end in spans:
        if start not in starts or end not in ends:
            return False
        inside = sum(1 for first, last in quoted if start <= first and last <= end)
        if inside and (start, end) not in quoted:
            return False
        covered += inside
    return covered == len(quoted)


def _check_characters(sql: str) -> None:
    """What no statement needs, hides things from the eye, or ends the text for an engine."""
    if len(sql) > LONGEST:
        raise StatementRefused(
            Text("The statement has {sql} characters.", sql=len(sql)),
            hint=Text("At most {longest} are taken.", longest=LONGEST),
        )
    for character in sql:
        if character in "\t\n\r" or " " <= character <= "~":
            continue
        if character not in _JOINERS and unicodedata.category(character) in (
            "Cc",
            "Cf",
            "Cs",
            "Zl",
            "Zp",
        ):
            raise StatementRefused(
                Text(
                    "The statement holds the invisible character U+{ord:04X}.", ord=ord(character)
                ),
                hint=Text("Leave it out; nothing may be hidden."),
            )


def _check_depth(tokens: Sequence[Token]) -> None:
    depth = run = 0
    for token in tokens:
        depth += (token.text in ("(", "[", "{") and token.kind == "mark") or token.word == "case"
        depth -= (token.text in (")", "]", "}") and token.kind == "mark") or (
            token.word == "end" and depth > 0
        )
        run = (
            run + 1
            if token.word in ("not", "select", "explain") or token.text in ("+", "-", "~", "!", "@")
            else 0
        )
        if depth > DEEPEST or run > DEEPEST:
            raise StatementRefused(
                Text("The statement is nested too deeply."),
                hint=Text("At most {deepest} levels; use WITH to flatten it.", deepest=DEEPEST),
            )
