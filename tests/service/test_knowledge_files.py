"""Confirmed knowledge as files: the same bytes each time, back as they were, clean merges, and
hostile files refused.
"""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import SecretStr
from tests.servers.postgres import make_database
from tests.service.made_traces import data_trace, text_trace

from citewell.config import FeedbackSettings, Settings
from citewell.errors import InvalidInput
from citewell.runtime.app import App
from citewell.service.knowledge import exchange_files as knowledge_files
from citewell.service.knowledge import find_knowledge as knowledge
from citewell.service.knowledge import review_knowledge as review
from citewell.service.knowledge.exchange_files import Imported, export_knowledge, import_knowledge
from citewell.service.knowledge.feedback_job import run_pending_jobs
from citewell.service.knowledge.give_feedback import submit_feedback
from citewell.service.tables.sources import add_source
from citewell.store.confirmed import exchange as confirmed_exchange
from citewell.store.confirmed import item_files
from citewell.store.confirmed.types import Confirmed
from citewell.types import Trace

SQL = "SELECT service, amount AS total FROM costs WHERE function = 'IT'"
HOSTILE = (
    "---\nid: x\n---\n# IT `cost` <script> *有哪些*服务? \u2028 {{x}} !!python/object:os.system"
)
URLS: dict[str, SecretStr] = {}  # of each library's own database, with `--postgres`


@pytest.fixture(autouse=True)
def databases(request: pytest.FixtureRequest) -> Iterator[None]:
    if not request.config.getoption("--postgres"):
        yield
        return
    url, template = (request.getfixturevalue(name) for name in ("postgres_url", "home_template"))
    with ExitStack() as stack:
        for name in ("one", "two", "three"):
            URLS[name] = SecretStr(stack.enter_context(make_database(url, template)))
        yield
    URLS.clear()


def library(settings: Settings, name: str, **feedback: Any) -> App:
    own: dict[str, Any] = {
        "home": settings.home.parent / name,
        "feedback": FeedbackSettings(**feedback),
    }
    if name in URLS:
        own["database_url"] = URLS[name]
    return App(settings.model_copy(update=own))


@pytest.fixture
def costs(tmp_path: Path) -> Path:
    path = tmp_path / "costs.csv"
    path.write_text("service,function,amount\nMail,IT,12\nHosting,IT,30\n", "utf-8")
    return path


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "kept" / "here"


async def confirmed(app: App, *traces: Trace) -> None:
    for trace in traces:
        await app.traces.put(trace)
        await submit_feedback(app, trace.trace_id, True, None, trace.user_id)
    await run_pending_jobs(app)


async def corrected(app: App, trace: Trace) -> str:
    await app.traces.put(trace)
    await submit_feedback(
        app, trace.trace_id, False, "The lamp was lit in 1859.\nNot before.", trace.user_id
    )
    await run_pending_jobs(app)
    (rule,) = await review.list_rules(app)
    await review.review_rule(app, rule.rule_id, "active", "rita")
    return rule.rule_id


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*.md"))
    }


def statuses(done: Imported) -> dict[str, tuple[str, str]]:
    return {each.path: (each.status, each.state) for each in done.files}


def plainly(item: Confirmed) -> dict[str, Any]:
    """What of an item is not this library's own."""
    own = {"updated_at", "doc_id", "path", "uses", "good", "bad", "used_at"}
    return item.model_dump(exclude=own)


async def test_there_and_back(settings: Settings, costs: Path, out: Path) -> None:
    """Twice the same bytes; taken in where they came from they change nothing, elsewhere all of it
    is there, and in force.
    """
    async with library(settings, "one") as app:
        await add_source(app, str(costs), "costs")
        await confirmed(
            app,
            data_trace("tr_1", sql=SQL),
            data_trace("tr_2", HOSTILE, "SELECT count(*) FROM costs", user_id="李雷"),
        )
        rule_id = await corrected(
            app, text_trace("qa", "tr_3", "When was the lamp lit?", user_id="ann")
        )
        first = await export_knowledge(app, out)
        assert (first.items, first.rules, len(first.written)) == (2, 1, 3)
        before = bytes_of(out)
        assert sorted(before) == [
            "confirmed_qa/tr_1.md",
            "confirmed_qa/tr_2.md",
            f"rules/{rule_id}.md",
        ]
        assert (await export_knowledge(app, out)).written == []
        kept = {item.item_id: plainly(item) for item in await review.list_items(app)}
        assert {status for status, _ in statuses(await import_knowledge(app, out)).values()} == {
            "unchanged"
        }
        assert {item.item_id: plainly(item) for item in await review.list_items(app)} == kept
        assert bytes_of(out) == before
    async with library(settings, "two") as app:
        await add_source(app, str(costs), "costs")
        done = await import_knowledge(app, out)
        assert set(statuses(done).values()) == {("added", "active")}, done
        assert {item.item_id: plainly(item) for item in await review.list_items(app)} == kept
        near = await knowledge.find_similar_items(
            app, data_trace().question, agent="data", source="costs"
        )
        assert [each.item.question for each in near] == [data_trace().question]
        again = out.parent / "again"
        await export_knowledge(app, again)
        assert bytes_of(again) == before


