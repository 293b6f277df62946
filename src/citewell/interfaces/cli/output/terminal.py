"""Output to the terminal. Text of documents and models is printed as text, never as markup or
control codes.

Results go to standard output, everything else to standard error.
"""

from __future__ import annotations

import json
import re
import sys
import time
from functools import cache
from typing import Any

from pydantic import BaseModel
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from citewell.errors import CitewellError, InvalidInput

# escape sequences; then C0 and C1 controls other than tab and newline, and marks that turn the
# reading direction
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def strip_controls(text: str) -> str:
    """`text` without control codes."""
    text = (
        _ESCAPES.sub("", text).replace("\r\n", "\n").replace("\u2028", "\n").replace("\u2029", "\n")
    )
    return _CONTROLS.sub("", text).encode("utf-8", "replace").decode("utf-8")


def style_text(text: str, style: str = "") -> Text:
    """`text` as rich text, without control codes; its brackets are no markup, and it keeps its
    style when texts are joined.
    """
    return Text().append(strip_controls(text), style)


def escape_line_breaks(text: str) -> str:
    """A name for a list with one line for each: line ends and tabs are shown as escapes."""
    return text.replace("\n", "\\n").replace("\t", "\\t")


@cache
def get_stdout() -> Console:
    """Standard output: results."""
    return Console(highlight=False, markup=False, emoji=False)


@cache
def get_stderr() -> Console:
    """Standard error: progress, warnings, errors. One console for all, so that lines appear above a
    live display.
    """
    return Console(stderr=True, highlight=False, markup=False, emoji=False)


def write_paragraph(
    console: Console, text: str | Text, style: str = "", *, indent: int = 0
) -> None:
    """One paragraph: wrapped to a terminal's width, unbroken in a pipe."""
    text = style_text(text, style) if isinstance(text, str) else text
    if console.is_terminal:
        console.print(Padding(text, (0, 0, 0, indent), expand=False))
    else:
        for line in text.split("\n"):
            console.print(Text(" " * indent) + line, soft_wrap=True)


def print_text(text: str | Text, style: str = "", *, indent: int = 0) -> None:
    """A paragraph of the result."""
    write_paragraph(get_stdout(), text, style, indent=indent)


def print_parts(*parts: str | tuple[str, str], indent: int = 0) -> None:
    """A paragraph of the result, of texts one after the other, each alone or with its style."""
    texts = [style_text(each) if isinstance(each, str) else style_text(*each) for each in parts]
    print_text(Text().join(texts), indent=indent)


def print_json(value: Any, *, one_line: bool = False) -> int:
    """The one object of `--json`, readable, in UTF-8, models among it; what a terminal would obey
    is spelt out. `one_line`: of several that follow each other. Gives the exit code 0.
    """
    indent = None if one_line else 2
    written = json.dumps(value, ensure_ascii=False, indent=indent, default=_dump_model)
    text = _CONTROLS.sub(lambda each: f"\\u{ord(each[0]):04x}", written)
    sys.stdout.write(text.encode("utf-8", "replace").decode("utf-8") + "\n")
    sys.stdout.flush()
    return 0


def _dump_model(value: BaseModel) -> dict[str, Any]:
    return value.model_dump(mode="json")


def print_warning(message: str) -> None:
    write_paragraph(get_stderr(), style_text("warning: ", "yellow") + style_text(message))


def print_error(error: CitewellError) -> None:
    """One clear line, and what to do about it."""
    console = get_stderr()
    write_paragraph(console, style_text("error: ", "red") + style_text(error.message))
    if error.hint:
        write_paragraph(console, style_text(error.hint, "dim"), indent=2)


def format_time(at: float, form: str = "%Y-%m-%d %H:%M:%S") -> str:
    """Of this machine's clock."""
    return time.strftime(form, time.localtime(at))


def format_day(at: float) -> str:
    return format_time(at, "%Y-%m-%d")


def format_minute(at: float) -> str:
    return format_time(at, "%Y-%m-%d %H:%M")


def ask_confirmation(question: str, verb: str) -> bool:
    """Ask the user; True: yes. `verb`: what --yes does. Raises InvalidInput without a terminal."""
    if not sys.stdin.isatty():
        raise InvalidInput("there is no terminal to ask on", hint=f"--yes {verb} without asking")
    sys.stderr.write(strip_controls(question))
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes", "是"}
