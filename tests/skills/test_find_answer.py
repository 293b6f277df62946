"""The documents' own sentence that answers, and the decision on it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.skills.evidence_units import passage_of

from citewell.models.base import is_connected
from citewell.models.reader_base import Reading
from citewell.models.scripted import ScriptedEmbedder, ScriptedLLM
from citewell.models.scripted_reader import ScriptedReader
from citewell.retrieve.confidence import Logistic
from citewell.skills.answer.decision import (
    collect_answer_signals,
    decide,
    get_decision_model,
    get_tier,
)
from citewell.skills.answer.draft import Draft, DraftSentence
from citewell.skills.answer.find_answer import (
    READ_PASSAGES,
    FoundAnswer,
    compute_log_odds,
    find_answer,
)
from citewell.skills.answer.quote_span import LONGEST_SENTENCE
from citewell.skills.evidence.passages import Passage
from citewell.skills.proof.judge import Judgement
from citewell.skills.proof.prove import Proven
from citewell.text.sentences import split_sentences

FEES = passage_of("Rent is due by 30 April.", "A late fee of 10 pounds is owed after that.")
PICK = get_decision_model("pick")
DECISION = Logistic(bias=0.0, weights={"answerable": 1.0})
PETS = passage_of("Dogs are allowed.", "Cats need a permit from the landlord.", n=2, title="Pets")


async def test_the_sentence_around_the_answer_is_quoted_whole() -> None:
    """With the answering words marked in it; the signals tell how sure, and how much surer than of
    another document.
    """
    reader = ScriptedReader()
    start = FEES.text.index("10 pounds")
    reader.read_with(
        lambda _, text: (
            Reading(start, start + 9, 0.9, 3.0) if "fee" in text else Reading(0, 4, 0.2, -1.0)
        )
    )
    found = await find_answer(
        "How much is the late fee?", [PETS, FEES], reader, None, PICK, DECISION
    )
    (sentence,) = found.draft.sentences
    assert (sentence.text, sentence.evidence) == (
        "A late fee of 10 pounds is owed after that.",
        ["1.2"],
    )
    assert sentence.text[slice(*sentence.span)] == "10 pounds"
    margin = compute_log_odds(0.9) - compute_log_odds(0.2)
    assert found.signals == pytest.approx(
        {
            "answerable": compute_log_odds(0.9),
            "span": 3.0,
            "score": 0.0,
            "margin": margin,
            "first": 0.0,
            "heading": 0.5,
            "across": 0.0,
            "across_score": 0.0,
        }
    )
    assert [text for text, _ in found.candidates] == ["Dogs are allowed.", sentence.text]


async def test_a_passage_in_the_other_language_says_so() -> None:
    """With its search's own score: the one by which lists of two languages are merged is not."""
    hit = replace(FEES.hit, score=9.0, signals={"standing": 4.0})
    for question, across in (("滞纳金是多少？", 1.0), ("How much is the late fee?", 0.0)):
        found = await find_answer(
            question, [replace(FEES, hit=hit)], ScriptedReader(), None, PICK, DECISION
        )
        signals = found.signals
        assert (signals["across"], signals["score"]) == (across, 4.0)
        assert signals["across_score"] == across * 4.0


async def test_the_heading_above_a_passage_is_compared_with_the_question() -> None:
    """By the share of their words that they have in common; the title is no heading."""
    hit = replace(PETS.hit, heading_path=("Rules", "Are dogs allowed?"))
    passages = [replace(PETS, hit=hit), FEES]
    found = await find_answer("Are dogs allowed?", passages, ScriptedReader(), None, PICK, DECISION)
    assert [signals["heading"] for _, signals in found.candidates] == [1.0, 0.0]
    found = await find_answer(
        "Which dogs are allowed here?", passages, ScriptedReader(), None, PICK, DECISION
    )
    assert 0 < found.candidates[0][1]["heading"] < 1


async def test_a_span_over_two_sentences_quotes_both() -> None:
    reader = ScriptedReader()
    reader.read_with(lambda _, text: Reading(text.index("April"), text.index("fee"), 0.9, 3.0))
    found = await find_answer("What is owed when?", [FEES], reader, None, PICK, DECISION)
    assert [s.text[slice(*s.span)] for s in found.draft.sentences] == ["April.", "A late"]


