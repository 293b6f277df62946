"""The command line of `citewell eval`; what cannot be asked or written is refused first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from citewell.errors import InvalidInput
from citewell.measure.report import read_ablation, read_report

STANDARD_OUTPUT = "-"


@dataclass(frozen=True, slots=True)
class Choices:
    """What the command line says. `ways` are the fields of Options; a strategy of None is the one
    of the settings.
    """

    paths: Sequence[str]
    compare: tuple[str, str] | None
    corpus: str | None
    collection: str | None
    ways: dict[str, Any]
    json: str | None
    html: str | None
    calibrate: bool
    keep: bool
    ablate: bool = False

    @property
    def printed(self) -> bool:
        """Whether the report itself goes to standard output."""
        return self.json == STANDARD_OUTPUT

    @property
    def json_file(self) -> Path | None:
        return Path(self.json) if self.json and not self.printed else None

    def check_usage(self) -> None:
        """Raises BadParameter for options that exclude each other."""
        if bool(self.paths) == bool(self.compare):
            raise typer.BadParameter(
                "name files of questions, or two reports with --compare OLD.json NEW.json"
            )
        if self.corpus and self.collection:
            raise typer.BadParameter("--corpus and --collection exclude each other")
        only = self.ways["only"]
        if only not in {None, "retrieval"}:
            raise typer.BadParameter("--only takes: retrieval")
        if self.ablate and (self.compare or self.calibrate or only or self.html):
            raise typer.BadParameter(
                "--ablate compares its own runs of answers; it writes --json, and takes no --html"
            )
        if self.keep and not self.calibrate:
            raise typer.BadParameter("--save goes with --calibrate")

    def check_files(self) -> None:
        """Raises InvalidInput where a file would be lost that is no report, before an hour's work
        is done.
        """
        for path in filter(None, (self.json_file, Path(self.html) if self.html else None)):
            if path.is_dir() or not path.absolute().parent.is_dir():
                raise InvalidInput(
                    f"{path}: cannot be written", hint="name a file in a folder that is there"
                )
        if self.json_file and self.json_file.exists() and not self.compare:
            try:
                (read_ablation if self.ablate else read_report)(self.json_file)
            except InvalidInput:
                hint = "choose another name, or remove that file"
                raise InvalidInput(
                    f"{self.json_file} is there already and is no report", hint=hint
                ) from None
