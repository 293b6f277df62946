"""Which judge is at hand: a connected model, a named endpoint, a proven reader, or none."""

from __future__ import annotations

from citewell.models.base import LLM, is_connected
from citewell.models.reader_base import Reader
from citewell.skills.proof.judge import Judge
from citewell.skills.proof.judge_llm import LLMJudge
from citewell.skills.proof.judge_reader import ReaderJudge


def build_judge(llm: LLM | None, reader: Reader | None, named: LLM | None = None) -> Judge | None:
    """`named`: a model of the settings that judges in the place of the one that writes. A small
    chat model is no judge: it follows shared words (AUC 0.32 on twins, see docs/proof.md).
    """
    if named is not None:
        return LLMJudge(named)
    if llm is not None and is_connected(llm):
        return LLMJudge(llm)
    if reader is not None and reader.judges:
        return ReaderJudge(reader)
    return None
