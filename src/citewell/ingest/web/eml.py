"""Mails (.eml): who wrote to whom, when and on what, then the text; what is attached are files of
their own (`unpack`). The plain text is read where there is one, for it is what the writer saw;
replies that it quotes stay.
"""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Iterator
from dataclasses import replace
from email import policy
from email.header import decode_header
from email.message import EmailMessage
from email.parser import BytesParser
from typing import Final

from citewell.config import IngestSettings
from citewell.errors import UnreadableFile
from citewell.ingest.assemble import Assembly, clean_text
from citewell.ingest.markup import plain_text as text
from citewell.ingest.web.html import read_html
from citewell.messages import Text
from citewell.text.charset import decode_text
from citewell.text.timestamps import parse_timestamp
from citewell.types import Document

MEDIA_TYPE: Final = "message/rfc822"
_SHOWN: Final = ("From", "To", "Cc", "Date", "Subject")
_MOST_PARTS: Final = 2_000
_LONGEST_HEADER: Final = 2_000  # characters: a list of a thousand receivers is cut
_ENCODED = re.compile(r"=\?[\w.:*-]+\?[bq]\?", re.IGNORECASE)
_SEAM = re.compile(r"\?=\s+=\?")
_STUB: Final = 300  # characters of a plain text that may only say that there is HTML
_BLANK = re.compile(r"\n[ \t]*\n")
_NAMED = re.compile(r"[^\w. ()\[\]-]")


def parse(data: bytes, name: str, settings: IngestSettings) -> Document:
    """A mail: its headers, then its best body."""
    message = _parse_message(data, name)
    if not message.keys():
        document = text.parse(data, name, settings)
        return replace(
            document, warnings=(Text("it is not a mail: it has no headers"), *document.warnings)
        )
    assembly = Assembly()
    warnings: list[str] = []
    headers = {key: value for key in _SHOWN if (value := read_header(message, key))}
    assembly.rows([f"{key}: {value}" for key, value in headers.items()])
    _add_body(message, assembly, warnings)
    named = [file for file, _ in _extract_files(message)]
    if named:
        assembly.block("Attachments: " + ", ".join(named))
    dated = parse_timestamp(headers.get("Date", ""))
    return assembly.document(
        name, MEDIA_TYPE, title=headers.get("Subject", ""), warnings=warnings, dated=dated
    )


def _parse_message(data: bytes, name: str) -> EmailMessage:
    """The mail's tree of parts. Raises UnreadableFile where it has too many parts."""
    if data.count(b"\n--") > 50 * _MOST_PARTS:
        raise UnreadableFile(
            Text("{name} has more than {most_parts:,} parts", name=name, most_parts=_MOST_PARTS)
        )
    try:
        message = BytesParser(policy=policy.default).parsebytes(data)
        parts = sum(1 for _ in message.walk())
    except RecursionError:
        raise UnreadableFile(
            Text("{name} nests too deep: mails in mails in mails", name=name)
        ) from None
    if parts > _MOST_PARTS:
        raise UnreadableFile(
            Text("{name} has more than {most_parts:,} parts", name=name, most_parts=_MOST_PARTS)
        )
    return message


def read_header(message: EmailMessage, key: str) -> str:
    """A header as a person reads it, on one line; without an encoding, by its bytes."""
    raw = next((value for field, value in message.raw_items() if field.lower() == key.lower()), "")
    raw = _SEAM.sub("?==?", " ".join(str(raw).split()))[:_LONGEST_HEADER]
    # bytes that the header should have encoded
    if any("\udc80" <= char <= "\udcff" for char in raw):
        raw = decode_text(raw.encode("utf-8", "surrogateescape"), key)[0]
    return " ".join(clean_text(_decode_words(raw) if _ENCODED.search(raw) else raw).split())


def _decode_words(raw: str) -> str:
    """Encoded words are joined before they are decoded: mailers cut characters in two."""
    parts: list[tuple[bytes, str]] = []
    for piece, charset in decode_header(raw):
        data = piece.encode("utf-8", "surrogateescape") if isinstance(piece, str) else piece
        label = _normalize_charset(charset or "ascii")
        if parts and parts[-1][1] == label:
            parts[-1] = (parts[-1][0] + data, label)
        else:
            parts.append((data, label))
    return "".join(_decode_text(data, label) for data, label in parts)


def _normalize_charset(label: str) -> str:
    label = label.lower().strip("\"' ")
    if label in {"gb2312", "gbk", "gb_2312-80", "x-gbk", "cp936"}:
        return "gb18030"
    return {
        "us-ascii": "ascii",
        "iso-8859-1": "cp1252",
        "unknown-8bit": "",
        "default": "",
        "big5": "big5hkscs",
    }.get(label, label)


