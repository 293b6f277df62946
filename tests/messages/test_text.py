"""Texts carry what they are made of, wherever strings go."""

from __future__ import annotations

import copy
import json

import pytest
from pydantic import BaseModel

from citewell.errors import CitewellError, NotFound
from citewell.messages import (
    EVERY,
    AnyText,
    AnyTexts,
    Text,
    choose_language,
    decode_column,
    dump_json,
    dump_model,
    encode_column,
    load_json,
    show_texts,
    showing_in,
    translate,
)

EMPTY = Text("{name} is empty", name="a.txt")


def test_a_text_is_its_english() -> None:
    text = Text("{name} has {pages:,} pages; {most:,} are allowed", name="b", pages=5000, most=9)
    assert text == "b has 5,000 pages; 9 are allowed"
    assert (text.template, text.values["pages"]) == (
        "{name} has {pages:,} pages; {most:,} are allowed",
        5000,
    )
    assert Text("write ${NAME}") == "write ${NAME}"  # nothing is put into it


def test_texts_within_texts_are_translated() -> None:
    text = Text("; ").join([EMPTY, Text("{key}: {message}", key="x", message=EMPTY), "plain"])
    assert text == "a.txt is empty; x: a.txt is empty; plain"
    assert translate(text, "zh") == "a.txt 是空的；x：a.txt 是空的；plain"
    assert translate(EMPTY + "!", "zh") == "a.txt 是空的!"
    assert translate("!" + EMPTY, "zh") == "!a.txt 是空的"


def test_no_space_stands_beside_chinese() -> None:
    assert translate(Text("{name} is empty", name="合同"), "zh") == "合同是空的"


def test_what_no_catalogue_has_stays_as_it_is() -> None:
    assert translate("the weather is fine", "zh") == "the weather is fine"
    assert translate(EMPTY, "fr") == "a.txt is empty"


def test_errors_keep_their_texts_across_processes() -> None:
    """A copy is made as a pickle is."""
    error = copy.copy(NotFound(EMPTY, hint=Text("choose another name")))
    assert translate(error.message, "zh") == "a.txt 是空的"
    assert translate(error.explanation, "zh") == "a.txt 是空的；请换个名称"
    assert translate(str(error), "zh") == "a.txt 是空的"
    assert CitewellError("x").explanation == "x"


class Told(BaseModel):
    reason: AnyText = ""
    warnings: list[AnyText] = []
    detail: AnyTexts = {}


def test_models_show_their_texts_in_the_language_of_now() -> None:
    told = Told(reason=EMPTY, warnings=[EMPTY, "plain"], detail={"why": [EMPTY]})
    english, chinese = "a.txt is empty", "a.txt 是空的"
    assert json.loads(told.model_dump_json())["warnings"] == [english, "plain"]
    with showing_in("zh"):
        assert told.model_dump(mode="json") == {
            "reason": chinese,
            "warnings": [chinese, "plain"],
            "detail": {"why": [chinese]},
        }
    with showing_in(EVERY):
        assert show_texts([EMPTY]) == [{"texts": {"en": english, "zh": chinese}}]
    assert Told.model_json_schema(mode="serialization")["properties"]["reason"]["type"] == "string"


def test_what_is_kept_can_be_shown_in_another_language_later() -> None:
    told = Told(reason=EMPTY, detail={"why": EMPTY, "message": {"message": "x", "values": 1}})
    kept = dump_json(dump_model(told))
    assert '"message": "{name} is empty"' in kept
    again = Told(**load_json(kept))
    assert translate(again.reason, "zh") == "a.txt 是空的"
    assert again == told
    assert translate(Told(reason=encode_column(EMPTY)).reason, "zh") == "a.txt 是空的"


@pytest.mark.parametrize(
    "kept",
    [
        "plain",
        '{"message": broken',
        '{"message": "{x.__class__}", "values": {"x": 1}}',
        '{"message": "{x}", "values": {"y": 1}}',
        '{"message": "{x:999999999}", "values": {"x": 1}}',
    ],
)
def test_what_is_no_text_of_ours_is_read_as_it_is(kept: str) -> None:
    assert decode_column(kept) == kept


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("", "en"),
        ("zh-CN,zh;q=0.9,en;q=0.8", "zh"),
        ("en-GB, zh;q=0.5", "en"),
        ("fr, zh;q=0.5, en;q=0.1", "zh"),
        ("zh;q=0, en", "en"),
        ("*", "en"),
        ("zh;q=much", "en"),
    ],
)
def test_the_language_that_a_client_likes_best(accepted: str, language: str) -> None:
    assert choose_language(accepted) == language
