"""The process that tries jobs alone: what it says where it cannot, and that it ends with its
input.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys

import pytest

from citewell.config import Settings
from citewell.service.jobs.isolated_jobs import PACKAGES, PROGRAM


def run_program(settings: Settings) -> tuple[int, str]:
    """Its exit code and what it says; its input stays open, as that of a parent that lives."""
    with subprocess.Popen(
        [sys.executable, "-P", "-c", PROGRAM],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": PACKAGES},
    ) as child:
        assert child.stdin is not None
        assert child.stderr is not None
        child.stdin.write(pickle.dumps((settings, "")))
        child.stdin.flush()
        said = child.stderr.read().decode()
        return child.wait(120), said


@pytest.mark.sqlite  # a folder stands where its file would be
def test_a_database_that_cannot_be_opened(settings: Settings) -> None:
    """Its cause in a line, without a traceback, and an exit code that says so."""
    settings.database.mkdir(parents=True)
    code, said = run_program(settings)
    assert code == 1
    assert "jobs cannot be tried alone" in said
    assert "Traceback" not in said


def test_nothing_to_do(settings: Settings) -> None:
    assert run_program(settings) == (0, "")
