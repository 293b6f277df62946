"""The built-in chat model, for real. One model serves the whole module, so that it is loaded
once.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from pydantic import BaseModel

from citewell.config import Settings
from citewell.errors import ModelUnavailable, PermanentError, TransientError
from citewell.models.builtin.chat import SLOTS, BuiltinLLM
from citewell.models.builtin.download import MODEL, get_model_path
from citewell.models.prompt import ask_json
from citewell.types import Message

pytestmark = [pytest.mark.model, pytest.mark.asyncio(loop_scope="module")]
RULES = (
    "You answer questions about a village in one short sentence and say nothing that you were "
    "not asked for. " * 2
)


def ask(text: str, system: str = "You are brief.") -> list[Message]:
    return [Message(role="system", content=system), Message(role="user", content=text)]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def llm() -> AsyncIterator[BuiltinLLM]:
    if not get_model_path(Settings()).is_file():
        pytest.skip(f"{MODEL.name} is not in the cache folder; `citewell models pull` fetches it")
    model = BuiltinLLM(Settings())
    yield model
    await model.close()


async def free(llm: BuiltinLLM) -> float:
    """Seconds until every slot is free."""
    started = time.perf_counter()
    while llm._slots.value < SLOTS:
        await asyncio.sleep(0.01)
        assert time.perf_counter() - started < 20, "a slot is not given back"
    return time.perf_counter() - started


class Town(BaseModel):
    name: str
    country: str


async def test_chat_streams(llm: BuiltinLLM) -> None:
    """Tokens come in order, in the event loop's thread, and make up the text; the figures count."""
    tokens: list[str] = []
    reply = await llm.chat(
        ask("Count from 1 to 5, digits only."), max_tokens=24, on_token=tokens.append
    )
    assert "".join(tokens) == reply.text
    assert "3" in reply.text
    assert reply.finished
    assert reply.tokens.prompt > 10
    assert reply.tokens.completion >= 5


async def test_limit_and_stop(llm: BuiltinLLM) -> None:
    """The limit cuts and says so; a stop word ends the text before it."""
    cut = await llm.chat(ask("Count from 1 to 50."), max_tokens=4)
    assert not cut.finished
    stopped = await llm.chat(
        ask("Count from 1 to 50, digits separated by commas."), max_tokens=40, stop=["3"]
    )
    assert "3" not in stopped.text
    assert stopped.finished


async def test_schema(llm: BuiltinLLM) -> None:
    """A schema binds the reply; one that means nothing is a PermanentError."""
    town = await ask_json(
        llm,
        ask("The capital of France and its country, as JSON with name and country."),
        Town,
        max_tokens=40,
    )
    assert "Paris" in town.name
    with pytest.raises(PermanentError, match="nonsense"):
        await llm.chat(ask("Hello"), schema={"type": "nonsense"})


@pytest.mark.parametrize(
    ("question", "positive"),
    [("Is Paris in France? Answer yes or no.", True), ("巴黎在中国吗？只回答 yes 或 no。", False)],
)
async def test_yes_no_sign(llm: BuiltinLLM, question: str, positive: bool) -> None:
    """The figure's sign is the answer, in both languages, for one token."""
    grade = await llm.yes_no(ask(question))
    assert (grade.log_odds > 0) is positive
    assert grade.tokens.completion == 1


async def test_prefix_is_reused(llm: BuiltinLLM) -> None:
    """Prompts that begin alike share that beginning, even with others in between; the second costs
    only its own end.
    """
    other = "你只用一句话回答关于村庄的问题，不说没有被问到的事。"
    await llm.chat(ask("How many shops are there?", RULES), max_tokens=1)
    for n in range(SLOTS + 1):
        await llm.chat(ask("村里有几家商店？", f"{n}{other}"), max_tokens=1)
    again = await llm.chat(ask("Who is the mayor?", RULES), max_tokens=1)
    assert again.tokens.cached > 30
    assert again.tokens.prompt - again.tokens.cached < 30


