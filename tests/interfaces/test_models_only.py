"""`citewell serve --models-only`: the built-in embedder and reader for other machines."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.interfaces.serving import Server, bench

from citewell.config import Settings
from citewell.errors import ModelUnavailable
from citewell.models import remote
from citewell.models.builtin.embedder import BuiltinEmbedder
from citewell.models.builtin.reader import BuiltinReader
from citewell.models.providers import build_embedder, build_reader
from citewell.models.remote import RemoteEmbedder, RemoteReader

TEXTS = ["The lamp is electric.", "灯塔建于 1857 年。", "", "x" * 3000, "The lamp is electric."]


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Server]]:
    folder = tmp_path_factory.mktemp("models")
    settings = Settings(home=folder / "home", cache=folder / "cache")
    served = bench(settings, folder)
    only = ("--models-only",)
    with (
        served.serve([], options=only, embedder="builtin", reader="builtin") as first,
        served.serve([], options=only, embedder="builtin", reader="builtin") as second,
    ):
        yield first, second


@pytest.fixture
def settings(servers: tuple[Server, Server], tmp_path: Path) -> Settings:
    addresses = ", ".join(each.url for each in servers)
    return Settings(home=tmp_path, cache=tmp_path, models_url=addresses, models_timeout=20.0)


async def test_vectors_are_those_of_this_process(settings: Settings) -> None:
    there, here = build_embedder(settings), BuiltinEmbedder(settings)
    assert isinstance(there, RemoteEmbedder)
    assert (there.name, there.dim) == (here.name, here.dim)
    assert np.array_equal(await there.passages(TEXTS * 7), await here.passages(TEXTS * 7))
    assert np.array_equal(await there.query("Which lamp?"), await here.query("Which lamp?"))
    assert (await there.passages([])).shape == (0, 384)
    await there.close()


async def test_readings_are_those_of_this_process(settings: Settings) -> None:
    there, here = build_reader(settings), BuiltinReader(settings)
    assert isinstance(there, RemoteReader)
    assert there.name == here.name
    assert there.judges == here.judges
    question, pairs = "Which lamp is it?", [("The lamp is electric.", text) for text in TEXTS]
    assert await there.read(question, TEXTS, ["Lamps"] * 5) == await here.read(
        question, TEXTS, ["Lamps"] * 5
    )
    assert await there.judge(pairs) == await here.judge(pairs)
    if here.same_threshold is not None:
        assert await there.compare_questions(pairs[:2]) == await here.compare_questions(pairs[:2])
    await there.close()


async def test_nothing_else_is_served(servers: tuple[Server, Server]) -> None:
    server = servers[0]
    assert server.get("/api/health").status_code == 200
    for path in ("/", "/api/collections", "/api/sessions", "/assets/app.js", "/mcp"):
        assert server.get(path).status_code == 404, path
    assert server.post("/api/ask", {"question": "?"}).status_code == 404
    assert server.post(
        "/v1/embeddings", {"model": "builtin:multilingual-e5-small", "input": "x"}
    ).is_success


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("vectors", {"texts": []}),
        ("vectors", {"texts": ["x"] * 513}),
        ("vectors", {"texts": ["x" * 100_001]}),
        ("readings", {"tasks": [{"kind": 3, "first": "", "second": ""}]}),
        ("readings", {"tasks": "x"}),
    ],
)
async def test_wrong_bodies_are_refused(
    servers: tuple[Server, Server], path: str, body: dict[str, object]
) -> None:
    reply = servers[0].post(f"/api/models/{path}", body)
    assert reply.status_code == 422
    assert reply.json()["error"]


async def test_another_release_is_refused(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "__version__", "0.0.0")
    there = build_embedder(settings)
    with pytest.raises(ModelUnavailable, match="release"):
        await there.query("Which lamp?")
    await there.close()


async def test_a_name_that_the_server_does_not_know(
    servers: tuple[Server, Server], settings: Settings
) -> None:
    address = servers[0].url.replace("127.0.0.1", "127.1")
    there = build_embedder(settings.model_copy(update={"models_url": address}))
    with pytest.raises(ModelUnavailable, match="421") as error:
        await there.query("Which lamp?")
    assert "access.hosts" in (error.value.hint or "")
    await there.close()


async def test_a_dead_server_is_left_out(
    servers: tuple[Server, Server], settings: Settings
) -> None:
    """The last test of this file: it kills one of the two, then the other."""
    there, here = build_embedder(settings), BuiltinEmbedder(settings)
    servers[0].send(signal.SIGKILL)
    servers[0].stops()
    texts = [f"lamp {n}" for n in range(40)]
    assert np.array_equal(await there.passages(texts), await here.passages(texts))
    servers[1].send(signal.SIGKILL)
    servers[1].stops()
    with pytest.raises(ModelUnavailable) as error:
        await there.query("a text that is not remembered")
    assert "models_url" in (error.value.hint or "")
    await there.close()


def test_without_the_builtin_model_there_is_none_to_lend(tmp_path: Path) -> None:
    served = bench(Settings(home=tmp_path / "home", cache=tmp_path / "cache"), tmp_path)
    with served.serve([], options=("--models-only",)) as server:  # scripted embedder and reader
        for path, body in (
            ("vectors", {"texts": ["x"]}),
            ("readings", {"tasks": [{"kind": 1, "first": "a", "second": "b"}]}),
        ):
            reply = server.post(f"/api/models/{path}", body)
            assert reply.status_code == 404
            assert "built-in" in reply.json()["error"]["message"]
