"""The Markdown document of a confirmed chain (spec 004, section 4.2: its headings and fields) and
its file under the home folder, which is whole or not there. What people and models wrote stands in
it as text. Nothing of it can end the front matter, make a heading, close a fence or become markup,
and `render_front_matter` reads back what was put in.
"""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from citewell.disk import sync_to_disk
from citewell.errors import InvalidInput, StorageError
from citewell.messages import Text
from citewell.store.confirmed.items import PATH
from citewell.store.confirmed.types import Confirmed

# libyaml's, 10 times as fast, where PyYAML was built with it
LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# of lists in lists in its front matter: ours have 5, and what a model called a parameter
MOST_DEPTH = 20
MOST_PARTS = 50_000  # values, lists and mappings in it: 20 rows of 1,000 columns are 20,000
LONGEST_FIGURE = 400  # digits: the largest that a computer counts with has 309
_FIGURE = re.compile(
    r"[-+]?[0-9][0-9_]*(?:(?::[0-5]?[0-9])*(?:\.[0-9_]*)?)|[-+]?0[xXbBoO][0-9a-fA-F_]*"
)
CATEGORY = "confirmed_qa"
TAGS = ("auto-generated", "human-verified")
_FORBIDDEN = re.compile(  # no text: controls but tab and newline, invisible marks, half characters
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069"
    r"\ufeff\ufff9-\uffff\ud800-\udfff]"
)
_ENDS = re.compile("\r\n|[\r\x85\u2028\u2029]")
# what CommonMark with tables and strikethrough would read as markup, anywhere or at the start of a
# line
_MARKUP = re.compile(r"[\\`*\[\]<>#~|&]|(?<![^\W_])_|_(?![^\W_])")
_START = re.compile(r"^(\d{0,9})([-+=:.)])")


def clean_text(text: str) -> str:
    """`text` with newlines for all ends of line and without what is no text."""
    return _FORBIDDEN.sub("", _ENDS.sub("\n", text))


def render_document(item: Confirmed) -> str:
    """The whole file. The time is the last confirmation's, the people all that stand by it."""
    language = "sql" if item.agent == "data" else "text"
    front = {
        "id": item.item_id,
        "title": item.question,
        "category": CATEGORY,
        "tags": [*TAGS, *([item.intent.intent_type] if item.intent.intent_type else [])],
        "priority": item.priority,
    }
    parameters = json.dumps(
        _clean_value(item.intent.parameters), ensure_ascii=False, indent=2, default=str
    )
    people = ", ".join(dict.fromkeys(each.user_id for each in item.confirmed_by))
    at = max((each.at for each in item.confirmed_by), default=item.updated_at)
    intent = [
        f"- **意图类型**: {escape_line(item.intent.intent_type)}",
        f"- **参数提取**:\n{fence_code(parameters, 'json')}",
        f"- **分析思路**: {escape_line(item.intent.reasoning)}",
    ]
    parts = [
        render_front_matter(front),
        "# 人工确认的问答链路",
        f"## 用户问题\n{escape_block(item.question)}",
        "## 意图分析 (正确范式)\n" + "\n".join(intent),
        f"## 执行逻辑 (标准答案)\n{fence_code(item.logic, language)}",
        f"## 最终回答\n{escape_block(item.answer)}",
        f"## 验证信息\n- **验证时间**: {format_utc(at)}\n- **验证人**: {escape_line(people)}",
    ]
    return "\n\n".join(parts) + "\n"


def render_front_matter(fields: Mapping[str, Any]) -> str:
    """Between two lines of three hyphens, each field on one line."""
    dumped = yaml.dump(
        _clean_value(dict(fields)),
        Dumper=_OneLine,
        allow_unicode=True,
        sort_keys=False,
        default_flow_style=False,
        width=float("inf"),
    )
    return f"---\n{dumped}---"


def read_front_matter(text: str) -> dict[str, Any]:
    """What `render_front_matter` wrote. Raises yaml.YAMLError, ValueError where there is none."""
    found = re.match(r"\A---\n(.*?)^---$", text, re.DOTALL | re.MULTILINE)
    fields = yaml.load(found.group(1), Loader=LOADER) if found else None  # noqa: S506 - one of the two safe ones
    if not isinstance(fields, dict):
        raise ValueError("no front matter")  # noqa: TRY004 - the text is wrong, not its type
    return fields


def escape_block(text: str) -> str:
    """Lines as a reader sees them: markup is escaped, line ends are kept."""
    paragraphs = re.split(r"\n[ \t\n]*\n", clean_text(text).strip())
    return "\n\n".join(
        "\\\n".join(_escape_markup(each) for each in paragraph.split("\n"))
        for paragraph in paragraphs
    )


