"""What the stores of the library share: the database, and the user whose data they show."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Self

from citewell.store.db import Database
from citewell.store.library.file_objects import FileObjects


class LibraryStore:
    """Methods raise NotFound, naming what is missing, and StorageError. `embedder`: the name of the
    embedder in use, whose vectors `embedded` counts. `viewer`: the user who asks; private data of
    others is not found. None: all data is.
    """

    def __init__(
        self,
        db: Database,
        embedder: str,
        clock: Callable[[], float] = time.time,
        *,
        viewer: str | None = None,
        objects: FileObjects | None = None,
    ) -> None:
        self._objects = objects or FileObjects(db, None)
        self._db = db
        self._embedder = embedder
        self._clock = clock
        self._viewer = viewer

    def restrict_to_viewer(self, viewer: str) -> Self:
        """The same store, in which only what this user may see is found."""
        return type(self)(
            self._db, self._embedder, self._clock, viewer=viewer, objects=self._objects
        )
