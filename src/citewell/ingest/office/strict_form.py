"""Office files in the strict form of their standard (ISO/IEC 29500 Strict), as the usual form,
which everything here reads.

The one rule: the two forms differ in the names of their namespaces and relations (ECMA-376 part 4);
nothing else is touched.
"""

from __future__ import annotations

import io
import re
import zipfile
from typing import Final

MARK: Final = b"http://purl.oclc.org/ooxml/"
_NAMES: Final = re.compile(rb"""(=\s*["'])http://purl\.oclc\.org/ooxml/(\w+)/""")
_USUAL: Final = rb"\1http://schemas.openxmlformats.org/\2/2006/"


def is_strict(archive: zipfile.ZipFile) -> bool:
    """As its first relations say. Raises one of zip_archive.BROKEN."""
    return "_rels/.rels" in archive.namelist() and MARK in archive.read("_rels/.rels")


def to_transitional(archive: zipfile.ZipFile) -> bytes:
    """The same file in the usual form. Raises one of zip_archive.BROKEN."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as target:
        for entry in archive.infolist():
            data = archive.read(entry)
            if entry.filename.lower().endswith((".xml", ".rels")):
                data = _NAMES.sub(_USUAL, data)
            target.writestr(
                zipfile.ZipInfo(entry.filename, entry.date_time), data, zipfile.ZIP_DEFLATED
            )
    return made.getvalue()
