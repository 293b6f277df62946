"""The scripted models: the script in order, then something useful made from what was sent."""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import pytest

from citewell.config import Settings
from citewell.errors import ConfigError, PermanentError, TransientError
from citewell.models.providers import build_embedder, build_llm
from citewell.models.script_lines import Line
from citewell.models.scripted import ScriptedEmbedder, ScriptedLLM
from citewell.types import Message

PASSAGES = (
    "The lake is 12 metres deep. The village has two shops.\n湖水深十二米。村里有两家商店。\n"
)


def ask(text: str) -> list[Message]:
    return [Message(role="user", content=text)]


async def test_script_in_order() -> None:
    """Texts are given, errors raised, and what was asked is kept."""
    llm = ScriptedLLM("one", TransientError("busy"))
    llm.enqueue("two")
    assert (await llm.chat(ask("a"))).text == "one"
    with pytest.raises(TransientError):
        await llm.chat(ask("b"))
    assert (await llm.chat(ask("c"), schema={"type": "string"})).text == "two"
    assert [call.messages[0].content for call in llm.calls] == ["a", "b", "c"]
    assert llm.calls[2].schema == {"type": "string"}


async def test_tokens_stop_and_limit() -> None:
    """Pieces are streamed and make up the text; stop words and the limit cut it."""
    llm = ScriptedLLM("one two. three", "one two", "一二三")
    pieces: list[str] = []
    reply = await llm.chat(ask("a"), stop=["."], on_token=pieces.append)
    assert (reply.text, pieces) == ("one two", ["one", " two"])
    cut = await llm.chat(ask("a"), max_tokens=1)
    assert (cut.text, cut.finished) == ("one", False)
    assert (await llm.chat(ask("a"))).tokens.completion == 3


async def test_yes_no() -> None:
    """Figures from the script, then the judge's, and yes where there is neither."""
    llm = ScriptedLLM()
    assert (await llm.yes_no(ask("a"))).log_odds > 0
    llm.judge_with(lambda messages: -1.0 if "lake" in messages[0].content else 1.0)
    llm.enqueue_yes_no(-2.5)
    assert [(await llm.yes_no(ask("lake"))).log_odds for _ in range(2)] == [-2.5, -1.0]


async def test_delay() -> None:
    """A line of the script may take its time."""
    llm = ScriptedLLM(Line("late", delay=0.05))
    started = time.perf_counter()
    await llm.chat(ask("a"))
    assert time.perf_counter() - started >= 0.05


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Question: How deep is the lake?", "The lake is 12 metres deep."),
        ("问题：村里有几家商店？", "村里有两家商店。"),
        ("Question: Who wrote Hamlet?", "I don't know."),
    ],
)
async def test_quotes_the_passages(question: str, answer: str) -> None:
    """Without a script, chat answers with the sentence nearest to the question, or says that it
    does not know.
    """
    assert (await ScriptedLLM().chat(ask(PASSAGES + question))).text == answer


async def test_reply_with_function() -> None:
    """A function may make the replies."""
    llm = ScriptedLLM()
    llm.reply_with(lambda messages: messages[-1].content.upper())
    assert (await llm.chat(ask("loud"))).text == "LOUD"


async def test_fits_a_schema() -> None:
    """Without a script, a schema is met."""
    schema = {
        "type": "object",
        "properties": {
            "kind": {"enum": ["fact", "list"]},
            "sure": {"type": "number", "minimum": 0.5},
            "parts": {"type": "array", "items": {"$ref": "#/$defs/Part"}, "minItems": 1},
            "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "left_out": {"type": "string"},
        },
        "required": ["kind", "sure", "parts", "note"],
        "$defs": {"Part": {"type": "object", "properties": {"ok": {"type": "boolean"}}}},
    }
    made = json.loads((await ScriptedLLM().chat(ask("a"), schema=schema)).text)
    assert made == {"kind": "fact", "sure": 0.5, "parts": [{"ok": True}], "note": ""}


async def test_script_from_settings(tmp_path: Path) -> None:
    """`scripted_replies` names a JSON list of texts, figures and errors."""
    script = tmp_path / "replies.json"
    script.write_text(
        json.dumps(
            ["one", -1, {"error": "permanent", "message": "no"}, {"reply": "two", "delay": 0.001}]
        )
    )
    llm = build_llm(Settings(llm="scripted", scripted_replies=script))
    assert llm is not None
    assert (await llm.chat(ask("a"))).text == "one"
    assert (await llm.yes_no(ask("a"))).log_odds == -1.0
    with pytest.raises(PermanentError, match="no"):
        await llm.chat(ask("a"))
    assert (await llm.chat(ask("a"))).text == "two"


@pytest.mark.parametrize("text", ["{}", "[null]", "[", '[{"error": "unknown"}]'])
def test_bad_script(tmp_path: Path, text: str) -> None:
    """A script that cannot be used is refused when it is read."""
    script = tmp_path / "replies.json"
    script.write_text(text)
    with pytest.raises(ConfigError, match="scripted_replies"):
        build_llm(Settings(llm="scripted", scripted_replies=script))


async def test_embedder() -> None:
    """Same text, same vector; shared words make texts nearer than none, in both languages; every
    row has length 1.
    """
    embedder = build_embedder(Settings(embedder="scripted"))
    assert isinstance(embedder, ScriptedEmbedder)
    rows = await embedder.passages(["The lake is deep", "two shops", "湖水深十二米", "", "\ud800"])
    assert rows.shape == (5, embedder.dim)
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(5))
    english, chinese = (
        await embedder.query("how deep is the lake"),
        await embedder.query("湖水有多深"),
    )
    assert english @ rows[0] > english @ rows[1] + 0.3
    assert chinese @ rows[2] > chinese @ rows[0] + 0.2
    assert (await embedder.passages([])).shape == (0, embedder.dim)


async def test_pace_and_bounded_memory(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A script may make every token take its time; a server that asks without end does not keep all
    of it.
    """
    script = tmp_path / "script.json"
    script.write_text('[{"pace": 0.02, "delay": 0.03}]', "utf-8")
    llm = ScriptedLLM.from_settings(settings.model_copy(update={"scripted_replies": script}))
    started = time.perf_counter()
    reply = await llm.chat(
        ask(f"{PASSAGES}Question: How deep is the lake?"), on_token=lambda _: None
    )
    assert time.perf_counter() - started >= 0.03 + 0.02 * reply.tokens.completion
    monkeypatch.setattr("citewell.models.scripted.CALLS", 5)
    for number in range(20):
        await llm.yes_no(ask(str(number)))
    assert len(llm.calls) <= 10
    assert llm.calls[-1].messages[0].content == "19"
    script.write_text('[{"pace": "slow"}]', "utf-8")
    with pytest.raises(ConfigError, match="slow"):
        ScriptedLLM.from_settings(settings.model_copy(update={"scripted_replies": script}))


async def test_a_job_that_goes_on_from_the_same_passages() -> None:
    """The question of an earlier message counts where the last one asks nothing new."""
    said = [
        *ask(f"{PASSAGES}Question: How deep is the lake?"),
        Message(role="assistant", content="yes"),
    ]
    reply = await ScriptedLLM().chat([*said, *ask("Now answer in the passages' own words.")])
    assert reply.text == "The lake is 12 metres deep."
