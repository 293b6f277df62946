"""What a server loads before it is asked: the models of its own process, where the settings want
that.
"""

from __future__ import annotations

import pytest

from citewell.config import Settings
from citewell.errors import ModelUnavailable
from citewell.models.builtin import e5_network
from citewell.models.builtin.embedder import BuiltinEmbedder
from citewell.models.scripted import ScriptedLLM
from citewell.runtime.app import App
from citewell.service.admin.warm import warm_up_server


class Loading(ScriptedLLM):
    loaded = 0

    async def load(self) -> None:
        self.loaded += 1


class Missing(BuiltinEmbedder):
    async def load(self) -> None:
        raise ModelUnavailable("no such file")


@pytest.mark.parametrize(("wanted", "times"), [(True, 1), (False, 0)])
async def test_the_models_of_this_process(settings: Settings, *, wanted: bool, times: int) -> None:
    """One that is missing does not keep the others."""
    settings = settings.model_copy(update={"warm": wanted})
    async with App(settings) as app:
        app.llm = model = Loading()
        app.embedder = Missing(settings)
        await warm_up_server(app)
        assert model.loaded == times


async def test_the_embedder(settings: Settings) -> None:
    e5_network._load_network.cache_clear()
    await BuiltinEmbedder(settings).load()
    assert e5_network._load_network.cache_info().currsize == 1
