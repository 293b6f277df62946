"""Names of authors: the family names of an entry, and the people named below a title. What does not
look like names gives none. A Chinese name stays whole, since Chinese papers cite it whole.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

from citewell.text.language import HAN
from citewell.text.split_words import split_words

_CHINESE = re.compile(rf"[{HAN}]{{2,4}}(?:·[{HAN}]{{1,6}})?")
_ET_AL = re.compile(r",?\s*\b(?:et\s*al\.?|and others|others)\s*$|[,，]?\s*等\.?$")
_AND = re.compile(r"\s*[,;，；、]?\s+(?:and|und|&)\s+|\s*[,;]?\s*&\s*|\s*[;；、]\s*")
_INITIALS_LAST = re.compile(r"^(?P<name>[^\W\d_][\w'’´¨` -]*?),?\s+(?:[A-Z]\.?[- ]?){1,4}$")
_INITIALS = re.compile(r"^(?:[A-Z]\.?[- ]?){1,4}$")
_SUFFIX: Final = {"jr", "jr.", "sr", "sr.", "ii", "iii", "iv"}
_PARTICLES: Final = split_words("van von de der den del della di da la le ter ten dos do al el")
_CAPITAL_PARTICLES: Final = {"De", "Del", "Della", "Di", "Da", "Van", "Von"}
_SIGNS = re.compile(r"[\s´¨`ˆ˜ˇ¸°'’.\-]+")
_MARKS = re.compile(r"[\d*†‡§¶♠♣♥♦⋆∗¹²³⁴⁵⁶⁷⁸⁹⁰,，]+(?:\s*[,，]\s*[\d*†‡¹²³⁴⁵⁶⁷⁸⁹⁰]+)*")
_PERSON = re.compile(r"[^\W\d_a-z][\w.'’´¨`-]*(?:\s+[\w.'’´¨`-]+){1,4}$")
_PLACE = re.compile(
    r"\b(?:universit\w*|institut\w*|colleges?|departments?|schools?|laborator\w*|labs?|research|"
    r"inc|corp|ltd|cent(?:er|re)|hospitals?"
    r"|academy|faculty|ministry|google|microsoft|facebook|openai|deepmind|amazon|abstract|"
    r"introduction|usa|china|conference|journal)\b"
    r"|大学|学院|研究|公司|中心|医院|系|部|院|省|市|@|http",
    re.IGNORECASE,
)
_MOST: Final = 200
_FEWEST_WORDS: Final = 2
_MOST_WORDS: Final = 4


def fold_name(name: str) -> str:
    """A name for comparing: no accents (in PDFs beside their letters), no spaces, lower case."""
    plain = "".join(
        char for char in unicodedata.normalize("NFKD", name) if not unicodedata.combining(char)
    )
    return _SIGNS.sub("", plain).casefold()


def extract_family_names(names: str) -> tuple[str, ...]:
    """Family names, in any of the usual forms."""
    words = _ET_AL.sub("", " ".join(names.split())).strip(" .,，")
    if not words or len(words) > 10_000:
        return ()
    if re.search(f"[{HAN}]", words):
        return tuple(_CHINESE.findall(words)[:_MOST])
    found = [family for one in _split_people(words) if (family := _extract_family_name(one))]
    return tuple(found[:_MOST])


def _split_people(words: str) -> list[str]:
    """`A. Lee and B. Wu`, `Lee, A., & Wu, B.`, `Lee, Ann and Wu, Bo`, `Lee A, Wu B` apart."""
    groups = [one for one in _AND.split(words) if one]
    if len(groups) > 1 and all(one.count(",") == 1 for one in groups):
        return groups  # family, given and family, given
    pieces = [piece.strip() for one in groups for piece in one.split(",") if piece.strip()]
    people: list[str] = []
    for piece in pieces:
        if (
            people
            and (_INITIALS.match(piece) or piece.lower() in _SUFFIX)
            and "," not in people[-1]
        ):
            people[-1] += f", {piece}"
        else:
            people.append(piece)
    return people


def _extract_family_name(person: str) -> str:
    if "," in person:
        return person.split(",", 1)[0].strip()
    initials = _INITIALS_LAST.match(person)
    if initials:
        return initials["name"].strip(" ,")
    words = [word for word in person.split() if word.lower() not in _SUFFIX]
    if not words or not words[-1][0].isalpha() or len(words) > 7:
        return words[-1] if words and words[-1][:1].isalpha() else ""
    at = len(words) - 1
    while at > 1 and words[at - 1] in _PARTICLES | _CAPITAL_PARTICLES:
        at -= 1
    return " ".join(words[at:])


def extract_people(line: str, known: Sequence[str] = ()) -> list[str]:
    """The people of a line below a title; none if the line is something else. `known`: full names
    written elsewhere, by which a line without any sign between its names is parted.
    """
    if _PLACE.search(line) or len(line) > 1_500:
        return []
    if re.search(f"[{HAN}]", line):
        names = _CHINESE.findall(
            re.sub(
                r"(?<=[\u4e00-\u9fff])\s(?=[\u4e00-\u9fff](?:[\s,，、;；\d¹²³⁴⁵⁶⁷⁸⁹]|$))", "", line
            )
        )
        rest = re.sub(rf"[{HAN}·]|[\s\d,，、;；*†¹²³⁴⁵⁶⁷⁸⁹⁰()（）]", "", line)
        return names if names and not rest else []
    pieces = [part.strip(" .") for one in _AND.split(line) for part in _MARKS.split(one)]
    pieces = [re.sub(r"^and\s+", "", piece) for piece in pieces if piece]
    parted = [name for piece in pieces for name in _split_by_known_names(piece, known)]
    return parted if parted and all(_is_person(name) for name in parted) else []


def _is_person(name: str) -> bool:
    words = name.split()
    return (
        bool(_PERSON.match(name))
        and _FEWEST_WORDS <= len(words) <= 5
        and all(word[0].isupper() or word.lower() in _PARTICLES for word in words)
    )


def _split_by_known_names(piece: str, known: Sequence[str]) -> list[str]:
    """A piece of more words than a name has, parted by names that the document has elsewhere."""
    if len(piece.split()) <= _MOST_WORDS:
        return [piece]
    marked = piece
    for name in sorted({name for name in known if name in piece}, key=len, reverse=True):
        marked = re.sub(
            rf"(?<!\w){re.escape(name)}(?!\w)",
            lambda match: f"\n{match[0].replace(' ', chr(0))}\n",
            marked,
        )
    return [part.replace("\0", " ").strip() for part in marked.split("\n") if part.strip()]
