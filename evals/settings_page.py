"""Every setting with its default, what it may be and what it is for: docs/settings.md.

    .venv/bin/python evals/settings_page.py [--out docs/settings.md]

The one rule: the page is written from `citewell.config.Settings` alone, so it cannot be out of date
without a test that says so.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Literal, get_args, get_origin

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from citewell.config import Settings

REPOSITORY = Path(__file__).resolve().parent.parent
HEAD: Final = """\
<!-- made by evals/settings_page.py; do not edit -->
# Settings

They stand in `citewell.toml` in the home folder (or where `CITEWELL_CONFIG` says), in the
environment, which counts more, or in the arguments of a program, which count most. Chat model,
memory, OCR and web search are also set on the page (`settings.json` in the home folder), where none
of these says them:

```toml
llm = "none"            # CITEWELL_LLM=none

[search]
strategy = "rrf"        # CITEWELL_SEARCH__STRATEGY=rrf
```

An unknown name or a wrong value is refused by name. `citewell doctor --all` lists those in force; a
server reads them when it starts, and takes what is set on the page at once. Keys belong in the
environment. In brackets: the default, then
what else may be said.
"""


def build_page() -> str:
    """The whole page."""
    fields = Settings.model_fields
    groups = {name: field for name, field in fields.items() if is_group(field)}
    single = {name: field for name, field in fields.items() if name not in groups}
    parts = [HEAD, "## Before the first section\n", *describe_fields(single)]
    for name, field in groups.items():
        kind: type[BaseModel] = field.annotation  # type: ignore[assignment]  # `is_group` has seen
        about = " ".join((kind.__doc__ or "").split())
        parts += [f"\n## [{name}]\n", f"{about}\n", *describe_fields(kind.model_fields)]
    return "\n".join(parts) + "\n"


def is_group(field: FieldInfo) -> bool:
    return isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)


def describe_fields(fields: dict[str, FieldInfo]) -> Iterator[str]:
    """A line for each setting."""
    for name, field in fields.items():
        value, *more = [format_default(field.default), *format_choices(field)]
        yield f"- `{name}` ({'; '.join([value, *more])}): {field.description}"


def format_default(value: Any) -> str:
    """A default as the settings file says it; what depends on the machine is not told."""
    if isinstance(value, Path):
        return "of your system"
    if value in (None, "", ()) or isinstance(value, SecretStr):
        return "empty"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def format_choices(field: FieldInfo) -> Iterator[str]:
    """Other words that it may be, or between which numbers."""
    if get_origin(field.annotation) is Literal:
        yield ", ".join(str(word) for word in get_args(field.annotation) if word != field.default)
    limits = {
        name: f"{getattr(part, name):g}"
        for part in field.metadata
        for name in ("ge", "le")
        if hasattr(part, name)
    }
    if "le" in limits:
        yield " to ".join(limits.values()) if "ge" in limits else f"at most {limits['le']}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=REPOSITORY / "docs" / "settings.md")
    given = parser.parse_args()
    given.out.write_text(build_page(), "utf-8")


if __name__ == "__main__":
    main()
