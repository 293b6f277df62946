"""Pictures of text (PNG, JPEG, TIFF, WebP, bitmaps) to documents, where OCR is on; a TIFF has as
many pages as it has pictures. A picture's size is looked at before its pixels are unpacked, and a
picture without text is said to have none.
"""

from __future__ import annotations

import io
import time
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from citewell.config import IngestSettings
from citewell.errors import UnreadableFile
from citewell.ingest.assemble import Assembly
from citewell.ingest.picture import ocr
from citewell.ingest.picture.image_text import add_page
from citewell.messages import Text
from citewell.types import Document

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MEDIA_TYPES: Final = {
    "PNG": "image/png",
    "JPEG": "image/jpeg",
    "MPO": "image/jpeg",  # what some cameras write: JPEG with a second picture for depth
    "TIFF": "image/tiff",
    "WEBP": "image/webp",
    "BMP": "image/bmp",
}
# of one picture, below what Pillow warns of; a page of A3 at 600 dots an inch has 70 million
MOST_PIXELS: Final = 80_000_000
LONGEST_SIDE: Final = 4_000  # pixels handed on: A4 at 340 dots an inch
# of ingest.parse_seconds: then the pages still to be read are left out, and said so
TIME_SHARE: Final = 0.8
LEAST_SIDE: Final = 12  # pixels: nothing smaller holds a letter


def parse(data: bytes, name: str, settings: IngestSettings) -> Document:
    """A picture. Raises UnreadableFile where OCR is off, missing, or finds no text."""
    check_ocr(name, settings)  # before the import: without the extra there is no such library
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            return _read_document(_open_picture(data, name), name, settings)
    except (Image.DecompressionBombWarning, Image.DecompressionBombError):
        raise _make_size_error(name) from None


def _read_document(picture: Any, name: str, settings: IngestSettings) -> Document:
    media_type = MEDIA_TYPES[picture.format]
    out = Assembly()
    count = getattr(picture, "n_frames", 1) if picture.format == "TIFF" else 1
    if count > settings.max_pages:
        hint = Text("raise ingest.max_pages, or split the file")
        raise UnreadableFile(
            Text(
                "{name} has {count:,} pages; {max_pages:,} are allowed",
                name=name,
                count=count,
                max_pages=settings.max_pages,
            ),
            hint=hint,
        )
    empty, title = [], ""
    until, late = time.monotonic() + TIME_SHARE * settings.parse_seconds, 0
    for number, pixels in enumerate(_iterate_pages(picture, count, name), start=1):
        out.page(number)
        if number > 1 and time.monotonic() > until:
            late = late or number
            continue
        lines, turn = ocr.read_upright(pixels)
        shape = pixels.shape[:2] if turn % 2 == 0 else pixels.shape[1::-1]
        title = title or add_page(out, number, lines, turn, shape[1] / shape[0])
        if not lines:
            empty.append(number)
    if len(empty) == count:
        raise UnreadableFile(Text("{name} is a picture in which no text was found", name=name))
    notes: list[str] = [Text("the text was read off a picture: letters may be wrong")]
    if late:
        notes.append(
            Text(
                "pages {late} to {count} were not read: OCR ran out of time; raise "
                "ingest.parse_seconds, or split the file",
                late=late,
                count=count,
            )
        )
    if empty:
        notes.append(
            Text(
                "no text found on {empty} of {count} pages: {map}",
                empty=len(empty),
                count=count,
                map=", ".join(map(str, empty[:20])),
            )
        )
    return out.document(name, media_type, title=title, warnings=notes)


def check_ocr(name: str, settings: IngestSettings) -> None:
    """Raise UnreadableFile, saying how to switch it on, unless pictures can be read."""
    off, missing = settings.ocr == "off", not ocr.is_available()
    if off or missing:
        steps = [ocr.EXTRA] if missing else []
        steps += [Text('set ingest.ocr = "auto" (CITEWELL_INGEST__OCR=auto)')] if off else []
        why = (
            Text("its text can be read only with OCR, which is off")
            if off
            else Text("its text can be read only with OCR, which is not installed")
        )
        raise UnreadableFile(
            Text("{name} is a picture: {why}", name=name, why=why), hint=Text(", then ").join(steps)
        )


def _open_picture(data: bytes, name: str) -> Any:
    from PIL import Image, UnidentifiedImageError

    try:
        # JPEG opens that
        return Image.open(io.BytesIO(data), formats=[each for each in MEDIA_TYPES if each != "MPO"])
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError) as error:
        raise UnreadableFile(
            Text("{name} is broken: {error}", name=name, error=error)[:300]
        ) from None


def _iterate_pages(picture: Any, count: int, name: str) -> Iterator[NDArray[np.uint8]]:
    """Each page as grey pixels, upright as its camera says, no side longer than LONGEST_SIDE."""
    import numpy as np
    from PIL import ImageOps

    for frame in range(count):
        try:
            picture.seek(frame)
            if picture.width * picture.height > MOST_PIXELS:
                raise _make_size_error(name)
            if picture.format == "JPEG":
                # unpacks a larger one at half its size, or less
                picture.draft("L", (LONGEST_SIDE, LONGEST_SIDE))
            page = ImageOps.exif_transpose(_to_grey(picture))
        except (OSError, ValueError, SyntaxError, EOFError) as error:
            raise UnreadableFile(
                Text("{name} is broken: {error}", name=name, error=error)[:300]
            ) from None
        page.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
        yield (
            np.asarray(page)
            if min(page.size) >= LEAST_SIDE
            else np.full((LEAST_SIDE, LEAST_SIDE), 255, np.uint8)
        )


def _to_grey(picture: Any) -> Any:
    """On white where it can be seen through; with more than 8 bits the brightest point is white."""
    import numpy as np
    from PIL import Image

    if picture.mode.startswith(("I", "F")):
        deep = np.nan_to_num(np.asarray(picture, dtype=np.float32)).clip(0)
        return Image.fromarray((deep * (255 / max(float(deep.max()), 1.0))).astype(np.uint8))
    if "A" in picture.mode or "transparency" in picture.info:
        seen = picture.convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", seen.size, "white"), seen).convert("L")
    return picture.convert("L")


def _make_size_error(name: str) -> UnreadableFile:
    return UnreadableFile(
        Text("{name} has more than {most_pixels:,} pixels", name=name, most_pixels=MOST_PIXELS),
        hint=Text("make the picture smaller, or cut it"),
    )
