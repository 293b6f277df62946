"""`/api/docs`: the API for people to read, made of `/api/openapi.json`. It is plain HTML and runs
no script, so nothing of it can come from elsewhere; what it says is what the description says.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from fastapi import APIRouter, Request, Response
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from citewell.interfaces.http.page.page_routes import POLICY
from citewell.interfaces.http.security.guard import SAFE

router = APIRouter(include_in_schema=False)

_CODE = re.compile(r"`([^`]+)`")
_REF = "#/components/schemas/"


class Field(NamedTuple):
    """A parameter, or a field of a body. `kind` is HTML, with links to the shapes that it names."""

    name: str
    kind: Markup
    required: bool
    about: str


class Operation(NamedTuple):
    """What can be done at a path. `body` and `reply` are kinds, empty where there is none."""

    name: str
    method: str
    path: str
    about: str
    parameters: list[Field]
    body: Markup
    reply: Markup
    statuses: dict[str, str]
    example: str


@router.get("/api/docs")
async def show_api(request: Request) -> Response:
    """The page, the same for everybody who may read it."""
    page = render_api(json.dumps(request.app.openapi()))
    headers = {**SAFE, "Content-Security-Policy": POLICY.format(inline="")}
    return Response(page, media_type="text/html; charset=utf-8", headers=headers)


@cache
def render_api(description: str) -> str:
    """The page of a description, which is JSON."""
    api = json.loads(description)
    environment = Environment(
        loader=PackageLoader("citewell.interfaces.http", "page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["prose"] = format_prose
    operations = list(_list_operations(api))
    return environment.get_template("api.html").render(
        about=api["info"]["summary"],
        version=api["info"]["version"],
        groups=[
            (
                tag["name"],
                tag["description"],
                [each for name, each in operations if name == tag["name"]],
            )
            for tag in api["tags"]
        ],
        shapes=[
            (name, shape.get("description", ""), _list_fields(shape))
            for name, shape in sorted(api["components"]["schemas"].items())
        ],
    )


def format_prose(text: str) -> Markup:
    """Words of the description: paragraphs, and what stands in backquotes as code."""
    paragraphs = [" ".join(part.split()) for part in text.split("\n\n") if part.strip()]
    coded = (_CODE.sub(r"<code>\1</code>", str(escape(part))) for part in paragraphs)
    return Markup("".join(f"<p>{part}</p>" for part in coded))  # noqa: S704 - escaped above


def _list_operations(api: Mapping[str, Any]) -> Iterator[tuple[str, Operation]]:
    for path, methods in api["paths"].items():
        for method, said in methods.items():
            body = said.get("requestBody", {}).get("content", {})
            yield (
                said["tags"][0],
                Operation(
                    said["operationId"],
                    method.upper(),
                    path,
                    said.get("description", ""),
                    [_read_parameter(each) for each in said.get("parameters", [])],
                    _join_kinds(body),
                    _join_kinds(_get_success(said).get("content", {})),
                    {code: each["description"] for code, each in said["responses"].items()},
                    _build_example(method, path, body),
                ),
            )


def _get_success(said: Mapping[str, Any]) -> dict[str, Any]:
    return next((each for code, each in said["responses"].items() if code < "300"), {})


def _read_parameter(said: Mapping[str, Any]) -> Field:
    name = f"{{{said['name']}}}" if said["in"] == "path" else said["name"]
    kind = format_kind(said["schema"])
    return Field(name, kind, said.get("required", False), said.get("description", ""))


def _join_kinds(content: Mapping[str, Any]) -> Markup:
    """`Answer as application/json, or text/event-stream`."""
    told = [
        Markup("{} as <code>{}</code>").format(format_kind(part["schema"]), media)
        if part.get("schema")
        else Markup("<code>{}</code>").format(media)
        for media, part in content.items()
    ]
    return Markup(", or ").join(told)


def _list_fields(shape: Mapping[str, Any]) -> list[Field]:
    needed = shape.get("required", [])
    return [
        Field(name, format_kind(said), name in needed, said.get("description", ""))
        for name, said in shape.get("properties", {}).items()
    ]


def format_kind(schema: Mapping[str, Any]) -> Markup:
    """A schema in a few words: its type, or a link to its shape; else what stands here."""
    if "$ref" in schema:
        name = schema["$ref"].removeprefix(_REF)
        return Markup('<a href="#{0}">{0}</a>').format(name)
    parts = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
    if parts:
        told = Markup(" or ").join(format_kind(part) for part in parts)
    elif schema.get("type") == "array":
        told = Markup("list of {}").format(format_kind(schema.get("items", {})))
    elif "enum" in schema or "const" in schema:
        words = schema.get("enum", [schema.get("const")])
        told = Markup(", ").join(Markup("<code>{}</code>").format(word) for word in words)
    else:
        told = Markup("{}").format(schema.get("format") or schema.get("type", "anything"))
    default = schema.get("default")
    if default in (None, "", [], {}):
        return told
    return told + Markup(" (<code>{}</code>)").format(json.dumps(default, ensure_ascii=False))


def _build_example(method: str, path: str, body: Mapping[str, Any]) -> str:
    """A line for curl, with what has to be filled in in capitals."""
    place = re.sub(r"\{(\w+)\}", lambda name: name[1].upper(), path)
    parts = ["curl" if method == "get" else f"curl -X {method.upper()}"]
    if "multipart/form-data" in body:
        parts.append("-F file=@FILE")
    elif "application/json" in body:
        parts.append("-H 'Content-Type: application/json' -d '{...}'")
    return " ".join([*parts, f"http://127.0.0.1:8420{place}"])
