"""The built-in chat model without its file: what is refused before llama.cpp is asked, and how a
figure is read.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from citewell.config import Settings
from citewell.errors import ModelUnavailable
from citewell.models.builtin.chat import BuiltinLLM
from citewell.models.builtin.download import get_model_path
from citewell.models.yesno import compute_log_odds, parse_word_odds
from citewell.types import Message


def ask(text: str, system: str = "You are brief.") -> list[Message]:
    return [Message(role="system", content=system), Message(role="user", content=text)]


async def test_no_file(settings: Settings) -> None:
    """Without the model the error says how to get it and how to go without it."""
    llm = BuiltinLLM(settings)
    with pytest.raises(ModelUnavailable, match="no chat model here") as caught:
        await llm.chat(ask("Hello"))
    assert "citewell models pull" in caught.value.hint
    assert 'llm = "none"' in caught.value.hint
    await llm.close()


async def test_wrong_file(settings: Settings, tmp_path: Path) -> None:
    """A page saved as a model, and a download that stopped, are found before llama.cpp is asked."""
    page = tmp_path / "page.gguf"
    page.write_text("<html>")
    with pytest.raises(ModelUnavailable, match="not a GGUF file"):
        await BuiltinLLM(Settings(llm_file=page)).yes_no(ask("Hello"))
    get_model_path(settings).parent.mkdir(parents=True)
    get_model_path(settings).write_bytes(b"GGUF" + bytes(100))
    with pytest.raises(ModelUnavailable, match=r"104 bytes where 1,117,320,768 are due"):
        await BuiltinLLM(settings).chat(ask("Hello"))


async def test_damaged_file(tmp_path: Path) -> None:
    """A GGUF file that llama.cpp cannot read is an error, and nothing is printed."""
    code = (
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "from citewell.config import Settings\n"
        "from citewell.errors import ModelUnavailable\n"
        "from citewell.models.builtin.chat import BuiltinLLM\n"
        "try:\n"
        "    asyncio.run(BuiltinLLM(Settings(llm_file=Path(sys.argv[1]))).chat([]))\n"
        "except ModelUnavailable as error:\n"
        "    sys.exit('cannot run this file' not in error.message)\n"
    )
    damaged = tmp_path / "damaged.gguf"
    damaged.write_bytes(b"GGUF\x03\x00\x00\x00" + bytes(range(256)) * 40)
    done = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", code, str(damaged)], capture_output=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_log_odds() -> None:
    """Spellings add up; a word that is not listed counts as the least likely one; nothing listed is
    undecided.
    """
    assert compute_log_odds([("Yes", -0.1), ("No", -3.0), ("so", -5.0)]) == pytest.approx(2.9)
    assert compute_log_odds([("no", -0.1), ("so", -5.0)]) == pytest.approx(-4.9)
    assert compute_log_odds([("so", -0.1)]) == 0.0
    assert compute_log_odds([]) == 0.0
    assert [parse_word_odds(text) for text in ("Yes, it is.", " no", "None", "")] == [
        5.0,
        -5.0,
        0.0,
        0.0,
    ]
