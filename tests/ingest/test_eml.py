"""Mails to documents, and what is attached to them."""

from __future__ import annotations

import base64
from email.message import EmailMessage
from pathlib import Path

import pytest

from citewell.config import IngestSettings
from citewell.errors import UnreadableFile
from citewell.ingest.web import eml

SETTINGS = IngestSettings()


def mail(**headers: str) -> EmailMessage:
    message = EmailMessage()
    values = {
        "From": "Ann <ann@example.com>",
        "To": "bob@example.com",
        "Date": "Tue, 05 Mar 2024 09:00:00 +0100",
        "Subject": "Hi",
    }
    for key, value in {**values, **headers}.items():
        message[key] = value
    return message


def test_headers_then_text() -> None:
    """Headers as people read them, then the plain text with the reply that it quotes; the date and
    title are the mail's.
    """
    message = mail(Subject="会议 and naïve")
    message.set_content("Dear Bob,\nsee you.\n\n> On Monday you wrote:\n> When?\n")
    message.add_alternative("<p>HTML</p>", subtype="html")
    document = eml.parse(message.as_bytes(), "x.eml", SETTINGS)
    assert (document.title, document.dated, document.media_type) == (
        "会议 and naïve",
        1709625600.0,
        "message/rfc822",
    )
    assert document.text == (
        "From: Ann <ann@example.com>\nTo: bob@example.com\nDate: Tue, 05 Mar 2024 09:00:00 "
        "+0100\nSubject: 会议 and naïve\n\n"
        "Dear Bob,\nsee you.\n\n> On Monday you wrote:\n> When?"
    )


def test_html_where_there_is_nothing_else() -> None:
    """HTML is read where there is no plain text, or one that only says so."""
    for plain in ("", "View this mail in a browser."):
        message = mail()
        if plain:
            message.set_content(plain)
            message.add_alternative(f"<h1>News</h1><p>{'Long text. ' * 40}</p>", subtype="html")
        else:
            message.set_content(f"<h1>News</h1><p>{'Long text. ' * 40}</p>", subtype="html")
        document = eml.parse(message.as_bytes(), "x.eml", SETTINGS)
        assert "News\n\nLong text." in document.text
        assert "browser" not in document.text


@pytest.mark.parametrize("label", ["gb2312", "gbk", "GB18030", "big5", "utf-8", "x-unknown", ""])
def test_chinese_headers_and_bodies(label: str) -> None:
    """Encoded words cut in the middle of a character, bodies in any declared encoding, and raw
    bytes without one.
    """
    encoding = {"big5": "big5", "utf-8": "utf-8"}.get(label, "gb18030")
    title, body = (
        ("會議通知：三樓", "各位同事，會議在下午三點開始。")
        if label == "big5"
        else ("会议通知：三楼", "各位同事，会议在下午三点开始。")
    )
    raw = title.encode(encoding)
    words = [base64.b64encode(piece).decode() for piece in (raw[:7], raw[7:])]
    subject = " ".join(f"=?{label}?B?{word}?=" for word in words).encode() if label else raw
    declared = f"; charset={label}" if label else ""
    data = (
        b"Subject: "
        + subject
        + f"\nContent-Type: text/plain{declared}\n\n".encode()
        + body.encode(encoding)
    )
    document = eml.parse(data, "x.eml", SETTINGS)
    assert document.title == title
    assert body in document.text


def test_every_text_part_is_read() -> None:
    """Mailers put text before and after a picture in parts of their own: all of it is the mail."""
    data = (
        b"Subject: s\nContent-Type: multipart/mixed; boundary=B\n\n--B\nContent-Type: "
        b"text/plain\n\nbefore\n"
        b"--B\nContent-Type: image/png; name=a.png\nContent-Disposition: inline\n\nx\n"
        b"--B\nContent-Type: text/plain\n\nafter\n--B--\n"
    )
    assert eml.parse(data, "x.eml", SETTINGS).text == "Subject: s\n\nbefore\n\nafter"


def test_attachments() -> None:
    """Files and forwarded mails are attachments, named in the text; a picture shown in the HTML is
    not.
    """
    message = mail()
    message.set_content("See attached.")
    message.add_attachment(b"%PDF-1.4", maintype="application", subtype="pdf", filename="合同.pdf")
    message.add_attachment(
        b"png", maintype="image", subtype="png", cid="<logo>", disposition="inline"
    )
    inner = mail(Subject="Older: plan?")
    inner.set_content("inner")
    message.add_attachment(inner)
    found = list(eml.extract_attachments(message.as_bytes(), "x.eml"))
    assert [name for name, _ in found] == ["合同.pdf", "Older  plan.eml"]
    assert found[0][1] == b"%PDF-1.4"
    assert "inner" in eml.parse(found[1][1], "y.eml", SETTINGS).text
    assert eml.parse(message.as_bytes(), "x.eml", SETTINGS).text.endswith(
        "Attachments: 合同.pdf, Older  plan.eml"
    )


def test_what_is_no_mail() -> None:
    """A file that only has the name of a mail is read as the text it is, with a warning."""
    document = eml.parse(b"\nJust some notes.", "x.eml", SETTINGS)
    assert (document.text, document.warnings) == (
        "Just some notes.",
        ("it is not a mail: it has no headers",),
    )


def test_too_many_parts() -> None:
    """A mail of thousands of parts is refused with that reason."""
    part = b"--B\nContent-Type: text/plain\n\nx\n"
    with pytest.raises(UnreadableFile, match="more than 2,000 parts"):
        eml.parse(
            b"Subject: s\nContent-Type: multipart/mixed; boundary=B\n\n"
            + part * 2_500
            + b"--B--\n",
            "x.eml",
            SETTINGS,
        )


def test_a_mail_of_others(shared_data: Path) -> None:
    """A real mail and its attachment."""
    path = shared_data / "ingest" / "docling" / "email" / "eml_with_attachment.eml"
    document = eml.parse(path.read_bytes(), path.name, SETTINGS)
    assert document.title == "Email with Attachment"
    assert "This email contains an attachment." in document.text
    assert [name for name, _ in eml.extract_attachments(path.read_bytes(), path.name)] == [
        "test.txt"
    ]
