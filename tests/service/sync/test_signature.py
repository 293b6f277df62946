"""Our signature of a request to S3 is the one that Amazon's own library makes."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from urllib.parse import quote

import pytest
from botocore import auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from citewell.fetch.aws_signature import AwsKey, sign_request

LETTERS = "aZ09-_.~ /+=&?%#$'()*!@:;,\"<>[]中文é"


def test_signature(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(200):
        sign_both(random.Random(seed), monkeypatch)


def sign_both(chance: random.Random, monkeypatch: pytest.MonkeyPatch) -> None:
    """A request made by chance, signed by them and by us."""

    def draw(most: int) -> str:
        return "".join(chance.choices(LETTERS, k=chance.randint(1, most)))

    now = chance.uniform(1e9, 2e9)
    moment = datetime.fromtimestamp(int(now), UTC)
    monkeypatch.setattr(auth, "get_current_datetime", lambda remove_tzinfo=True: moment)
    secret, key = "secret-" + draw(40), "/".join(draw(12).strip("/") or "x" for _ in range(3))
    names = ("list-type", "prefix", "continuation-token", "encoding-type")
    query = {name: draw(20) for name in names[: chance.randint(0, 4)]}
    url = f"https://minio.example.com:9000/bucket/{quote(key)}"
    asked = "&".join(f"{name}={quote(value, safe='')}" for name, value in sorted(query.items()))
    request = AWSRequest("GET", f"{url}?{asked}" if asked else url)
    signer = auth.S3SigV4Auth(Credentials("KEYID", secret), "s3", "eu-central-1")
    request.context["payload_signing_enabled"] = True
    signer.add_auth(request)
    ours = sign_request(AwsKey("KEYID", secret, "eu-central-1"), "GET", url, query, now)
    assert ours["Authorization"] == request.headers["Authorization"]
    assert ours["x-amz-date"] == request.headers["X-Amz-Date"]
    assert secret not in repr(AwsKey("KEYID", secret, "eu-central-1"))
