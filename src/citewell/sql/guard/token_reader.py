"""A statement's text taken apart into tokens, by the engine's own rules of quoting."""

from __future__ import annotations

import unicodedata
from typing import Literal

from citewell.errors import StatementRefused
from citewell.messages import Text
from citewell.sql.engines.engine import Dialect

Piece = Literal["word", "name", "string", "mark"]
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
_LOOKALIKES = "ſıİ"  # upper() or lower() makes ASCII letters of them


class Reader:
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
        """White space or a comment, as the space that stands for it; empty where there is none."""
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
                    Text("-- with no space after it is two minus signs to MySQL."),
                    hint=Text("Write a space, or - (-1)."),
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
                Text("A comment holds a carriage return, where some engines end it."),
                hint=Text("Leave the comment out."),
            )
        self.at += len(comment)
        return " "

    def _read_block_comment(self) -> str:
        if self.sql.startswith(_HINTS, self.at):
            raise StatementRefused(
                Text("A comment that the engine obeys (/*! */ or /*+ */)."),
                hint=Text("Leave it out."),
            )
        end = self.sql.find("*/", self.at + 2)
        if end < 0:
            raise StatementRefused(
                Text("A comment is not closed."), hint=Text("Close it with */, or leave it out.")
            )
        if "/*" in self.sql[self.at + 2 : end]:
            raise StatementRefused(
                Text("A comment inside a comment, which engines end at different places."),
                hint=Text("Leave it out."),
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
                Text(
                    "The character {character} (U+{ord:04X}) stands outside quotes.",
                    character=character,
                    ord=ord(character),
                ),
                hint=Text(
                    "Write marks as in ASCII ( ) , . = and names that hold others in the "
                    "quotes of the database."
                ),
            )
        if character in _NOT_MARKS[self.dialect]:
            raise StatementRefused(
                Text(
                    "The mark {character} stands outside quotes: a variable, a parameter "
                    "or a quote of another database.",
                    character=character,
                ),
                hint=Text("Write values as they are, in single quotes."),
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
                Text("A text or name with Unicode escapes (U&)."),
                hint=Text("Write its characters as they are."),
            )
        if any(_is_lookalike(character) for character in word if character > "~"):
            raise StatementRefused(
                Text("The name {word} holds letters that only look like ASCII ones.", word=word),
                hint=Text("Put it in the quotes of the database."),
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
                    Text(
                        "A text has a backslash before a quote, which PostgreSQL reads in two ways."
                    ),
                    hint=Text(
                        "Double the quote ('') and write E'...\\\\' for a backslash at the end."
                    ),
                )
            else:
                out, at = out + character, at + 1
        raise StatementRefused(
            Text("A text in quotes is not closed."),
            hint=Text("Close it; a quote inside it is doubled: ''."),
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
            Text("A name in quotes is not closed."), hint=Text("Close it with the same quote.")
        )


def _is_word_character(character: str) -> bool:
    return (
        character == "_" or character.isalnum() or unicodedata.category(character).startswith("M")
    )


def _is_lookalike(character: str) -> bool:
    plain = unicodedata.normalize("NFKC", character)
    return character in _LOOKALIKES or any(letter <= "~" for letter in plain)
