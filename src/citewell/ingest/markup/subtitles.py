"""Subtitles and transcripts (.srt, .vtt): what is said, in paragraphs that begin with their time.
Words that run on over several captions become one paragraph, so that a sentence is whole.
"""

from __future__ import annotations

import re
from typing import Final

from citewell.config import IngestSettings
from citewell.ingest.assemble import Assembly, clean_text
from citewell.ingest.markup import plain_text as text
from citewell.text.charset import decode_text
from citewell.text.language import get_line_joiner
from citewell.types import Document

_CUE = re.compile(
    r"^(?:(\d{1,3}):)?(\d{1,2}):(\d{2})[.,](\d{1,3})[ \t]*-->[ "
    r"\t]*(?:(\d{1,3}):)?(\d{1,2}):(\d{2})[.,](\d{1,3})[^\n]*$",
    re.MULTILINE,
)
_TAG = re.compile(r"<[^<>\n]{0,200}>|\{\\[^{}\n]{0,100}\}")
_PAUSE: Final = 3.0  # seconds of silence that end a paragraph
_LONGEST: Final = 400  # characters after which one ends with its sentence
_ENDS: Final = tuple('.!?。！？…"”')


def parse(data: bytes, name: str, settings: IngestSettings) -> Document:
    """A subtitle file; one without times is read as plain text."""
    raw, warnings = decode_text(data, name)
    body = clean_text(raw)
    cues = list(_CUE.finditer(body))
    if not cues:
        return text.parse(data, name, settings)
    assembly = Assembly()
    paragraph, began, ended = "", 0.0, 0.0
    for number, cue in enumerate(cues):
        start, end = _to_seconds(cue.groups()[:4]), _to_seconds(cue.groups()[4:])
        until = cues[number + 1].start() if number + 1 < len(cues) else len(body)
        said = _extract_caption(body[cue.end() : until], last=number + 1 == len(cues))
        full = len(paragraph) > _LONGEST and paragraph.endswith(_ENDS)
        if paragraph and (start - ended > _PAUSE or full or len(paragraph) > 3 * _LONGEST):
            assembly.block(f"[{_format_clock(began)}] {paragraph}")
            paragraph = ""
        began = began if paragraph else start
        paragraph += (
            get_line_joiner(paragraph[-1:], said) + said if said != paragraph[-len(said) :] else ""
        )
        ended = end
    assembly.block(f"[{_format_clock(began)}] {paragraph}" if paragraph else "")
    media_type = "text/vtt" if body.startswith("WEBVTT") else "application/x-subrip"
    return assembly.document(name, media_type, warnings=warnings)


def _extract_caption(block: str, *, last: bool) -> str:
    """The words of a caption on one line, without the next one's number or name below it."""
    words = (
        block.strip("\n").split("\n\n")[0]
        if last or "\n\n" in block.strip("\n")
        else block.strip("\n")
    )
    joined = ""
    for line in _TAG.sub("", words).splitlines():
        joined += get_line_joiner(joined[-1:], line.strip()) + line.strip()
    return joined


def _to_seconds(parts: tuple[str | None, ...]) -> float:
    hours, minutes, seconds, thousandths = (int(part or 0) for part in parts)
    return 3600 * hours + 60 * minutes + seconds + thousandths / 1000


def _format_clock(seconds: float) -> str:
    return f"{int(seconds) // 3600:02}:{int(seconds) // 60 % 60:02}:{int(seconds) % 60:02}"
