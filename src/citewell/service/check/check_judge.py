"""Who judges a text that is checked, and what is said of who does."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.messages import Text
from citewell.runtime.app import App
from citewell.skills.answer.wording import format_message
from citewell.skills.evidence.numbered import Unit
from citewell.skills.evidence.passages import Passage
from citewell.skills.proof.judge import Claim, Judge
from citewell.skills.proof.judge_reader import ReaderJudge, find_nearest_units
from citewell.skills.proof.judges import build_judge
from citewell.text.sentences import detect_language


def get_app_judge(app: App) -> Judge | None:
    """The judge of the settings; the reader also where it has not passed the gates for ticks: a
    check says how sure it is.
    """
    judge = build_judge(app.llm, None, app.judge_llm)
    if judge is not None:  # no need of the reader, which is not light
        return judge
    return ReaderJudge(app.reader) if app.reader is not None else None


def is_measured(app: App, judge: Judge | None) -> bool:
    if isinstance(judge, ReaderJudge):
        return app.reader is not None and app.reader.judges
    return judge is not None


def list_caveats(app: App, judge: Judge | None) -> list[str]:
    if judge is None:
        return [
            Text("only quotations can be checked: there is no connected chat model and no reader")
        ]
    return (
        []
        if is_measured(app, judge)
        else [
            (
                Text(
                    "only quotations are judged: the small reader guesses too often, and "
                    "no chat model is connected"
                )
            )
        ]
    )


def get_judge_question(claim: str) -> str:
    """What a chat model reads as the question, where there is none."""
    return format_message("which_hold", detect_language(claim))


def explain_open(judge: Judge | None, units: Sequence[Unit]) -> str:
    reason = (
        Text("no quotation of the documents")
        if judge is None
        else Text("nothing found that says it")
    )
    return reason if units else Text("nothing was found")


def build_claim(text: str, own: Sequence[Passage], units: Sequence[Unit], judge: Judge) -> Claim:
    """The reader sees the sentences nearest to the claim among those found; a model all."""
    if not isinstance(judge, ReaderJudge):
        return Claim(text)
    there = {(p.hit.doc_id, p.hit.start) for p in own}
    near = [unit for unit in units if (unit.passage.hit.doc_id, unit.passage.hit.start) in there]
    return Claim(text, evidence=find_nearest_units(text, near or units))