async def test_two_exports_merge_in_git(settings: Settings, costs: Path, tmp_path: Path) -> None:
    """Two libraries, two branches: no conflict; each takes in what the other confirmed, and who
    stands by what both have.
    """
    repository = tmp_path / "repository"

    def git(*arguments: str) -> str:
        who = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"]
        return subprocess.run(
            ["git", "-C", str(repository), *who, *arguments],
            check=True,
            capture_output=True,
            text=True,
        ).stdout

    repository.mkdir()
    git("init", "-q", "-b", "main")
    async with library(settings, "one") as one, library(settings, "two") as two:
        for app, user, trace_id in ((one, "ann", "tr_a"), (two, "bob", "tr_b")):
            await add_source(app, str(costs), "costs")
            await confirmed(
                app,
                data_trace(
                    trace_id, f"How much did {user} spend?", f"SELECT '{user}', 1", user_id=user
                ),
            )
        await export_knowledge(one, repository)
        git("add", ".")
        git("commit", "-q", "-m", "one")
        git("checkout", "-q", "--orphan", "other")
        git("rm", "-rfq", ".")
        await export_knowledge(two, repository)
        git("add", ".")
        git("commit", "-q", "-m", "two")
        git("merge", "-q", "--allow-unrelated-histories", "main", "-m", "both")
        assert sorted(git("ls-files").split()) == ["confirmed_qa/tr_a.md", "confirmed_qa/tr_b.md"]
        assert statuses(await import_knowledge(one, repository)) == {
            "confirmed_qa/tr_a.md": ("unchanged", "active"),
            "confirmed_qa/tr_b.md": ("added", "active"),
        }
        assert (await export_knowledge(one, repository)).written == []
        await review.endorse_item(one, "qa_confirmed_tr_b", "ann")
        assert (await export_knowledge(one, repository)).written == ["confirmed_qa/tr_b.md"]
        await import_knowledge(two, repository)
        item = await review.get_item(two, "qa_confirmed_tr_b")
        assert [by.user_id for by in item.confirmed_by] == ["bob", "ann"]
        assert (await export_knowledge(two, repository)).written == []
        changed = git("diff", "--stat")
        assert "tr_b.md" in changed
        assert "tr_a.md" not in changed


async def test_whose_word_counts(settings: Settings, costs: Path, out: Path) -> None:
    """Names in a file are claims. Who cannot make an item count alone brings in only their own
    word; a reviewer brings all.
    """
    async with library(settings, "one") as app:
        await add_source(app, str(costs), "costs")
        await confirmed(app, data_trace("tr_1", sql=SQL, user_id="rita"))
        rule_id = await corrected(app, text_trace("qa", "tr_3", "When was the lamp lit?"))
        await export_knowledge(app, out)
    async with library(settings, "two", confirmations=2) as app:
        await add_source(app, str(costs), "costs")
        assert statuses(await import_knowledge(app, out, "mallory")) == {
            "confirmed_qa/tr_1.md": ("added", "pending"),
            f"rules/{rule_id}.md": ("added", "waiting"),
        }
        item = await review.get_item(app, "qa_confirmed_tr_1")
        assert [by.user_id for by in item.confirmed_by] == ["mallory"]
        assert statuses(await import_knowledge(app, out, "mallory"))["confirmed_qa/tr_1.md"] == (
            "unchanged",
            "pending",
        )
    async with library(settings, "three", reviewers=("rita",)) as app:
        await add_source(app, str(costs), "costs")
        assert statuses(await import_knowledge(app, out, "mallory"))["confirmed_qa/tr_1.md"] == (
            "added",
            "pending",
        )
        assert statuses(await import_knowledge(app, out, "rita"))["confirmed_qa/tr_1.md"] == (
            "merged",
            "active",
        )


