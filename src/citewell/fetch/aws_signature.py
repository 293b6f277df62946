"""Requests to S3, signed: AWS Signature Version 4, as Amazon's documentation has it. The key itself
is never sent, and a signature is good for one request and some minutes. A test compares with
Amazon's own library, which is 32 MB.
"""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote, urlsplit

_ALGORITHM: Final = "AWS4-HMAC-SHA256"
_NOTHING: Final = hashlib.sha256(b"").hexdigest()  # of a request without a body


@dataclass(frozen=True, slots=True)
class AwsKey:
    key_id: str
    secret: str = field(repr=False)
    region: str


def sign_request(
    key: AwsKey, method: str, url: str, query: Mapping[str, str], now: float | None = None
) -> dict[str, str]:
    """The headers that sign a request without a body. `url`: as it is sent, without `query`, whose
    values are not escaped yet. `now`: seconds since the epoch.
    """
    at = time.gmtime(now)
    day, moment = time.strftime("%Y%m%d", at), time.strftime("%Y%m%dT%H%M%SZ", at)
    parts = urlsplit(url)
    headers = {"host": parts.netloc, "x-amz-content-sha256": _NOTHING, "x-amz-date": moment}
    names = ";".join(sorted(headers))
    asked = "&".join(
        f"{quote(name, safe='-_.~')}={quote(value, safe='-_.~')}"
        for name, value in sorted(query.items())
    )
    lines = [f"{name}:{headers[name]}" for name in sorted(headers)]
    canonical = "\n".join([method, parts.path or "/", asked, *lines, "", names, _NOTHING])
    scope = f"{day}/{key.region}/s3/aws4_request"
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    signature = hmac.new(
        _derive_key(key, day), f"{_ALGORITHM}\n{moment}\n{scope}\n{digest}".encode(), "sha256"
    ).hexdigest()
    signed = f"Credential={key.key_id}/{scope}, SignedHeaders={names}, Signature={signature}"
    return {
        "x-amz-content-sha256": _NOTHING,
        "x-amz-date": moment,
        "Authorization": f"{_ALGORITHM} {signed}",
    }


def _derive_key(key: AwsKey, day: str) -> bytes:
    signing = f"AWS4{key.secret}".encode()
    for part in (day, key.region, "s3", "aws4_request"):
        signing = hmac.digest(signing, part.encode(), "sha256")
    return signing
