"""The process that tries jobs alone: what it says where it cannot, and that it ends with its
input.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys

from citewell.config import Settings
from citewell.service.jobs.isolated_jobs import PACKAGES, PROGRAM


def run_program(settings: Settings) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-P", "-c", PROGRAM],
        input=pickle.dumps((settings, "")),
        capture_output=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONPATH": PACKAGES},
    )


def test_a_database_that_cannot_be_opened(settings: Settings) -> None:
    """Its cause in a line, without a traceback, and an exit code that says so."""
    settings.database.mkdir(parents=True)
    done = run_program(settings)
    assert done.returncode == 1
    said = done.stderr.decode()
    assert "jobs cannot be tried alone" in said
    assert "Traceback" not in said


def test_nothing_to_do(settings: Settings) -> None:
    done = run_program(settings)
    assert (done.returncode, done.stderr) == (0, b"")
