"""The libraries of the page: each file is the one that `vendor.toml` tells of, and each loads under
the page's own policy.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

WEB = Path(__file__).resolve().parents[2] / "src" / "citewell" / "interfaces" / "web"
VENDOR = WEB / "vendor"
PACKAGES: list[dict[str, Any]] = tomllib.loads((VENDOR / "vendor.toml").read_text("utf-8"))[
    "package"
]
FREE = {"MIT", "Apache-2.0", "BSD-3-Clause", "(MPL-2.0 OR Apache-2.0)", "OFL-1.1"}


def place(package: dict[str, Any], inside: str) -> Path:
    return (
        VENDOR
        / str(package["name"])
        / Path(*(part for part in Path(inside).parts if part != "dist"))
    )


def imports() -> dict[str, str]:
    text = (WEB / "index.html").read_text("utf-8")
    between = text.partition('<script type="importmap">')[2].partition("</script>")[0]
    found: dict[str, str] = json.loads(between)["imports"]
    return found


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package["name"])
def test_files_are_those_of_the_package(package: dict[str, Any]) -> None:
    assert package["licence"] in FREE
    assert any("LICENSE" in inside for inside in package["files"])
    for inside, wanted in package["files"].items():
        assert hashlib.sha256(place(package, inside).read_bytes()).hexdigest() == wanted, inside


def test_nothing_else_is_vendored() -> None:
    told = {place(package, inside) for package in PACKAGES for inside in package["files"]} | {
        VENDOR / "vendor.toml"
    }
    assert {path for path in VENDOR.rglob("*") if path.is_file()} == told


def test_versions_are_those_of_the_lock_file() -> None:
    """`npm ci`, and so `make vendor` and `tsc`, bring what is vendored."""
    lock = json.loads((WEB / "package-lock.json").read_text("utf-8"))["packages"]
    wanted = json.loads((WEB / "package.json").read_text("utf-8"))["dependencies"]
    for package in PACKAGES:
        assert (
            lock[f"node_modules/{package['name']}"]["version"]
            == package["version"]
            == wanted[package["name"]]
        )
    assert set(wanted) == {package["name"] for package in PACKAGES}


def test_every_bare_import_leads_to_a_file() -> None:
    for name, address in imports().items():
        assert (WEB / address.removeprefix("/assets/")).is_file(), name


def test_every_library_loads_in_the_page(goto: Callable[..., Page]) -> None:
    """As a module, by its bare name, with no breach of the policy (the fixture fails the test on
    one).
    """
    window = goto("/settings")
    for name in imports():
        exported = window.evaluate(
            "name => import(name).then(module => Object.keys(module).length)", name
        )
        assert exported > 0, name


def test_pdf_worker_starts(goto: Callable[..., Page]) -> None:
    """pdf.js reads a document in its worker, which the policy lets it start."""
    window = goto("/settings")
    pages = window.evaluate("""async () => {
        const pdf = await import("pdfjs-dist");
        pdf.GlobalWorkerOptions.workerSrc = "/assets/vendor/pdfjs-dist/build/pdf.worker.min.mjs";
        const text = `%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]>>endobj
trailer<</Root 1 0 R>>`;
        const task = pdf.getDocument({data: new TextEncoder().encode(text), useWasm: false});
        const read = await task.promise;
        const page = await read.getPage(1);
        const found = [read.numPages, page.view[2], globalThis.pdfjsWorker === undefined];
        await task.destroy();
        return found;
    }""")
    assert pages == [1, 99, True]
