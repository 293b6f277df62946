"""Evidence for tests: each text a sentence of one passage."""

from __future__ import annotations

from citewell.skills.evidence.numbered import Unit, number_sentences
from citewell.skills.evidence.passages import Passage
from citewell.text.sentences import detect_language
from citewell.types import Hit


def passage_of(*texts: str, n: int = 1, title: str = "Rules") -> Passage:
    """A passage whose sentences are `texts`."""
    whole, spans = "", []
    for text in texts:
        whole += " " if whole else ""
        spans.append((len(whole), len(whole) + len(text)))
        whole += text
    hit = Hit(
        n, f"doc{n}", "c", title, "uri", ("Fees",), 1, 0, len(whole), whole, detect_language(whole)
    )
    return Passage(n, hit, tuple(spans), whole)


def units_of(*texts: str) -> list[Unit]:
    """The numbered sentences 1.1, 1.2 and so on."""
    return number_sentences([passage_of(*texts)])
