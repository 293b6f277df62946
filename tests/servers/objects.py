"""A server that speaks S3 (moto's), with the bucket `files`, and ways for it to fail.

The one rule: it listens on the loopback, and ends with the test.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import boto3
import httpx
import pytest
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

KEYS = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1"}
Environ = dict[str, Any]


class ObjectServer:
    """`fault`: what it does instead of answering a request, told its WSGI environment; None: it
    answers. `asked`: method and path of each request.
    """

    def __init__(self) -> None:
        self.fault: Callable[[Environ], int | None] = lambda _: None
        self.asked: list[str] = []
        self._moto: Any = DomainDispatcherApplication(create_backend_app)
        self._server = make_server("127.0.0.1", 0, self._answer, threaded=True)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), daemon=True
        )
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        httpx.post(f"{self.url}/moto-api/reset", trust_env=False).raise_for_status()
        self.client = boto3.client(
            "s3",
            endpoint_url=self.url,
            region_name=KEYS["AWS_REGION"],
            aws_access_key_id=KEYS["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=KEYS["AWS_SECRET_ACCESS_KEY"],
        )
        self.client.create_bucket(Bucket="files")

    def _answer(self, environ: Environ, start: Any) -> Iterable[bytes]:
        self.asked.append(f"{environ['REQUEST_METHOD']} {environ['PATH_INFO']}")
        status = self.fault(environ)
        if status is None:
            return self._moto(environ, start)  # type: ignore[no-any-return]
        start(f"{status} Fault", [("Content-Length", "0")])
        return []

    def list_keys(self) -> list[str]:
        found = self.client.list_objects_v2(Bucket="files").get("Contents", [])
        return sorted(each["Key"] for each in found)

    @property
    def environ(self) -> dict[str, str]:
        return {"AWS_ENDPOINT_URL": self.url, "CITEWELL_OBJECTS_URL": "s3://files/house", **KEYS}

    def stop(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def object_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ObjectServer]:
    """With the environment set to it, the address of the store apart."""
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    server = ObjectServer()
    monkeypatch.setenv("AWS_ENDPOINT_URL", server.url)
    yield server
    server.stop()
