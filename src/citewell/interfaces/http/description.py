"""The description for machines, `/api/openapi.json`: what the framework finds in the routes, and
what they all have in common. What is true of many operations stands here once, in a table:
parameters, errors, who may ask. What is true of one stands at its route, in its docstring and its
types.
"""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

from citewell.interfaces.http.security.access import METRICS, OPEN
from citewell.interfaces.http.security.request_headers import COOKIE
from citewell.text.split_words import split_words

ABOUT = (
    "Answers from what you give it: documents, web sites, papers, tables. Every sentence of an "
    "answer carries a citation, down "
    "to page and characters. Errors have one shape, `Problem`, under `/v1` that of OpenAI's."
)
TAGS = {
    "ask": "A question to an Answer, whole or as events.",
    "check": "A text, or claims, held against documents.",
    "collections": "Where documents are kept, and how they are cut.",
    "data": "Tables that are asked: files that were sent, and databases.",
    "documents": "One document: text, bytes, pages, passages.",
    "feedback": "An answer is right, or wrong.",
    "graphs": "How an agent goes about a question.",
    "jobs": "Work that goes on after the reply.",
    "knowledge": "What people have confirmed and corrected.",
    "memories": "What is remembered of a user.",
    "models": "The built-in embedder and reader, for other servers of ours.",
    "openai": "The same for clients of OpenAI's.",
    "papers": "Reading a paper with a guide.",
    "search": "Passages, without an answer.",
    "sessions": "Conversations.",
    "settings": "What can be changed while the server runs.",
    "sign-in": "Who is asking.",
    "sites": "Web sites that are kept.",
    "status": "Whether it runs, and which version.",
    "traces": "How answers came about.",
    "users": "Who may sign in.",
    "audit": "Who administered what.",
}
PARAMETERS = {
    "agent": "an agent: `qa`, `dual_loop`, `website`, `paper`, `data`",
    "chunker": "a way of cutting; said several times, they come side by side",
    "collection": "only those that rest on this collection",
    "doc_id": "a document's id, as citations and lists tell it",
    "end": "where the marked text ends, as a citation's `end`",
    "feedback_id": "the id that `POST /api/feedback` told",
    "folder_id": "a folder's id, as the list of them tells it",
    "history": "older versions too",
    "item_id": "a confirmed answer's id",
    "job_id": "a job's id, as the reply told it that began the job",
    "limit": "how many at most",
    "memory_id": "a memory's id",
    "model": "a model's name, as `GET /v1/models` lists it",
    "name": "its name, as the list tells it",
    "number": "the page's number, from 1",
    "overlap": "tokens that a passage shares with the one before it",
    "reason": "why, in words; kept with it",
    "rule_id": "a correction's id",
    "session_id": "a session's id, as answers and lists tell it",
    "share_id": "a link's id, as making it tells it",
    "source": "only those of these tables, by name",
    "start": "where the marked text begins, as a citation's `start`",
    "state": "only those in this state",
    "strict": "503 while the chat model is missing too",
    "sync_id": "a sync's id, as the list tells it",
    "table": "one table, by name",
    "token_id": "a token's id, as lists tell it",
    "tokens": "the most tokens of a passage",
    "trace_id": "a trace's id, as an Answer or the first `step` event tells it",
    "user_id": "whose; with users only an admin names another, and only to read",
    "width": "of the picture, in pixels",
}
REASONS = {
    400: "The body cannot be read.",
    401: "Nobody is signed in, or the token is not good.",
    403: "Not for this user or role, or sent by a page of another site.",
    404: "No such thing, or not for this user.",
    409: "It is there already, or not in a state for this.",
    413: "The body is too large.",
    421: "The `Host` is not this server.",
    422: "A field is missing or wrong: `detail` names it.",
    429: "Too many requests: `Retry-After` says when there may be more.",
    500: "A fault of Citewell; the server's log says where.",
    502: "What a model or another server says makes no sense.",
    503: "A model, another server or the database does not answer, or the server is stopping.",
}
ANY = (421, 500, 503)  # of every operation
SIGNED_IN = (401, 403, 429)  # of all that are not open to everybody
WITH_BODY = (400, 404, 413, 422)
NAMED = (404, 422)  # where something is named in the address
CONFLICTS = split_words(  # 409
    """
    add_source add_user ask cancel_job change_collection change_plan change_role change_settings
    confirm_item create_chat_completion create_collection create_folder create_response
    download_model give_feedback list_users make_plan make_token read_on refresh_site
    refresh_source remove_user rename_folder replay_trace review_rule revoke_token revoke_tokens
    send_message try_job_again try_model undo_confirmed upload_documents
    """
)
USERS = "/api/users"  # 409 without users
ELSEWHERE = split_words(  # 502
    """
    ask check create_chat_completion create_embedding create_response make_plan replay_trace
    search send_message
    """
)

