"""A conversation as PDF, set by Typst from `conversation.typ`: tagged for screen readers
(PDF/UA-1), with footnotes at the foot of their pages. No character is lost without a word. Where no
font of this machine has the letters, there is no PDF, and the error says which fonts to install.
"""

from __future__ import annotations

import json
import unicodedata
from dataclasses import asdict
from pathlib import Path

from citewell.errors import InvalidInput
from citewell.messages import Text
from citewell.service.sessions.export.conversation import Conversation

TEMPLATE = Path(__file__).with_name("conversation.typ")
_NO_FONT = "could not be displayed"
_FIRST_PICTOGRAPH = "\U0001f000"
_JOINERS = dict.fromkeys(
    [0x200D, 0xFE0E, 0xFE0F, *range(0x1F3FB, 0x1F400), *range(0xE0020, 0xE0080)]
)


def write_pdf(talk: Conversation) -> bytes:
    """Raises InvalidInput where a letter has no font."""
    import typst

    source, told = TEMPLATE.read_bytes(), json.dumps(asdict(talk), ensure_ascii=False)
    for inputs in (told, _name_pictographs(told)):
        try:
            return bytes(
                typst.compile(
                    source, sys_inputs={"talk": inputs}, format="pdf", pdf_standards="ua-1"
                )
            )
        except typst.TypstError as error:
            if _NO_FONT not in str(error):
                raise
    raise InvalidInput(
        Text("no font on this machine has all the letters of this conversation"),
        hint=Text(
            "install one that has (for Chinese on Debian: fonts-noto-cjk), or export as Word"
        ),
        code="no_font",
    )


def _name_pictographs(text: str) -> str:
    """Pictures among the letters, which few fonts have, by their names in words."""

    def name(char: str) -> str:
        if char < _FIRST_PICTOGRAPH or unicodedata.category(char) != "So":
            return char
        return f"[{unicodedata.name(char, 'symbol').lower()}]"

    return "".join(map(name, text.translate(_JOINERS)))
