"""English words before whose full stop a sentence goes on, and words that open one.

The one rule: all in lower case and without their last full stop.
"""

from __future__ import annotations

from typing import Final


def _split_words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# a full stop after these never ends a sentence
NEVER_LAST: Final = _split_words("""
    mr mrs ms dr prof st messrs mme gen col lt sgt capt cmdr rev hon gov sen rep pres
    e.g i.e eg ie vs cf viz resp fig figs eq eqs sec secs tab thm lem def cor prop
    ref refs approx ca dept univ
""")
# after these it ends one only where the next word plainly opens a sentence
SELDOM_LAST: Final = _split_words("""
    etc al inc ltd co corp bros jr sr est ave blvd rd ext tel min max avg ed eds trans incl
    jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun
""")
# after these it does not end one where a number follows
BEFORE_NUMBERS: Final = _split_words("no nos vol vols p pp ch chap art para app pt ver v n")
OPENERS: Final = _split_words("""
    the a an he she it they we i you in on at this that these those his her its their our my your
    but and so then thus however although moreover furthermore when while since after before
    for if as there to from with by what who how why where
""")
