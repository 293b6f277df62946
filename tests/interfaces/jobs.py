"""Jobs, over HTTP."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx


async def wait_for_job(client: httpx.AsyncClient, job_id: str) -> dict[str, Any]:
    """The job when it has ended, well or not."""
    job: dict[str, Any] = {}
    async with asyncio.timeout(120):
        while job.get("state") not in {"done", "failed", "cancelled"}:
            job = (await client.get(f"/api/jobs/{job_id}")).json()
            await asyncio.sleep(0.02)
    return job
