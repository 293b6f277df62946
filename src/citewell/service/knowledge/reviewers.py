"""Whose word counts.

The one rule: with users, a role makes a reviewer as the setting `feedback.reviewers` does, and
nobody else's word counts; without users it is those whom the setting names, or everybody.
"""

from __future__ import annotations

from sqlalchemy import Connection

from citewell.config import FeedbackSettings
from citewell.runtime.app import App
from citewell.store.users.user_rows import list_reviewers

NOBODY = "\x00"  # stands for no user at all: an empty list would mean everybody


def get_feedback_settings(app: App, connection: Connection) -> FeedbackSettings:
    """The settings, with `reviewers` as they are at this moment."""
    settings = app.settings.feedback
    if app.settings.auth == "none":
        return settings
    named = tuple(dict.fromkeys((*settings.reviewers, *list_reviewers(connection))))
    return settings.model_copy(update={"reviewers": named or (NOBODY,)})
