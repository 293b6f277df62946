"""What the data agent makes of the text2sql questions (Spider dev in English and Chinese, six
SQLite databases): execution accuracy, refusals of questions that the tables cannot answer, the lift
of confirmed answers, the harm of wrong ones.

    python evals/text2sql.py --limit 60    # accuracy and refusals, with the settings' chat model
    python evals/text2sql.py --limit 60 --learn --harm    # and what confirming does
    python evals/text2sql.py --log asked.jsonl    # all of it, hours: goes on where it was stopped
    python evals/text2sql.py --links    # no chat model: is it told what tables cannot answer?

Right: the rows are the gold statement's, columns in any order, rows in any order unless the gold
statement sorts. `sets`: the same, doubles left out. `unlinked`: questions whose gold statement
compares with a value that the question does not state (the Chinese questions name shows and people
that are not in the databases); nobody can answer those from the tables. `--learn` confirms the
right answers of half of the questions, through the same job as everybody's, and asks the other
half: `split=paraphrase` draws that half by question, so that the same may have been confirmed in
other words, `split=new` by gold statement, so that it has not. `--harm` confirms wrong statements
instead (another question's), by one person, k = 1 and 2.

The one rule: every question goes through `service.ask`, as a user's does.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import itertools
import json
import random
import re
import sqlite3
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from citewell.config import Settings, load_settings
from citewell.models.base import Reply, YesNo
from citewell.runtime.app import App
from citewell.service.ask.ask import ask
from citewell.service.ask.run import AskRequest
from citewell.service.knowledge.feedback_job import run_pending_jobs
from citewell.service.knowledge.give_feedback import submit_feedback
from citewell.service.tables.kept_schema import load_schema
from citewell.service.tables.sources import add_source
from citewell.sql.plan import is_answerable
from citewell.sql.schema_link import link_question
from citewell.types import Answer, IntentAnalysis, Message, Snapshot, TableData, Trace

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "text2sql"
if "--data" in sys.argv[1:-1]:  # another folder of the same make
    DATA = Path(sys.argv[sys.argv.index("--data") + 1])
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Question:
    """One of the set, in one language. `gold` empty: the tables cannot answer it."""

    id: str
    db: str
    lang: str
    text: str
    gold: str


@dataclass
class Outcome:
    """`right`: the rows are the gold statement's. `how`: reused, adapted, example, or empty."""

    question: Question
    status: str
    sql: str = ""
    right: bool = False
    sets: bool = False
    how: str = ""
    stop_reason: str = ""
    answer: str = ""
    seconds: float = 0.0
    tried: list[dict[str, str]] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)


def questions(name: str, langs: Sequence[str]) -> list[Question]:
    """Of `questions.jsonl` or `unanswerable_derived.jsonl`."""
    lines = (DATA / name).read_text("utf-8").splitlines()
    return [
        Question(row["id"], row["db_id"], lang, row[f"question_{lang}"], row.get("gold_sql", ""))
        for row in map(json.loads, lines)
        for lang in langs
    ]


def gold_rows(question: Question) -> list[Row]:
    path = DATA / "databases" / question.db / f"{question.db}.sqlite"
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    try:
        return list(connection.execute(question.gold))
    finally:
        connection.close()


def same_rows(
    gold: Sequence[Row], got: Sequence[Row], *, ordered: bool, sets: bool = False
) -> bool:
    """With the columns in any order, where there are five at most."""
    one, other = (
        [tuple(map(_figure, row)) for row in gold],
        [tuple(map(_figure, row)) for row in got],
    )
    width = len(one[0]) if one else 0
    if not one or not other:
        return not one and not other
    if len(other[0]) != width or (not sets and len(one) != len(other)):
        return False
    orders = itertools.permutations(range(width)) if width <= 5 else [tuple(range(width))]
    for order in orders:
        turned = [tuple(row[at] for at in order) for row in other]
        if (
            set(one) == set(turned)
            if sets
            else one == turned
            if ordered
            else sorted(one, key=repr) == sorted(turned, key=repr)
        ):
            return True
    return False


def _figure(value: Any) -> Any:
    """Whole numbers and fractions alike; fractions to four places."""
    if isinstance(value, bool) or value is None:
        return value
    return round(float(value), 4) if isinstance(value, int | float) else str(value)


def unlinked(question: Question) -> bool:
    """Whether the gold statement compares with a text that the question does not have."""
    values = re.findall(r"""["']([^"']*[A-Za-z][^"']*)["']""", question.gold)
    words = question.text.casefold()
    return question.lang == "zh" and any(
        " " in value.strip() and value.casefold() not in words for value in values
    )


