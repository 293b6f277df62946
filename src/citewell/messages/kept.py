"""Texts in JSON that is kept: `{"message": template, "values": {...}}` in place of the English, so
that they can be shown in another language later. What was kept as a plain string is read as one.
"""

from __future__ import annotations

import json
import re
from typing import Any

from citewell.messages.text import Text

_KEYS = {"message", "values"}
# what a template of ours may hold in braces: a name, and how a figure is written
_FIELDS = re.compile(r"(?:[^{}]|\{\{|\}\}|\{\w+(?:![rs])?(?::[,.\w%]{0,6})?\})*")


def encode_texts(value: Any) -> Any:
    """Every text of ours in dicts, lists and tuples as such an object."""
    if isinstance(value, Text):
        return {"message": value.template, "values": encode_texts(value.values)}
    if isinstance(value, dict):
        return {name: encode_texts(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [encode_texts(each) for each in value]
    return value


def decode_text(found: dict[str, Any]) -> Any:
    """Such an object as a text of ours, any other as it is: an `object_hook` of `json.loads`."""
    if found.keys() != _KEYS or not isinstance(found["values"], dict):
        return found
    template, values = found["message"], found["values"]
    if not isinstance(template, str) or (
        values and not _FIELDS.fullmatch(template)
    ):  # of somebody else
        return found
    try:
        return Text(template, **values)
    except (LookupError, ValueError):
        return found


def decode_texts(value: Any) -> Any:
    """The other way round."""
    if isinstance(value, dict):
        return decode_text({name: decode_texts(each) for name, each in value.items()})
    return [decode_texts(each) for each in value] if isinstance(value, list) else value


def dump_json(value: Any, **options: Any) -> str:
    """`json.dumps` that keeps texts of ours whole."""
    return json.dumps(encode_texts(value), **options)


def load_json(source: str | bytes) -> Any:
    """What `dump_json` wrote, and what was written before there was one."""
    return json.loads(source, object_hook=decode_text)


def encode_column(text: str) -> str:
    """A text for a column of the database that holds one."""
    return dump_json(text) if isinstance(text, Text) else text


def decode_column(kept: str) -> str:
    """The text of such a column."""
    if not kept.startswith('{"message": '):
        return kept
    try:
        text = load_json(kept)
    except ValueError:
        return kept
    return text if isinstance(text, Text) else kept
