"""Which failures of a transaction another try may mend."""

from __future__ import annotations

from sqlalchemy.exc import DBAPIError

from citewell.store.dialects.postgres_errors import CONFLICTS, CROSSED, is_lost


class Tries:
    """Of one transaction. `committing`: the last try was told to be kept, so whether it was is not
    known where the connection ended.
    """

    def __init__(self, patient: bool) -> None:
        """`patient`: the server was there before, so it is waited for."""
        self._patient = patient
        self._crossed = 0
        self.committing = False

    def may_go_on(self, error: Exception) -> bool:
        if not isinstance(error, DBAPIError):
            return False
        state = getattr(error.orig, "sqlstate", None)
        if state in CROSSED:  # two tries more: the next one sees the row that came or went
            self._crossed += 1
            return self._crossed <= 2
        if state in CONFLICTS:
            return True
        return self._patient and not self.committing and is_lost(error.orig)
