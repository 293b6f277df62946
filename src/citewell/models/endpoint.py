"""One OpenAI-compatible endpoint: its client, its time limit, its errors turned into ours. An error
names the endpoint and the model, and never the key.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio

from citewell.errors import CitewellError, ConfigError, PermanentError, TransientError
from citewell.messages import Text

AGAIN = {408, 409, 429}  # and every 5xx: the server may do better next time
UNSAID = {401, 403}  # servers quote part of the key in these, so their words are left out


class Refused(PermanentError):
    """The server did not take the request (400, 422); it may take another form of it."""


class Endpoint:
    """`role`: the settings' prefix, `llm` or `embed`. Raises ConfigError without url or model."""

    def __init__(self, url: str, model: str, key: str, seconds: float, role: str) -> None:
        for name, value in (("url", url), ("model", model)):
            if not value:
                raise ConfigError(
                    Text("setting {role}_{name} is empty", role=role, name=name),
                    hint=Text("an OpenAI-compatible endpoint needs url and model"),
                )
        self.url = url
        self.model = model
        self._key = key
        self._seconds = seconds
        self._role = role
        self._client: Any = None

    def client(self) -> Any:
        """The SDK's client, made on first use: importing it takes half a second."""
        if self._client is None:
            import openai

            # always a key of ours: without one the SDK takes OPENAI_API_KEY, which was meant for
            # another server
            self._client = openai.AsyncOpenAI(
                base_url=self.url, api_key=self._key or "none", timeout=self._seconds, max_retries=0
            )
        return self._client

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    @asynccontextmanager
    async def guard(self) -> AsyncIterator[None]:
        """Around a call and its reading: the time limit, and our errors for the SDK's."""
        import httpx2
        import openai

        try:
            with anyio.fail_after(self._seconds):
                yield
        except TimeoutError:
            raise TransientError(
                Text(
                    "{label}: no reply within {seconds:g} seconds",
                    label=self._format_label(),
                    seconds=self._seconds,
                ),
                hint=Text("a longer llm_timeout gives it more time"),
            ) from None
        except openai.APIStatusError as error:
            raise self._build_status_error(error.status_code, error.message) from None
        except openai.APIResponseValidationError as error:
            raise self._build_reply_error(str(error)) from None
        except (openai.APIError, httpx2.HTTPError) as error:
            # connection lost, or an error in mid-stream
            raise TransientError(
                Text(
                    "{label}: {key}",
                    label=self._format_label(),
                    key=self._redact_key(str(error) or type(error).__name__),
                ),
                hint=Text("is the server running, and its address right?"),
            ) from None

    def part(self, reply: Any, name: str) -> Any:
        """The list `name` of a reply. Raises PermanentError for anything else (a web page)."""
        value = getattr(reply, name, None)
        if not value:
            raise self._build_reply_error(Text("no {name} in the reply", name=name))
        return value

    def check(
        self, text: str, refusal: str, finish_reason: str | None, *, may_be_empty: bool = False
    ) -> None:
        """Raises PermanentError where there is no reply, saying why. `text` is without thinking."""
        other = Text("ask in other words, or name another model")
        if refusal:
            raise PermanentError(
                Text(
                    "{label}: the model refused to answer: {key}",
                    label=self._format_label(),
                    key=self._redact_key(refusal),
                ),
                hint=other,
                code="model_refused",
            )
        if finish_reason == "content_filter":
            why = Text(
                "{label}: a content filter of the server ended the reply",
                label=self._format_label(),
            )
            raise PermanentError(why, hint=other, code="content_filter")
        if text.strip() or may_be_empty:
            return
        if finish_reason == "length":
            why = Text(
                "{label}: the reply was at its limit of tokens before its first word",
                label=self._format_label(),
            )
            hint = Text(
                "a model that thinks takes many: shorten its thinking on the server, "
                "or name another model"
            )
            raise PermanentError(why, hint=hint, code="empty_reply")
        raise PermanentError(
            Text("{label}: the model's reply is empty", label=self._format_label()),
            hint=other,
            code="empty_reply",
        )

    def _build_status_error(self, status: int, message: str) -> CitewellError:
        words = "" if status in UNSAID else f": {self._redact_key(message)}"
        text = Text(
            "{label}: status {status}{words}",
            label=self._format_label(),
            status=status,
            words=words,
        )
        if status in AGAIN or status >= 500:
            return TransientError(text, hint=Text("the server is busy or failing; try again later"))
        if status in UNSAID:
            return PermanentError(
                text,
                hint=Text(
                    "see that the key is right for this server ({role}_key)", role=self._role
                ),
                code="unauthorised",
            )
        if status == 404:
            return PermanentError(
                text,
                hint=Text(
                    "see that the address, with its /v1, and the model's name are right "
                    "({role}_url, {role}_model)",
                    role=self._role,
                ),
            )
        if "context" in words.lower() and ("length" in words.lower() or "exceed" in words.lower()):
            return PermanentError(
                text, hint=Text("send less evidence or history"), code="prompt_too_long"
            )
        return Refused(text) if status in {400, 422} else PermanentError(text)

    def _build_reply_error(self, what: str) -> PermanentError:
        hint = Text(
            "is this an OpenAI-compatible server, and its address complete with /v1 ({role}_url)?",
            role=self._role,
        )
        return PermanentError(
            Text("{label}: {key}", label=self._format_label(), key=self._redact_key(what)),
            hint=hint,
        )

    def _format_label(self) -> str:
        return Text("{url} ({model})", url=self.url, model=self.model)

    def _redact_key(self, text: str) -> str:
        return text.replace(self._key, "[key]")[:500] if self._key else text[:500]
