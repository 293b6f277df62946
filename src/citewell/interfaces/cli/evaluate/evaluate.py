"""`citewell eval`: measure on questions, print and write what came of it, fit the confidences,
compare two reports. What was measured is never lost. Ctrl-C writes what there is, and the same
command goes on from there.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import anyio.to_thread
import typer

from citewell.config import Settings
from citewell.errors import StorageError
from citewell.interfaces.cli.arguments import Agent, Collection, argument, option
from citewell.interfaces.cli.evaluate.ablation_tables import show_ablation
from citewell.interfaces.cli.evaluate.eval_choices import Choices
from citewell.interfaces.cli.evaluate.figure_tables import show_comparison, show_fit, show_report
from citewell.interfaces.cli.output.progress import show_progress
from citewell.interfaces.cli.output.terminal import (
    get_stderr,
    print_json,
    print_warning,
    write_paragraph,
)
from citewell.interfaces.cli.run import DONE, INTERRUPTED, guard_command, run
from citewell.measure.compare import compare_reports
from citewell.measure.html import render_comparison, render_report
from citewell.measure.report import Ablation, Report, read_report
from citewell.runtime.app import App
from citewell.service.evaluate.ablate import VARIANTS, Variant, run_ablation
from citewell.service.evaluate.calibrate import save_calibration
from citewell.service.evaluate.eval_sets import Dataset, Options, load_datasets
from citewell.service.evaluate.evaluate import Evaluation
from citewell.service.evaluate.journal import Journal
from citewell.store.users.shared_home import share_home_file

PARTIAL = ".items.jsonl"  # of a run that is not over: beside the report, under its name
Questions = Annotated[
    list[str] | None, argument("Questions with their gold.", "QUESTIONS.jsonl...")
]
Corpus = Annotated[str | None, option("Documents to ask on: a .jsonl file or a folder.")]
Limit = Annotated[int | None, option("So many questions a file, by chance.", min=1)]
Only = Annotated[str | None, option("Search only, no answers.", metavar="retrieval")]
SearchStrategy = Annotated[str | None, option("How to search.", "--strategy", "-s")]
JsonOut = Annotated[
    str | None, typer.Option("--json", metavar="OUT", help="Write the report; - prints it.")
]
HtmlOut = Annotated[
    str | None, typer.Option("--html", metavar="OUT", help="Write the report as one page.")
]
Ablate = Annotated[
    bool,
    typer.Option(
        "--ablate", help="What each loop is worth: qa, dual_loop without either loop, all of it."
    ),
]
TwoReports = Annotated[
    tuple[str, str] | None, option("Compare two reports.", metavar="OLD.json NEW.json")
]


def run_eval(
    questions: Questions = None,
    corpus: Corpus = None,
    collection: Collection = None,
    agent: Agent = "qa",
    limit: Limit = None,
    seed: Annotated[int, typer.Option(help="Which ones --limit draws.")] = 1,
    only: Only = None,
    strategy: SearchStrategy = None,
    json: JsonOut = None,
    html: HtmlOut = None,
    ablate: Ablate = False,
    calibrate: Annotated[
        bool, typer.Option("--calibrate", help="Fit the confidences on these questions.")
    ] = False,
    save: Annotated[
        bool, typer.Option("--save", help="With --calibrate: use what was fitted in this library.")
    ] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Read and cut the corpus again.")] = False,
    compare: TwoReports = None,
) -> None:
    """Measure search and answers on questions whose answers are known."""
    ways = {
        "agent": agent,
        "limit": limit,
        "seed": seed,
        "only": only,
        "strategy": strategy,
        "fresh": fresh,
    }
    choices = Choices(
        questions or [],
        compare,
        corpus,
        collection,
        ways,
        json,
        html,
        calibrate=calibrate,
        keep=save,
        ablate=ablate,
    )
    choices.check_usage()
    run_evaluation(choices)


def run_evaluation(choices: Choices) -> None:
    if choices.compare is None:
        asked = evaluate_variants if choices.ablate else evaluate_datasets
        run(lambda app: asked(app, choices), json=choices.printed)
    with guard_command(json=choices.printed):
        choices.check_files()
        _compare_reports(choices, *(choices.compare or ("", "")))
        raise typer.Exit(DONE)


def _load_questions(settings: Settings, choices: Choices) -> tuple[Options, list[Dataset]]:
    """Raises InvalidInput for what cannot be asked or written, before anything is."""
    said = {name: value for name, value in choices.ways.items() if value is not None}
    options = Options(**{"strategy": settings.search.strategy, **said})
    options.check()
    choices.check_files()
    corpus = Path(choices.corpus) if choices.corpus else None
    return options, load_datasets(
        [Path(path) for path in choices.paths], corpus, choices.collection, options
    )


async def evaluate_datasets(app: App, choices: Choices) -> int:
    """Exit 130 where it was stopped, with what was done written."""
    options, sets = _load_questions(app.settings, choices)
    journal = Journal(choices.json_file.with_suffix(PARTIAL) if choices.json_file else None)
    asking = Evaluation(app, sets, options, choices.collection, journal, print_warning)
    stopped = False
    try:
        async with show_progress() as tell:
            await asking.run(tell)
    except asyncio.CancelledError:
        if not asking.items:
            raise
        stopped = True
    finally:
        journal.close(finished=asking.of == len(asking.items))
    report = await anyio.to_thread.run_sync(
        lambda: asking.report(calibrate=choices.calibrate and not stopped)
    )
    _show_report(report, choices)
    if choices.keep and not stopped:
        await _save_weights(app, report)
    if stopped:
        more = (
            "; the same command goes on from there"
            if choices.json_file
            else "; with --json FILE it could be gone on with"
        )
        write_paragraph(get_stderr(), f"stopped after {report.n} of {report.of} questions{more}")
    return INTERRUPTED if stopped else DONE


async def evaluate_variants(app: App, choices: Choices) -> int:
    """The same questions by each variant; a table at the end, of those that were done where it was
    stopped.
    """
    options, sets = _load_questions(app.settings, choices)
    file = choices.json_file
    done: dict[str, Report] = {}
    stopped = False

    def journal(variant: Variant) -> Journal:
        return Journal(file.with_suffix(f".{variant.slug}{PARTIAL}") if file else None)

    try:
        async with show_progress() as tell:
            async for variant, report in run_ablation(
                app, sets, options, choices.collection, journal, print_warning, tell
            ):
                done[variant.name] = report
                write_paragraph(get_stderr(), f"{variant.name}: {report.n} questions asked", "dim")
    except asyncio.CancelledError:
        if not done:
            raise
        stopped = True
    found = Ablation(variants=done)
    if choices.printed:
        print_json(found)
    else:
        show_ablation(found)
    if file:
        _write_file(file, found.model_dump_json(indent=1) + "\n")
    if stopped:
        write_paragraph(
            get_stderr(),
            f"stopped after {len(done)} of {len(VARIANTS)} variants; the same command goes "
            "on with --json FILE",
        )
    return INTERRUPTED if stopped else DONE


def _show_report(report: Report, choices: Choices) -> None:
    """Print the figures, and write the files asked for."""
    if choices.printed:
        print_json(report)
    else:
        show_report(report)
        for fit in report.fits:
            show_fit(fit, report.reliability.get(fit.name))
    if choices.json_file:
        _write_file(choices.json_file, report.model_dump_json(indent=1) + "\n")
    if choices.html:
        _write_file(Path(choices.html), render_report(report))


def _compare_reports(choices: Choices, old: str, new: str) -> None:
    """Two reports side by side."""
    before, after = read_report(Path(old)), read_report(Path(new))
    found = compare_reports(before, after)
    if choices.printed:
        print_json(found)
    else:
        show_comparison(found)
    if choices.json_file:
        _write_file(choices.json_file, found.model_dump_json(indent=1) + "\n")
    if choices.html:
        _write_file(Path(choices.html), render_comparison(before, after, found, (old, new)))


async def _save_weights(app: App, report: Report) -> None:
    path, told = save_calibration(app.embedder, app.settings, report)
    for line in told:
        print_warning(line)
    if path and app.settings.home_is_cache:
        await share_home_file(app.db, path)
    if path:
        write_paragraph(
            get_stderr(),
            f"kept in {path}; `citewell doctor` shows it; delete it to go back to the "
            "shipped weights",
        )


def _write_file(path: Path, text: str) -> None:
    new = path.with_name(path.name + ".new")
    try:
        new.write_text(text, "utf-8", errors="replace")
        new.replace(path)
    except OSError as error:
        raise StorageError(f"{path}: {error.strerror}", hint="choose another file") from None
    write_paragraph(get_stderr(), f"written: {path}", "dim")
