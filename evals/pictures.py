"""Every view of the page as pictures to look at: both languages, both themes, a desk and a phone.

    .venv/bin/python evals/pictures.py    # all of it into docs/pictures: about five minutes
    .venv/bin/python evals/pictures.py --only ask library --out /tmp/pictures

It fills an installation of its own (`pictures_fill.py`), serves it on the loopback, and takes it
away again; `--home` keeps one for the next time. The one rule: the same page gives the same bytes,
so that what differs in a picture differs in the page.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright
from playwright.sync_api import Error as PlaywrightError

import pictures_fill as fill
from citewell.fetch.browser import find_chromium
from pictures_site import CHINESE, ENGLISH, site
from pictures_steady import NOW, Steady
from pictures_views import EMPTY, VIEWS, Shot, View

OUT = Path(__file__).resolve().parents[1] / "docs" / "pictures"
COLOURS = 160  # of a picture
COMMON = 64


@dataclass(frozen=True, slots=True)
class Look:
    lang: str
    theme: str
    width: int

    @property
    def name(self) -> str:
        return f"{self.lang}-{self.theme}-{self.width}"


LOOKS = (
    Look("en", "light", 1280),
    Look("zh", "dark", 1280),
    Look("zh", "light", 390),
    Look("en", "dark", 390),
)


def main() -> None:
    asked = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    asked.add_argument("--out", type=Path, default=OUT)
    asked.add_argument(
        "--only", nargs="*", default=[], metavar="VIEW", help="such as: ask library; without it all"
    )
    asked.add_argument("--home", type=Path, help="keep the installation here, and use it again")
    given = asked.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    with ExitStack() as open_now:
        folder = Path(open_now.enter_context(tempfile.TemporaryDirectory()))
        steady = Steady()
        for name, pages in (("help.wainfell.example", ENGLISH), ("help.wantuo.example", CHINESE)):
            steady.call(open_now.enter_context(site(pages)).removeprefix("http://"), name)
        kept, home = given.home or folder / "filled", folder / "shown"
        made = filled(kept, steady)
        # what is asked while pictures are taken is not in the next ones
        shutil.copytree(kept, home)
        browser = open_now.enter_context(chromium())
        taken = Taking(browser, steady, made, given.out, given.only)
        # what is asked of sites while pictures are taken is not to be in other pictures
        for serve in ("filled", "sites"):
            taken.all(
                fill.Server(home), [view for view in VIEWS if view.serve == serve], llm="none"
            )
        script = home / "replies.json"
        tables = [view for view in VIEWS if view.serve == "tables"]
        scripted = {"llm": "scripted", "scripted_replies": str(script)}
        for look, sql in zip(LOOKS, fill.STATEMENTS, strict=True):
            script.write_text(json.dumps([{"reply": {"sql": sql}}]), "utf-8")
            taken.all(fill.Server(home), tables, (look,), **scripted)
        empty = folder / "empty"
        empty.mkdir()
        taken.all(fill.Server(empty), EMPTY, llm="none")
    gallery(given.out)
    if taken.failed:
        raise SystemExit(f"not taken: {', '.join(taken.failed)}")


def filled(home: Path, steady: Steady) -> dict[str, str]:
    """What the views are to show, made once; `made.json` remembers it where the home is kept."""
    file = home / "made.json"
    if file.exists():
        kept = json.loads(file.read_text("utf-8"))
        for begun, days in kept["marks"]:
            steady.mark(begun, days)
        return dict(kept["made"])
    home.mkdir(parents=True, exist_ok=True)
    marks: list[tuple[float, float]] = []
    made: dict[str, str] = {}
    with fill.Server(home).run(llm="none") as server:
        for days, stage in fill.STAGES:
            marks.append((time.time(), days))
            made |= stage(server) or {}
    marks.append((time.time(), 0.0))
    for begun, days in marks:
        steady.mark(begun, days)
    file.write_text(json.dumps({"marks": marks, "made": made}), "utf-8")
    return made


@contextmanager
def chromium() -> Iterator[Browser]:
    found = find_chromium()
    if not found:
        raise SystemExit("no Chromium on this machine; apt install chromium")
    root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(found), args=[*root, "--disable-gpu"]
        )
        yield browser
        browser.close()


@dataclass(frozen=True, slots=True)
class Taking:
    browser: Browser
    steady: Steady
    made: dict[str, str]
    out: Path
    only: list[str]
    failed: list[str] = field(default_factory=list)

    def all(
        self,
        server: fill.Server,
        views: list[View],
        looks: tuple[Look, ...] = LOOKS,
        **settings: str,
    ) -> None:
        wanted = [view for view in views if not self.only or view.name in self.only]
        if not wanted:
            return
        with server.run(**settings):
            for view in wanted:
                for look in looks:
                    self._one(server.url, view, look)

    def _one(self, url: str, view: View, look: Look) -> None:
        """A picture; one that cannot be taken is told, and the others are."""
        name = f"{view.name}-{look.name}"
        with self._page(url, look) as page:
            try:
                view.show(Shot(page, look.lang, look.width, self.made, self.steady))
                self._keep(page, self.out / f"{name}.png")
            except PlaywrightError as error:
                self.failed.append(name)
                print(f"{name}: {error}", file=sys.stderr)
            else:
                print(name)

    @contextmanager
    def _page(self, url: str, look: Look) -> Iterator[Page]:
        with self.browser.new_context(
            base_url=url,
            viewport={"width": look.width, "height": 800},
            color_scheme="dark" if look.theme == "dark" else "light",
            locale="zh-CN" if look.lang == "zh" else "en-GB",
            timezone_id="UTC",
            reduced_motion="reduce",
            has_touch=look.width < 600,
            service_workers="block",
        ) as context:
            context.set_default_timeout(fill.PATIENCE * 1000)
            self.steady.stand_in(context)
            context.add_init_script(f"localStorage.setItem('citewell.user_id', '{fill.USER}')")
            page = context.new_page()
            page.clock.set_fixed_time(NOW)
            yield page
            context.unroute_all(behavior="ignoreErrors")  # what is still asked belongs to nobody

    def _keep(self, page: Page, path: Path) -> None:
        page.evaluate("document.fonts.ready")
        page.wait_for_timeout(150)  # a last frame
        shot = Image.open(io.BytesIO(page.screenshot(caret="hide"))).convert("RGB")
        few(shot).save(path, optimize=True)


def few(shot: Image.Image) -> Image.Image:
    """In a palette: the commonest colours as they are, for grounds and words; the others by what
    comes near them all.
    """
    pixels, found, counts = np.unique(
        np.asarray(shot).reshape(-1, 3), axis=0, return_inverse=True, return_counts=True
    )
    common = pixels[np.argsort(counts)[::-1][:COMMON]]
    rest = (
        shot.quantize(
            COLOURS - COMMON, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
        ).getpalette()
        or []
    )
    palette = np.concatenate([common, np.array(rest, np.uint8).reshape(-1, 3)])[:COLOURS]
    away = ((pixels[:, None, :].astype(np.int32) - palette[None].astype(np.int32)) ** 2).sum(axis=2)
    made = Image.fromarray(
        away.argmin(axis=1).astype(np.uint8)[found].reshape(shot.height, shot.width), "P"
    )
    made.putpalette(palette.tobytes())
    return made


def gallery(out: Path) -> None:
    """README.md: the pictures that are there, a row a view."""
    lines = [
        "# Pictures of the page",
        "",
        (
            "    .venv/bin/python evals/pictures.py    # takes all of them anew, from an "
            "installation that it fills itself"
        ),
        "",
        (
            "What is seen is made of the repository's samples. Times, durations, ids and hosts "
            "are the same in every making, so a"
        ),
        (
            "picture changes when the page does. Look at all of them after a change to the "
            "page; [page.md](../page.md) says more."
        ),
        "",
        "| view | English, light, 1280 | 中文，深色，1280 | 中文，浅色，390 | English, dark, 390 |",
        "|---|---|---|---|---|",
    ]
    for view in [*EMPTY, *VIEWS]:
        files = [f"{view.name}-{look.name}.png" for look in LOOKS]
        if all((out / file).exists() for file in files):
            sizes = [360 if look.width > 600 else 150 for look in LOOKS]
            shown = (
                f'<img src="{file}" width="{size}" alt="{view.says}">'
                for file, size in zip(files, sizes, strict=True)
            )
            lines.append(f"| {view.says} | {' | '.join(shown)} |")
    (out / "README.md").write_text("\n".join([*lines, ""]), "utf-8")


if __name__ == "__main__":
    main()
