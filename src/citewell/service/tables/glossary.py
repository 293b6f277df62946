"""A glossary from a file or from `TERM=MEANING`. The one rule: a line that is not understood is
named, never skipped.
"""

from __future__ import annotations

import csv
import io
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import anyio.to_thread

from citewell.errors import InvalidInput
from citewell.store.sources import GlossaryTerm
from citewell.text.charset import decode_text

MOST_BYTES: Final = 2_000_000
_DIVIDER: Final = re.compile(r"\s*[=＝]\s*|\s*：\s*|\s*:\s+|\t+")
_HEADS: Final = frozenset({"term", "word", "name", "术语", "词", "词语", "名称"})


def parse_term(said: str) -> GlossaryTerm:
    """`TERM=MEANING`, also with a colon, also a Chinese one. Raises InvalidInput."""
    parts = _DIVIDER.split(said.strip(), maxsplit=1)
    if len(parts) != 2 or not parts[0] or not parts[1].strip():
        raise InvalidInput(f"glossary: {said[:80]!r} is not understood", hint="write TERM=MEANING")
    return GlossaryTerm(term=parts[0], meaning=parts[1].strip())


async def read_glossary_file(given: Path) -> list[GlossaryTerm]:
    """Raises InvalidInput, which names file and line."""

    def read() -> bytes:
        try:
            path = given.expanduser()
            if path.stat().st_size > MOST_BYTES:
                raise InvalidInput(
                    f"{path.name} is larger than the {MOST_BYTES:,} bytes that a glossary may have"
                )
            return path.read_bytes()
        except OSError as error:
            raise InvalidInput(f"{given}: cannot be read: {error.strerror or error}") from None

    return parse_glossary(await anyio.to_thread.run_sync(read), given.name)


def parse_glossary(data: bytes, name: str) -> list[GlossaryTerm]:
    """TOML, YAML or CSV by the file's name, else `term = meaning` lines, `#` before a remark."""
    text = decode_text(data, name)[0].replace("\r\n", "\n")
    suffix = Path(name).suffix.lower()
    if suffix == ".toml":
        try:
            return _parse_pairs(tomllib.loads(text), name)
        except tomllib.TOMLDecodeError as error:
            raise InvalidInput(f"{name} is not valid TOML: {error}") from None
    if suffix in {".yaml", ".yml", ".json"}:
        return _parse_pairs(_parse_yaml(text, name), name)
    if suffix in {".csv", ".tsv"}:
        return _parse_rows(
            csv.reader(io.StringIO(text), delimiter="\t" if suffix == ".tsv" else ","), name
        )
    terms = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            try:
                terms.append(parse_term(line))
            except InvalidInput as error:
                raise InvalidInput(
                    f"{name}, line {number}: {error.message}", hint="one `term = meaning` a line"
                ) from None
    return terms


def _parse_yaml(text: str, name: str) -> Any:
    import yaml

    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise InvalidInput(f"{name} is not valid YAML: {str(error).splitlines()[0]}") from None


def _parse_pairs(value: Any, name: str) -> list[GlossaryTerm]:
    """`{term: meaning}`, perhaps under `glossary`; or a list of `{term, meaning}`."""
    if isinstance(value, dict) and isinstance(value.get("glossary"), dict | list):
        value = value["glossary"]
    if isinstance(value, dict):
        wrong = [
            str(key)
            for key, meaning in value.items()
            if isinstance(meaning, dict | list) or meaning is None
        ]
        if wrong:
            raise InvalidInput(
                f"{name}: the meaning of {wrong[0]!r} is no text", hint='write term = "meaning"'
            )
        return [GlossaryTerm(term=str(key), meaning=str(meaning)) for key, meaning in value.items()]
    if isinstance(value, list) and all(
        isinstance(each, dict) and {"term", "meaning"} <= each.keys() for each in value
    ):
        return [
            GlossaryTerm(term=str(each["term"]), meaning=str(each["meaning"])) for each in value
        ]
    raise InvalidInput(
        f"{name} is no glossary", hint="terms with their meanings, or a list of {term, meaning}"
    )


def _parse_rows(rows: Any, name: str) -> list[GlossaryTerm]:
    try:
        held: Sequence[list[str]] = [row for row in rows if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise InvalidInput(f"{name}: {error}") from None
    if held and held[0][0].strip().casefold() in _HEADS:
        held = held[1:]
    for number, row in enumerate(held, 1):
        if len(row) < 2 or not row[0].strip() or not row[1].strip():
            raise InvalidInput(
                f"{name}, row {number}: a term and its meaning are needed",
                hint="two columns: term, meaning",
            )
    return [GlossaryTerm(term=row[0], meaning=row[1]) for row in held]
