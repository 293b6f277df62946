"""What the reader has marked, found in the paper: by its place, or by words that a PDF viewer
broke, joined and curled. Letters and figures alone are compared, and the span found is the paper's
own, from a whole word to a whole word.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from citewell.errors import InvalidInput, NotFound
from citewell.messages import Text
from citewell.skills.paper.reading_context import OpenPaper, Selection
from citewell.skills.paper.span_pick import trim_span

FEWEST, MOST = 2, 4_000  # letters, and characters, that can be marked
SHINGLE: Final = 10  # letters in a row that are looked for where the whole is not found
STEP: Final = 3
MOST_PLACES = 1_000  # at which words are looked at: what stands so often is no passage
MOST_PIECES = 300  # shingles of a long selection: they stand further apart
MOST_SIGHTED = 50  # places of one shingle
# share of its shingles that a place must hold; chosen by hand: one word too many in ten breaks a
# third
ENOUGH: Final = 0.6
# letters by which a place may run longer than what was copied: notes and folios that stand between
_SLACK = 60
_QUOTES = re.compile(
    r"“([^“”]+)”|\"([^\"]+)\"|「([^「」]+)」|『([^『』]+)』|«([^«»]+)»|``(.+?)''", re.DOTALL
)
_ASKS = re.compile(
    r"^\s*(?:please\s+|(?:can|could) you\s+)?(?:explain|translate|paraphrase|interpret|clarify|"
    r"what (?:does|do|is)|summari[sz]e|请?(?:帮我|帮忙)?(?:解释|翻译|说明|讲解|解读|总结)|(?:这|"
    r"下面|以下)[段句])[^:：\n\"“「]{0,60}[:：\n]\s*(?P<text>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
_RUN = re.compile(r"[A-Za-z0-9\u4e00-\u9fff]+|(?P<foreign>[^\x00-\x7f])")
_SIGN = re.compile(r"[^\w\s]")
_SIGNS_BEFORE, _SIGNS_BEHIND = re.compile(r"\W+"), re.compile(r"\W+$")
LONG_WORDS, LONG_HAN = 6, 12  # from which a quotation is a passage rather than a term


def locate_selection(selection: Selection, book: OpenPaper) -> tuple[int, int]:
    """The span that is meant. Raises InvalidInput where it is too short or too long or outside the
    text, NotFound where the paper does not have these words.
    """
    text = book.document.text
    if 0 <= selection.start < selection.end:
        span = _trim_selection(selection, text)
        if not selection.text.strip() or _extract_letters(text[slice(*span)]) == _extract_letters(
            selection.text
        ):
            return _check_length(span, text)
    elif selection.end >= 0 and selection.start >= selection.end:
        raise InvalidInput(
            Text("the selection ends before it begins"), hint=Text("send start < end, or its text")
        )
    return _locate_by_words(selection, text)


def extract_selection(question: str) -> Selection | None:
    """A passage quoted in a question, or behind `explain this:`; no quoted term or title."""
    quoted = ["".join(filter(None, match.groups())) for match in _QUOTES.finditer(question)]
    passages = [words.strip() for words in quoted if _is_long_enough(words)]
    if not passages and (asked := _ASKS.match(question)) and _is_long_enough(asked["text"]):
        passages = [asked["text"].strip()]
    return Selection(text=max(passages, key=len)[:MOST]) if passages else None


def _is_long_enough(words: str) -> bool:
    han = len(re.findall(r"[\u4e00-\u9fff]", words))
    return han >= LONG_HAN or len(re.findall(r"[^\W\d_]{2,}", words)) >= LONG_WORDS


def _trim_selection(selection: Selection, text: str) -> tuple[int, int]:
    if selection.end > len(text):
        raise InvalidInput(
            Text("the selection ends behind the end of the paper"),
            hint=Text("send offsets into its text, or the words"),
        )
    return trim_span(text, selection.start, selection.end)


def _check_length(span: tuple[int, int], text: str) -> tuple[int, int]:
    _check_letters(_extract_letters(text[slice(*span)]))
    if span[1] - span[0] > MOST:
        raise InvalidInput(
            Text("the selection is longer than {most} characters", most=MOST),
            hint=Text("mark less, or ask about the section"),
        )
    return span


def _check_letters(letters: str) -> str:
    if len(letters) < FEWEST:
        raise InvalidInput(
            Text("the selection is too short to say what is meant"),
            hint=Text("mark a word at least"),
        )
    return letters


def _locate_by_words(selection: Selection, text: str) -> tuple[int, int]:
    wanted = _check_letters(_extract_letters(selection.text))
    folded, where = _fold_cached(text)
    places = _find_places(wanted, folded)
    whole = [
        at for at in places if _is_on_word_bounds(text, where[at], where[at + len(wanted) - 1] + 1)
    ] or places
    if whole:
        first = max(0, selection.start)
        near = min(whole, key=lambda at: abs(where[at] - first))
        span = (where[near], where[near + len(wanted) - 1] + 1)
        return _check_length(_extend_to_signs(span, selection.text, text), text)
    found = _find_similar(wanted, folded)
    if found is None:
        told = Text("the paper does not have the words of the selection")
        hint = Text("copy it from the paper as it stands there, or send its place")
        raise NotFound(told, hint=hint, code="selection_not_found")
    return _check_length(_extend_to_words(text, where[found[0]], where[found[1] - 1] + 1), text)


def _extend_to_signs(span: tuple[int, int], copied: str, text: str) -> tuple[int, int]:
    """With as many brackets, quotes and stops at its ends as were copied."""
    start, end = span
    before, behind = _SIGNS_BEFORE.match(copied), _SIGNS_BEHIND.search(copied)
    for _ in range(len(re.sub(r"\s", "", before[0])) if before else 0):
        start -= 1 if start and _SIGN.match(text[start - 1]) else 0
    for _ in range(len(re.sub(r"\s", "", behind[0])) if behind else 0):
        end += 1 if end < len(text) and _SIGN.match(text[end]) else 0
    return start, end


def _find_places(wanted: str, folded: str) -> list[int]:
    """Where it stands; runs such as `aaaa` overlap: the next is behind the one before."""
    places: list[int] = []
    at = folded.find(wanted)
    while at >= 0 and len(places) < MOST_PLACES:
        places.append(at)
        at = folded.find(wanted, at + (1 if len(wanted) < SHINGLE else len(wanted)))
    return places


def _extract_letters(text: str) -> str:
    return _fold_text(text)[0]


@lru_cache(maxsize=4)
def _fold_cached(text: str) -> tuple[str, array[int]]:
    """Of a paper: a reader marks more than once in it, and a megabyte takes a fifth of a second."""
    return _fold_text(text)


def _fold_text(text: str) -> tuple[str, array[int]]:
    """Letters and figures without case, accents and ligatures, and where each stands: hyphens,
    spaces and quotes differ between a paper and what is copied from it.
    """
    letters: list[str] = []
    where = array("i")
    for match in _RUN.finditer(text):
        run, at = match[0], match.start()
        if match["foreign"]:
            plain = _fold_char(run)
            letters.append(plain)
            where.extend([at] * len(plain))
        else:
            letters.append(run.lower())
            where.extend(range(at, at + len(run)))
    return "".join(letters), where


def _fold_char(char: str) -> str:
    if char.isspace():
        return ""
    return "".join(c for c in unicodedata.normalize("NFKD", char).casefold() if c.isalnum())


def _find_similar(wanted: str, folded: str) -> tuple[int, int] | None:
    """The place with most of `wanted`, perhaps not in a row; None without enough."""
    if len(wanted) < 2 * SHINGLE:
        return None
    step = max(STEP, len(wanted) // MOST_PIECES)
    pieces = [(i, wanted[i : i + SHINGLE]) for i in range(0, len(wanted) - SHINGLE + 1, step)]
    votes = Counter((at - i) // _SLACK for i, at in _find_shingles(pieces, folded))
    if not votes:
        return None
    bucket = max(votes, key=lambda b: votes[b] + votes.get(b + 1, 0))
    held = {
        i: there
        for i, piece in pieces
        if (there := list(_find_shingle_near(folded, piece, bucket * _SLACK + i)))
    }
    if len(held) < ENOUGH * len(pieces):
        return None
    shifts = sorted(at - i for i, there in held.items() for at in there)
    # of a word that stands there twice the one in its place is meant
    usual = shifts[len(shifts) // 2]
    chosen = sorted(
        (min(there, key=lambda at: abs(at - i - usual)), i) for i, there in held.items()
    )
    (start, i), (last, k) = chosen[0], chosen[-1]
    while i and start and wanted[i - 1] == folded[start - 1]:
        start, i = start - 1, i - 1
    end, k = last + SHINGLE, k + SHINGLE
    while k < len(wanted) and end < len(folded) and wanted[k] == folded[end]:
        end, k = end + 1, k + 1
    return start, end


def _find_shingles(pieces: Sequence[tuple[int, str]], folded: str) -> Iterator[tuple[int, int]]:
    """Places in what is wanted and in the text that hold the same. A shingle that stands everywhere
    tells no place: it is not looked for to the end.
    """
    of: defaultdict[str, list[int]] = defaultdict(list)
    for i, piece in pieces:
        of[piece].append(i)
    for piece, places in of.items():
        at, met = folded.find(piece), 0
        while at >= 0 and met < MOST_SIGHTED:
            yield from ((i, at) for i in places[:MOST_SIGHTED])
            at, met = folded.find(piece, at + SHINGLE), met + 1


def _find_shingle_near(folded: str, piece: str, low: int) -> Iterator[int]:
    """Where a shingle stands at `low` or, by twice the slack, behind it."""
    high = low + 2 * _SLACK - 1 + SHINGLE
    at = folded.find(piece, max(0, low), max(0, high))
    while at >= 0:
        yield at
        at = folded.find(piece, at + 1, high)


def _is_on_word_bounds(text: str, start: int, end: int) -> bool:
    before, behind = text[start - 1 : start], text[end : end + 1]
    return not (
        (_is_latin(before) and _is_latin(text[start]))
        or (_is_latin(behind) and _is_latin(text[end - 1]))
    )


def _extend_to_words(text: str, start: int, end: int) -> tuple[int, int]:
    """Out to the ends of words that are cut."""
    while start > 0 and _is_latin(text[start - 1]) and _is_latin(text[start]):
        start -= 1
    while end < len(text) and _is_latin(text[end]) and _is_latin(text[end - 1]):
        end += 1
    return start, end


def _is_latin(char: str) -> bool:
    return char.isalnum() and not "\u3000" <= char <= "\u9fff"
