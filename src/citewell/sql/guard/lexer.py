"""A statement's text taken apart by the engine's own rules of quoting, and put together again
without its comments.

The one rule: what is run holds no comment and nothing that two readers could end at different
places, so that the parser, which is not the engine, sees the same strings, names and words as the
engine. Where its tokens end elsewhere, it is refused.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from citewell.errors import StatementRefused
from citewell.sql.engines.engine import Dialect

Piece = Literal["word", "name", "string", "mark"]

LONGEST = 20_000  # characters; the longest of the 235 gold statements of text2sql has 340
MOST_TOKENS = 4_000
# Parentheses, brackets and CASE inside one another. sqlglot 30 ends in RecursionError at 35 to 97
# levels with Python's limit of 1 000 frames, by the kind of level (28 frames a level at most); our
# callers have some hundred frames themselves.
DEEPEST = 20
_NAME_QUOTES: dict[Dialect, str] = {"duckdb": '"', "sqlite": '"`[', "postgres": '"', "mysql": "`"}
_STRING_QUOTES: dict[Dialect, str] = {"duckdb": "'", "sqlite": "'", "postgres": "'", "mysql": "'\""}
# A letter directly before a quote that makes another kind of string of it.
_PREFIXES: dict[Dialect, str] = {"duckdb": "ebx", "sqlite": "x", "postgres": "ebxn", "mysql": "bxn"}
_NOT_MARKS: dict[Dialect, str] = {
    "duckdb": "$\\`",
    "sqlite": "$\\@#{}?:",
    "postgres": "$\\`{}",
    "mysql": "$\\@[]{}?",
}
_HINTS = ("/*!", "/*M!", "/*m!", "/*+")  # comments that MySQL, MariaDB or Oracle obey
_JOINERS = "\u200c\u200d"  # in Persian words and in emoji: allowed inside quotes
_LOOKALIKES = "ſıİ"  # upper() or lower() makes ASCII letters of them


@dataclass(frozen=True, slots=True)
class Token:
    """`text` as it stands in the statement; `start` is its place in `Text.sql`."""

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
class Text:
    """`sql`: what may be run: no comment, no semicolon, nothing before and after."""

    sql: str
    tokens: tuple[Token, ...]


def read_statement(sql: str, dialect: Dialect) -> Text:
    """Raises StatementRefused for all that engines and parsers may read in different ways."""
    _check_characters(sql)
    pieces = _Reader(sql, dialect).pieces()
    while pieces and pieces[-1][1] == ";":
        pieces.pop()
    if not pieces:
        raise StatementRefused("There is no statement.", hint="Write one SELECT.")
    if any(text == ";" for kind, text, _ in pieces if kind == "mark"):
        raise StatementRefused(
            "There are several statements.",
            hint="Write one statement, without a semicolon inside it.",
        )
    if len(pieces) > MOST_TOKENS:
        raise StatementRefused(
            f"The statement has {len(pieces)} words and marks.",
            hint=f"At most {MOST_TOKENS} are taken.",
        )
    joined, tokens = "", []
    for kind, text, gap in pieces:
        joined += gap if joined else ""
        tokens.append(Token(kind, text, len(joined)))
        joined += text
    _check_depth(tokens)
    return Text(joined, tuple(tokens))


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
    """What no statement needs, and what hides things from the eye or ends the text for an
    engine.
    """
    if len(sql) > LONGEST:
        raise StatementRefused(
            f"The statement has {len(sql)} characters.", hint=f"At most {LONGEST} are taken."
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
                f"The statement holds the invisible character U+{ord(character):04X}.",
                hint="Leave it out; nothing may be hidden.",
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
                "The statement is nested too deeply.",
                hint=f"At most {DEEPEST} levels; use WITH to flatten it.",
            )


class _Reader:
    def __init__(self, sql: str, dialect: Dialect) -> None:
        self.sql, self.dialect, self.at = sql, dialect, 0

    def pieces(self) -> list[tuple[Piece, str, str]]:
        """(kind, text, white space before it)."""
        found: list[tuple[Piece, str, str]] = []
        gap = ""
        while self.at < len(self.sql):
            if blank := self._read_blank():
                gap += blank
                continue
            kind, text = self._read_token()
            found.append((kind, text, gap))
            gap = ""
        return found

    def _read_blank(self) -> str:
        """White space or a comment, as the white space that stands for it; empty where there is
        none.
        """
        character = self.sql[self.at]
        if character in " \t\n\r":
            self.at += 1
            return character
        if self.sql.startswith("--", self.at):
            if self.dialect == "mysql" and self.sql[self.at + 2 : self.at + 3] not in (
                "",
                " ",
                "\t",
                "\n",
                "\r",
            ):
                raise StatementRefused(
                    "-- with no space after it is two minus signs to MySQL.",
                    hint="Write a space, or - (-1).",
                )
            return self._read_line_comment()
        if character == "#" and self.dialect == "mysql":
            return self._read_line_comment()
        return self._read_block_comment() if self.sql.startswith("/*", self.at) else ""

    def _read_line_comment(self) -> str:
        end = self.sql.find("\n", self.at)
        comment = self.sql[self.at : end if end >= 0 else len(self.sql)]
        if "\r" in comment.removesuffix("\r"):
            raise StatementRefused(
                "A comment holds a carriage return, where some engines end it.",
                hint="Leave the comment out.",
            )
        self.at += len(comment)
        return " "

    def _read_block_comment(self) -> str:
        if self.sql.startswith(_HINTS, self.at):
            raise StatementRefused(
                "A comment that the engine obeys (/*! */ or /*+ */).", hint="Leave it out."
            )
        end = self.sql.find("*/", self.at + 2)
        if end < 0:
            raise StatementRefused(
                "A comment is not closed.", hint="Close it with */, or leave it out."
            )
        if "/*" in self.sql[self.at + 2 : end]:
            raise StatementRefused(
                "A comment inside a comment, which engines end at different places.",
                hint="Leave it out.",
            )
        self.at = end + 2
        return " "

    def _read_token(self) -> tuple[Piece, str]:
        character = self.sql[self.at]
        if character in _STRING_QUOTES[self.dialect]:
            return "string", self._read_string(self.at)
        if character in _NAME_QUOTES[self.dialect]:
            return "name", self._read_name("]" if character == "[" else character)
        if _is_word_character(character):
            return self._read_word()
        if character > "~":
            raise StatementRefused(
                f"The character {character} (U+{ord(character):04X}) stands outside quotes.",
                hint="Write marks as in ASCII ( ) , . = and names that hold others in the quotes "
                "of the database.",
            )
        if character in _NOT_MARKS[self.dialect]:
            raise StatementRefused(
                f"The mark {character} stands outside quotes: a variable, a parameter or a "
                "quote of another database.",
                hint="Write values as they are, in single quotes.",
            )
        self.at += 1
        return "mark", character

    def _read_word(self) -> tuple[Piece, str]:
        start = self.at
        while self.at < len(self.sql) and (
            _is_word_character(self.sql[self.at]) or self.sql[self.at] == "$"
        ):
            self.at += 1
        word = self.sql[start : self.at]
        if (
            self.at - start == 1
            and word.lower() in _PREFIXES[self.dialect]
            and self.sql.startswith("'", self.at)
        ):
            return "string", word + self._read_string(
                self.at, escapes=word.lower() == "e" or self.dialect == "mysql"
            )
        if word.lower() == "u" and self.sql[self.at : self.at + 2] in ("&'", '&"'):
            raise StatementRefused(
                "A text or name with Unicode escapes (U&).",
                hint="Write its characters as they are.",
            )
        if any(_is_lookalike(character) for character in word if character > "~"):
            raise StatementRefused(
                f"The name {word} holds letters that only look like ASCII ones.",
                hint="Put it in the quotes of the database.",
            )
        return "word", word

    def _read_string(self, start: int, *, escapes: bool | None = None) -> str:
        """To its end. In MySQL and in E'...' a quote after a backslash is doubled: the same text
        under every setting.
        """
        escapes = self.dialect == "mysql" if escapes is None else escapes
        quote, at, out = self.sql[start], start + 1, self.sql[start]
        while at < len(self.sql):
            character, following = self.sql[at], self.sql[at + 1 : at + 2]
            if character == "\\" and following and escapes:
                out += quote * 2 if following == quote else character + following
                at += 2
            elif character == quote and following == quote:
                out, at = out + quote * 2, at + 2
            elif character == quote:
                self.at = at + 1
                return out + quote
            elif (
                character == "\\"
                and following == quote
                and self.dialect == "postgres"
                and self._has_odd_backslashes(at)
            ):
                raise StatementRefused(
                    "A text has a backslash before a quote, which PostgreSQL reads in two ways.",
                    hint="Double the quote ('') and write E'...\\\\' for a backslash at the end.",
                )
            else:
                out, at = out + character, at + 1
        raise StatementRefused(
            "A text in quotes is not closed.", hint="Close it; a quote inside it is doubled: ''."
        )

    def _has_odd_backslashes(self, at: int) -> bool:
        before = self.sql[:at]
        return (len(before) - len(before.rstrip("\\"))) % 2 == 0

    def _read_name(self, quote: str) -> str:
        start, at = self.at, self.at + 1
        while at < len(self.sql):
            if self.sql[at] != quote:
                at += 1
            elif quote != "]" and self.sql.startswith(quote, at + 1):
                at += 2
            else:
                self.at = at + 1
                return self.sql[start : self.at]
        raise StatementRefused(
            "A name in quotes is not closed.", hint="Close it with the same quote."
        )


def _is_word_character(character: str) -> bool:
    return (
        character == "_" or character.isalnum() or unicodedata.category(character).startswith("M")
    )


def _is_lookalike(character: str) -> bool:
    plain = unicodedata.normalize("NFKC", character)
    return character in _LOOKALIKES or any(letter <= "~" for letter in plain)
