"""What becomes of a question: routed, drafted, audited, revised once, shown with its proof or
refused.
"""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from tests.agents.paper.conftest import Desk, routed, verdicts

from citewell.agents.paper.paper_sections import QUOTED
from citewell.errors import InvalidInput, ModelUnavailable
from citewell.ingest.paper.shape import Float
from citewell.models.reader_base import Reading
from citewell.models.script_reply import UNKNOWN
from citewell.models.scripted import ScriptedLLM
from citewell.models.scripted_reader import ScriptedReader


async def test_an_answer_cites_page_and_sentence(desk: Desk) -> None:
    desk.llm = ScriptedLLM("The network has three layers of 64 units.")
    state = await desk.ask("How many layers does the network have?")
    assert state.status == "answered"
    assert state.agents[0] == "methods"
    [citation] = state.proof.citations
    assert citation.quote == "The network has three layers of 64 units."
    assert (citation.page, citation.section) == (3, "2 Method")
    assert "[1]" in state.final_answer


THREE = "The network has three layers of 64 units."
FALSE = "RESCAST reaches an error of 5.3 percent."


async def test_a_false_draft_is_never_shown(desk: Desk) -> None:
    """Its judge refutes it twice: it is told as a warning alone, and no quote stands by it."""
    desk.llm = ScriptedLLM(FALSE, verdicts("contradicted"), FALSE, verdicts("contradicted"))
    state = await desk.ask("What error does RESCAST reach?")
    assert (desk.step("control_audit").action, desk.step("control_revise").action) == (
        "failed",
        "as it was",
    )
    assert (state.status, state.proof.citations) == ("refused", [])
    assert "5.3" not in state.final_answer
    assert state.warnings == [f"a draft was not proved: {FALSE}"]


async def test_what_fails_is_revised_once(desk: Desk) -> None:
    desk.llm = ScriptedLLM(
        FALSE, verdicts("contradicted"), "RESCAST reaches an error of 4.1 percent."
    )
    state = await desk.ask("What error does RESCAST reach?")
    assert [step.node for step in desk.steps].count("control_audit") == 1
    assert [step.node for step in desk.steps].count("control_revise") == 1
    assert (state.status, state.revised) == ("answered", True)
    assert "4.1 percent" in state.final_answer
    assert "5.3" not in state.final_answer


async def test_what_fails_twice_stands_apart_from_what_holds(desk: Desk) -> None:
    invented = "Training needs nine supercomputers in Norway."
    desk.llm = ScriptedLLM(f"{THREE} {invented}")
    desk.llm.reply_with(lambda _: f"{THREE} {invented}")
    state = await desk.ask("How many layers does the network have, and what does training take?")
    assert (state.status, state.stop_reason) == ("fallback", "unsettled")
    assert state.final_answer == f"{THREE}[1]\n\nThe documents do not prove this:\n- {invented}"
    assert state.warnings == ["not proved: 1 of 2 sentences"]
    assert [(s.verdict, s.citations) for s in state.proof.sentences] == [
        ("supported", [1]),
        ("unsupported", []),
    ]


def written(*sentences: tuple[str, str], status: str = "answered") -> str:
    """A draft: texts with the id that each names."""
    return json.dumps(
        {
            "status": status,
            "sentences": [{"text": t, "evidence": [each]} for t, each in sentences],
        }
    )


async def test_drafts_of_several_agents_are_merged(desk: Desk) -> None:
    """Into one, judged at once; the ids that each agent was given still mean the sentences that it
    read, in brackets too.
    """
    desk.llm = ScriptedLLM(
        routed("How is the reserve predicted, and with what error?", "methods", "results"),
        written(("The reserve is predicted by a recurrent network.", "1.1"), status="partly"),
        written(("Its error is 4.1 percent.", "[1.1]"), status="partly"),
        UNKNOWN,
        verdicts("entailed", "entailed"),
    )
    state = await desk.ask("How is the reserve predicted, and with what error?")
    assert state.agents == ["methods", "results"]
    first, second = state.proof.sentences
    quotes = [citation.quote for citation in state.proof.citations]
    assert quotes[0].startswith("RESCAST predicts the reserve with")
    assert quotes[1].startswith("RESCAST reaches an error of 4.1 percent")
    assert (first.citations, second.citations) == ([1], [2])
    assert {citation.page for citation in state.proof.citations} == {3, 4}
    assert [step.node for step in desk.steps].count("control_audit") == 1


