"""The bill of materials names what is locked, with licences and sums, and is the same each time."""

from __future__ import annotations

import importlib.util
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
LOCK = (ROOT / "requirements.lock").read_text("utf-8")
SHAPES = {"type": str, "name": str, "version": str, "purl": str, "licenses": list}


@pytest.fixture(scope="module")
def sbom() -> Any:
    spec = importlib.util.spec_from_file_location("sbom", ROOT / ".ci" / "sbom.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def made(sbom: Any) -> dict[str, Any]:
    vendor = tomllib.loads(Path(sbom.VENDOR).read_text("utf-8"))
    document: dict[str, Any] = sbom.bill(LOCK, vendor, "1.2.3")
    return document


def test_every_pin_is_in_it(sbom: Any) -> None:
    """By name, version and each of its sums; licences of all but what is for other platforms."""
    components = made(sbom)["components"]
    pins = re.findall(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^\s;]+)", LOCK, re.MULTILINE)
    assert len(pins) > 90
    assert {(each["name"], each["version"]) for each in components} >= set(pins)
    sums = [digest["content"] for each in components for digest in each.get("hashes", [])]
    assert sorted(sums) == sorted(re.findall(r"--hash=sha256:([0-9a-f]{64})", LOCK))
    silent = [
        each["name"] for each in components if not each["licenses"] and "properties" not in each
    ]
    assert silent == []


def test_its_shape(sbom: Any) -> None:
    """What CycloneDX 1.6 asks for: one reference for each component, and no reference that leads
    nowhere.
    """
    document = made(sbom)
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
    assert re.fullmatch(r"urn:uuid:[0-9a-f-]{36}", document["serialNumber"])
    refs = [each["bom-ref"] for each in document["components"]]
    assert len(refs) == len({*refs})
    [all_of_it] = document["dependencies"]
    assert all_of_it == {"ref": "pkg:pypi/citewell@1.2.3", "dependsOn": refs}
    for each in document["components"]:
        assert all(isinstance(each[name], kind) for name, kind in SHAPES.items()), each
        assert all({*licence} in ({"expression"}, {"license"}) for licence in each["licenses"]), (
            each
        )
    preact = next(
        each for each in document["components"] if each["purl"].startswith("pkg:npm/preact@")
    )
    assert len(preact["components"]) == 3


def test_the_same_lock_gives_the_same_bytes(sbom: Any) -> None:
    assert json.dumps(made(sbom)) == json.dumps(made(sbom))