def _decode_text(data: bytes, label: str) -> str:
    """Bytes in a declared encoding; where that is unknown or wrong they decide themselves."""
    try:
        return data.decode(label)
    except (LookupError, UnicodeDecodeError, ValueError):
        return decode_text(data, "a mail")[0] if data else ""


def _add_body(message: EmailMessage, assembly: Assembly, warnings: list[str]) -> None:
    """Every text of the mail itself; of alternatives the plain one, unless it points to HTML."""
    for choice in _group_texts(message):
        plain = next(
            (
                read_content(part, warnings)
                for part in choice
                if part.get_content_subtype() != "html"
            ),
            "",
        )
        html = next(
            (
                read_content(part, warnings)
                for part in choice
                if part.get_content_subtype() == "html"
            ),
            "",
        )
        if html and (
            not plain.strip() or (len(plain) < _STUB and len(_extract_words(html)) > 4 * len(plain))
        ):
            read_html(html, assembly)
        else:
            for block in _BLANK.split(clean_text(plain)):
                assembly.block(block)


def _group_texts(message: EmailMessage) -> Iterator[list[EmailMessage]]:
    """The texts that are no attachments, in order; those that say the same in two ways together."""
    parts: list[EmailMessage] = [message]
    while parts:
        part = parts.pop()
        kind = part.get_content_type()
        below = (
            [each for each in part.iter_parts() if isinstance(each, EmailMessage)]
            if part.is_multipart()
            else []
        )
        if kind == "multipart/alternative":
            yield [
                leaf
                for each in below
                for leaf in _collect_leaves(each)
                if leaf.get_content_maintype() == "text"
            ]
        elif part.get_content_maintype() == "multipart":
            parts += reversed(below)
        elif part.get_content_maintype() == "text" and not _is_attachment(part):
            yield [part]


def _collect_leaves(part: EmailMessage) -> list[EmailMessage]:
    """The parts below one of several alternatives: HTML comes with its pictures."""
    return [each for each in part.walk() if not each.is_multipart() and not _is_attachment(each)]


def _extract_words(html: str) -> str:
    assembly = Assembly()
    read_html(html, assembly)
    return assembly.text


def read_content(part: EmailMessage, warnings: list[str]) -> str:
    """The text of a part in the encoding that it declares."""
    data = decode_payload(part)
    label = _normalize_charset(str(part.get_content_charset() or ""))
    if not label:
        decoded, more = decode_text(data, "a mail") if data.strip() else ("", [])
        warnings += more
        return decoded
    return _decode_text(data, label)


def decode_payload(part: EmailMessage) -> bytes:
    """The bytes of a part, its transfer encoding undone."""
    data = part.get_payload(decode=True)
    return data if isinstance(data, bytes) else b""


def extract_attachments(data: bytes, name: str) -> Iterator[tuple[str, bytes]]:
    """Files attached to a mail, mails as .eml; not the pictures that stand inside its HTML."""
    return _extract_files(_parse_message(data, name))


def _extract_files(message: EmailMessage) -> Iterator[tuple[str, bytes]]:
    inside: set[int] = set()
    for number, part in enumerate(message.walk()):
        if id(part) in inside:
            continue
        if part.get_content_type() == MEDIA_TYPE:
            inside |= {id(each) for each in part.walk()}
            nested = part.get_payload(0) if part.is_multipart() else None
            if isinstance(nested, EmailMessage):
                yield (
                    f"{_make_file_name(read_header(nested, 'Subject')) or f'mail {number}'}.eml",
                    nested.as_bytes(),
                )
        elif not part.is_multipart() and _is_attachment(part):
            yield _get_attachment_name(part, number), decode_payload(part)


def _is_attachment(part: EmailMessage) -> bool:
    inline = part.get_content_maintype() == "image" and (
        part.get("Content-ID") or part.get_content_disposition() == "inline"
    )
    return not inline and bool(
        part.get_filename() or part.get_content_disposition() == "attachment"
    )


def _get_attachment_name(part: EmailMessage, number: int) -> str:
    raw = str(part.get_filename() or "")
    named = " ".join(clean_text(_decode_words(raw) if _ENCODED.search(raw) else raw).split())
    return named or f"attachment {number}{mimetypes.guess_extension(part.get_content_type()) or ''}"


def _make_file_name(subject: str) -> str:
    return _NAMED.sub(" ", subject).strip()[:80]