def escape_line(text: str) -> str:
    """The same in one line."""
    return _escape_markup(" ".join(clean_text(text).split()))


def fence_code(text: str, language: str) -> str:
    """Code as it is, behind a fence longer than any in it."""
    code = clean_text(text).strip("\n")
    longest = max((len(run) for run in re.findall("`+", code)), default=0)
    ticks = "`" * max(3, longest + 1)
    return f"{ticks}{language}\n{code}\n{ticks}"


def format_utc(at: float) -> str:
    """ISO 8601, in UTC, to the second."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _escape_markup(text: str) -> str:
    """One line; its own spaces at the ends would be code or a hard break."""
    return _START.sub(r"\1\\\2", _MARKUP.sub(lambda found: "\\" + found.group(), text.strip()))


def _clean_value(value: Any) -> Any:
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, dict):
        return {_clean_value(name): _clean_value(each) for name, each in value.items()}
    return [_clean_value(each) for each in value] if isinstance(value, list) else value


class _OneLine(yaml.SafeDumper):
    """Texts with line ends are quoted with escapes, so that no line of theirs can be `---`."""


def _represent_text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    style = '"' if "\n" in value or "\t" in value or value != value.strip() else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


def _represent_list(dumper: yaml.SafeDumper, value: list[Any]) -> yaml.SequenceNode:
    return dumper.represent_sequence("tag:yaml.org,2002:seq", value, flow_style=True)


_OneLine.add_representer(str, _represent_text)
_OneLine.add_representer(list, _represent_list)

_OURS = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")


def get_item_path(home: Path, trace_id: str) -> Path:
    """Raises InvalidInput for an id that is none of ours: it is to be part of a file's name."""
    if not _OURS.fullmatch(trace_id):
        raise InvalidInput(
            Text("trace {trace_id!r}: not an id of Citewell's", trace_id=trace_id),
            hint=Text("letters, digits, hyphens and underscores"),
        )
    return home / PATH.format(trace_id=trace_id)


def write_file(path: Path, text: str) -> None:
    """Another file in its place, at once, for good. Raises StorageError; then unchanged."""
    data = text.encode("utf-8")
    if has_same_content(path, data):
        return
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with beside.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
        sync_to_disk(path.parent)
    except OSError as error:
        with suppress(OSError):
            beside.unlink()
        raise _make_write_error(path, error) from error


def has_same_content(path: Path, data: bytes) -> bool:
    """Whether the file holds just these bytes."""
    try:
        return path.read_bytes() == data
    except OSError:
        return False  # not there, or not to be read


def remove_file(path: Path) -> None:
    """Nothing happens where it is not there. Raises StorageError."""
    try:
        path.unlink(missing_ok=True)
        if path.parent.is_dir():
            sync_to_disk(path.parent)
    except OSError as error:
        raise _make_write_error(path, error) from error


def _make_write_error(path: Path, error: OSError) -> StorageError:
    hint = Text("see that the disk has room and the folder can be written to; it is tried again")
    return StorageError(
        Text("{path}: cannot be written: {strerror}", path=path, strerror=error.strerror or error),
        hint=hint,
    )


def check_yaml_safety(front: str) -> None:
    """Before anything is built of it, as it is read: neither deep nor of too many parts, no tags,
    no aliases, no figure that takes long to compute. Raises InvalidInput, yaml.YAMLError.
    """
    depth = 0
    for count, event in enumerate(yaml.parse(front, Loader=LOADER)):
        where = Text("line {line}", line=(event.start_mark.line if event.start_mark else 0) + 2)
        if (
            isinstance(event, yaml.AliasEvent)
            or getattr(event, "anchor", None)
            or getattr(event, "tag", None)
        ):
            raise InvalidInput(
                Text("its front matter has a tag or an alias ({where})", where=where),
                hint=Text("plain YAML only"),
            )
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(
            event, yaml.CollectionEndEvent
        )
        if depth > MOST_DEPTH or count > MOST_PARTS:
            what = (
                Text("nested more than {most_depth} deep", most_depth=MOST_DEPTH)
                if depth > MOST_DEPTH
                else Text("of more than {most_parts:,} parts", most_parts=MOST_PARTS)
            )
            raise InvalidInput(
                Text("its front matter is {what} ({where})", what=what, where=where),
                hint=Text("export it again"),
            )
        value = (
            str(event.value) if isinstance(event, yaml.ScalarEvent) and event.implicit[0] else ""
        )
        if len(value) > LONGEST_FIGURE and _FIGURE.fullmatch(value):
            raise InvalidInput(
                Text(
                    "its front matter has a figure of {value:,} digits ({where})",
                    value=len(value),
                    where=where,
                )
            )
