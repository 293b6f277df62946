"""What runs each agent, by the name that a request calls it by."""

from __future__ import annotations

from citewell.service.ask.ask_data import run_data
from citewell.service.ask.ask_dual_loop import run_dual_loop
from citewell.service.ask.ask_paper import run_paper
from citewell.service.ask.ask_qa import Runner, run_qa
from citewell.service.ask.ask_website import run_website

AUTO = "auto"
AGENTS: dict[str, Runner] = {
    "qa": run_qa,
    "dual_loop": run_dual_loop,
    "website": run_website,
    "paper": run_paper,
    "data": run_data,
}


def list_agent_names() -> list[str]:
    """All that may stand for an agent in a request."""
    return [*AGENTS, AUTO]