async def asked(app: App, question: Question) -> Outcome:
    started = time.perf_counter()
    request = AskRequest(
        question=question.text, agent="data", keep=False, options={"source": question.db}
    )
    try:
        answer = await ask(app, request)
    except Exception as error:  # noqa: BLE001 - one question's fault is one wrong answer, and is told
        return Outcome(question, "error", answer=f"{type(error).__name__}: {error}")
    return judged(question, answer, time.perf_counter() - started)


def judged(question: Question, answer: Answer, seconds: float) -> Outcome:
    data = answer.data or {}
    outcome = Outcome(
        question,
        answer.status,
        str(data.get("sql", "")),
        stop_reason=answer.stop_reason,
        answer=answer.answer,
    )
    outcome.seconds, outcome.tried = round(seconds, 2), list(data.get("tried", []))
    outcome.how = answer.followed[0].how if answer.followed else ""
    outcome.figures = {"confidence": answer.confidence}
    if question.gold and "rows" in data:
        gold, got = gold_rows(question), [tuple(row) for row in data["rows"]]
        ordered = "order by" in question.gold.lower()
        outcome.right = same_rows(gold, got, ordered=ordered)
        outcome.sets = outcome.right or same_rows(gold, got, ordered=False, sets=True)
    return outcome


async def prepared(app: App) -> None:
    for path in sorted((DATA / "databases").glob("*/*.sqlite")):
        await add_source(app, f"sqlite:///{path}", name=path.stem)


async def confirm(app: App, question: Question, sql: str, user: str = "local") -> None:
    """A trace of that statement for that question, and a person's word that it is right."""
    trace_id = "tr_eval_" + re.sub(r"\W", "", f"{question.id}{question.lang}{user}")
    answer = Answer(
        answer=f"confirmed: {question.text}",
        status="answered",
        confidence=1.0,
        agent="data",
        trace_id=trace_id,
        data=TableData(source=question.db, dialect="sqlite", sql=sql).model_dump(),
    )
    snapshot = Snapshot(
        trace_id=trace_id,
        timestamp="2026-01-01T00:00:00Z",
        user_query=question.text,
        intent_analysis=IntentAnalysis(intent_type="general_query"),
        generated_logic=sql,
        final_answer=answer.answer,
        execution_status="success",
    )
    trace = Trace(
        trace_id=trace_id,
        user_id=user,
        agent="data",
        question=question.text,
        collection="",
        session_id="",
        created_at=time.time(),
        steps=[],
        prompts=[],
        answer=answer,
        snapshot=snapshot,
    )
    await app.traces.put(trace)
    await submit_feedback(app, trace_id, True, None, user)


class Replies:
    """A chat model whose replies are kept in a file of JSON lines and given again to the same
    prompt, so that what comes after the model can be tried without it.
    """

    def __init__(self, llm: Any, path: Path) -> None:
        self._llm, self._path = llm, path
        self.name, self.evidence_tokens = llm.name, llm.evidence_tokens
        lines = path.read_text("utf-8").splitlines() if path.exists() else []
        self._kept = {row["key"]: row["reply"] for row in map(json.loads, lines)}

    async def chat(self, messages: Sequence[Message], **given: Any) -> Reply:
        shown = {key: value for key, value in given.items() if key != "on_token" and value}
        key = self._key("chat", messages, shown)
        if key not in self._kept:
            reply = await self._llm.chat(messages, **given)
            self._keep(key, [reply.text, reply.finished, reply.log_prob])
        text, finished, log_prob = self._kept[key]
        return Reply(text, finished=finished, log_prob=log_prob)

    async def yes_no(self, messages: Sequence[Message]) -> YesNo:
        key = self._key("yes_no", messages, {})
        if key not in self._kept:
            self._keep(key, (await self._llm.yes_no(messages)).log_odds)
        return YesNo(self._kept[key])

    async def close(self) -> None:
        """The model behind is closed by who built it."""

    def _key(self, job: str, messages: Sequence[Message], given: dict[str, Any]) -> str:
        said = json.dumps([job, [each.model_dump() for each in messages], given], sort_keys=True)
        return hashlib.sha256(said.encode()).hexdigest()

    def _keep(self, key: str, reply: Any) -> None:
        self._kept[key] = reply
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"key": key, "reply": reply}, ensure_ascii=False) + "\n")