COSTS = "What error does RESCAST reach, with how many layers, and what does it cost in GPU hours?"
LAYERS, ERROR = ("The network has three layers.", "1.2"), ("Its error is 4.1 percent.", "1.1")


def lacking(*missing: str, found: tuple[str, str]) -> str:
    """A draft that tells a part and says what is missing."""
    untold = [{"text": text, "kind": "not_told", "evidence": []} for text in missing]
    told = {"text": found[0], "evidence": [found[1]]}
    return json.dumps({"status": "partly", "sentences": [told, *untold]})


async def test_what_no_section_tells_is_said_once(desk: Desk) -> None:
    """However each agent words it: of two drafts that miss something, one holds all that both
    miss.
    """
    hours, also = "The GPU hours are not told.", "What it costs in GPU hours is not stated."
    desk.llm = ScriptedLLM(
        routed(COSTS, "methods", "results"),
        lacking(hours, found=LAYERS),
        lacking("The number of layers is not told.", also, found=ERROR),
        UNKNOWN,
        verdicts("entailed", "entailed", "entailed"),
    )
    state = await desk.ask(COSTS)
    assert [(s.text, s.kind) for s in state.proof.sentences] == [
        (LAYERS[0], "fact"),
        (ERROR[0], "fact"),
        (hours, "not_told"),
    ]
    assert state.final_answer.endswith(hours)
    assert (state.status, len(desk.llm.calls)) == ("answered", 5)


async def test_what_another_section_tells_is_not_called_missing(desk: Desk) -> None:
    """The audit refutes it, and it is revised over what all sections say."""
    untold = "The error is not told."
    desk.llm = ScriptedLLM(
        routed(COSTS, "methods", "results"),
        lacking(untold, found=LAYERS),
        written(ERROR, status="partly"),
        UNKNOWN,
        verdicts("entailed", "entailed", "contradicted"),
        written(LAYERS, (ERROR[0], "2.1")),
    )
    state = await desk.ask(COSTS)
    assert (state.status, state.revised, untold in state.final_answer) == ("answered", True, False)
    assert [s.text for s in state.proof.sentences] == [LAYERS[0], ERROR[0]]


async def test_what_two_sections_say_alike_is_shown_once(desk: Desk) -> None:
    """With the quotes of both."""
    desk.llm = ScriptedLLM(
        routed("What is RESCAST?", "introduction", "methods"),
        written(("RESCAST plans the  reserve of fleets.", "1.3"), status="partly"),
        written(("RESCAST plans the reserve of fleets", "1.1"), status="partly"),
        UNKNOWN,
        json.dumps({"verdicts": [{"n": 1, "verdict": "entailed"}]}),
    )
    state = await desk.ask("What is RESCAST?")
    [sentence] = state.proof.sentences
    assert (state.status, sentence.citations) == ("answered", [1, 2])
    assert {citation.page for citation in state.proof.citations} == {2, 3}


async def test_authors_are_known_to_a_question_that_asks_for_more(desk: Desk) -> None:
    """One agent is sent title and authors: who reads the introduction, else the first."""
    text = desk.book.document.text
    title, authors = (text.index(each) for each in ("Reserve forecasting", "Anna Berg"))
    paper = replace(
        desk.book.paper,
        title_span=(title, title + 19),
        authors_span=(authors, authors + len("Anna Berg, Li Wei")),
    )
    desk.book = replace(desk.book, paper=paper)
    question = "Who wrote it, and what error does RESCAST reach?"
    wrote, error = "Anna Berg and Li Wei wrote it.", "RESCAST reaches an error of 4.1 percent."
    desk.llm = ScriptedLLM(
        routed(question, "results"), f"{wrote} {error}", verdicts("entailed", "entailed")
    )
    state = await desk.ask(question)
    assert "Anna Berg, Li Wei" in desk.sent("section_results")
    assert state.status == "answered"
    first, second = state.proof.sentences
    assert any("Anna Berg" in state.proof.citations[n - 1].quote for n in first.citations)
    assert second.citations
    part = written((error, "1.1"), status="partly")
    desk.llm = ScriptedLLM(routed(question, "results", "introduction"), part, wrote)
    desk.steps.clear()
    await desk.ask(question)
    assert "Anna Berg" in desk.sent("section_introduction")
    assert "Anna Berg" not in desk.sent("section_results")