async def test_each_part_of_a_question_has_its_sentence() -> None:
    """Of those that are likelier right than wrong; the others are named as missing. Where none is,
    the surest part alone is answered.
    """
    reader = ScriptedReader()
    found = await find_answer(
        "When is rent due; which cats need a permit?", [FEES, PETS], reader, None, PICK, DECISION
    )
    assert [s.text for s in found.draft.sentences] == [
        "Rent is due by 30 April.",
        "Cats need a permit from the landlord.",
    ]
    assert [question for question, _ in reader.questions] == [
        "When is rent due",
        "which cats need a permit?",
    ]
    assert found.missing == ()
    found = await find_answer(
        "When is rent due; who painted the ceiling?", [FEES, PETS], reader, None, PICK, DECISION
    )
    assert [s.text for s in found.draft.sentences] == ["Rent is due by 30 April."]
    assert found.missing == ("who painted the ceiling?",)
    never = DECISION.model_copy(update={"bias": -9.0})
    found = await find_answer(
        "When is rent due and who paints?", [FEES, PETS], reader, None, PICK, never
    )
    assert [s.text for s in found.draft.sentences] == ["Rent is due by 30 April."]
    assert found.missing == ("who paints?",)


async def test_a_heading_is_read_and_never_quoted() -> None:
    """A question that stands above its answer, as in a list of frequent questions, is not its own
    answer.
    """
    reader = ScriptedReader()
    lines = "When is rent due?\n\nBy the last day of April."
    heading = ("When is rent due?",)
    hit = replace(FEES.hit, heading_path=heading, text=lines, end=FEES.hit.start + len(lines))
    start = FEES.hit.start
    spans = ((start, start + 17), (start + 19, start + len(lines)))
    found = await find_answer(
        "When is rent due?", [Passage(1, hit, spans, lines)], reader, None, PICK, DECISION
    )
    assert [s.text for s in found.draft.sentences] == ["By the last day of April."]
    assert reader.questions[0][1] == ("By the last day of April.",)
    assert reader.headings == [f"{hit.title} › {heading[0]}\n"]


async def test_only_the_best_passages_are_read() -> None:
    reader = ScriptedReader()
    await find_answer("When?", [FEES] * 20, reader, None, PICK, DECISION)
    assert len(reader.questions[0][1]) == READ_PASSAGES


async def test_without_a_reader_the_nearest_sentence_answers() -> None:
    """By words and likeness; no signals, no marks; and nothing of no passages."""
    found = await find_answer(
        "Is a late fee owed?", [FEES, PETS], None, ScriptedEmbedder(), PICK, DECISION
    )
    assert [(s.evidence, s.span) for s in found.draft.sentences] == [(["1.2"], [])]
    assert found.signals == {}
    assert (await find_answer("When?", [], None, None, PICK, DECISION)).draft.status == "not_told"


def test_tiers() -> None:
    """A small chat model is none: it neither writes nor judges whole answers."""
    small = ScriptedLLM()
    small.evidence_tokens = 500
    assert [get_tier(llm, ScriptedReader()) for llm in (ScriptedLLM(), small, None)] == [
        "connected",
        "reader",
        "reader",
    ]
    assert get_tier(small, None) == "search"
    assert is_connected(ScriptedLLM())
    assert not is_connected(None)


def test_a_decision_is_made_of_named_signals() -> None:
    """Of search, draft, judge and reader; by the library's own weights where it has some, else the
    shipped ones.
    """
    made = Draft(status="partly", sentences=[DraftSentence(text="a"), DraftSentence(text="b")])
    proven = Proven(made, [Judgement("entailed", 0.9), Judgement("not_stated", 0.1)])
    signals = collect_answer_signals(0.4, "zh", proven, {"span": 2.0})
    assert signals == {
        "retrieval": 0.4,
        "zh": 1.0,
        "told": 0.5,
        "support": 0.5,
        "least": 0.1,
        "span": 2.0,
    }
    assert collect_answer_signals(0.4, "en")["told"] == 0.0
    own = Logistic(bias=0.0, weights={"retrieval": 1.0}, threshold=0.6)
    assert get_decision_model("reader", {"reader": own}) is own
    assert get_decision_model("search", {"reader": own}) is get_decision_model("search")
    assert decide({"retrieval": 0.0}, own) == (0.5, False)
    assert decide({"retrieval": 1.0}, own) == (0.7311, True)


