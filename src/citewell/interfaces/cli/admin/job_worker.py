"""`citewell worker`: the jobs of servers, in a process that serves nobody. A stop (SIGTERM, Ctrl-C)
puts what is under way back where any other worker takes it, and ends with exit code 0.
"""

from __future__ import annotations

import asyncio
import signal

import typer

from citewell.config import Settings
from citewell.interfaces.cli.arguments import Json
from citewell.interfaces.cli.output.terminal import print_json, print_text
from citewell.interfaces.cli.run import DONE, guard_command
from citewell.runtime.app import App
from citewell.service.admin.follow_settings import follow_page_settings
from citewell.service.jobs.worker import run_worker_until_closing


def run_worker(json: Json = False) -> None:
    """Do the jobs of servers started with --no-worker: uploads, feedback, refreshes."""
    with guard_command(json=json, serves=True) as settings:
        asyncio.run(_run_jobs(settings, json))
        raise typer.Exit(DONE)


async def _run_jobs(settings: Settings, json: bool) -> None:
    app = App(settings)
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, app.stopping.end)
    async with app:
        if json:
            print_json({"working": True})
        else:
            print_text("Citewell takes jobs (Ctrl-C stops it)")
        following = asyncio.create_task(follow_page_settings(app))
        await run_worker_until_closing(app)
        following.cancel()
