"""How a confirmed answer or a correction is shown. Who stands by it is always shown with it."""

from __future__ import annotations

from citewell.interfaces.cli.output.terminal import (
    escape_line_breaks,
    format_minute,
    print_json,
    print_parts,
    print_text,
    style_text,
)
from citewell.interfaces.cli.run import DONE
from citewell.store.confirmed.items import Logged
from citewell.store.confirmed.types import Confirmed, Rule

COLOURS = {"active": "green", "pending": "yellow", "waiting": "yellow", "quarantined": "red"}
LONGEST = 200  # characters of an answer in a list


def show_facts(facts: dict[str, str], log: list[Logged]) -> None:
    for name, value in facts.items():
        if value:
            print_parts((f"{name}: ", "dim"), value, indent=2)
    for each in log:
        why = f": {escape_line_breaks(each.reason)}" if each.reason else ""
        who = f" by {escape_line_breaks(each.user_id)}" if each.user_id else ""
        print_text(f"{format_minute(each.at)} {each.action}{who}{why}", "dim", indent=2)


def report_result(done: Confirmed | Rule, *, json: bool) -> int:
    if json:
        return print_json(done)
    show_head(done)
    return DONE


def show_head(each: Confirmed | Rule) -> None:
    """The id, the state and why, where it counts, who stands by it."""
    item_id = each.rule_id if isinstance(each, Rule) else each.item_id
    where = f"source {each.source}" if each.source else f"collection {each.collection}"
    people = (
        [each.user_id] if isinstance(each, Rule) else [one.user_id for one in each.confirmed_by]
    )
    by = (
        ","
        f" {'by' if isinstance(each, Rule) else 'confirmed by'} "
        f"{escape_line_breaks(', '.join(people))}"
        if people
        else ""
    )
    reviewed = (
        f", reviewed by {escape_line_breaks(each.reviewed_by)}"
        if isinstance(each, Rule) and each.reviewed_by
        else ""
    )
    why = f" ({escape_line_breaks(each.reason)})" if each.reason else ""
    state = style_text(f" {each.state}", COLOURS.get(each.state, "dim"))
    print_text(
        style_text(item_id, "cyan")
        + state
        + style_text(f"{why} {each.agent}, {where}{by}{reviewed}", "dim")
    )


def format_people(count: int) -> str:
    return "1 person" if count == 1 else f"{count} people"


def format_times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def shorten_text(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else line[:LONGEST] + "…"
