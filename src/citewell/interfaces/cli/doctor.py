"""`citewell doctor`: what is here, what is wrong with it, and what to do. Exit 1 when a check
fails.
"""

from __future__ import annotations

import asyncio

import typer

from citewell.interfaces.cli.run import DONE, ERROR, boundary
from citewell.interfaces.cli.terminal import out, print_json, styled, write
from citewell.service.admin.doctor import Report, State, examine

MARKS: dict[State, tuple[str, str]] = {
    "ok": ("ok", "green"),
    "warn": ("warn", "yellow"),
    "fail": ("fail", "red"),
}


def doctor(*, fast: bool, json: bool) -> None:
    with boundary(json=json) as settings:
        report = asyncio.run(examine(settings, fast=fast))
        if json:
            print_json(report.model_dump(mode="json"))
        else:
            show(report)
        raise typer.Exit(ERROR if any(check.state == "fail" for check in report.checks) else DONE)


def show(report: Report) -> None:
    console = out()
    write(
        console,
        styled(f"citewell {report.version}, Python {report.python}, {report.platform}", "bold"),
    )
    write(
        console,
        styled(", ".join(f"{name} {version}" for name, version in report.packages.items()), "dim"),
    )
    console.print()
    for check in report.checks:
        mark, style = MARKS[check.state]
        write(console, styled(f"{mark:<5}", style) + styled(f"{check.name}: {check.detail}"))
        if check.advice:
            write(console, styled(check.advice, "dim"), indent=5)
    console.print()
    write(console, styled("Settings in force", "bold"))
    for setting in report.settings:
        style = "dim" if setting.source == "default" else ""
        write(
            console,
            styled(f"{setting.name} = {setting.value}  ({setting.source})", style),
            indent=2,
        )
