"""A server that speaks S3, with the bucket `files`, and the environment in which it is found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import boto3
from moto.server import ThreadedMotoServer


@contextmanager
def serve_bucket() -> Iterator[tuple[ThreadedMotoServer, dict[str, str]]]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    address = f"http://127.0.0.1:{server.get_host_and_port()[1]}"
    environment = {
        "AWS_ENDPOINT_URL": address,
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_REGION": "us-east-1",
    }
    open_client(environment).create_bucket(Bucket="files")
    yield server, environment
    server.stop()


def open_client(environment: Mapping[str, str]) -> Any:
    return boto3.client(
        "s3",
        endpoint_url=environment["AWS_ENDPOINT_URL"],
        aws_access_key_id="key",
        aws_secret_access_key="secret",
        region_name="us-east-1",
    )


def fill_bucket(environment: Mapping[str, str], folder: Path, prefix: str) -> None:
    """With the files of a folder."""
    client = open_client(environment)
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            key = prefix + path.relative_to(folder).as_posix()
            client.put_object(Bucket="files", Key=key, Body=path.read_bytes())
