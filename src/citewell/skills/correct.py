"""Another way to ask, after an answer that did not settle the question.

The one rule: only what is searched for changes; the question that is answered stays what the user asked.
"""

from __future__ import annotations

import re

from citewell.ingest.sentences import language
from citewell.knowledge.words import query_tokens
from citewell.models.base import LLM
from citewell.models.prompt import fill, load

LONGEST = 300  # characters; a longer reply is no search query
DRAFT_CHARS = 300  # of the rejected answer that the model is shown
_LABEL = re.compile(r"^(?:search query|query|搜索词|查询)\s*[:：]\s*", re.IGNORECASE)


async def correct(question: str, draft: str, llm: LLM) -> str:
    """Other search words for `question`; empty where the model gave none. Raises what the model raises."""
    template = load(f"skills/prompts/correct.{language(question)}.md")
    reply = await llm.chat(fill(template, question=question, draft=draft[:DRAFT_CHARS]), max_tokens=60, stop=["\n"])
    text = _LABEL.sub("", reply.text.strip()).strip('"“”「」 ')
    return text if len(text) <= LONGEST else ""


def says_same(one: str, other: str) -> bool:
    """Whether two queries look for the same words."""
    return set(query_tokens(one)) == set(query_tokens(other))
