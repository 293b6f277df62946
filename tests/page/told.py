"""An answer that a test tells the page event by event: the line it comes over, and what it looks
like.

The one rule: only `/api/ask` is answered by the test; all else that the page asks goes to the real
server.
"""

from __future__ import annotations

from typing import Any

# What the page asks of `/api/ask` is answered by `window.line(event, data)`; all other requests go
# to the server.
LINE = """() => {
    const real = window.fetch;
    const encoder = new TextEncoder();
    window.asked = [];
    window.fetch = (url, init = {}) => {
        if (!String(url).startsWith("/api/ask")) return real(url, init);
        window.asked.push(JSON.parse(init.body));
        const body = new ReadableStream({ start(controller) {
            window.line = (event, data) =>
                controller.enqueue(encoder.encode(
                    `event: ${event}\\ndata: ${JSON.stringify(data)}\\n\\n`));
            window.cut = () => controller.close();
            init.signal?.addEventListener("abort", () =>
                controller.error(new DOMException("stopped", "AbortError")));
        } });
        return Promise.resolve(new Response(
            body, { headers: { "Content-Type": "text/event-stream" } }));
    };
}"""


def answer(**more: Any) -> dict[str, Any]:
    citation = {
        "n": 1,
        "origin": "document",
        "doc_id": "doc_1",
        "title": "Handbook",
        "uri": "upload:handbook.md",
        "page": 3,
    }
    citation |= {
        "section": "Leave",
        "quote": "Employees get 27 days.",
        "start": 0,
        "end": 22,
        "boxes": [],
        "score": 1.0,
    }
    return {
        "answer": "Employees get 27 days. [1]",
        "sentences": [
            {
                "text": "Employees get 27 days.",
                "citations": [1],
                "verdict": "supported",
                "problems": [],
            }
        ],
        "citations": [citation | {"status": "verified", "fetched_at": None}],
        "status": "answered",
        "confidence": 0.9,
        "agent": "qa",
        "agent_reason": "",
        "route": "",
        "stop_reason": "",
        "session_id": "",
        "trace_id": "",
        "warnings": [],
        "usage": {
            "calls": 0,
            "prompt_tokens": 0,
            "cached_tokens": 0,
            "completion_tokens": 0,
            "seconds": {"total": 1.0},
        },
        "data": None,
        "followed": [],
        "error_info": None,
        **more,
    }
