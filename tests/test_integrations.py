"""The retrievers of docs/python.md, run as they stand there with the real packages. LangChain's is
under langgraph; LlamaIndex's is tried where it is installed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from tests.conftest import REPOSITORY

from citewell import Citewell

PAGE = (REPOSITORY / "docs" / "python.md").read_text("utf-8")
NOTES = "# Leave\n\nA leave of absence is granted for up to 30 days a year.\n"


@pytest.fixture(scope="module")
def citewell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Citewell]:
    home = tmp_path_factory.mktemp("home")
    (home / "notes.md").write_text(NOTES, "utf-8")
    with Citewell(home / "library", llm="none", embedder="scripted", reader="none") as opened:
        opened.add(home / "notes.md")
        yield opened


def run_example(package: str, citewell: Citewell) -> dict[str, Any]:
    """What the page's example that imports this package has made."""
    [code] = [
        each for each in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL) if package in each
    ]
    made: dict[str, Any] = {"citewell": citewell}
    exec(code, made)  # noqa: S102 - our own page
    return made


def test_langchain(citewell: Citewell) -> None:
    """A runnable: it takes part in chains."""
    from langchain_core.runnables import RunnableLambda

    made = run_example("langchain_core", citewell)
    passage = made["passages"][0]
    assert "up to 30 days" in passage.page_content
    assert passage.metadata["title"] == "Leave"
    chain = made["retriever"] | RunnableLambda(len)
    assert chain.invoke("leave of absence") == len(made["passages"])


def test_llama_index(citewell: Citewell) -> None:
    pytest.importorskip("llama_index.core")
    node = run_example("llama_index", citewell)["nodes"][0]
    assert "up to 30 days" in node.node.get_content()
    assert node.node.metadata["title"] == "Leave"
    assert node.score is not None
