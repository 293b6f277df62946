"""Citewell in programs: `from citewell import Citewell, AsyncCitewell`."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import citewell
from citewell import AsyncCitewell, Citewell
from citewell.config import Settings
from citewell.errors import ConfigError, InvalidInput
from citewell.types import Answer

SMALL: dict[str, Any] = {"embedder": "scripted", "llm": "none", "reader": "none"}


@pytest.fixture
def pump(tmp_path: Path) -> Path:
    file = tmp_path / "pump.md"
    file.write_text("# Pump\n\nThe A-100 pump weighs 12 kg.\n", "utf-8")
    return file


def test_from_a_file_to_an_answer(tmp_path: Path, pump: Path) -> None:
    """Add, search, ask, check, one after another, in a program without coroutines; what was added
    is there for the next who opens the home.
    """
    with Citewell(tmp_path / "home", **SMALL) as library:
        report = library.add(pump, tmp_path / "missing.pdf")
        assert [file.status for file in report.files] == ["added", "failed"]
    with Citewell(tmp_path / "home", **SMALL) as library:
        found = library.search("A-100 pump", k=1)
        assert "12 kg" in found.hits[0].text
        answer = library.ask("How heavy is the A-100 pump?", max_seconds=30)
        assert isinstance(answer, Answer)
        assert library.ask("And why?", session_id=answer.session_id).session_id == answer.session_id
        checked = library.check("The A-100 pump weighs 12 kg.")
        assert [sentence.verdict for sentence in checked.sentences] == ["entailed"]


def test_without_a_name_the_fullest_collection_is_asked(tmp_path: Path, pump: Path) -> None:
    """Where the usual one has no documents; who asks is told."""
    with Citewell(tmp_path / "home", **SMALL) as library:
        library.add(pump, collection="pumps")
        said = "no collection was named, so pumps was taken"
        found = library.search("A-100 pump")
        assert (found.collections, found.warnings[0]) == (["pumps"], said)
        answer = library.ask("How heavy is the A-100 pump?")
        assert "Pump" in answer.answer
        assert said in answer.warnings
        *_, last = library.stream("How heavy is the A-100 pump?")
        assert isinstance(last.data, Answer)
        assert said in last.data.warnings
        assert said in library.check("The A-100 pump weighs 12 kg.").warnings


def test_events_without_coroutines(tmp_path: Path, pump: Path) -> None:
    """As they come, errors too; who stops listening ends the run, and can ask on."""
    with Citewell(tmp_path / "home", **SMALL) as library:
        library.add(pump)
        kinds = [event.kind for event in library.stream("How heavy is the A-100 pump?")]
        assert (kinds[0], kinds[-1]) == ("step", "answer")
        for _ in library.stream("How heavy is the A-100 pump?"):
            break
        with pytest.raises(InvalidInput, match="nobody"):
            list(library.stream("How heavy?", agent="nobody"))
        assert library.ask("How heavy is the A-100 pump?").agent == "qa"


def test_tables(tmp_path: Path) -> None:
    (tmp_path / "costs.csv").write_text("service,cost\nIT,10\nHR,20\n", "utf-8")
    with Citewell(tmp_path / "home", **SMALL) as library:
        assert library.add_tables(tmp_path / "costs.csv").source.name == "costs"
        answer = library.data("What is the total cost?", "costs")
        assert answer.agent == "data"


async def test_coroutines(tmp_path: Path, pump: Path) -> None:
    """The same in a loop that runs: awaited, and the one without coroutines beside it."""
    async with AsyncCitewell(tmp_path / "home", **SMALL) as library:
        await library.add(pump)
        names = [event.kind async for event in library.stream("How heavy is the A-100 pump?")]
        assert (names[0], names[-1]) == ("step", "answer")
    with Citewell(tmp_path / "home", **SMALL) as plain:
        assert plain.search("pump").hits


def test_what_is_wrong_is_told(tmp_path: Path) -> None:
    """A setting, an option, and a library that is not open, each by its name."""
    with pytest.raises(ConfigError, match="chunk_token"):
        Citewell(tmp_path, ingest={"chunk_token": 100})
    closed = Citewell(tmp_path / "home", **SMALL)
    with pytest.raises(InvalidInput, match="not open"):
        closed.ask("Is it?")
    with closed as library, pytest.raises(InvalidInput, match="max_second"):
        library.ask("Is it?", max_second=3)


def test_the_home_has_its_settings(tmp_path: Path) -> None:
    """The file in the home that is named counts, below what the program says."""
    (tmp_path / "citewell.toml").write_text('collection = "ours"\nllm = "none"\n', "utf-8")
    assert Citewell(tmp_path, llm="scripted").settings == Settings(
        home=tmp_path, collection="ours", llm="scripted"
    )


def test_both_classes_have_the_same_methods() -> None:
    def shape(kind: type[Any]) -> dict[str, list[str]]:
        return {
            name: list(inspect.signature(method).parameters)
            for name, method in vars(kind).items()
            if not name.startswith("_") and callable(method)
        }

    assert shape(Citewell) == shape(AsyncCitewell)


def test_importing_citewell_is_cheap() -> None:
    """The classes come when they are asked for, for every command and worker imports the
    package.
    """
    told = "import citewell, sys; print({'citewell.api', 'pydantic', 'anyio'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
    with pytest.raises(AttributeError, match="nothing"):
        _ = citewell.nothing