@dataclass
class Log:
    """What was asked so far, in a file of JSON lines, so that a run of hours goes on where it was
    stopped.
    """

    path: Path | None

    def __post_init__(self) -> None:
        lines = (
            self.path.read_text("utf-8").splitlines() if self.path and self.path.exists() else []
        )
        rows = [json.loads(line) for line in lines]
        self.kept = {
            (row["stage"], row["question"]["id"], row["question"]["lang"]): Outcome(
                Question(**row["question"]),
                **{key: value for key, value in row.items() if key not in {"stage", "question"}},
            )
            for row in rows
        }

    def find(self, stage: str, question: Question) -> Outcome | None:
        return self.kept.get((stage, question.id, question.lang))

    def add(self, stage: str, outcome: Outcome) -> None:
        mark = (
            "+"
            if outcome.right
            else "-"
            if outcome.question.gold
            else "r"
            if outcome.status != "answered"
            else "a"
        )
        print(mark, end="", flush=True)
        if self.path:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(
                    json.dumps({"stage": stage, **asdict(outcome)}, ensure_ascii=False) + "\n"
                )


async def run(
    stage: str,
    log: Log,
    settings: Settings,
    lender: App,
    items: Sequence[Question],
    known: Sequence[tuple[Question, str]] = (),
) -> list[Outcome]:
    """Ask `items` in a fresh library, in which `known` were confirmed by one person; not those that
    `log` has.
    """
    order = sorted(items, key=lambda each: (each.lang, each.db))
    found = [log.find(stage, each) for each in order]
    if None not in found:
        return [each for each in found if each]
    with tempfile.TemporaryDirectory() as home:
        async with App(settings.model_copy(update={"home": Path(home)}), lender=lender) as app:
            await prepared(app)
            for question, sql in known:
                # texts as every engine reads them
                await confirm(app, question, re.sub(r'"([^"]*)"', r"'\1'", sql))
            await run_pending_jobs(app)
            for at, question in enumerate(order):
                if found[at] is None:
                    found[at] = outcome = await asked(app, question)
                    log.add(stage, outcome)
            print()
            return [each for each in found if each]


