"""Opening ZIP archives, those of Office files and books too. An archive's list is counted before it
is read, and what cannot be unpacked piece by piece is not unpacked at all.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from typing import Final

from citewell.errors import UnreadableFile
from citewell.messages import Text

# Python unpacks bzip2 and LZMA without a limit: 4 KB that are read become 4 GB before a byte of
# them can be counted
COUNTABLE: Final = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
# what reading a member may raise: broken bytes, an unknown way of packing, a password
BROKEN: Final = (
    zipfile.BadZipFile,
    zlib.error,
    NotImplementedError,
    OSError,
    EOFError,
    RuntimeError,
    ValueError,
)
RATIO_FROM: Final = 10_000_000  # bytes to which anything may unpack: a small file may be all zeros
_ENTRY: Final = b"PK\x01\x02"  # begins an entry of the archive's own list
_MOST_ENTRIES: Final = 100_000  # of that list, which Python reads whole: some 100 MB of memory


def open_zip(data: bytes, name: str) -> zipfile.ZipFile:
    """Raises UnreadableFile where it is broken, or lists too many files."""
    if data.count(_ENTRY) > _MOST_ENTRIES:
        raise UnreadableFile(
            Text(
                "{name} lists more than {most_entries:,} files",
                name=name,
                most_entries=_MOST_ENTRIES,
            )
        )
    try:
        return zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise UnreadableFile(Text("{name} is broken: {error}", name=name, error=error)) from None
