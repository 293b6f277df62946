"""Summaries of sections written by a chat model, behind everything else. Nothing waits for them.
Extractive summaries are there from the first moment; a written one takes its place only if the
section supports every sentence of it, and is then embedded like any other text.
"""

from __future__ import annotations

import asyncio
import logging

from citewell.errors import CitewellError, PermanentError
from citewell.ingest.chunk.section_summaries import SUMMARY_TOKENS
from citewell.models.base import LLM
from citewell.models.prompt import fill_prompt, load_prompt
from citewell.runtime.app import App
from citewell.runtime.progress import OnProgress, Progress, ignore_progress
from citewell.skills.evidence.numbered import number_sentences
from citewell.skills.evidence.passages import Passage
from citewell.skills.proof.judge import Claim
from citewell.skills.proof.judges import build_judge
from citewell.text.sentences import count_tokens, detect_language, split_sentences
from citewell.types import Hit

log = logging.getLogger(__name__)
BATCH = 8  # summaries asked for at once from the catalog
# of a section that is sent: a summary stands for twelve chunks at most, which are no more by
# default
READ_TOKENS = 3_000
LONGEST = 2 * SUMMARY_TOKENS  # tokens of a written summary: what rambles is thrown away
IDLE = 30.0  # seconds between two looks for sections without a written summary
RETRY = 600.0  # seconds after which a model that failed is asked again


def get_summary_model(app: App) -> LLM | None:
    """The chat model that writes summaries, if the settings want one to."""
    wanted = app.settings.ingest.summaries
    if wanted == "always" or (wanted == "connected" and app.settings.llm == "openai"):
        return app.llm
    return None


async def write_summaries(app: App, on_progress: OnProgress | None = None) -> int:
    """Ask the model for each summary that it has not tried yet; says how many were taken. Each is
    committed alone, so a stop loses one at most. Raises what the model raises.
    """
    llm, tell = get_summary_model(app), on_progress or ignore_progress
    if llm is None:
        return 0
    await app.learn_models()
    tried = taken = 0
    while batch := await app.pending_chunks.list_unwritten_summaries(llm.name, BATCH):
        refused: dict[int, PermanentError] = {}
        for chunk_id, heading_path, text in batch:
            await tell(
                Progress(
                    "write", tried, tried + len(batch), heading_path[-1] if heading_path else ""
                )
            )
            try:
                summary = await write_summary(llm, heading_path, text)
            except PermanentError as error:
                refused[chunk_id] = error
                continue
            # empty: the extractive one stays, as tried
            kept = await app.pending_chunks.put_summary(chunk_id, summary, llm.name)
            tried, taken = tried + 1, taken + bool(summary and kept)
        if refused and not tried:
            raise next(iter(refused.values()))  # not these sections' fault: it refuses everything
        for chunk_id in refused:
            await app.pending_chunks.put_summary(chunk_id, "", llm.name)
    if tried:
        await tell(Progress("write", tried, tried))
    return taken


async def write_summary(llm: LLM, heading_path: tuple[str, ...], text: str) -> str:
    """A summary each sentence of which the model's judge finds entailed by the section, or nothing;
    of a small model nothing, for it is no judge.
    """
    judge = build_judge(llm, None)
    if judge is None:
        return ""
    lang = detect_language(text)
    heading = " › ".join(heading_path)
    messages = fill_prompt(
        load_prompt(f"skills/prompts/section_summary.{lang}.md"),
        heading=heading or "-",
        text=_cut_beginning(text),
    )
    reply = await llm.chat(messages, max_tokens=LONGEST)
    summary = " ".join(reply.text.split())
    claims = [Claim(summary[start:end]) for start, end in split_sentences(summary)]
    if not claims or not reply.finished or count_tokens(summary) > LONGEST:
        return ""
    hit = Hit(0, "", "", heading, "", (), None, 0, len(text), text, lang)
    units = number_sentences([Passage(1, hit, tuple(split_sentences(text)), text)])
    found = await judge.judge(heading, claims, units)
    return summary if all(each.verdict == "entailed" for each in found) else ""


def _cut_beginning(text: str) -> str:
    """As many whole sentences as READ_TOKENS allow."""
    left, end = READ_TOKENS, 0
    for start, stop in split_sentences(text):
        left -= count_tokens(text[start:stop])
        if left < 0:
            break
        end = stop
    return text[:end] or text[: 2 * READ_TOKENS]


async def write_summaries_forever(app: App) -> None:
    """For ever: write what is missing. A model that fails is named once, and asked later."""
    told = ""
    while get_summary_model(app) is not None:
        wait = IDLE
        try:
            await write_summaries(app)
            told = ""
        except CitewellError as error:
            wait = RETRY
            if error.message != told:
                log.warning("summaries wait: %s", error.message)
            told = error.message
        except Exception:
            wait = RETRY
            log.exception("summaries wait")
        await asyncio.sleep(wait)
