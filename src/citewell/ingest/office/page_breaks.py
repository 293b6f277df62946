"""Where pages end in a document that flows, as the program that wrote it noted them. A page ends
once, though its end is often noted twice: by the writer's own break and by the layout.
"""

from __future__ import annotations

from typing import Final

from citewell.ingest.assemble import Assembly

# stands in a paragraph's text where a page ends; text itself never holds a form feed
PAGE: Final = "\f"


class PageBreaks:
    """Counts pages, and shows in `out` where one begins."""

    def __init__(self, out: Assembly) -> None:
        self.fresh = True  # nothing stands on this page yet
        self._out = out
        self._page = 1

    def pieces(self, text: str) -> list[tuple[int, str]]:
        """A paragraph's pieces by page, which moves on at each break, once before any text."""
        found: list[tuple[int, str]] = []
        for n, piece in enumerate(text.split(PAGE)):
            if n:
                self.end()
            if piece.strip():
                self.fresh = False
                if not found:
                    self.show()
                found.append((self._page, piece))
        if found:
            found[-1] = (found[-1][0], found[-1][1].rstrip())
        return found

    def begin(self, number: int) -> None:
        """Page `number` begins, as a document with pages of its own says."""
        self._page, self.fresh = number, True
        self._out.page(number)

    def end(self) -> None:
        """A page ends here. Where nothing stands on it yet, its end has been noted before."""
        if not self.fresh:
            self._page += 1
            self.fresh = True

    def show(self) -> None:
        """Begin the current page in the text, unless it has begun."""
        if self._page != (self._out.pages[-1].number if self._out.pages else 1):
            self._out.page(self._page)