TEXT = {"type": "string"}
PROBLEM: dict[str, Any] = {
    "type": "object",
    "description": "The one shape of an error. `code` is for programs, `message` and `hint` "
    "for people.",
    "properties": {
        "error": {
            "type": "object",
            "properties": {
                "code": TEXT,
                "message": TEXT,
                "hint": {**TEXT, "description": "what to do about it, or empty"},
                "detail": {
                    "description": "the fields that are wrong, where some are: `[{field, message}]`"
                },
            },
            "required": ["code", "message", "hint"],
            "additionalProperties": False,
        }
    },
    "required": ["error"],
    "additionalProperties": False,
}
OPENAI_PROBLEM: dict[str, Any] = {
    "type": "object",
    "description": "An error as OpenAI's servers tell it.",
    "properties": {
        "error": {
            "type": "object",
            "properties": {
                "message": TEXT,
                "type": TEXT,
                "param": {"type": ["string", "null"]},
                "code": {"type": ["string", "null"]},
            },
            "required": ["message", "type", "param", "code"],
        }
    },
    "required": ["error"],
}
SCHEMES = {
    "token": {
        "type": "http",
        "scheme": "bearer",
        "description": "`citewell user add NAME` prints one.",
    },
    "cookie": {
        "type": "apiKey",
        "in": "cookie",
        "name": COOKIE,
        "description": "The page's: `POST /api/sign-in` sets it; what changes something carries "
        "`X-CSRF-Token` too.",
    },
}


def describe_replies(*kinds: str) -> dict[str, Any]:
    """A reply of these media types that is no object: text, or bytes."""
    return {
        "content": {
            kind: {"schema": TEXT if _is_text(kind) else {**TEXT, "format": "binary"}}
            for kind in kinds
        }
    }


def _is_text(kind: str) -> bool:
    return kind.startswith("text/") or kind.endswith("json")


def get_operation_id(route: APIRoute) -> str:
    """An operation's id: its function's name, so that a generated client has methods with names."""
    return route.name


def build_openapi(http: FastAPI, *, signs_in: bool) -> dict[str, Any]:
    """The OpenAPI description of the routes. `signs_in`: who asks has to be signed in."""
    made = get_openapi(title="Citewell", version=http.version, summary=ABOUT, routes=http.routes)
    made["tags"] = [{"name": name, "description": text} for name, text in TAGS.items()]
    schemas = made["components"]["schemas"]
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    made["components"]["schemas"] = schemas = _replace_tuples(schemas)
    schemas |= {"Problem": PROBLEM, "OpenAIProblem": OPENAI_PROBLEM}
    made["components"]["securitySchemes"] = SCHEMES
    for path, operations in made["paths"].items():
        for operation in operations.values():
            _complete_operation(operation, path, signs_in=signs_in)
    return made


def _replace_tuples(schema: Any) -> Any:
    """Tuples of one type as lists of that length: makers of clients know `items` and no
    `prefixItems`.
    """
    if isinstance(schema, list):
        return [_replace_tuples(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {name: _replace_tuples(value) for name, value in schema.items()}
    parts = plain.get("prefixItems")
    if isinstance(parts, list) and all(part == parts[0] for part in parts):
        del plain["prefixItems"]
        plain["items"] = parts[0]
    return plain


def _complete_operation(operation: dict[str, Any], path: str, *, signs_in: bool) -> None:
    """What an operation has in common with others: parameters, errors, who may ask."""
    for parameter in operation.get("parameters", []):
        parameter.setdefault("description", PARAMETERS.get(parameter["name"], ""))
    kinds = ["OpenAIProblem", "Problem"] if path.startswith("/v1/") else ["Problem"]
    shape = [{"$ref": f"#/components/schemas/{kind}"} for kind in kinds]
    body = {"application/json": {"schema": shape[0] if len(shape) == 1 else {"anyOf": shape}}}
    replies = operation["responses"]
    replies.pop("422", None)
    told = {
        str(status): {"description": REASONS[status], "content": body}
        for status in _list_statuses(operation, path)
    }
    operation["responses"] = dict(sorted({**told, **replies}.items()))
    asks: list[dict[str, list[str]]] = [{name: []} for name in SCHEMES]
    free = not signs_in or path == METRICS  # which is open on the machine itself
    operation["security"] = [] if path in OPEN else [{}, *asks] if free else asks


def _list_statuses(operation: dict[str, Any], path: str) -> set[int]:
    """How it can fail."""
    found = {*ANY, *(() if path in OPEN and path != "/api/sign-in" else SIGNED_IN)}
    if "requestBody" in operation:
        found.update(WITH_BODY)
    if "parameters" in operation:
        found.update(NAMED)
    name = operation["operationId"]
    return (
        found
        | ({409} if name in CONFLICTS or path.startswith(USERS) else set())
        | ({502} if name in ELSEWHERE else set())
    )