async def test_what_cannot_be_used_here(settings: Settings, costs: Path, out: Path) -> None:
    """No such tables, a statement that fails, quotes of documents that are not here: set aside,
    with the reason.
    """
    async with library(settings, "one") as app:
        await add_source(app, str(costs), "costs")
        await confirmed(app, data_trace("tr_1", sql=SQL), text_trace("qa", "tr_2"))
        await export_knowledge(app, out)
    async with library(settings, "two") as app:
        done = {each.path: each for each in (await import_knowledge(app, out)).files}
        assert {each.state for each in done.values()} == {"quarantined"}
        assert "its tables costs are not here" in done["confirmed_qa/tr_1.md"].reason
        assert "was removed" in done["confirmed_qa/tr_2.md"].reason


async def test_what_was_undone_here_stays_undone(
    settings: Settings, costs: Path, out: Path
) -> None:
    """A file is not a way around a person's word; nor does it replace what is here and says
    otherwise.
    """
    async with library(settings, "one") as app:
        await add_source(app, str(costs), "costs")
        await confirmed(app, data_trace("tr_1", sql=SQL))
        await export_knowledge(app, out)
        await review.undo_item(app, "qa_confirmed_tr_1", "ann", "wrong tax")
        (kept,) = (await import_knowledge(app, out)).files
        assert (kept.status, kept.state, kept.reason) == (
            "kept",
            "undone",
            "it was undone here: wrong tax",
        )
        left = await export_knowledge(app, out)
        assert (left.left, left.pruned) == (["confirmed_qa/tr_1.md"], [])
        assert (await export_knowledge(app, out, prune=True)).pruned == ["confirmed_qa/tr_1.md"]
        assert bytes_of(out) == {}


def front(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new, 1)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda t: t.encode()[:300], "front matter"),
        (
            lambda t: front(
                t, "priority: high", "priority: !!python/object/apply:os.system ['true']"
            ),
            "tag or an alias",
        ),
        (lambda t: front(t, "priority: high", "priority: &a high\nmore: *a"), "tag or an alias"),
        (lambda t: front(t, "priority: high", "priority: [high"), "cannot be read"),
        (lambda t: front(t, "priority: high", "priority: high\nrun: rm"), "run: Extra inputs"),
        (lambda t: front(t, "citewell: 1", "citewell: 2"), "citewell"),
        (lambda t: front(t, "state: active", "state: undone"), "its state is 'undone'"),
        (
            lambda t: front(t, "trace_id: tr_1", "trace_id: ../../etc/passwd"),
            "not that of its name",
        ),
        (
            lambda t: front(t, "id: qa_confirmed_tr_1", "id: qa_confirmed_tr_9"),
            "not that of its name",
        ),
        (lambda t: front(t, "amount AS total", "secret AS total"), "do not agree"),
        (lambda t: t + "\n## 最终回答\nAnother answer.\n", "do not agree"),
        (lambda t: front(t, "# 人工", "<<<<<<< HEAD\n# 人工"), "merge conflict markers"),
        (lambda t: front(t, "Mail", "Ma\u202eil"), "invisible characters"),
        (lambda t: b"\xff\xfe" + t.encode(), "not UTF-8"),
        (lambda t: t + "x" * 1_000_001, "bytes is more than"),
        (lambda t: front(t, "at: ", "at: -"), "at: Input should be greater"),
        (
            lambda t: re.sub(r"confirmed_by: .*", "confirmed_by: []", t),
            "confirmed_by: List should have",
        ),
        (
            lambda t: t.replace(
                "SELECT service, amount AS total FROM costs WHERE function = 'IT'",
                "DROP TABLE costs",
            ),
            "",
        ),
    ],
)
async def test_hostile_files(
    settings: Settings, costs: Path, out: Path, change: Callable[[str], str | bytes], why: str
) -> None:
    """Each is refused with its reason, nothing of it is kept, and the file beside it is taken
    in.
    """
    async with library(settings, "one") as app:
        await add_source(app, str(costs), "costs")
        await confirmed(
            app,
            data_trace("tr_1", sql=SQL),
            data_trace("tr_2", "How many are there?", "SELECT count(*) FROM costs"),
        )
        await export_knowledge(app, out)
    file = out / "confirmed_qa" / "tr_1.md"
    changed = change(file.read_text("utf-8"))
    file.write_bytes(changed if isinstance(changed, bytes) else changed.encode())
    async with library(settings, "two") as app:
        await add_source(app, str(costs), "costs")
        bad, good = (await import_knowledge(app, out)).files
        assert (bad.status, good.status) == ("failed", "added"), bad
        assert why in bad.reason
        assert [item.item_id for item in await review.list_items(app)] == ["qa_confirmed_tr_2"]


