"""Fetches the built-in chat model into the cache folder (in work). The one rule: nothing is kept unless its SHA-256 matches."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from citewell.config import Settings


@dataclass(frozen=True, slots=True)
class Model:
    name: str
    file: str
    bytes: int
    sha256: str


MODEL = Model(
    name="Qwen2.5-Coder-1.5B-Instruct Q4_K_M",
    file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    bytes=1_117_320_768,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
)


def model_path(settings: Settings) -> Path:
    """Where the packaged model is, or will be."""
    return settings.cache / "models" / MODEL.file