@pytest.mark.parametrize("tier", ["connected", "reader", "search"])
def test_shipped_weights_tell_good_from_poor(tier: str) -> None:
    good = {
        "retrieval": 0.9,
        "told": 1.0,
        "support": 1.0,
        "least": 1.0,
        "answerable": 3.0,
        "span": 4.0,
        "margin": 3.0,
    }
    poor = {"retrieval": 0.1, "answerable": -3.0, "span": -2.0}
    model = get_decision_model(tier)  # type: ignore[arg-type]
    assert decide(good, model)[1]
    assert not decide(poor, model)[1]


async def test_a_chinese_clause_is_quoted_with_its_sentence() -> None:
    """Where semicolons part it; not with a neighbouring sentence, nor where it is very long."""
    clauses = ["满1年的，年休假5天；", "满10年的，年休假10天；", "满20年的，年休假15天。"]
    text = "年休假不得顺延。" + "".join(clauses) + "事假无薪。"
    found = await _find_in(text, "10天")
    (sentence,) = found.draft.sentences
    assert sentence.text == "".join(clauses)
    assert sentence.text[slice(*sentence.span)] == "10天"
    assert sentence.evidence == ["1.2", "1.3", "1.4"]
    long = "".join(f"第{n}项：{'甲' * LONGEST_SENTENCE}；" for n in range(3)) + "第四项10天。"
    found = await _find_in(long, "10天")
    assert found.draft.text == "第四项10天。"


async def _find_in(text: str, span: str) -> FoundAnswer:
    spans = split_sentences(text)
    passage = passage_of(text, n=1)
    passage = replace(
        passage, spans=tuple((passage.hit.start + a, passage.hit.start + b) for a, b in spans)
    )
    reader, start = ScriptedReader(), text.index(span)
    reader.read_with(lambda _, __: Reading(start, start + len(span), 0.9, 3.0))
    return await find_answer("满10年的年休假有几天？", [passage], reader, None, PICK, DECISION)


async def test_a_sentence_that_introduces_a_list_is_quoted_with_it() -> None:
    """Each item whole, rows too; not what follows the list, nor without a colon."""
    items = ["a) Carry a notice. It states the date.", "b) Keep the licence."]
    text = "You meet these conditions:\n\n" + "\n\n".join(items) + "\n\nNothing else is asked."
    found = await _find_in(text, "these conditions")
    assert [each.text for each in found.draft.sentences] == ["You meet these conditions:", *items]
    assert [each.evidence for each in found.draft.sentences] == [["1.1"], ["1.2", "1.3"], ["1.4"]]
    rows = "费用如下：\n城市 | 限额\n巴黎 | 30"
    found = await _find_in(rows, "费用如下")
    assert [each.text for each in found.draft.sentences] == rows.splitlines()
    found = await _find_in("You meet these conditions.\n- One.", "conditions")
    assert found.draft.text == "You meet these conditions."


async def test_wrapped_lines_are_joined_in_an_answer_and_the_answering_words_stay_marked() -> None:
    """A Chinese line without a space; the quote is compared with the document without them."""
    found = await _find_in("Rent is\ndue by 30\nApril. Fees follow.", "by 30\nApril")
    (sentence,) = found.draft.sentences
    assert sentence.text == "Rent is due by 30 April."
    assert sentence.text[slice(*sentence.span)] == "by 30 April"
    found = await _find_in("满1年的年休假\n为5天。事假无薪。", "5天")
    (sentence,) = found.draft.sentences
    assert sentence.text == "满1年的年休假为5天。"
    assert sentence.text[slice(*sentence.span)] == "5天"


async def test_a_list_of_which_several_items_answer_is_quoted_whole() -> None:
    """One item alone stays alone."""
    steps = ["1. Fill in the form.", "2. Have it signed.", "3. Collect it at noon."]
    text = "It is lent to all.\n" + "\n".join(steps) + "\nThe desk is upstairs."
    found = await _find_in(text, "form.\n2. Have")
    assert [each.text for each in found.draft.sentences] == steps
    found = await _find_in(text, "Have it signed")
    assert [each.text for each in found.draft.sentences] == steps[1:2]
