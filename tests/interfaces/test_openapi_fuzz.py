"""The server against its own description: schemathesis sends every operation what the description
allows, and what it does not.

The one rule: what comes back is what the description says: its statuses, its types, its shapes, and
never a fault of ours. `CITEWELL_FUZZ=300 pytest tests/interfaces/test_openapi_fuzz.py` sends that
many cases an operation, and follows links.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.routing import iter_route_contexts
from tests.interfaces.auth import MANY
from tests.interfaces.fuzzing import fuzz, seed, serving

from citewell.config import Settings
from citewell.interfaces.http import create_app
from citewell.runtime.app import App

DEPTH = int(os.environ.get("CITEWELL_FUZZ", "0"))
CHECKS = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "unsupported_method",
    "allow_header_conformance",
    "missing_required_header",
    "ignored_auth",
]
# Not asked for: `negative_data_rejection` and `positive_data_acceptance` (what a question may say
# depends on what is kept, which no schema tells), `use_after_free` and
# `ensure_resource_availability` (several cases share what is there and delete it),
# `object_level_authorization` (it takes two users; tests/interfaces/test_auth_crossing.py tries
# every path with them).
NOT_DESCRIBED = {
    "/": "the page, for people",
    "/assets/{path}": "the page's files",
    "/mcp": "its protocol has a description of its own; tests/interfaces/test_mcp_http.py",
    "/widget.js": "a script for pages of other sites",
    "/api/openapi.json": "the description itself",
    "/api/docs": "the same for people",
}


@pytest.fixture(scope="module")
def description(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    home = tmp_path_factory.mktemp("home")
    made: dict[str, Any] = create_app(App(Settings(home=home, cache=home))).openapi()
    return made


def operations(description: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


# Hypothesis takes it for its own strategies that the server, a thread of this process, draws the
# jitter of its retries meanwhile
@pytest.mark.filterwarnings("ignore:Do not use the `random` module")
@pytest.mark.parametrize("auth", ["none", "token"])
def test_every_operation_does_what_it_says(
    auth: str, settings: Settings, description: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No fault, no undocumented status, type or shape, no way in without a token. Each boundary of
    each parameter is tried with users; without, what is made up.
    """
    usual = ["fuzzing", *(["coverage"] if auth == "token" else [])]
    phases = ["fuzzing", "coverage", "stateful"] if DEPTH else usual
    settings = settings.model_copy(update={"auth": auth, "access": MANY})
    # so that nothing sent here names a server of models, or begins to fetch one
    monkeypatch.setenv("CITEWELL_LLM", "scripted")
    monkeypatch.setenv("CITEWELL_WEB__PROVIDER", "none")
    with serving(settings) as (url, token):
        known = seed(url, token)
        run = fuzz(url, token, known, examples=DEPTH or 1, checks=CHECKS, phases=phases)
    assert run.failures == []
    missed = {label for label, _ in operations(description)} - set(run.cases)
    assert missed == set(), "every operation was sent something"
    assert run.statuses[200] > 60, run.statuses
    assert run.slowest[0] < 30, run.slowest


def test_what_is_not_described_is_named(settings: Settings, description: dict[str, Any]) -> None:
    """A new path is in the description, and so in the test above, or here with a reason."""
    http = create_app(App(settings))
    paths = {re.sub(r":path\}", "}", str(route.path)) for route in _routes(http)}
    assert paths - set(description["paths"]) <= set(NOT_DESCRIBED)
    assert len(paths) > 60


def _routes(http: Any) -> Iterator[Any]:
    for context in iter_route_contexts(http.routes):
        if context.path:
            yield context


def test_a_client_can_be_made_of_it(description: dict[str, Any]) -> None:
    """What makers of clients need: names for methods and types, words for people, the shape of
    errors, how to sign in.
    """
    every = dict(operations(description))
    names = [operation["operationId"] for operation in every.values()]
    assert len(set(names)) == len(names)
    assert [name for name in names if not re.fullmatch(r"[a-z]+(_[a-z]+)*", name)] == []
    assert [label for label, operation in every.items() if not operation.get("description")] == []
    told = [
        (label, each["name"])
        for label, of in every.items()
        for each in of.get("parameters", [])
        if not each.get("description")
    ]
    assert told == []
    tags = {tag["name"] for tag in description["tags"] if tag["description"]}
    assert {tag for operation in every.values() for tag in operation["tags"]} == tags
    schemas = description["components"]["schemas"]
    assert [name for name in schemas if not re.fullmatch(r"[A-Z][A-Za-z0-9]*", name)] == []
    for label, operation in every.items():
        for status, reply in operation["responses"].items():
            assert reply["description"], (label, status)
            if status.startswith(("4", "5")) and status != "503":
                assert "Problem" in str(reply["content"]["application/json"]["schema"]), (
                    label,
                    status,
                )


def test_who_signs_in_is_described(settings: Settings, description: dict[str, Any]) -> None:
    """Without users a token is not needed; with them every operation but the open ones says that it
    is.
    """
    every = dict(operations(description))
    assert {} in every["GET /api/traces"]["security"]
    signed = dict(
        operations(create_app(App(settings.model_copy(update={"auth": "token"}))).openapi())
    )
    assert signed["GET /api/traces"]["security"] == [{"token": []}, {"cookie": []}]
    free = {label for label, operation in signed.items() if operation["security"] == []}
    assert free == {"GET /api/health", "GET /api/ready", "POST /api/sign-in"}


def test_home_is_the_tests_own(settings: Settings, tmp_path: Path) -> None:
    """What is sent a thousand times over must not be sent to somebody's own installation."""
    assert settings.home.is_relative_to(tmp_path)
