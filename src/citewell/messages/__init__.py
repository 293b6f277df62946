"""Texts for people. The English text is in the code, as `Text(...)`; each other language is one
gettext file in `locale/` (docs/messages.md).
"""

from citewell.messages.catalogue import LOCALE, list_languages, load_page_words, translate
from citewell.messages.current_language import (
    EVERY,
    choose_language,
    show_text,
    show_texts,
    showing_in,
)
from citewell.messages.fields import AnyText, AnyTexts, dump_model
from citewell.messages.kept import decode_column, dump_json, encode_column, load_json
from citewell.messages.text import Text

__all__ = [
    "EVERY",
    "LOCALE",
    "AnyText",
    "AnyTexts",
    "Text",
    "choose_language",
    "decode_column",
    "dump_json",
    "dump_model",
    "encode_column",
    "list_languages",
    "load_json",
    "load_page_words",
    "show_text",
    "show_texts",
    "showing_in",
    "translate",
]