async def test_after_a_corrected_premise_no_other_agent_is_asked(desk: Desk) -> None:
    said = {"text": "We tested one city only.", "kind": "correction", "evidence": ["1.2"]}
    desk.llm = ScriptedLLM(
        routed("How large is its error in the second city?", "discussion", "results"),
        json.dumps({"status": "false_premise", "sentences": [said]}),
        verdicts("entailed"),
    )
    state = await desk.ask("How large is its error in the second city?")
    assert [draft.agent for draft in state.drafts] == state.agents == ["discussion"]
    assert (state.status, len(desk.llm.calls)) == ("answered", 3)


async def test_what_the_paper_does_not_say_is_told_so(desk: Desk) -> None:
    """In the words of the model, where the audit agrees that it is not told."""
    desk.llm = ScriptedLLM(UNKNOWN, UNKNOWN)
    state = await desk.ask("Who paid for the training of 40 epochs?")
    assert [draft.generation for draft in state.drafts] == ["unknown"]
    assert (state.status, state.proof.citations) == ("refused", [])
    assert state.final_answer == "The documents do not tell this."
    desk.llm = ScriptedLLM(
        UNKNOWN, UNKNOWN, verdicts("contradicted"), UNKNOWN, verdicts("contradicted")
    )
    state = await desk.ask("Who paid for the training of 40 epochs?")
    assert (state.status, state.stop_reason) == ("refused", "unsettled")
    assert state.final_answer.startswith(
        "The paper does not answer this, as far as I can find. Nearest: "
    )


@pytest.mark.parametrize("agents", [("methods",), ("methods", "results")])
async def test_an_unclear_question_is_asked_back(desk: Desk, agents: tuple[str, ...]) -> None:
    back = "Which of its errors do you mean?"
    unclear = json.dumps({"status": "unclear", "sentences": [], "question_back": back})
    desk.llm = ScriptedLLM(routed("What about it?", *agents), *[unclear] * len(agents))
    state = await desk.ask("What about it?")
    assert (state.status, state.final_answer, state.stop_reason) == ("clarify", back, "")


async def test_a_table_that_is_not_there(desk: Desk) -> None:
    state = await desk.ask("What is the best error in Table 9?")
    assert state.status == "refused"
    assert "no Table 9" in state.final_answer
    assert desk.sent("control_audit") == ""


async def test_a_table_is_read_with_its_rows(desk: Desk) -> None:
    desk.llm = ScriptedLLM("The linear model has an error of 7.9 percent.")
    state = await desk.ask("What is the error of the linear model in Table 1?")
    assert state.agents[0] == "figures_and_references"
    assert "Model: Linear | Error: 7.9" in desk.sent("section_figures_and_references")
    assert state.status == "answered"


async def test_a_selection_is_explained(desk: Desk) -> None:
    text = desk.book.document.text
    start = text.index("RESCAST predicts the reserve")
    desk.llm = ScriptedLLM("RESCAST predicts the reserve with a gated recurrent network.")
    state = await desk.ask("Explain this passage.", selection=(start, start + 60))
    assert state.agents == ["methods"]
    assert "RESCAST predicts the reserve with a gated recurrent network" in desk.sent(
        "section_methods"
    )
    assert state.status == "answered"


async def test_structure_needs_no_draft(desk: Desk) -> None:
    """Nor an audit: the controller alone is asked."""
    state = await desk.ask("Who are the authors of this paper?")
    assert state.agents == ["structure"]
    assert "Anna Berg" in state.final_answer
    assert [step.node for step in desk.steps] == [
        "control_route",
        "section_structure",
        "control_answer",
    ]
    assert desk.meter is not None
    assert desk.meter.calls == 1


@pytest.mark.parametrize("reads", [False, True])
async def test_without_a_model_the_papers_own_sentence_stands(desk: Desk, reads: bool) -> None:
    desk.llm, desk.reader = None, ScriptedReader() if reads else None
    state = await desk.ask("How many epochs does training take?")
    assert state.status == "answered"
    assert "Training takes 40 epochs with the Adam optimiser.[1]" in state.final_answer


