"""The structured answer call: what is sent, what is read, what is streamed."""

from __future__ import annotations

import json

import pytest
from tests.skills.evidence_units import passage_of, units_of

from citewell.models.scripted import ScriptedLLM
from citewell.skills.answer.draft import stream_texts, write_draft
from citewell.skills.evidence.numbered import number_sentences, pick_units, show_sentences
from citewell.skills.proof.judge import Claim
from citewell.skills.proof.judge_llm import LLMJudge
from citewell.types import Message

UNITS = units_of("Rent is due by 30 April.", "A late fee of £10 is owed after that.")


async def test_one_call_gives_the_whole_answer() -> None:
    """Status, sentences with kinds and ids, and a calculation; text around the object and ids as
    numbers are understood.
    """
    reply = {
        "status": "partly",
        "sentences": [
            {"text": "The fee is £10.", "kind": "fact", "evidence": [1.2]},
            {"text": "The bank is not told.", "kind": "not_told", "evidence": []},
            {"text": " . ", "kind": "fact", "evidence": []},
        ],
        "search_for": "bank account",
    }
    llm = ScriptedLLM("<think>hm</think> Here it is: " + json.dumps(reply) + " Done.")
    llm.calls.clear()
    made = await write_draft(
        llm, "What fee, and which bank?", UNITS, history=[Message(role="user", content="Hello.")]
    )
    assert (made.status, made.search_for) == ("partly", "bank account")
    assert [sentence.text for sentence in made.sentences] == [
        "The fee is £10.",
        "The bank is not told.",
    ]
    assert pick_units(made.sentences[0].evidence, UNITS) == [UNITS[1]]
    sent = llm.calls[0].messages[-1].content
    assert "[1.2] A late fee" in sent
    assert sent.index("[1.1]") < sent.index("user: Hello.") < sent.index("Question: What fee")


@pytest.mark.parametrize(
    ("told", "ids"),
    [("1.1, 1.2", ["1.1", "1.2"]), (1.2, ["1.2"]), (None, []), ("", []), ("[1.2]", ["1.2"])],
)
async def test_ids_that_are_no_list(told: object, ids: list[str]) -> None:
    """Of a draft and of a judgement: nothing else of it is lost."""
    llm = ScriptedLLM(
        json.dumps(
            {"status": "answered", "sentences": [{"text": "The fee is £10.", "evidence": told}]}
        ),
        json.dumps({"verdicts": [{"n": 1, "verdict": "entailed", "evidence": told}]}),
    )
    made = await write_draft(llm, "What fee?", UNITS)
    assert made.sentences[0].evidence == ids
    (found,) = await LLMJudge(llm).judge("What fee?", [Claim("The fee is £10.")], UNITS)
    assert [unit.id for unit in found.evidence] == ids
    assert len(llm.calls) == 2


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("The fee is £10 [1.2].", "The fee is £10."),
        ("The fee is £10 [1.1, 1.2][1.2].", "The fee is £10."),
        ("滞纳金是10英镑【1.2】。", "滞纳金是10英镑。"),
        ("It is in [9.9], and at 1.2 [m].", "It is in [9.9], and at 1.2 [m]."),
    ],
)
async def test_ids_in_the_text_are_not_shown(written: str, shown: str) -> None:
    """They are names of our prompt. What is no id of it stays."""
    llm = ScriptedLLM(json.dumps({"status": "answered", "sentences": [{"text": written}]}))
    assert (await write_draft(llm, "What fee?", UNITS)).text == shown
    llm.enqueue(json.dumps({"verdicts": [{"n": 1, "verdict": "not_stated", "reason": written}]}))
    (found,) = await LLMJudge(llm).judge("What fee?", [Claim("The fee is £12.")], UNITS)
    assert found.reason == shown


async def test_answer_and_judge_share_their_prefix() -> None:
    """System text and evidence are the same and come first, so that a prompt cache serves the calls
    that follow.
    """
    llm = ScriptedLLM()
    before = [Message(role="user", content="Hello."), Message(role="assistant", content="Hello.")]
    await write_draft(llm, "What is the late fee?", UNITS, history=before)
    await LLMJudge(llm).judge("What is the late fee?", [Claim("The fee is £10.")], UNITS)
    await write_draft(
        llm,
        "And when is it owed?",
        UNITS,
        history=[*before, Message(role="user", content="What fee?")],
    )
    first = llm.calls[0].messages
    evidence = first[-1].content.partition("Conversation before:")[0]
    assert UNITS[1].text in evidence
    for call in llm.calls[1:]:
        assert call.messages[0] == first[0]
        assert call.messages[-1].content.startswith(evidence)


async def test_the_judge_reads_a_batch() -> None:
    """One verdict a statement in order; one that is left out is not stated."""
    llm = ScriptedLLM(
        json.dumps(
            {
                "verdicts": [
                    {"n": 2, "verdict": "contradicted", "evidence": ["1.2"], "reason": "£10"}
                ]
            }
        )
    )
    found = await LLMJudge(llm).judge("What fee?", [Claim("a"), Claim("The fee is £12.")], UNITS)
    assert [each.verdict for each in found] == ["not_stated", "contradicted"]
    assert (found[1].evidence, found[1].reason) == ((UNITS[1],), "£10")


async def test_a_judge_with_little_room() -> None:
    """It is sent what the statements name before the rest, in order."""
    units = units_of(
        *(
            f"Rule {n} is about the fee of the month {n} and of the days after it."
            for n in range(1, 9)
        )
    )
    llm = ScriptedLLM()
    llm.evidence_tokens = 60
    await LLMJudge(llm).judge(
        "What fee?", [Claim("Rule 7 is about the fee.", evidence=(units[6],))], units
    )
    sent = llm.calls[0].messages[-1].content
    assert "[1.7]" in sent
    assert sent.index("[1.1]") < sent.index("[1.7]")
    assert "[1.8]" not in sent


def test_streaming_passes_on_texts_only() -> None:
    """Escapes and halves of them are waited for; keys and ids never show."""
    whole = json.dumps(
        {
            "status": "answered",
            "sentences": [{"text": "The “fee” is £10\n.", "kind": "fact"}, {"text": "Ja."}],
        }
    )
    told: list[str] = []
    receive = stream_texts(told.append)
    for char in whole:
        receive(char)
    assert "".join(told) == "The “fee” is £10\n. Ja."


def test_sentences_are_numbered_by_passage() -> None:
    """Ids name passage and sentence; headings stand above each passage."""
    units = number_sentences([passage_of("One.", "Two."), passage_of("Three.", n=2, title="Other")])
    assert [unit.id for unit in units] == ["1.1", "1.2", "2.1"]
    assert (
        show_sentences(units)
        == "# Rules › Fees\n[1.1] One.\n[1.2] Two.\n\n# Other › Fees\n[2.1] Three."
    )
    assert pick_units(["[2.1]", "9.9", "1.2 and 1.1"], units) == units
