"""What a server that is stopping still takes."""

from __future__ import annotations

import pytest

from citewell.interfaces.http.server.closing import is_new_work


@pytest.mark.parametrize(
    ("method", "path", "something_new"),
    [
        ("GET", "/api/collections", False),
        ("GET", "/api/collections/events", False),
        ("GET", "/api/jobs/job_1/events", True),
        ("GET", "/mcp", True),
        ("POST", "/mcp", True),
        ("POST", "/api/ask", True),
        ("POST", "/api/runs/tr_1/stop", False),
        ("POST", "/api/runs/tr_1/cancel", False),
        ("GET", "/api/runs/tr_1/events", False),
        ("DELETE", "/api/collections/stop", True),
        ("POST", "/api/runs/tr_1/x/stop", True),
    ],
)
def test_reading_and_ending_are_taken(method: str, path: str, *, something_new: bool) -> None:
    assert is_new_work(method, path) is something_new
