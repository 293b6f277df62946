"""How fast the models are on this machine. The one rule: a first call loads and is timed alone; the
second one is the speed.
"""

from __future__ import annotations

import time

from citewell.models.base import LLM
from citewell.runtime.app import App
from citewell.types import Message

# about 220 tokens, the size of a passage
PASSAGE = (
    "The lighthouse was built in 1857 on the northern cape, where the current turns and ships "
    "have to come close to the shore. "
    "Its lamp burned colza oil, later paraffin, and has been electric since 1926. The keeper's "
    "log names every wreck, "
    "the weather on the day, and who was saved. "
) * 3
WRITTEN = 48  # tokens generated for the measure


async def measure_embed_speed(app: App) -> dict[str, float]:
    """Seconds to load, passages a second."""
    started = time.perf_counter()
    await app.embedder.query("lighthouse")
    loaded = time.perf_counter()
    passages = [f"{number}. {PASSAGE}" for number in range(8)]
    await app.embedder.passages(passages)
    return {
        "seconds_to_load": loaded - started,
        "passages/s": len(passages) / max(time.perf_counter() - loaded, 1e-6),
    }


async def measure_chat_speed(app: App) -> dict[str, float]:
    """Seconds to load, prompt and generated tokens a second; empty in tier none. Raises
    ModelUnavailable.
    """
    llm = app.llm
    if llm is None:
        return {}
    started = time.perf_counter()
    await llm.chat([Message(role="user", content="Say yes.")], max_tokens=1)
    load = time.perf_counter() - started
    read, tokens = await _time_chat(llm, f"{PASSAGE} In one word, what is it about?", 1)
    both, more = await _time_chat(llm, "Tell a long story about a lighthouse.", WRITTEN)
    return {
        "seconds_to_load": load,
        "prompt_tokens/s": tokens[0] / max(read, 1e-6),
        "generated_tokens/s": more[1] / max(both, 1e-6),
    }


async def _time_chat(llm: LLM, prompt: str, tokens: int) -> tuple[float, tuple[int, int]]:
    """Seconds, and (prompt tokens not cached, generated tokens)."""
    started = time.perf_counter()
    reply = await llm.chat([Message(role="user", content=prompt)], max_tokens=tokens)
    return time.perf_counter() - started, (
        reply.tokens.prompt - reply.tokens.cached,
        reply.tokens.completion,
    )
