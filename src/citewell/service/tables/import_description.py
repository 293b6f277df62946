"""A description from a dbt project or a WrenAI model, held against a source and kept. Each metric
is tried alone; one that does not run is named and left out, the rest is kept.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final, Literal

import anyio.to_thread
import yaml
from pydantic import Field

from citewell.errors import InvalidInput
from citewell.messages import AnyText, Text
from citewell.runtime.app import App
from citewell.service.tables.descriptions import check_description
from citewell.service.tables.kept_schema import load_schema
from citewell.sql.engines.engine import Schema
from citewell.sql.semantics.dbt_project import read_dbt
from citewell.sql.semantics.description import parse_description
from citewell.sql.semantics.draft_description import render_description
from citewell.sql.semantics.imported import Imported, add_described
from citewell.sql.semantics.wren_model import read_wren
from citewell.types import Shown

Form = Literal["dbt", "wren"]
MOST_FILES: Final = 1_000
MOST_BYTES: Final = 4_000_000
_PASSED: Final = frozenset({"target", "dbt_packages", "dbt_modules", "logs", "node_modules"})


class NotTaken(Shown):
    """What was not taken, and why."""

    what: str
    why: AnyText


class ImportReport(Shown):
    """`text`: the description with what was taken. `columns`: how many are described."""

    name: str
    tables: list[str] = Field(default=[])
    columns: int = 0
    joins: list[str] = Field(default=[])
    metrics: list[str] = Field(default=[])
    left: list[NotTaken] = Field(default=[])
    text: str = ""


async def import_description(
    app: App, name: str, form: Form, path: Path, *, keep: bool = True
) -> ImportReport:
    """Add to what is kept of the source; what people wrote there stays, but for their remarks.
    Raises NotFound, SourceUnavailable, InvalidInput.
    """
    source = await app.sources.get(name)
    read = _read_project if form == "dbt" else _read_model
    found = await anyio.to_thread.run_sync(read, path, load_schema(source))
    description = found.description
    left = [NotTaken(what=what, why=why) for what, why in found.left]
    for metric in list(description.metrics):
        alone = description.model_copy(
            update={"tables": {}, "metrics": {metric: description.metrics[metric]}}
        )
        checked = await check_description(app, name, render_description(alone))
        if checked.problems:
            left.append(NotTaken(what=metric, why=checked.problems[0].message))
            metrics = {k: v for k, v in description.metrics.items() if k != metric}
            description = description.model_copy(update={"metrics": metrics})
    text = render_description(add_described(parse_description(source.description), description))
    if keep:
        await app.sources.set_description(name, text)
    return ImportReport(
        name=name,
        tables=list(description.tables),
        columns=sum(len(each.columns) for each in description.tables.values()),
        joins=description.joins,
        metrics=list(description.metrics),
        left=left,
        text=text,
    )


def _read_project(path: Path, schema: Schema) -> Imported:
    files = sorted(
        each
        for each in (path.rglob("*") if path.is_dir() else [path])
        if each.suffix in {".yml", ".yaml"}
        and not any(
            part in _PASSED or part.startswith(".") for part in each.relative_to(path).parts
        )
    )
    if not files:
        raise InvalidInput(
            Text("{path} holds no YAML files", path=path), hint=Text("name the dbt project")
        )
    return read_dbt([_load(each) for each in files[:MOST_FILES]], schema)


def _read_model(path: Path, schema: Schema) -> Imported:
    return read_wren(_load(path), schema)


def _load(path: Path) -> Any:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InvalidInput(
                Text("{name} has more than {most:,} bytes", name=path.name, most=MOST_BYTES)
            )
        text = path.read_text("utf-8")
        return json.loads(text) if path.suffix == ".json" else yaml.safe_load(text)
    except OSError as error:
        raise InvalidInput(
            Text(
                "{given}: cannot be read: {strerror}", given=path, strerror=error.strerror or error
            )
        ) from None
    except (ValueError, yaml.YAMLError, RecursionError) as error:
        first = str(error).partition("\n")[0]
        raise InvalidInput(Text("{name}: {error}", name=path.name, error=first)) from None