async def test_cancelling_frees_the_slot(llm: BuiltinLLM) -> None:
    """A cancelled call returns at once, no token comes after it, and its slot is soon free for the
    next one.
    """
    tokens: list[str] = []
    running = asyncio.Event()

    def listen(token: str) -> None:
        tokens.append(token)
        running.set()

    task = asyncio.create_task(
        llm.chat(ask("Count from 1 to 900."), max_tokens=2000, on_token=listen)
    )
    await running.wait()
    started = time.perf_counter()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.perf_counter() - started < 0.5
    seen = len(tokens)
    assert await free(llm) < 5
    assert len(tokens) == seen
    assert (await llm.chat(ask("Say yes."), max_tokens=2)).text


async def test_cancelling_while_the_prompt_is_read(llm: BuiltinLLM) -> None:
    """Before the first token, the next batch of the prompt is where it stops."""
    task = asyncio.create_task(
        llm.chat(ask("The village has a long and quiet history. " * 300), max_tokens=5)
    )
    await asyncio.sleep(0.3)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (
        await free(llm) < 40
    )  # the whole prompt takes a minute on two idle cores, and longer beside other work


async def test_waiting_calls_can_be_cancelled(llm: BuiltinLLM) -> None:
    """More calls than slots wait their turn; one that is cancelled in the queue takes nothing."""
    calls = [
        asyncio.create_task(llm.chat(ask(f"Say {n}."), max_tokens=3)) for n in range(SLOTS + 2)
    ]
    await asyncio.sleep(0)
    calls[-1].cancel()
    assert all([(await call).text for call in calls[:-1]])
    assert await free(llm) < 5


async def test_timeout(llm: BuiltinLLM, monkeypatch: pytest.MonkeyPatch) -> None:
    """A call that takes too long is a TransientError, and its slot comes back."""
    monkeypatch.setattr(llm, "_timeout", 0.5)
    with pytest.raises(TransientError, match=r"no reply within 0\.5 seconds"):
        await llm.chat(ask("Count from 1 to 900."), max_tokens=2000)
    assert await free(llm) < 5


async def test_too_long_a_prompt(llm: BuiltinLLM) -> None:
    """More than the context is refused with a code, at once."""
    with pytest.raises(PermanentError, match="4096") as caught:
        await llm.chat(ask("word " * 6000))
    assert caught.value.code == "prompt_too_long"


async def test_close_ends_what_runs(llm: BuiltinLLM) -> None:
    """A call in the middle of its reply is told, never given half of it; the model can be loaded
    again.
    """
    running = asyncio.Event()
    task = asyncio.create_task(
        llm.chat(ask("Count from 1 to 900."), max_tokens=2000, on_token=lambda _: running.set())
    )
    await running.wait()
    await llm.close()
    with pytest.raises(ModelUnavailable, match="closed"):
        await task
    assert llm._server is None
    assert (await llm.chat(ask("Say yes."), max_tokens=2)).text


async def test_exit_without_close_is_clean() -> None:
    """A program that forgets to close the model ends, in time, with nothing printed, nothing
    listening on a port.
    """
    if not get_model_path(Settings()).is_file():
        pytest.skip(f"{MODEL.name} is not in the cache folder; `citewell models pull` fetches it")
    code = (
        "import asyncio, pathlib\n"
        "from citewell.config import Settings\n"
        "from citewell.types import Message\n"
        "from citewell.models.builtin.chat import BuiltinLLM\n"
        "llm = BuiltinLLM(Settings())\n"
        "asyncio.run(llm.chat([Message(role='user', content='Hi')], max_tokens=2))\n"
        "sockets = {f.readlink().name for f in pathlib.Path('/proc/self/fd').iterdir() if "
        "f.is_symlink()}\n"
        "listening = [l.split() for name in ('tcp', 'tcp6') for l in "
        "open(f'/proc/self/net/{name}')]\n"
        "assert not [l for l in listening if l[3] == '0A' and f'socket:[{l[9]}]' in sockets]\n"
    )
    done = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", code], capture_output=True, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
