"""The wheel as a stranger gets it: built, installed beside what requirements.lock pins and nothing
else, and used.
"""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
import sys
import zlib
from email import message_from_bytes
from pathlib import Path
from zipfile import ZipFile

import httpx
import pytest
from playwright.sync_api import sync_playwright
from tests.conftest import REPOSITORY

from citewell.fetch.browser import find_chromium

USED = """
import json, sys
from citewell import Citewell
with Citewell(sys.argv[1], llm="none") as citewell:
    report = citewell.add(*sys.argv[2:])
    answer = citewell.ask("How heavy is the A-100 pump?")
files = [[file.status, file.reason] for file in report.files]
print(json.dumps({"files": files, "answer": answer.answer, "status": answer.status}))
"""

# a slow phone line, in milliseconds and bytes a second
PHONE = {"latency": 300, "downloadThroughput": 200_000, "uploadThroughput": 93_750}
CARD = """() => new Promise((found) => {
    const begun = performance.now();
    const look = () => document.querySelector(".source-open")
        ? found(performance.now() - begun) : setTimeout(look, 10);
    look();
})"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)]
    subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True)
    return next(out.glob("*.whl"))


def make_picture(size: int = 20, level: int = -1) -> bytes:
    """A grey PNG, `size` times `size`; of `level` 0 as large as its pixels."""

    def part(kind: bytes, data: bytes) -> bytes:
        checked = kind + data
        return struct.pack(">I", len(data)) + checked + struct.pack(">I", zlib.crc32(checked))

    head = part(b"IHDR", struct.pack(">IIBBBBB", size, size, 8, 0, 0, 0, 0))
    rows = part(b"IDAT", zlib.compress((b"\0" + b"\x7f" * size) * size, level))
    return b"\x89PNG\r\n\x1a\n" + head + rows + part(b"IEND", b"")


def test_what_the_wheel_says(wheel: Path) -> None:
    """Author, licence, kinds and keywords are there, and no link of its text leads nowhere."""
    with ZipFile(wheel) as archive:
        name = next(each for each in archive.namelist() if each.endswith("/METADATA"))
        said = message_from_bytes(archive.read(name))
        assert "citewell/py.typed" in archive.namelist()
        samples = [each for each in archive.namelist() if each.startswith("citewell/samples/")]
        assert len(samples) == len(list((REPOSITORY / "samples" / "library").iterdir()))
        assert "citewell/sample_tables/费用.xlsx" in archive.namelist()
    assert said["Author"]
    assert said["License-Expression"] == "Apache-2.0"
    assert said["Keywords"]
    assert "Typing :: Typed" in said.get_all("Classifier", [])
    assert "](docs/" not in str(said.get_payload())


def test_links_of_the_text() -> None:
    """Made absolute where the sources are published; else their words are left."""
    sys.path.insert(0, str(REPOSITORY))
    import hatch_build

    text = "![p](docs/a.png) [guide](docs/a.md#b), [site](https://a.example), [top](#x)"
    assert hatch_build.resolve_links(text, "") == " guide, [site](https://a.example), [top](#x)"
    assert hatch_build.resolve_links(text, "https://h.example/r") == (
        "![p](https://h.example/r/raw/main/docs/a.png) "
        "[guide](https://h.example/r/blob/main/docs/a.md#b), [site](https://a.example), [top](#x)"
    )


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of commands of an environment with the wheel and the release's packages only."""
    uv = [sys.executable, "-m", "uv", "--quiet"]
    place = tmp_path_factory.mktemp("installed") / "env"
    install = [*uv, "pip", "install", "--python", str(place / "bin" / "python")]
    subprocess.run([*uv, "venv", "--python", sys.executable, str(place)], check=True)
    locked = ["--require-hashes", "-r", str(REPOSITORY / "requirements.lock")]
    subprocess.run([*install, *locked], check=True)
    subprocess.run([*install, "--no-deps", str(wheel)], check=True)
    return place / "bin"


@pytest.fixture
def plain() -> dict[str, str]:
    """An environment that says nothing of Citewell or of this checkout."""
    return {
        name: value
        for name, value in os.environ.items()
        if name != "PYTHONPATH" and not name.startswith("CITEWELL_")
    }


