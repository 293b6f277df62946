"""What people write of a source's tables: shown, checked, kept. Nothing is kept that was not
checked: each name looked up, each metric and filter judged by the guard and run.
"""

from __future__ import annotations

import time

from pydantic import Field

from citewell.errors import InvalidInput, StatementFailed, StatementRefused
from citewell.messages import AnyText, Text
from citewell.runtime.app import App
from citewell.service.tables.kept_schema import get_table_names, load_schema
from citewell.service.tables.open_source import open_source
from citewell.sql import run_statement as tables
from citewell.sql.engines.engine import Engine, Limits
from citewell.sql.semantics.check_description import Trial, check_names, list_trials
from citewell.sql.semantics.description import Problem, read_description
from citewell.sql.semantics.draft_description import draft_description
from citewell.store.source_rows import Source
from citewell.types import Shown


class Described(Shown):
    """`text`: YAML. `kept`: people wrote it; else it is a draft made of the tables."""

    name: str
    text: str
    kept: bool


class DescriptionProblem(Shown):
    """What is wrong in a line, from 1, and what would help."""

    line: int
    message: AnyText
    hint: AnyText = ""


class DescriptionCheck(Shown):
    """Without problems it can be kept. `metrics`, `filters`: how many were run."""

    problems: list[DescriptionProblem] = Field(default=[])
    metrics: int = 0
    filters: int = 0


async def get_description(app: App, name: str, *, draft: bool = False) -> Described:
    """What is kept of the source, else, or with `draft`, a first one. Raises NotFound."""
    source = await app.sources.get(name)
    if source.description and not draft:
        return Described(name=name, text=source.description, kept=True)
    text = draft_description(load_schema(source), source.name)
    return Described(name=name, text=text, kept=False)


async def check_description(app: App, name: str, text: str) -> DescriptionCheck:
    """Raises NotFound, SourceUnavailable."""
    description, lines, problems = read_description(text)
    if problems:
        return DescriptionCheck(problems=[_show(each) for each in problems])
    async with open_source(app, name) as (source, engine):
        schema = load_schema(source)
        problems = check_names(description, lines, schema)
        if problems:
            return DescriptionCheck(problems=[_show(each) for each in problems])
        trials = list_trials(description, lines, schema)
        problems = await _try_all(app, source, engine, trials)
    metrics = len(description.metrics)
    return DescriptionCheck(
        problems=[_show(each) for each in problems], metrics=metrics, filters=len(trials) - metrics
    )


async def _try_all(app: App, source: Source, engine: Engine, trials: list[Trial]) -> list[Problem]:
    """Run one after the other, as long as a question may take; the rest is only planned."""
    settings, names = app.settings.data, get_table_names(source)
    limits = Limits(seconds=settings.statement_seconds, rows=1, memory_mib=settings.memory_mib)
    until = time.monotonic() + settings.max_seconds
    found = []
    for trial in trials:
        try:
            if time.monotonic() < until:
                await tables.run_query(engine, trial.sql, limits, names)
            else:
                await tables.explain_query(engine, trial.sql, limits, names)
        except (StatementRefused, StatementFailed) as error:
            found.append(Problem(trial.line, error.message, error.hint or ""))
    return found


async def keep_description(app: App, name: str, text: str) -> Source:
    """Check and keep it; an empty one takes the one before away. Raises NotFound,
    SourceUnavailable, and InvalidInput with the first problem.
    """
    checked = await check_description(app, name, text)
    if checked.problems:
        first, more = checked.problems[0], len(checked.problems) - 1
        message = Text("line {line}: {message}", line=first.line, message=first.message)
        if more:
            message = Text("{message} (and {more} more)", message=message, more=more)
        raise InvalidInput(message, hint=first.hint)
    return await app.sources.set_description(name, text if text.strip() else "")


def _show(problem: Problem) -> DescriptionProblem:
    return DescriptionProblem(line=problem.line, message=problem.message, hint=problem.hint)
