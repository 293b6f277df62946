"""The page as a browser gets it: `index.html` with addresses that say which version of the files
they mean, and with the modules of its first view told at once. Both are read from the files as they
are, so that nobody keeps a list or a number. An address of a version that is gone shows the file as
it is now, and a module that is not told is loaded when another one imports it.
"""

from __future__ import annotations

import hashlib
import json
import os
import posixpath
import re
from collections.abc import Iterator
from html import escape
from pathlib import Path

IMPORT = re.compile(
    r'^(?:import|export)\b[^;"\']*?\bfrom\s*["\']([^"\']+)["\']|^import\s*["\']([^"\']+)["\']',
    re.MULTILINE,
)
# in libraries of one line; what is no file's name is no import
PACKED = re.compile(r'\b(?:from|import)\s*["\']([^"\']+)["\']')
MAP = re.compile(r'(<script type="importmap">)(.*?)(</script>)', re.DOTALL)
ASSETS = "/assets/"
HTML = "<html"
BEFORE = '<script type="module"'
ENTRY = re.compile(BEFORE + ' src="' + ASSETS + '([^"]+)"')  # it imports what every visit needs
VERSION = re.compile(r"@([0-9a-f]{16})/(.+)", re.DOTALL)  # before a path, as the page has it
BUILDING = "node_modules"


def render_page(page: str, web: Path, version: str, languages: tuple[str, ...] = ()) -> str:
    """The page with its languages and modules told and its addresses of this version. Who says
    `import("/assets/...")` without one, in the console say, gets the same modules: the map sends
    them there.
    """
    found, entry = MAP.search(page), ENTRY.search(page)
    if found is None or entry is None:
        return page
    imports: dict[str, str] = json.loads(found[2])["imports"]
    links = "".join(
        f'<link rel="modulepreload" href="{escape(ASSETS + path)}">\n    '
        for path in find_needed_modules(entry[1], imports, web)
    )
    here = f"{ASSETS}@{version}/"
    named = {name: here + address.removeprefix(ASSETS) for name, address in imports.items()}
    mapped = json.dumps({"imports": named | {ASSETS: here, here: here}}, indent=2)
    before, after = page[: found.start()], page[found.end() :].replace(BEFORE, links + BEFORE, 1)
    before, after = (part.replace(f'"{ASSETS}', f'"{here}') for part in (before, after))
    before = before.replace(HTML, f'{HTML} data-languages="{" ".join(languages)}"', 1)
    return f"{before}{found[1]}{mapped}{found[3]}{after}"


def compute_version(*folders: Path) -> str:
    """Another one whenever a file in one of the folders is another, by its time and its size."""
    facts = [fact for folder in folders for fact in sorted(_iterate_file_facts(folder, ""))]
    return hashlib.sha256("".join(facts).encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _iterate_file_facts(folder: Path | str, below: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if entry.name != BUILDING:
                    yield from _iterate_file_facts(entry.path, f"{below}{entry.name}/")
            else:
                about = entry.stat(follow_symlinks=False)
                yield f"{below}{entry.name}\0{about.st_mtime_ns}\0{about.st_size}\0"


def find_needed_modules(entry: str, named: dict[str, str], web: Path) -> list[str]:
    """A module and all that it imports, theirs too; what is loaded on occasion, by `import()`,
    is not among them. Nearest first, for those are what brings the others. `named`: the import map.
    """
    found = {entry: None}
    waiting = [entry]
    while waiting:
        at = waiting.pop(0)
        for name in find_imports(web / at):
            address = named.get(name, name)
            known = address.startswith(ASSETS)
            path = (
                address.removeprefix(ASSETS)
                if known
                else posixpath.join(posixpath.dirname(at), address)
            )
            path = posixpath.normpath(path)
            if path not in found and (web / path).is_file():
                found[path] = None
                waiting.append(path)
    return list(found)


def find_imports(file: Path) -> list[str]:
    """The names that a module's `import ... from` and `export ... from` say."""
    pattern = PACKED if "vendor" in file.parts else IMPORT
    matches = pattern.finditer(file.read_text("utf-8"))
    return [name for match in matches if (name := next(filter(None, match.groups()), ""))]
