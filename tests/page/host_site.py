"""A site of somebody else that shows the chat element: on a port of its own, with style sheets that
reach for everything, and a content security policy that lets only our origin's script run and only
our origin be asked.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

NASTY = """
* { font-size: 31px !important; color: red !important; text-transform: uppercase !important;
    letter-spacing: 4px !important; }
body * { transform: rotate(3deg) !important; float: left !important; }
div, button, p, textarea, citewell-chat { background: yellow !important;
    border: 9px dashed blue !important; width: 90% !important; display: inline !important;
    position: absolute !important; opacity: 0.4 !important; }
h2, ul, li, label, form, header { visibility: hidden !important; }
"""
MILD = (
    "body { font-family: serif; margin: 2rem; background: white; color: #222; } h1 { color: #222; }"
)
PAGE = """<!doctype html><html lang="{lang}"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="/style.css">{head}</head>
<body><main><h1>{title}</h1><p>Words of the host. <a href="/other">Another page</a></p>
<p><button id="own">Own button</button></p></main>
{body}</body></html>"""


class HostSite:
    """`put` a page with its tags; `scripts`: the only origin whose scripts may run."""

    def __init__(self, server: ThreadingHTTPServer, scripts: str) -> None:
        self.url = f"http://127.0.0.1:{server.server_port}"
        self.pages: dict[str, tuple[str, bytes]] = {}
        self.nasty = True
        self.policy = (
            f"default-src 'none'; style-src 'self'; script-src {scripts}; connect-src {scripts}"
        )
        self.policy += "; require-trusted-types-for 'script'"

    def put(
        self,
        path: str = "/",
        *,
        head: str = "",
        body: str = "",
        lang: str = "en",
        title: str = "A shop",
    ) -> None:
        page = PAGE.format(head=head, body=body, lang=lang, title=title)
        self.pages[path] = ("text/html; charset=utf-8", page.encode())


@contextmanager
def host_site(scripts: str) -> Iterator[HostSite]:
    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            kind, body = host.pages.get(self.path, ("text/plain", b""))
            if self.path == "/style.css":
                kind, body = "text/css", (NASTY if host.nasty else MILD).encode()
            self.send_response(200 if body else 204)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Security-Policy", host.policy)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Tests say what they see themselves."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    server.daemon_threads = True
    host = HostSite(server, scripts)
    thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.02), daemon=True)
    thread.start()
    try:
        yield host
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
