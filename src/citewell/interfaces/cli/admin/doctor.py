"""`citewell doctor`: what is here, what is wrong, what to do. Exit 1 when a check fails."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from citewell.interfaces.cli.arguments import Json
from citewell.interfaces.cli.output.terminal import get_stdout, print_json, print_parts, print_text
from citewell.interfaces.cli.run import DONE, ERROR, guard_command
from citewell.service.admin.doctor import Report, run_checks
from citewell.service.admin.health_check import State

MARKS: dict[State, tuple[str, str]] = {
    "ok": ("ok", "green"),
    "warn": ("warn", "yellow"),
    "fail": ("fail", "red"),
}


def run_doctor(
    fast: Annotated[
        bool, typer.Option("--fast", help="Leave out the timing of the models.")
    ] = False,
    every: Annotated[
        bool, typer.Option("--all", help="List the settings at their defaults too.")
    ] = False,
    json: Json = False,
) -> None:
    """Check this installation: settings, models and their speed, database, disk."""
    with guard_command(json=json) as settings:
        report = asyncio.run(run_checks(settings, fast=fast))
        if json:
            print_json(report)
        else:
            show_report(report, every=every)
        raise typer.Exit(ERROR if any(check.state == "fail" for check in report.checks) else DONE)


def show_report(report: Report, *, every: bool) -> None:
    """`every`: the settings that are left at their defaults too."""
    print_text(f"citewell {report.version}, Python {report.python}, {report.platform}", "bold")
    print_text(", ".join(f"{name} {version}" for name, version in report.packages.items()), "dim")
    get_stdout().print()
    for check in report.checks:
        mark, style = MARKS[check.state]
        print_parts((f"{mark:<5}", style), f"{check.name}: {check.detail}")
        if check.advice:
            print_text(check.advice, "dim", indent=5)
    changed = [each for each in report.settings if each.source != "default" or every]
    get_stdout().print()
    print_text("Settings in force" if every else "Settings that differ from the defaults", "bold")
    for setting in changed:
        style = "dim" if setting.source == "default" else ""
        print_text(f"{setting.name} = {setting.value}  ({setting.source})", style, indent=2)
    if not every:
        print_text(f"{'' if changed else 'none; '}--all lists every setting", "dim", indent=2)
