"""A report as one page that needs nothing else: styles, script and plots are inside it, and it
works without a network. Every word that comes from data is escaped by the template engine, and the
page's own policy lets no script run but the one written here.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Sequence
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from citewell.measure import plots
from citewell.measure.compare import Changed, Comparison, Difference
from citewell.measure.judgement import Judgement, judge_item
from citewell.measure.report import Found, Item, Reliability, Report

TITLES = {
    "retrieval": "Retrieval, by document",
    "pages": "Retrieval, by page",
    "answer": "Answers",
    "citations": "Citations",
    "refusal": "Refusals",
    "confidence": "Confidence",
    "cost": "Cost of a question",
    "latency_s": "Seconds",
}
MEANS = {
    "hit@1": "gold is first",
    "hit@3": "gold is among the first three",
    "hit@5": "gold is among the first five",
    "recall@10": "share of all gold among the first ten",
    "mrr@10": "mean of 1 / place of the first gold",
    "ndcg@10": "graded gain, discounted by place",
    "answer.right": "a gold answer is given: as it stands, or a long one in four of five words "
    "and all figures",
    "answer.contains": "a gold answer stands in it word for word",
    "answer.em": "nothing but a gold answer",
    "answer.f1": "words shared with the nearest gold answer",
    "citations.verbatim": "quotes that are the document's own words at the place named",
    "citations.precision": "of what is cited, from a gold document (and page)",
    "citations.recall": "of the gold documents, cited",
    "citations.grounded": "of the sentences shown, proved by their quotes; a partly proved one "
    "counts half",
    "cost.calls": "calls of the chat model",
    "cost.tokens": "tokens sent and written, cached ones too",
    "refusal.precision": "of the refusals, due",
    "refusal.recall": "of the unanswerable, refused",
    "refusal.wrongly": "of the answerable, refused",
    "confidence.brier": "squared error of the confidence; a refusal counts as not right; lower "
    "is better",
    "confidence.brier_answered": "the same, of answers given",
    "confidence.brier_search": "squared error of the search confidence: that gold is among the "
    "best three passages",
    "p50": "half are quicker",
    "p95": "one in twenty is slower",
    "search_p50": "half of the searches are quicker",
    "search_p95": "one search in twenty is slower",
}
MANY = 300  # questions above which those that went well show less evidence, to keep the page light

# of each data set and pair of languages
SLICED = (
    *(("retrieval", name) for name in ("hit@1", "recall@10", "mrr@10", "ndcg@10")),
    *(("pages", name) for name in ("hit@1", "ndcg@10")),
    *(("answer", name) for name in ("right", "f1")),
    *(("citations", name) for name in ("precision", "recall", "verbatim")),
    *(("refusal", name) for name in ("recall", "wrongly")),
    ("latency_s", "p50"),
)


class Row(NamedTuple):
    """A question in the list."""

    item: Item
    judgement: Judgement
    found: Sequence[Found]
    at: int


class Plot(NamedTuple):
    title: str
    note: str
    svg: Markup


@cache
def _build_environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("citewell.measure", "page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["figure"] = lambda value: "–" if value is None else f"{value:.3f}"
    environment.filters["signed"] = lambda value: f"{value:+.3f}"
    environment.globals.update(
        titles=TITLES, means=lambda group, name: MEANS.get(f"{group}.{name}", MEANS.get(name, ""))
    )
    return environment


def _render_template(template: str, **values: Any) -> str:
    style, script = (
        resources.files("citewell.measure").joinpath("page", name).read_text("utf-8")
        for name in PARTS
    )
    policy = (
        f"default-src 'none'; style-src {_hash_source(style)}; script-src "
        f"{_hash_source(script)}; base-uri "
        "'none'; form-action 'none'"
    )
    parts = {"style": Markup(style), "script": Markup(script), "policy": policy}  # noqa: S704 - files of ours
    return _build_environment().get_template(template).render(**parts, **values)


PARTS = ("style.css", "list.js")


def _hash_source(text: str) -> str:
    """How a content security policy names the one style sheet or script that may be used."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def render_report(report: Report) -> str:
    """The page of one report."""
    rows = [
        _build_row(at, item, brief=len(report.items) > MANY) for at, item in enumerate(report.items)
    ]
    rows.sort(key=lambda row: -row.judgement.badness)
    return _render_template(
        "report.html",
        report=report,
        plots=_build_plots(report),
        twice=_TWICE,
        fits=[(fit, plots.plot_reliability(fit.whole)) for fit in report.fits],
        rows=rows,
        words=sorted({row.judgement.words for row in rows}, key=_make_sort_key(rows)),
        datasets=list(report.run.datasets),
        pairs=sorted({item.pair for item in report.items}),
        columns=_select_columns(report),
    )


def _build_row(at: int, item: Item, *, brief: bool) -> Row:
    judgement, found = judge_item(item), item.search.found if item.search else []
    if brief and judgement.kind == "good":
        found = [one.model_copy(update={"text": one.text[:160]}) for one in found[:1]]
    return Row(item, judgement, found, at)


def _select_columns(report: Report) -> list[tuple[str, str]]:
    """Those of SLICED that have a value anywhere."""
    return [
        (group, name)
        for group, name in SLICED
        if any(one.figures[group].get(name) is not None for one in report.slices)
    ]


def _make_sort_key(rows: Sequence[Row]) -> Callable[[str], float]:
    worst = {row.judgement.words: -row.judgement.badness for row in rows}
    return lambda words: worst[words]


def _build_plots(report: Report) -> list[Plot]:
    shown = [
        Plot(
            f"Reliability of the {_NAMES[name]} confidence",
            _format_reliability(rated) + _TWICE.get(name, ""),
            plots.plot_reliability(rated),
        )
        for name, rated in report.reliability.items()
    ]
    searches = [item.search.seconds for item in report.items if item.search]
    answers = [item.answer.seconds for item in report.items if item.answer]
    if any(item.search and item.search.figures for item in report.items):
        shown.append(
            Plot(
                "Place of the first gold document",
                "questions by place",
                plots.plot_ranks(report.items),
            )
        )
    for title, values in (("Seconds of an answer", answers), ("Seconds of a search", searches)):
        if values:
            shown.append(Plot(title, f"{len(values)} measured", plots.plot_seconds(values, title)))
    return shown


_NAMES = {"retrieval": "search", "answer": "answer"}
_TWICE = {
    "retrieval": "; each search counts twice, as it was and with its gold documents taken away"
}


def _format_reliability(rated: Reliability) -> str:
    area = "" if rated.auc is None else f", AUC {rated.auc:.3f}"
    return (
        f"Brier {rated.brier:.3f} (always the mean: {rated.brier_of_the_mean:.3f}){area}, "
        f"ECE {rated.ece:.3f}, {rated.n} items"
    )


class Side(NamedTuple):
    """A changed question with both judgements."""

    changed: Changed
    old: Judgement
    new: Judgement


def render_comparison(old: Report, new: Report, found: Comparison, names: tuple[str, str]) -> str:
    """The page of two reports."""
    widest = max(
        (max(abs(d.change.low), abs(d.change.high)) for d in found.differences), default=1.0
    )
    differences: list[tuple[Difference, Markup]] = [
        (one, plots.plot_change(one.change.value, one.change.low, one.change.high, widest))
        for one in found.differences
    ]
    changed = [Side(one, judge_item(one.old), judge_item(one.new)) for one in found.changed]
    return _render_template(
        "compare.html",
        old=old,
        new=new,
        found=found,
        names=names,
        differences=differences,
        changed=changed,
    )
