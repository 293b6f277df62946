"""Reads the part of llguidance's Lark that `statement_grammar` writes, and says whether a text is
of it: what llama.cpp does with it while the model writes, in small.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import cache

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"i?|/(?:[^/\\]|\\.)*/|%regex \{.*\}|\w+|[|()?*]')
# from a place in a text to the places that a match may end at
Match = Callable[[str, int], frozenset[int]]


class Lark:
    def __init__(self, text: str) -> None:
        lines = re.split(r"\n(?!  \|)", text.partition("\n")[2].strip())
        self._bodies = dict(line.split(": ", 1) for line in lines)
        for name, body in self._bodies.items():
            used = [token for token in _TOKEN.findall(body) if token in self._bodies]
            # llama.cpp writes freely, and says nothing, under a grammar that it cannot read
            assert name.islower() or all(token.isupper() for token in used), f"{name}: a rule in it"
        self._rules: dict[str, Match] = {}

    def accepts(self, text: str) -> bool:
        return len(text) in self._rule("start")(text, 0)

    def _rule(self, name: str) -> Match:
        if name not in self._rules:
            self._rules[name] = cache(lambda text, at, name=name: self._built(name)(text, at))
        return self._rules[name]

    @cache  # noqa: B019 - lives as long as its test
    def _built(self, name: str) -> Match:
        return self._read_choice(iter(_TOKEN.findall(self._bodies[name])))

    def _read_choice(self, tokens: Iterator[str]) -> Match:
        """Up to the closing parenthesis or the end."""
        ways: list[list[Match]] = [[]]
        for token in tokens:
            if token == ")":
                break
            if token == "|":
                ways.append([])
            elif token in "?*":
                ways[-1].append(_repeat(ways[-1].pop(), once=token == "?"))
            else:
                ways[-1].append(self._read_part(token, tokens))
        chains = [_chain(way) for way in ways]
        return lambda text, at: frozenset(end for way in chains for end in way(text, at))

    def _read_part(self, token: str, tokens: Iterator[str]) -> Match:
        if token == "(":
            return self._read_choice(tokens)
        if token.startswith('"'):
            any_case = token.endswith("i")
            piece = json.loads(token.removesuffix("i"))
            return lambda text, at: frozenset(
                [at + len(piece)] if _is_same(text[at : at + len(piece)], piece, any_case) else []
            )
        if token.startswith("%regex"):
            chunks = json.loads(token.removeprefix("%regex "))["substring_chunks"]
            runs = {
                "".join(chunks[start:end])
                for start in range(len(chunks))
                for end in range(start, len(chunks) + 1)
            }
            return lambda text, at: frozenset(
                at + len(run) for run in runs if text.startswith(run, at)
            )
        if token.startswith("/"):
            pattern = re.compile(token[1:-1])
            return lambda text, at: frozenset(
                end for end in range(at, len(text) + 1) if pattern.fullmatch(text, at, end)
            )
        return self._rule(token)


def _is_same(text: str, piece: str, any_case: bool) -> bool:
    return text.lower() == piece.lower() if any_case else text == piece


def _chain(parts: list[Match]) -> Match:
    def match(text: str, at: int) -> frozenset[int]:
        ends = frozenset([at])
        for part in parts:
            ends = frozenset(end for start in ends for end in part(text, start))
        return ends

    return match


def _repeat(part: Match, *, once: bool) -> Match:
    def match(text: str, at: int) -> frozenset[int]:
        ends, wave = {at}, {at}
        while wave:
            wave = {end for start in wave for end in part(text, start)} - ends
            ends |= wave
            if once:
                break
        return frozenset(ends)

    return match
