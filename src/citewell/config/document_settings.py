"""Settings of documents: how files are read and cut, and how their passages are found."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, field_validator

from citewell.config.setting_group import Group, split_values


class IngestSettings(Group):
    """Reading files."""

    max_bytes: int = Field(100_000_000, ge=1, description="largest file read, in bytes")
    max_pages: int = Field(3_000, ge=1, description="most pages read of one file")
    max_cells: int = Field(
        200_000, ge=1, description="most cells read of one spreadsheet; what is left out is said"
    )
    parse_seconds: float = Field(
        60.0, gt=0, description="a file may take so long; one over 2 MB longer, 10 times at most"
    )
    ocr: Literal["off", "auto"] = Field(
        "off", description="auto: pictures and pages without text are read (extra citewell[ocr])"
    )
    max_members: int = Field(2_000, ge=1, description="most files taken out of one archive or mail")
    max_unpacked: int = Field(
        500_000_000, ge=1, description="most bytes taken out of one archive or mail"
    )
    max_ratio: float = Field(
        200.0,
        ge=1,
        description="an archive that unpacks to more times its size is refused as a zip bomb",
    )
    chunker: Literal["structure", "sentences", "fixed", "semantic"] = Field(
        "structure", description="how documents are cut"
    )
    chunk_tokens: int = Field(220, ge=40, le=480, description="token budget of a chunk")
    overlap_tokens: int = Field(
        40, ge=0, le=200, description="tokens of the chunk before that a chunk repeats"
    )
    summaries: Literal["extractive", "connected", "always"] = Field(
        "connected",
        description="who summarises sections: nobody anew, a connected chat model, or the "
        "built-in one too",
    )


class SyncSettings(Group):
    """Keeping in step with places elsewhere."""

    max_items: int = Field(20_000, ge=1, description="most items listed of one place")
    max_bytes: int = Field(
        5_000_000_000, ge=1, description="most bytes read in one run; the next one goes on"
    )
    seconds: float = Field(3_600.0, gt=0, description="a run may take so long")
    gone_days: int = Field(
        30, ge=0, description="days after which documents go that their place has no more"
    )
    folders: tuple[str, ...] = Field(
        (),
        description="folders of this machine that may be named over the network, with all below "
        "them (several: with commas between)",
    )

    @field_validator("folders", mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:
        return split_values(value)


class SearchSettings(Group):
    """Finding passages, for questions and for `citewell search`."""

    strategy: Literal[
        "direct_chunk_search", "hierarchical_search", "words_only", "vectors_only", "rrf"
    ] = Field(
        "direct_chunk_search",
        description="how passages are found; the last three are there to compare with",
    )
    recency: float = Field(
        0.0,
        ge=0,
        le=5,
        description="what being of today adds to a passage's score; 0: nothing, 1: clearly",
    )
    half_life_days: float = Field(365.0, gt=0, description="days after which half of that is left")
    diversity: float = Field(
        0.0, ge=0, le=1, description="0: the best passages, 1: those least like each other"
    )
    neighbours: int = Field(
        1, ge=0, le=5, description="passages on either side that a connected chat model is sent too"
    )
