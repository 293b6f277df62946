"""What is made when the wheel is built: the text of its page where packages are listed (README.md
with links that lead somewhere from there too), and the web page in few files.

Where the sources are published is said once, in pyproject.toml; while that is empty, links into the
repository are left as words. Without Node.js and npm the wheel gets the page's modules as they are:
more files to load, the same page.
"""

from __future__ import annotations

import json
import os
import re
import runpy
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

_WEB = Path("src", "citewell", "interfaces", "web")
_BUILDING = ("node_modules", "types", "*.json", "bundle.config.js", ".npmrc")
_STYLE = re.compile(r'    <link rel="stylesheet" href="/assets/(styles/[^"]+)">\n')
_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?://|#|mailto:)([^)\s]+)\)")
_PLACES = {
    "Source": "",
    "Documentation": "/blob/main/docs/README.md",
    "Changelog": "/blob/main/CHANGELOG.md",
    "Issues": "/issues",
}


class IndexMetadata(MetadataHookInterface):
    """Gives `readme` and `urls`, which pyproject.toml calls dynamic."""

    def update(self, metadata: dict[str, Any]) -> None:
        address = str(self.config.get("repository", "")).rstrip("/")
        text = Path(self.root, "README.md").read_text("utf-8")
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": resolve_links(text, address),
        }
        metadata["urls"] = {name: address + at for name, at in _PLACES.items()} if address else {}


def resolve_links(text: str, address: str) -> str:
    """`text` with every relative link made absolute; without an address its words stay, pictures
    go.
    """

    def resolve(link: re.Match[str]) -> str:
        picture, words, target = link.groups()
        if not address:
            return "" if picture else words
        return f"{picture}[{words}]({address}/{'raw' if picture else 'blob'}/main/{target})"

    return _LINK.sub(resolve, text)


class BundledPage(BuildHookInterface[Any]):
    """Puts the web page into the wheel (pyproject.toml leaves the folder itself out)."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """`version`: "editable" where the checkout itself is installed; that needs no copy."""
        if version == "editable":
            return
        self.folder = tempfile.TemporaryDirectory()
        out = Path(self.folder.name, "web")
        source = Path(self.root, _WEB)
        shutil.copytree(source, out, ignore=shutil.ignore_patterns(*_BUILDING))
        if npm := shutil.which("npm"):
            try:
                bundle_page(source, out, npm)
            except subprocess.CalledProcessError as failed:
                told = failed.stderr.decode(errors="replace")[-500:]
                self.app.display_warning(f"the page goes as modules: npm failed: {told}")
        else:
            self.app.display_warning("the page goes as modules: npm is not on this machine")
        build_data["force_include"][str(out)] = "citewell/interfaces/web"

    def finalize(self, version: str, *_: Any) -> None:
        """Remove the copy."""
        if version != "editable":
            self.folder.cleanup()


def bundle_page(source: Path, out: Path, npm: str) -> None:
    """Bundle the modules of `source`, the page's folder, into `out`, a copy of it, whose own
    modules go. Raises CalledProcessError; `out` is then as it was.
    """
    pages = source.parent / "http" / "page"
    modules = runpy.run_path(str(pages / "page_modules.py"))  # needs the standard library alone
    page = (source / "index.html").read_text("utf-8")
    imports = json.loads(modules["MAP"].search(page)[2])["imports"]
    first = modules["find_needed_modules"]("app.js", imports, source)
    made = out.parent / "made"
    told = json.dumps({"first": first, "imports": imports, "out": str(made)})
    if not (source / "node_modules" / "rolldown").is_dir():
        subprocess.run([npm, "ci"], cwd=source, check=True, capture_output=True)
    subprocess.run(
        [npm, "run", "--silent", "bundle"],
        cwd=source,
        check=True,
        capture_output=True,
        env=os.environ | {"CITEWELL_BUNDLE": told},
    )
    _take_over(made, out, page, (pages / "api.html").read_text("utf-8"))


def _take_over(made: Path, out: Path, page: str, other_page: str) -> None:
    """Put the bundle in the place of the modules, and one style sheet in the place of all but those
    that the other page links to.
    """
    for path in [*out.rglob("*.js")]:
        if path.relative_to(out).parts[0] not in ("vendor", "widget", "early.js"):
            path.unlink()
    shutil.copytree(made, out, dirs_exist_ok=True)
    styles = _STYLE.findall(page)
    (out / "styles" / "page.css").write_text(
        "\n".join((out / style).read_text("utf-8") for style in styles), "utf-8"
    )
    for style in styles:
        if style not in other_page:
            (out / style).unlink()
    page = page.replace(styles[0], "styles/page.css", 1)
    [first] = [path.name for path in made.glob("first-*.js")]  # app.js has nothing else
    page = page.replace("/assets/app.js", f"/assets/{first}")
    page = _STYLE.sub(lambda link: link[0] if "page.css" in link[1] else "", page)
    (out / "index.html").write_text(page, "utf-8")
