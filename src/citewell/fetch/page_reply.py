"""What comes back of a request for a page: its body, within its limits, or the error that says why
there is none. A body is read piece by piece and unpacked on the way, so that none is larger than
was asked for.
"""

from __future__ import annotations

import contextlib
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio

from citewell.errors import CitewellError, PermanentError, TransientError, UnreadableFile
from citewell.fetch.hosts import format_retry_hint, parse_retry_after
from citewell.messages import Text

if TYPE_CHECKING:
    import httpx2

AGAIN = {408, 425, 429}  # and every 5xx
TOO_LARGE = "too_large"  # code of the error
_UNPACKED = {"", "identity", "gzip", "x-gzip", "deflate", "br"}
# of a reply that is no page: read, so that its connection can be used again, unless it is longer or
# slower than this
_REST = 64_000
_REST_SECONDS = 0.5

Readable = Callable[[str, str], bool]


@dataclass(frozen=True, slots=True)
class Page:
    """What came of `url`, from `final_url` (both canonical). `charset` is what the header says, or
    empty. With `not_modified` there is no `data`: it is as it was when `etag` or `last_modified`
    was given. `fetched_at`: seconds since the epoch. `redirects`: the addresses that led on, `url`
    first; none where nothing did. `robots_tag`: what the header `X-Robots-Tag` wants of programs,
    in small letters, such as `noindex, nofollow`.
    """

    url: str
    final_url: str
    status: int
    media_type: str
    charset: str
    data: bytes
    etag: str
    last_modified: str
    fetched_at: float
    not_modified: bool = False
    notes: tuple[str, ...] = ()
    redirects: tuple[str, ...] = ()
    robots_tag: str = ""


@dataclass(frozen=True, slots=True)
class Wanted:
    """`readable` None: any media type. `cut`: what is over `most` bytes is left out, else it is an
    error. `attempts`: how often each request is made, at most. `within`: where a redirect may lead;
    None: anywhere.
    """

    most: int
    attempts: int
    readable: Readable | None = None
    cut: bool = False
    within: Callable[[str], bool] | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    url: str
    status: int
    headers: httpx2.Headers
    data: bytes = b""
    notes: tuple[str, ...] = ()
    redirects: tuple[str, ...] = ()


async def read_body(response: httpx2.Response, url: str, wanted: Wanted) -> bytes:
    """The body, unpacked piece by piece, so that a small one that grows without end is noticed."""
    media_type = _get_media_type(response.headers)
    if wanted.readable is not None and not wanted.readable(media_type, url):
        raise UnreadableFile(
            Text(
                "{url}: it is {media_type}, which cannot be read",
                url=url,
                media_type=media_type or Text("of an unknown type"),
            )
        )
    packed = response.headers.get("content-encoding", "").strip().lower()
    if packed not in _UNPACKED:
        raise UnreadableFile(
            Text(
                "{url}: it comes packed as {packed}, which was not asked for",
                url=url,
                packed=packed[:40],
            )
        )
    length = response.headers.get("content-length", "")
    if (
        not wanted.cut
        and length.isascii()
        and length.isdigit()
        and len(length) < 20
        and int(length) > wanted.most
    ):
        raise _make_size_error(url, wanted.most)
    data = bytearray()
    async for part in response.aiter_bytes():
        data += part
        if len(data) > wanted.most:
            if wanted.cut:
                return bytes(data[: wanted.most])
            raise _make_size_error(url, wanted.most)
    return bytes(data)


async def discard_body(response: httpx2.Response) -> None:
    import httpx2

    left = _REST
    # then the connection is not used again
    with contextlib.suppress(httpx2.HTTPError), anyio.move_on_after(_REST_SECONDS):
        async for part in response.aiter_raw():
            left -= len(part)
            if left < 0:
                return


def build_page(url: str, reply: Reply, *, conditional: bool) -> Page:
    if reply.status != 200 and not (reply.status == 304 and conditional):
        raise make_status_error(reply.url, reply)
    headers = reply.headers
    return Page(
        url=url,
        final_url=reply.url,
        status=reply.status,
        media_type=_get_media_type(headers),
        charset=(
            headers.get("content-type", "")
            .lower()
            .partition("charset=")[2]
            .split(";")[0]
            .strip(" \"'")
        ),
        data=reply.data,
        etag=headers.get("etag", ""),
        last_modified=headers.get("last-modified", ""),
        fetched_at=time.time(),
        not_modified=reply.status == 304,
        notes=reply.notes,
        redirects=reply.redirects,
        robots_tag=str(headers.get("x-robots-tag", "")).lower(),
    )


def _get_media_type(headers: httpx2.Headers) -> str:
    return str(headers.get("content-type", "")).split(";")[0].strip().lower()


def _make_size_error(url: str, most: int) -> UnreadableFile:
    return UnreadableFile(
        Text("{url}: larger than {most:,} bytes", url=url, most=most),
        hint=Text("setting web.page_bytes says how large a page may be"),
        code=TOO_LARGE,
    )


def make_status_error(url: str, reply: Reply) -> CitewellError:
    status = reply.status
    if status in AGAIN or status >= 500:
        pause = parse_retry_after(
            reply.headers.get("retry-after", ""), reply.headers.get("date", "")
        )
        if pause is not None:
            return TransientError(
                Text("{url}: status {status}", url=url, status=status),
                hint=format_retry_hint(pause),
                code="paused",
            )
        return TransientError(
            Text("{url}: status {status}", url=url, status=status),
            hint=Text("the site is busy or failing; try again later"),
            code="site_busy",
        )
    if status in {404, 410}:
        return PermanentError(
            Text("{url}: status {status}", url=url, status=status),
            hint=Text("there is no such page"),
            code="page_missing",
        )
    if status in {401, 402, 403, 407, 451}:
        hint = Text(
            "the site does not show it to everyone; save the page as a file and add the file"
        )
        return PermanentError(
            Text("{url}: status {status}", url=url, status=status), hint=hint, code="page_refused"
        )
    return PermanentError(
        Text("{url}: status {status}", url=url, status=status),
        hint=Text("see that the address is right"),
    )


def make_connection_error(url: str, error: httpx2.HTTPError) -> CitewellError:
    import httpx2

    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            why = Text(
                "its certificate is refused: {verify_message}", verify_message=cause.verify_message
            )
            hint = Text("for a host of yours, SSL_CERT_FILE names the certificates to trust")
            return PermanentError(
                Text("{url}: {why}", url=url, why=why), hint=hint, code="bad_certificate"
            )
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, httpx2.DecodingError):
        return UnreadableFile(Text("{url}: its bytes are packed wrongly", url=url))
    # httpx's own words may name the address that was tried; inside a house that is nobody's
    # business
    why = (
        Text("no connection")
        if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout)
        else Text("the connection broke")
    )
    return TransientError(
        Text("{url}: {why}", url=url, why=why),
        hint=Text("is the site there? try again later"),
        code="no_connection",
    )
