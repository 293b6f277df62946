"""`citewell add` as its own process, stopped by Ctrl-C and by kill -9, while it reads and while it embeds.

The one rule: a test waits until the database shows that part of the work is done, and only then kills.
"""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from citewell.config import Settings
from tests.interfaces.conftest import environment

FILES = 150
STOPS = pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])

# the command line with an embedder that takes its time and writes down every text it is asked for
DRIVER = """
import asyncio, json, sys
from citewell.interfaces.cli import main
from citewell.models.scripted import ScriptedEmbedder

whole = ScriptedEmbedder.passages
async def passages(self, texts):
    await asyncio.sleep({wait})
    vectors = await whole(self, texts)
    with open({log!r}, "a", encoding="utf-8") as log:
        log.writelines(json.dumps(text) + "\\n" for text in texts)
    return vectors
ScriptedEmbedder.passages = passages
main()
"""
