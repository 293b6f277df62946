"""`citewell jobs ...`: names, arguments and help. The one rule: as in commands.py, the work is
imported when it is done.
"""

from __future__ import annotations

from typing import Annotated

import typer

from citewell.interfaces.cli.arguments import Json

jobs_app = typer.Typer(
    help="Uploads and other work of the server: list, try again, cancel.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
JobId = Annotated[str, typer.Argument(metavar="JOB_ID", help="A job.", show_default=False)]


@jobs_app.command(name="list")
def jobs_list(json: Json = False) -> None:
    """List jobs, the newest first: what waits, runs, is done, has failed and why."""
    from citewell.interfaces.cli.jobs import show_jobs
    from citewell.interfaces.cli.run import run

    run(lambda app: show_jobs(app, json=json), json=json)


@jobs_app.command(name="again")
def jobs_again(job_id: JobId, json: Json = False) -> None:
    """Try a job again that failed or was given up; a running server takes it, or the next one to
    start.
    """
    from citewell.interfaces.cli.jobs import try_job_again
    from citewell.interfaces.cli.run import run

    run(lambda app: try_job_again(app, job_id, json=json), json=json)


@jobs_app.command(name="cancel")
def jobs_cancel(job_id: JobId, json: Json = False) -> None:
    """Stop a job, or have a failed one forget what it was sent; what was added stays."""
    from citewell.interfaces.cli.jobs import stop_job
    from citewell.interfaces.cli.run import run

    run(lambda app: stop_job(app, job_id, json=json), json=json)
