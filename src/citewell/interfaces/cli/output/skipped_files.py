"""Files that a folder holds and nobody reads, as the command line tells of them."""

from __future__ import annotations

from collections.abc import Mapping

from citewell.ingest import PICTURES
from citewell.interfaces.cli.output.terminal import print_warning


def warn_of_skipped_files(skipped: Mapping[str, int]) -> None:
    """How many by suffix; pictures are among them only while OCR is off."""
    unknown = {suffix: count for suffix, count in skipped.items() if suffix not in PICTURES}
    if unknown:
        print_warning(f"skipped files of unknown kinds: {_format_counts(unknown)}")
    if pictures := {suffix: skipped[suffix] for suffix in skipped if suffix not in unknown}:
        print_warning(
            f"skipped pictures: {_format_counts(pictures)}; they are read with OCR: pip install "
            "'citewell[ocr]', then set ingest.ocr = \"auto\""
        )


def _format_counts(skipped: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {suffix}" for suffix, count in skipped.items())
