"""`/api/settings`: what can be changed while the server runs, for admins: chat model, memory, OCR,
web search. No reply holds a key, and no line of the log.
"""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import Field, SecretStr

from citewell.instrumentation import get_current_operation
from citewell.interfaces.http.body import Closed, JSONRoute
from citewell.interfaces.http.deps import Admin, Citewell
from citewell.service.admin import model_download, page_settings
from citewell.service.admin.model_download import ModelFile
from citewell.service.admin.page_settings import LONGEST_KEY, PageSettings, SettingsChange, Tested

router = APIRouter(prefix="/api/settings", tags=["settings"], route_class=JSONRoute)


class ModelTest(Closed):
    """`model`: empty: the models that the server has are listed and none is tried. `key`: left out:
    the one that is kept for this server.
    """

    url: str = Field(max_length=500)
    model: str = Field("", max_length=200)
    key: SecretStr | None = Field(None, max_length=LONGEST_KEY)


@router.get("")
async def get_settings(app: Citewell, _: Admin) -> PageSettings:
    """As they are in force, and what says those that cannot be changed here."""
    return page_settings.describe_page_settings(app.settings)


@router.patch("")
async def change_settings(body: SettingsChange, app: Citewell, _: Admin) -> PageSettings:
    """From the next question on. 409 for what the environment or the settings file says."""
    for part in (body.model, body.web):
        _hide_key(None if part is None else part.key)
    return await page_settings.change_page_settings(app, body)


@router.post("/model/test")
async def try_model(body: ModelTest, app: Citewell, _: Admin) -> Tested:
    """Whether a server of models answers, and what its model can do. Takes up to 40 seconds."""
    _hide_key(body.key)
    return await page_settings.try_model(app, body.url, body.model, body.key)


@router.get("/model/file")
async def get_model_file(app: Citewell, _: Admin) -> ModelFile:
    """Whether the built-in chat model is here, and how far its download is."""
    return await model_download.get_download(app).describe()


@router.post("/model/file", status_code=202)
async def download_model(app: Citewell, _: Admin) -> ModelFile:
    """Fetch the built-in chat model. 409 where the settings want another one."""
    model_download.begin_download(app)
    return await model_download.get_download(app).describe()


@router.delete("/model/file")
async def cancel_download(app: Citewell, _: Admin) -> ModelFile:
    """End the download; a model that is here stays."""
    await model_download.get_download(app).cancel()
    return await model_download.get_download(app).describe()


def _hide_key(key: SecretStr | None) -> None:
    doing = get_current_operation()
    if key is not None and doing is not None:
        doing.hide(key.get_secret_value())
