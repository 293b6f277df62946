"""Builds the DOCX and PDF files of `library/` from the Markdown in `source/`, byte for byte the
same each time.

The one rule: the built files are committed, so nobody who uses the samples needs this script or
what it needs, which is

- Debian packages `fonts-noto-cjk`, `fonts-open-sans`, `libpangoft2-1.0-0` and
  `libharfbuzz-subset0`;
- in a virtual environment outside the repository: `weasyprint==70.0 markdown-it-py==4.3.0
  python-docx==1.2.0`.

Both font families are under the SIL Open Font License; only the characters used are embedded. Run
`python samples/build.py`, or `python samples/build.py --check` to compare with what is committed.
Other versions of the tools give other bytes.
"""

# ruff: noqa: INP001 - a folder of scripts

from __future__ import annotations

import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))  # so that the two writers are found wherever this is started from

from build_docx import docx_bytes  # noqa: E402
from build_pdf import pdf_bytes  # noqa: E402

WRITERS = {"pdf": pdf_bytes, "docx": docx_bytes}


@dataclass(frozen=True, slots=True)
class Source:
    """A file of `source/`: its front matter, then its Markdown body. `<!-- page -->` alone on a
    line starts a new page.
    """

    title: str
    lang: str
    number: str
    company: str
    format: str
    date: datetime
    body: str


def read_source(path: Path) -> Source:
    """Front matter is `key: value` lines between two `---`."""
    _, head, body = path.read_text(encoding="utf-8").split("---\n", 2)
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    date = datetime.fromisoformat(fields.pop("date")).replace(hour=9, tzinfo=UTC)
    return Source(date=date, body=body.strip() + "\n", **fields)


def main(check: bool) -> int:
    """Write every file, or say which would change. Exit code 1 when one does."""
    changed = []
    for path in sorted((HERE / "source").glob("*.md")):
        source = read_source(path)
        target = HERE / "library" / f"{path.stem}.{source.format}"
        data = WRITERS[source.format](source)
        same = target.is_file() and target.read_bytes() == data
        if not same:
            changed.append(target.name)
        if not check:
            target.write_bytes(data)
        sys.stdout.write(
            f"{target.name}: {len(data):,} bytes, {'unchanged' if same else 'changed'}\n"
        )
    return 1 if check and changed else 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