async def test_prune_leaves_what_is_not_ours(settings: Settings, costs: Path, out: Path) -> None:
    """A README, notes, a file of our name without our mark, a link: all stay; the item that is gone
    goes.
    """
    async with library(settings, "one") as app:
        await add_source(app, str(costs), "costs")
        await confirmed(app, data_trace("tr_1", sql=SQL))
        await export_knowledge(app, out)
        (out / "rules").mkdir()
        ours = (out / "confirmed_qa" / "tr_1.md").read_text("utf-8")
        stay = {
            "rules/README.md": "mine",
            "rules/rule_ab.md": "---\nid: rule_ab\n---\nmine",
            "confirmed_qa/notes.md": "mine",
            "confirmed_qa/tr_9.md": ours,
        }
        for name, words in stay.items():
            (out / name).write_text(words, "utf-8")
        (out / "confirmed_qa" / "tr_8.md").symlink_to(costs)
        await review.undo_item(app, "qa_confirmed_tr_1", "ann")
        assert (await export_knowledge(app, out)).left == ["confirmed_qa/tr_1.md"]
        assert (await export_knowledge(app, out, prune=True)).pruned == ["confirmed_qa/tr_1.md"]
        assert all((out / name).is_file() for name in [*stay, "confirmed_qa/tr_8.md"])


@pytest.mark.parametrize("loader", ["CSafeLoader", "SafeLoader"])
@pytest.mark.parametrize(
    ("front", "why"),
    [
        ("a: " + "[" * 5_000, "nested more than 20 deep"),
        ("a: " + "{a: " * 200_000, "nested more than 20 deep"),
        ("- " * 400_000, "nested more than 20 deep"),
        ("a: [" + "x," * 450_000 + "x]", "of more than 50,000 parts"),
        ("a: 1" + ":1" * 400_000, "a figure of"),
        ("a: " + "9" * 900_000, "a figure of"),
        ("a: 0x" + "f" * 900_000, "a figure of"),
    ],
    ids=["lists", "mappings", "blocks", "many", "sexagesimal", "digits", "hex"],
)
def test_hostile_yaml_is_refused_before_it_is_built(
    front: str, why: str, loader: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file within the size that would take minutes is refused in seconds, also without
    libyaml.
    """
    if not hasattr(yaml, loader):
        pytest.skip("PyYAML was built without libyaml")
    monkeypatch.setattr(item_files, "LOADER", getattr(yaml, loader))
    begun = time.process_time()
    with pytest.raises(InvalidInput, match=why):
        confirmed_exchange.read_item(f"---\n{front}\n---\n".encode(), "tr_1")
    assert time.process_time() - begun < 30


async def test_a_folder_of_too_much(
    settings: Settings, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (out / "rules").mkdir(parents=True)
    for number in range(3):
        (out / "rules" / f"rule_{number}.md").write_text("x" * 100, "utf-8")
    monkeypatch.setattr(knowledge_files, "MOST_TOTAL", 299)
    async with library(settings, "one") as app:
        with pytest.raises(InvalidInput, match="300 bytes are more than the 299"):
            await import_knowledge(app, out)


async def test_odd_names_and_links(
    settings: Settings, costs: Path, out: Path, tmp_path: Path
) -> None:
    """A link, a folder, a copy under another name: refused; what is hidden or no Markdown is not
    looked at.
    """
    async with library(settings, "one") as app:
        await add_source(app, str(costs), "costs")
        await confirmed(app, data_trace("tr_1", sql=SQL))
        await export_knowledge(app, out)
    folder = out / "confirmed_qa"
    (folder / "tr_copy.md").write_bytes((folder / "tr_1.md").read_bytes())
    (folder / "tr_link.md").symlink_to(costs)
    (folder / "tr_folder.md").mkdir()
    (folder / ".hidden.md").write_text("x", "utf-8")
    (folder / "README.txt").write_text("x", "utf-8")
    async with library(settings, "two") as app:
        await add_source(app, str(costs), "costs")
        found = {
            each.path.removeprefix("confirmed_qa/"): each.status
            for each in (await import_knowledge(app, out)).files
        }
        assert found == {
            "tr_1.md": "added",
            "tr_copy.md": "failed",
            "tr_link.md": "failed",
            "tr_folder.md": "failed",
        }
        with pytest.raises(InvalidInput, match="no such folder"):
            await import_knowledge(app, tmp_path / "nowhere")
        with pytest.raises(InvalidInput, match="no files in"):
            await import_knowledge(app, tmp_path)