@pytest.mark.slow
def test_installed_alone(installed: Path, plain: dict[str, str], tmp_path: Path) -> None:
    """A picture is refused with its reason, a text is added, a question answered with the models in
    the wheel, and the command is there.
    """
    (tmp_path / "pump.md").write_text("# Pump\n\nThe A-100 pump weighs 12 kg.\n", "utf-8")
    (tmp_path / "scan.png").write_bytes(make_picture())
    files = [str(tmp_path / name) for name in ("pump.md", "scan.png")]
    done = subprocess.run(
        [str(installed / "python"), "-c", USED, str(tmp_path / "home"), *files],
        capture_output=True, text=True, check=True, env=plain, cwd=tmp_path,
    )  # fmt: skip
    told = json.loads(done.stdout)
    assert told["files"][0] == ["added", ""]
    assert told["files"][1][0] == "failed"
    assert "is a picture" in told["files"][1][1]
    assert "12 kg" in told["answer"]
    asked = subprocess.run(
        [str(installed / "citewell"), "--version"],
        capture_output=True,
        text=True,
        env=plain,
        check=True,
    )
    assert asked.stdout.startswith("citewell ")


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.skipif(not find_chromium(), reason="no Chromium on this machine")
@pytest.mark.skipif(not shutil.which("npm"), reason="no npm: the wheel has the page as modules")
def test_the_page_of_the_wheel_is_small_and_works(
    installed: Path, plain: dict[str, str], tmp_path: Path
) -> None:
    """Its first load asks at most 12 times for at most 250 kB; over a slow phone line the first
    card is there within 3 s of the question; its source is opened, and every part shown, without
    an error in the console.
    """
    command = [str(installed / "citewell"), "serve", "--port", "0"]
    settings = {"CITEWELL_LLM": "none", "CITEWELL_HOME": str(tmp_path)}
    with subprocess.Popen(
        [*command, "--json"], env=plain | settings, cwd=tmp_path, stdout=subprocess.PIPE
    ) as server:
        assert server.stdout is not None
        told = b""
        while not told.rstrip().endswith(b"}") and (line := server.stdout.readline()):
            told += line
        try:
            try_page(json.loads(told)["url"])
        finally:
            server.terminate()


def try_page(url: str) -> None:
    """In a browser whose console is read."""
    files = {"file": ("pump.md", b"# Pump\n\nThe A-100 pump weighs 12 kg.\n")}
    httpx.post(f"{url}/api/collections/default/documents", files=files, timeout=60)
    errors: list[str] = []
    with sync_playwright() as playwright:
        options = ["--no-sandbox", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path=str(find_chromium()), args=options)
        page = browser.new_page(locale="en-GB")
        page.set_default_timeout(120_000)
        page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(url)
        page.wait_for_load_state("networkidle")
        sizes = page.evaluate(
            """["resource", "navigation"].flatMap(kind => performance.getEntriesByType(kind))
            .map(each => each.transferSize).filter(Boolean)"""
        )
        assert len(sizes) <= 12
        assert sum(sizes) <= 250_000
        line = page.context.new_cdp_session(page)
        line.send("Network.enable")
        line.send("Network.emulateNetworkConditions", PHONE | {"offline": False})
        page.get_by_label("Your question").fill("How heavy is the A-100 pump?")
        page.keyboard.press("Enter")
        assert page.evaluate(CARD) < 3_000
        line.detach()
        page.locator(".source-open").first.click()
        page.locator("mark").first.wait_for()
        for part in ("library", "sites", "papers", "data", "knowledge", "settings", "traces"):
            page.goto(f"{url}/#/{part}")
            page.locator(f'html[data-view="{part}"]').wait_for(state="attached")
        page.wait_for_load_state("networkidle")
        browser.close()
    assert errors == []
    [session] = httpx.get(f"{url}/api/sessions").json()["sessions"]
    for kind, begins in (("docx", b"PK"), ("pdf", b"%PDF"), ("md", b"# How heavy")):
        path = f"{url}/api/sessions/{session['session_id']}/export"
        made = httpx.get(path, params={"format": kind}, timeout=60)
        assert made.content.startswith(begins), made.text[:300]
