"""Who somebody is, where words of people are counted. Two ways to write one name are one person:
composed or not, with spaces around it, in capitals or not.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

# pages of other sites where nobody signs in: many people under one name, so their word counts for
# nothing
VISITOR = "widget"


def normalize_user_id(user_id: str) -> str:
    """A user's id as kept: composed (NFC), no spaces at its ends, capitals as written."""
    return unicodedata.normalize("NFC", user_id).strip()


def get_person_key(user_id: str) -> str:
    """What two ids of one person share. It is never shown."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", user_id).casefold()).strip()


def get_person_keys(user_ids: Iterable[str]) -> set[str]:
    """Each person once."""
    return {get_person_key(user_id) for user_id in user_ids}


def is_one_of(user_id: str, reviewers: Iterable[str]) -> bool:
    """Whether a user is named among these: with capitals as they are written there."""
    return normalize_user_id(user_id) in {normalize_user_id(each) for each in reviewers}
