"""docs/settings.md is what the settings say."""

from __future__ import annotations

import settings_page
from citewell.config import Settings


def test_the_page_is_current() -> None:
    page = (settings_page.REPOSITORY / "docs" / "settings.md").read_text("utf-8")
    assert page == settings_page.build_page(), "run: .venv/bin/python evals/settings_page.py"


def test_every_setting_says_what_it_is_for() -> None:
    """Also those of groups; and what a page of this machine must not tell is not told."""
    page = settings_page.build_page()
    assert "None" not in page
    assert str(Settings.model_fields["home"].default) not in page
    assert "- `chunker` (structure; sentences, fixed, semantic): how documents are cut" in page
    assert "- `corrections` (2; 0 to 5): times an answer is corrected" in page
