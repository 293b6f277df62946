"""`python -m citewell` is `citewell`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from citewell.config import Settings


def test_module_adds_files(settings: Settings, tmp_path: Path) -> None:
    """Parsers run in worker processes, which import the main module: it must not run the command
    again.
    """
    (tmp_path / "a.md").write_text("# Lighthouse\n\nBuilt in 1857.\n", "utf-8")
    environ = {
        "CITEWELL_DATABASE_URL": settings.database_url.get_secret_value(),
        "CITEWELL_HOME": str(settings.home),
        "CITEWELL_CACHE": str(settings.cache),
        "CITEWELL_EMBEDDER": "scripted",
    }
    command = [sys.executable, "-m", "citewell", "add", str(tmp_path / "a.md")]
    done = subprocess.run(
        command,
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert "1 added" in done.stdout
