"""A page of a document as a picture, with the lines of a citation marked. What has not changed is
not drawn again; `PageImage.tag` changes with everything that is seen.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final

from citewell.errors import InvalidInput, NotFound
from citewell.ingest.pdf.parse import MEDIA_TYPE
from citewell.ingest.pdf.render import Rectangle, render_page
from citewell.messages import Text
from citewell.runtime.app import App
from citewell.store.library.catalog import Catalog

NARROWEST: Final = 100
WIDEST: Final = 2_400
WIDTH: Final = 1_000  # pixels: a page is easily read at that
_DRAWN_BY: Final = "1"  # changes when pages are drawn another way


@dataclass(frozen=True, slots=True)
class PageImage:
    """A drawable page. `tag` names this picture; `marks`: rectangles in shares of the page."""

    doc_id: str
    name: str
    page: int
    width: int
    marks: tuple[Rectangle, ...]
    tag: str


async def find_page(
    catalog: Catalog,
    doc_id: str,
    page: int,
    *,
    width: int = WIDTH,
    start: int | None = None,
    end: int | None = None,
) -> PageImage:
    """The page with its lines of `text[start:end]` marked. Raises NotFound, InvalidInput."""
    info = await catalog.document(doc_id)
    if info.media_type != MEDIA_TYPE:
        raise NotFound(
            Text("{title} has no page images", title=info.title),
            hint=Text("only PDF documents have; /content has the text of any"),
        )
    if not 1 <= page <= info.pages:
        raise NotFound(
            Text("{title} has no page {page}", title=info.title, page=page),
            hint=Text("it has pages 1 to {pages}", pages=info.pages),
        )
    if not NARROWEST <= width <= WIDEST:
        raise InvalidInput(
            Text("width {width} is not possible", width=width),
            hint=Text("{narrowest} to {widest} pixels", narrowest=NARROWEST, widest=WIDEST),
        )
    if (start is None) != (end is None) or (
        start is not None and end is not None and not 0 <= start < end
    ):
        raise InvalidInput(
            Text("start and end do not name a span"),
            hint=Text("give both, as a citation has them, or neither"),
        )
    lines = (
        await catalog.boxes(doc_id, [(start, end)]) if start is not None and end is not None else []
    )
    marks = tuple((box.x0, box.y0, box.x1, box.y1) for box in lines if box.page == page)
    said = repr((_DRAWN_BY, info.sha256, page, width, marks))
    name = info.uri.replace("\\", "/").rpartition("/")[2] or info.title
    return PageImage(
        doc_id, name, page, width, marks, hashlib.sha256(said.encode()).hexdigest()[:32]
    )


async def draw_page(app: App, image: PageImage) -> bytes:
    """PNG bytes. Raises NotFound and UnreadableFile."""
    data = await app.catalog.file(image.doc_id)
    return await render_page(data, image.name, image.page, image.width, image.marks)
