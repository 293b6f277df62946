"""What a connected model is sent of a paper: a short one whole, of a long one whole sections, and
more of it where these leave something open.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace

from tests.agents.paper.conftest import LOG, LONG, PARTS, Desk, made, routed, verdicts

from citewell.ingest.paper.shape import Float, Mention, Role
from citewell.models.scripted import ScriptedLLM
from citewell.skills.paper.reading_context import OpenPaper
from citewell.skills.paper.references import find_paper_targets
from citewell.types.document_types import Box

QUESTION = "How is the reserve predicted, and what was not tested?"


def number_lines(sent: str) -> list[str]:
    """The numbered sentences of a prompt, without their numbers."""
    return re.findall(r"^\[\d+\.\d+\] (.*)$", sent, re.MULTILINE)


async def test_a_short_paper_goes_whole_to_one_agent(desk: Desk) -> None:
    """In reading order, each sentence and row once, whatever the controller chose."""
    desk.book = made()
    desk.llm = ScriptedLLM(routed(QUESTION, "methods", "introduction"), "We tested one city only.")
    state = await desk.ask(QUESTION)
    lines = number_lines(desk.sent("section_methods"))
    assert [step.node for step in desk.steps if step.node.startswith("section_")] == [
        "section_methods"
    ]
    assert (state.status, len(lines), len(set(lines))) == ("answered", 16, 16)
    order = ["Cargo bikes strand", "Training takes", "Model: RESCAST", "Winter data", "[1] Olsen"]
    places = [next(n for n, line in enumerate(lines) if each in line) for each in order]
    assert places == sorted(places)


async def test_a_section_is_read_whole_and_in_order(desk: Desk) -> None:
    """However the search ranks its passages, with the table that it points to elsewhere."""
    at = desk.book.document.text.index("The network has three")
    paper = replace(desk.book.paper, mentions=(Mention("float", at, at + 7, (0,)),))
    desk.book = replace(desk.book, paper=paper)
    desk.llm = ScriptedLLM(routed(QUESTION, "methods"), "Training takes 40 epochs.")
    await desk.ask(QUESTION)
    assert number_lines(desk.sent("section_methods")) == [
        "RESCAST predicts the reserve with a gated recurrent network.",
        "The network has three layers of 64 units.",
        "Training takes 40 epochs with the Adam optimiser.",
        "Table 1: Error by model in percent.",
        "Model: Linear | Error: 7.9",
        "Model: RESCAST | Error: 4.1",
    ]


async def test_of_a_long_section_stays_what_was_found(desk: Desk) -> None:
    """As far as the prompt has room, and still in order."""
    parts: list[tuple[Role, str, str]] = [
        (role, heading, f"{body} {LOG}" if role == "method" else body)
        for role, heading, body in PARTS
    ]
    desk.book = made(parts)
    desk.llm = ScriptedLLM(routed(QUESTION, "methods"), "Training takes 40 epochs.")
    await desk.ask(QUESTION)
    lines = number_lines(desk.sent("section_methods"))
    assert lines[0].startswith("RESCAST predicts the reserve")
    assert 300 < len(lines) < 900


async def test_what_the_chosen_part_leaves_open_is_looked_for_in_the_whole_paper(
    desk: Desk,
) -> None:
    """With what it found, so that one answer tells both."""
    first = {
        "status": "partly",
        "sentences": [
            {"text": "A gated recurrent network predicts it.", "evidence": ["1.1"]},
            {"text": "What was not tested is not told.", "kind": "not_told"},
        ],
        "search_for": "limitations winter data",
    }
    desk.llm = ScriptedLLM(
        routed(QUESTION, "methods"),
        json.dumps(first),
        "A gated recurrent network predicts the reserve. Winter data are not included.",
        verdicts("entailed", "entailed"),
    )
    state = await desk.ask(QUESTION)
    nodes = [step.node for step in desk.steps]
    assert nodes == [
        *("control_route", "section_methods", "section_methods", "control_audit"),
        "control_answer",
    ]
    assert desk.searches[1:] == ["limitations winter data"]
    assert state.status == "answered"
    assert "Winter data are not included." in state.final_answer
    assert "not told" not in state.final_answer


async def test_where_one_part_tells_all_no_other_is_asked(desk: Desk) -> None:
    desk.llm = ScriptedLLM(routed(QUESTION, "methods", "results"), "Training takes 40 epochs.")
    state = await desk.ask(QUESTION)
    assert (state.agents, state.status) == (["methods"], "answered")


async def test_only_of_a_whole_paper_it_is_said_that_it_does_not_do_something(desk: Desk) -> None:
    """A part that is silent does not speak for the others."""
    for book, said in ((made(), True), (desk.book, False)):
        desk.book, desk.steps = book, []
        desk.llm = ScriptedLLM(routed(QUESTION, "methods"), "Training takes 40 epochs.")
        await desk.ask(QUESTION)
        assert ("all the sentences of the paper" in desk.sent("section_methods")) is said


async def test_a_table_is_read_whole_or_not_at_all(desk: Desk) -> None:
    """Where half of one fits, its rows would be miscounted."""
    rows = "\n".join(f"Model: M{n} | Error: {n}.5" for n in range(300))
    parts: list[tuple[Role, str, str]] = [
        (role, heading, body.replace("Model: Linear", f"{rows}\nModel: Linear"))
        for role, heading, body in LONG
    ]
    desk.book = made(parts)
    desk.llm = ScriptedLLM(routed(QUESTION, "results"), "It rises to 6.3 percent.")
    await desk.ask("How many models are there?")
    lines = number_lines(desk.sent("section_results"))
    assert sum(line.startswith("Model: M") for line in lines) == 300


def draw_figures() -> OpenPaper:
    """A page with two figures, one below the other, the lettering of the first in two columns."""
    lettering = "90\nOurs\n85.65\n77.13"
    first, second = f"Figure 1: Recall.\n{lettering}", "Figure 2: Error.\n40"
    book = made((*LONG[:3], ("results", "3 Results", f"{first}\n\n{second}"), *LONG[4:]))
    text = book.document.text
    floats, boxes = [], []
    for number, words, top in (("1", first, 0.1), ("2", second, 0.35)):
        start = text.index(words)
        caption = start + words.index("\n")
        floats.append(
            Float(
                "figure",
                f"Figure {number}",
                number,
                start,
                caption,
                4,
                (caption + 1, start + len(words)),
            )
        )
        at = start
        for n, line in enumerate(words.split("\n")):
            x = 0.1 + 0.3 * (n % 2)
            boxes.append(
                Box(at, at + len(line), 4, x, top + 0.02 * n, x + 0.05, top + 0.02 * n + 0.01)
            )
            at += len(line) + 1
    document = replace(book.document, boxes=tuple(boxes))
    return replace(book, document=document, paper=replace(book.paper, floats=tuple(floats)))


async def test_lettering_of_a_figure_is_sent_with_its_place(desk: Desk) -> None:
    """Which tells what the order of its lines does not: which value is whose."""
    desk.book = draw_figures()
    question = "What is the recall in Figure 1?"
    desk.llm = ScriptedLLM(routed(question, "results"), "Figure 1: Recall.")
    await desk.ask(question)
    lines = number_lines(desk.sent("section_figures_and_references"))
    assert [line for line in lines if "(left" in line] == [
        "90 (left 40 to 45, top 12)",
        "Ours (left 10 to 15, top 14)",
        "85.65 (left 40 to 45, top 16)",
        "77.13 (left 10 to 15, top 18)",
    ]


def test_of_two_figures_of_a_page_the_upper_one_stands_at_its_top() -> None:
    """Though the lower one begins in the upper half too."""
    book = draw_figures()
    assert find_paper_targets("the figure at the top of page 4", book).floats == (0,)
    assert find_paper_targets("the figure on page 4", book).floats == (0, 1)


async def test_the_outline_tells_of_figures_and_tables(desk: Desk) -> None:
    desk.llm = ScriptedLLM(routed(QUESTION, "methods"), "Training takes 40 epochs.")
    await desk.ask(QUESTION)
    sent = desk.sent("control_route")
    assert "Table 1: Error by model in percent. (figures_and_references)" in sent
