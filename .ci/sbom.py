"""`make sbom`: what a release is made of, as CycloneDX 1.6 JSON: the locked packages and the web
page's libraries.

    .venv/bin/python .ci/sbom.py [OUT]

The one rule: names, versions and sums are those of requirements.lock and vendor.toml, which the
installation is held to; only the licences are read from what is installed. The same lock file gives
the same bytes.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
import uuid
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements.lock"
VENDOR = ROOT / "src" / "citewell" / "interfaces" / "web" / "vendor" / "vendor.toml"
PINNED = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^\s;\\]+)\s*(?:;\s*([^\\]+?))?\s*\\?$")
SUM = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def bill(lock: str, vendor: dict[str, Any], version: str) -> dict[str, Any]:
    """The whole document; `version` of Citewell."""
    components = sorted(
        [*packages(lock), *libraries(vendor)], key=lambda each: str(each["bom-ref"])
    )
    ours = {
        "type": "application",
        "name": "citewell",
        "version": version,
        "bom-ref": f"pkg:pypi/citewell@{version}",
    }
    ours |= {"purl": ours["bom-ref"], "licenses": [{"license": {"id": "Apache-2.0"}}]}
    serial = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps([ours, components], sort_keys=True))
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{serial}",
        "version": 1,
        "metadata": {"component": ours, "lifecycles": [{"phase": "build"}]},
        "components": components,
        "dependencies": [
            {"ref": ours["bom-ref"], "dependsOn": [each["bom-ref"] for each in components]}
        ],
    }


def packages(lock: str) -> list[dict[str, Any]]:
    """One for each pin, with the sum of every file that pip may take for it, and the condition
    under which it does.
    """
    found: list[dict[str, Any]] = []
    for line in lock.splitlines():
        if pin := PINNED.match(line):
            name, version, marker = pin[1], pin[2], pin[3]
            purl = f"pkg:pypi/{re.sub(r'[-_.]+', '-', name).lower()}@{version}"
            found.append(
                {
                    "type": "library",
                    "name": name,
                    "version": version,
                    "bom-ref": purl,
                    "purl": purl,
                    "hashes": [],
                }
            )
            found[-1]["licenses"] = licences(name, version)
            if marker:
                found[-1]["properties"] = [{"name": "citewell:marker", "value": marker}]
        for digest in SUM.findall(line):
            found[-1]["hashes"].append(_sum(digest))
    return found


def licences(name: str, version: str) -> list[dict[str, Any]]:
    """As its own metadata have it; empty where just this version is not installed here."""
    try:
        told = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        return []
    if told["Version"] != version:
        return []
    if expression := told.get("License-Expression"):
        return [{"expression": expression}]
    classified = [
        each.rpartition(" :: ")[2]
        for each in told.get_all("Classifier") or []
        if each.startswith("License ::")
    ]
    if classified:
        return [{"license": {"name": each}} for each in dict.fromkeys(classified)]
    first = (told.get("License") or "").strip().partition("\n")[0][:100]
    return [{"license": {"name": first}}] if first else []


def libraries(vendor: dict[str, Any]) -> list[dict[str, Any]]:
    """Of the web page: copied into the package, each file with its sum."""
    found = []
    for told in vendor["package"]:
        purl = f"pkg:npm/{told['name'].replace('@', '%40')}@{told['version']}"
        files = [
            {"type": "file", "name": name, "hashes": [_sum(digest)]}
            for name, digest in told["files"].items()
        ]
        licence = (
            told["licence"] if " " not in told["licence"] else f"({told['licence'].strip('()')})"
        )
        component = {
            "type": "library",
            "name": told["name"],
            "version": told["version"],
            "bom-ref": purl,
            "purl": purl,
        }
        found.append(component | {"licenses": [{"expression": licence}], "components": files})
    return found


def _sum(digest: str) -> dict[str, str]:
    return {"alg": "SHA-256", "content": digest}


def main() -> None:
    version = metadata.version("citewell")
    made = bill(LOCK.read_text("utf-8"), tomllib.loads(VENDOR.read_text("utf-8")), version)
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "dist" / "citewell.cdx.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", "utf-8")
    unknown = [each["name"] for each in made["components"] if not each["licenses"]]
    print(
        f"{out}: {len(made['components'])} components; licence not told "
        f"for {', '.join(unknown) or 'none'}"
    )


if __name__ == "__main__":
    main()