def halves(
    items: Sequence[Question], seed: int, *, by_gold: bool
) -> tuple[list[Question], list[Question]]:
    """(to confirm, to ask)."""
    keys = sorted({_key(each, by_gold=by_gold) for each in items})
    chosen = set(random.Random(seed).sample(keys, len(keys) // 2))
    return (
        [each for each in items if _key(each, by_gold=by_gold) in chosen],
        [each for each in items if _key(each, by_gold=by_gold) not in chosen],
    )


def some(items: Sequence[Question], most: int, seed: int) -> list[Question]:
    """The same questions of each language, `most` at most; 0: all."""
    ids = sorted({each.id for each in items})
    drawn = set(random.Random(seed).sample(ids, min(most, len(ids))) if most else ids)
    return [each for each in items if each.id in drawn]


def _key(question: Question, *, by_gold: bool) -> str:
    return f"{question.db} {' '.join(question.gold.lower().split())}" if by_gold else question.id


def wrong_sql(question: Question, items: Sequence[Question], seed: int) -> str:
    """Another question's statement over the same database, with other rows."""
    others = [
        each for each in items if each.db == question.db and gold_rows(each) != gold_rows(question)
    ]
    return random.Random(f"{seed} {question.id}").choice(others).gold


def table(title: str, outcomes: Sequence[Outcome]) -> None:
    print(f"\n{title}")
    print(f"{'':28}{'n':>5}{'right':>8}{'sets':>8}{'refused':>9}{'s each':>8}")
    groups: dict[str, list[Outcome]] = defaultdict(list)
    for each in outcomes:
        lang = each.question.lang
        groups[f"{each.question.db} {lang}"].append(each)
        groups[f"~ all {lang}"].append(each)
        if not unlinked(each.question):
            groups[f"~ all {lang}, linked"].append(each)
        if each.how:
            groups[f"~ {each.how} {lang}"].append(each)
    for name in sorted(groups):
        found = groups[name]
        n = len(found)
        shares = [sum(getattr(each, mark) for each in found) / n for mark in ("right", "sets")]
        refused = sum(each.status in {"refused", "clarify"} for each in found) / n
        print(
            f"{name:28}{n:>5}{shares[0]:>8.3f}{shares[1]:>8.3f}{refused:>9.3f}"
            f"{sum(e.seconds for e in found) / n:>8.1f}"
        )


async def links(settings: Settings, langs: Sequence[str]) -> None:
    """What linking alone makes of questions that the tables can and cannot answer."""
    with tempfile.TemporaryDirectory() as home:
        async with App(settings.model_copy(update={"home": Path(home)})) as app:
            await prepared(app)
            schemas = {source.name: load_schema(source) for source in await app.sources.list()}
            for lang in langs:
                shares: dict[bool, list[tuple[float, bool]]] = {True: [], False: []}
                for name in ("questions.jsonl", "unanswerable_derived.jsonl"):
                    for each in questions(name, [lang]):
                        linked = await link_question(each.text, schemas[each.db], app.embedder)
                        shares[bool(each.gold)].append(
                            (-(linked.log_odds or 0.0), is_answerable(linked))
                        )
                pairs = [
                    (other > own) + (other == own) / 2
                    for own, _ in shares[True]
                    for other, _ in shares[False]
                ]
                kept = [sum(sure for _, sure in found) for found in (shares[True], shares[False])]
                print(
                    f"{lang}: AUC {sum(pairs) / len(pairs):.3f}; taken for answerable by "
                    "this alone:",
                    end=" ",
                )
                print(
                    f"{kept[0]} of {len(shares[True])} that are, {kept[1]} of "
                    f"{len(shares[False])} that are not"
                )


async def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--limit", type=int, default=0, help="questions of the set, drawn by --seed; 0: all"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--langs", nargs="+", default=["en", "zh"])
    parser.add_argument(
        "--unanswerable",
        type=int,
        default=40,
        help="of the questions that the tables cannot answer",
    )
    parser.add_argument(
        "--learn", action="store_true", help="confirm right answers of half, ask the other half"
    )
    parser.add_argument(
        "--harm", action="store_true", help="confirm wrong answers of half, under k = 1 and k = 2"
    )
    parser.add_argument(
        "--rest", type=int, default=0, help="of the half that is asked, so many questions; 0: all"
    )
    parser.add_argument(
        "--links",
        action="store_true",
        help="only how well linking tells what the tables cannot answer",
    )
    parser.add_argument(
        "--log",
        type=Path,
        help="every question and answer, as JSON lines; what it has is not asked again",
    )
    parser.add_argument("--data", type=Path, help="a folder made like shared/data/text2sql")
    parser.add_argument(
        "--replies", type=Path, help="the model's replies are kept there and not asked for again"
    )
    given = parser.parse_args()
    if not DATA.exists():
        raise SystemExit(f"{DATA}: the data set is not beside this checkout")
    ids = sorted({each.id for each in questions("questions.jsonl", ["en"])})
    drawn = set(random.Random(given.seed).sample(ids, given.limit) if given.limit else ids)
    items = [each for each in questions("questions.jsonl", given.langs) if each.id in drawn]
    refusals = questions("unanswerable_derived.jsonl", given.langs)[
        : given.unanswerable * len(given.langs)
    ]
    log, kept = Log(given.log), dict[str, list[Outcome]]()
    settings = load_settings()
    if given.links:
        await links(settings, given.langs)
        return
    with tempfile.TemporaryDirectory() as home:
        async with App(settings.model_copy(update={"home": Path(home)})) as lender:
            if given.replies and lender.llm is not None:
                vars(lender)["llm"] = Replies(lender.llm, given.replies)
            kept["plain"] = await run("plain", log, settings, lender, [*items, *refusals])
            before = {(each.question.id, each.question.lang): each for each in kept["plain"]}
            table("As shipped", [each for each in kept["plain"] if each.question.gold])
            table(
                "Questions that the tables cannot answer",
                [each for each in kept["plain"] if not each.question.gold],
            )
            for split in ("paraphrase", "new") if given.learn else ():
                confirmed, half = halves(items, given.seed, by_gold=split == "new")
                rest = some(half, given.rest, given.seed)
                table(f"Before, split={split}", [before[(each.id, each.lang)] for each in rest])
                known = [(each, each.gold) for each in confirmed]
                kept[f"learn {split}"] = await run(
                    f"learn {split}", log, settings, lender, rest, known
                )
                table(
                    f"After confirming {len(confirmed)} right answers, split={split}",
                    kept[f"learn {split}"],
                )
            for k in (1, 2) if given.harm else ():
                confirmed, half = halves(items, given.seed, by_gold=False)
                rest = some(half, given.rest, given.seed)
                feedback = settings.feedback.model_copy(update={"confirmations": k})
                wrong = [(each, wrong_sql(each, items, given.seed)) for each in confirmed]
                strict = settings.model_copy(update={"feedback": feedback})
                kept[f"harm {k}"] = await run(f"harm {k}", log, strict, lender, rest, wrong)
                table(
                    f"After one person confirmed {len(confirmed)} wrong answers, k = {k}",
                    kept[f"harm {k}"],
                )


if __name__ == "__main__":
    asyncio.run(main())