@pytest.mark.parametrize(("sure", "says"), [(0.9, "RESCAST reaches"), (0.02, "I am not sure")])
async def test_of_two_agents_that_quote_the_best_sentences_are_shown(
    desk: Desk, sure: float, says: str
) -> None:
    """What the reader finds first, however agents are ordered, each once; unsure where it is."""
    reader = ScriptedReader()

    def read(_: str, passage: str) -> Reading:
        at = passage.find("RESCAST reaches")
        return Reading(at, at + 15, sure, 1.0) if at >= 0 else Reading(0, 5, 0.1, -3.0)

    reader.read_with(read)
    desk.llm, desk.reader = None, reader
    state = await desk.ask(
        "What does the network of RESCAST predict, and which error does it have?"
    )
    assert len(state.agents) == 2
    assert state.final_answer.startswith(says)
    quotes = [citation.quote for citation in state.proof.citations]
    assert quotes[0].startswith("RESCAST reaches an error of 4.1 percent")
    assert 2 <= len(quotes) == len(set(quotes)) <= QUOTED
    assert {"3 Results", "2 Method"} <= {citation.section for citation in state.proof.citations}


async def test_a_follow_up_is_one_question_and_not_answered_by_the_last_answer(desk: Desk) -> None:
    """Joined to the question that it leans on, it is read as one; where that brings what was said
    last, it is read alone.
    """
    asked: list[str] = []

    def read(question: str, passage: str) -> Reading:
        asked.append(question)
        wanted = "The network has" if "three" in question else "Training takes"
        at = passage.find(wanted)
        return Reading(at, at + 15, 0.9, 3.0) if at >= 0 else Reading(0, 5, 0.1, -3.0)

    reader = ScriptedReader()
    reader.read_with(read)
    desk.llm, desk.reader = None, reader
    said = [
        ("user", "Has the network three layers?"),
        ("assistant", "The network has three layers of 64 units.[1]"),
    ]
    state = await desk.ask("And how long does it train?", said)
    assert asked[0] == "Has the network three layers — And how long does it train?"
    assert asked[-1] == "And how long does it train?"
    assert "Training takes 40 epochs with the Adam optimiser." in {
        citation.quote for citation in state.proof.citations
    }


async def test_what_only_a_figure_shows_is_said_to_be_there(desk: Desk) -> None:
    text = desk.book.document.text
    start = text.index("We tested one city only.")
    figure = Float("figure", "Figure 1", "1", start, start + 24, page=5)
    floats = (*desk.book.paper.floats, figure)
    desk.book = replace(desk.book, paper=replace(desk.book.paper, floats=floats))
    desk.llm, reader = None, ScriptedReader()
    reader.read_with(lambda _, __: Reading(0, 5, 0.01, -8.0))
    desk.reader = reader
    state = await desk.ask("Which colour has the line of RESCAST in Figure 1?")
    assert state.status == "refused"
    assert state.final_answer.endswith("We tested one city only.[1]")
    assert [citation.quote for citation in state.proof.citations] == ["We tested one city only."]


@pytest.mark.parametrize(
    "script", [[ModelUnavailable("gone")], [routed("How many epochs?"), ModelUnavailable("gone")]]
)
async def test_a_model_that_fails_leaves_extracts(
    desk: Desk, script: list[str | Exception]
) -> None:
    """As controller or as section agent; it is not asked again."""
    desk.llm = ScriptedLLM(*script)
    state = await desk.ask("How many epochs does training take?")
    assert (state.status, state.stop_reason) == ("fallback", "model_failed")
    assert "40 epochs" in state.final_answer
    assert len(desk.llm.calls) == len(script)
    assert any(
        warning.startswith("the chat model ") and "gone" in warning for warning in state.warnings
    )


async def test_an_audit_that_fails_proves_only_what_is_quoted(desk: Desk) -> None:
    """Nothing is revised then: nobody knows what is wrong."""
    desk.llm = ScriptedLLM(f"{THREE} Its layers are three.", ModelUnavailable("gone"))
    state = await desk.ask("How many layers does the network have?")
    assert "control_revise" not in [step.node for step in desk.steps]
    assert [s.verdict for s in state.proof.sentences] == ["supported", "unsupported"]
    assert state.proof.sentences[1].problems == ["it could not be checked: gone"]


async def test_a_greeting_is_no_question(desk: Desk) -> None:
    state = await desk.ask("Thanks!")
    assert state.status == "clarify"
    assert desk.searches == []


@pytest.mark.parametrize("question", ["", "   ", "x" * 501])
async def test_what_cannot_be_asked(desk: Desk, question: str) -> None:
    with pytest.raises(InvalidInput):
        await desk.ask(question)
