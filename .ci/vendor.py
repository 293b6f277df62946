"""`make vendor`: the libraries of the web page, copied from npm's packages into `web/vendor`, and
what they must be.

The one rule: a file that is not the one that `vendor.toml` tells of is never written. `--renew`
(after a new version in `package.json`) writes `vendor.toml` anew from the packages instead. Run
`npm ci` in the page's folder first.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
import tomllib
from pathlib import Path

WEB = Path(__file__).resolve().parent.parent / "src" / "citewell" / "interfaces" / "web"
VENDOR, PACKAGES, TABLE = WEB / "vendor", WEB / "node_modules", WEB / "vendor" / "vendor.toml"

# the files that the page loads, as patterns in the package; a folder `dist` is left out of the name
# here
WANTED: dict[str, tuple[str, ...]] = {
    "preact": ("dist/preact.mjs", "hooks/dist/hooks.mjs", "LICENSE"),
    "@preact/signals": ("dist/signals.mjs", "LICENSE"),
    "@preact/signals-core": ("dist/signals-core.mjs", "LICENSE"),
    "htm": ("dist/htm.mjs", "LICENSE"),
    "marked": ("lib/marked.esm.js", "LICENSE*"),
    "dompurify": ("dist/purify.es.mjs", "LICENSE"),
    "@highlightjs/cdn-assets": ("es/highlight.min.js", "LICENSE"),
    "temml": ("dist/temml.mjs", "dist/Temml-Local.css", "dist/Temml.woff2", "LICENSE"),
    "pdfjs-dist": (
        "build/pdf.min.mjs",
        "build/pdf.worker.min.mjs",
        "cmaps/*",
        "standard_fonts/*",
        "wasm/*_nowasm_fallback.js",  # our policy allows no WebAssembly
        "wasm/LICENSE_*JBIG2",
        "wasm/LICENSE_*OPENJPEG",
        "LICENSE",
    ),
    "chart.js": ("dist/chart.js", "dist/chunks/index.js", "LICENSE*"),
    "@kurkle/color": ("dist/color.esm.js", "LICENSE*"),
    "@dagrejs/dagre": ("dist/dagre.esm.js", "LICENSE"),
    "@fontsource-variable/figtree": (
        "files/figtree-latin-wght-*.woff2",
        "files/figtree-latin-ext-wght-normal.woff2",
        "LICENSE",
    ),
}
HEAD = (
    "# The libraries of the web page, as npm's packages hold them. "
    "`make vendor` restores the files beside this one from\n"
    "# there, and refuses any whose SHA-256 is another. "
    "Written by .ci/vendor.py --renew; do not edit.\n"
)


def main() -> None:
    if not PACKAGES.is_dir():
        sys.exit(f"{PACKAGES.relative_to(Path.cwd())}: missing; run `npm ci` in that folder first")
    if "--renew" in sys.argv:
        TABLE.write_text(HEAD + "".join(described(name) for name in WANTED), "utf-8")
    packages = tomllib.loads(TABLE.read_text("utf-8"))["package"]
    kept = {TABLE} | {place for package in packages for place in restored(package)}
    for stray in [path for path in VENDOR.rglob("*") if path.is_file() and path not in kept]:
        stray.unlink()
    print(
        f"{len(kept) - 1} files of {len(packages)} libraries are "
        f"in {VENDOR.relative_to(WEB.parents[3])}"
    )


def described(name: str) -> str:
    """A package as a table of TOML."""
    folder = PACKAGES / name
    about = json.loads((folder / "package.json").read_text("utf-8"))
    files = sorted(
        path for pattern in WANTED[name] for path in folder.glob(pattern) if path.is_file()
    )
    lines = [
        f"{json.dumps(path.relative_to(folder).as_posix())} = {json.dumps(digest(path))}"
        for path in files
    ]
    head = [f"{key} = {json.dumps(about[key])}" for key in ("name", "version")]
    return "\n".join(
        [
            "",
            "[[package]]",
            *head,
            f"licence = {json.dumps(about['license'])}",
            "[package.files]",
            *lines,
            "",
        ]
    )


def restored(package: dict[str, object]) -> list[Path]:
    """The files of one package, checked and copied. Ends the program where one is not what the
    table says.
    """
    name, files = str(package["name"]), package["files"]
    assert isinstance(files, dict)
    places = []
    for inside, wanted in files.items():
        source = PACKAGES / name / inside
        if not source.is_file() or digest(source) != wanted:
            sys.exit(
                f"{name} {package['version']}: {inside} is not the file that vendor.toml tells of"
            )
        place = VENDOR / name / Path(*(part for part in Path(inside).parts if part != "dist"))
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, place)
        places.append(place)
    return places


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    main()
