"""A made-up help site on the loopback, in English and in Chinese, for the pictures of the page.

The one rule: it answers from the table below and knows nothing else; what is not in it is 404.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

ENGLISH = {
    "/": (
        "Wainfell Help",
        "Answers for riders and fleets.",
        ["/returns", "/warranty", "/batteries", "/fleet"],
    ),
    "/returns": (
        "Returns and refunds",
        (
            "What holds for bikes, parts and businesses stands on the pages below. The refund is "
            "paid within 10 days."
        ),
        ["/returns/bikes", "/returns/business"],
    ),
    "/returns/bikes": (
        "Returning a bike",
        "A new bike can be returned within 30 days if it was ridden for less than 50 km.",
        [],
    ),
    "/returns/business": (
        "Returns for business customers",
        "Business customers agree on returns in their contract.",
        [],
    ),
    "/warranty": (
        "Warranty",
        "The frame is covered for five years, motor and battery for two.",
        ["/warranty/claims"],
    ),
    "/warranty/claims": (
        "Making a claim",
        "Send a photo of the part and the frame number to your dealer.",
        [],
    ),
    "/batteries": ("Batteries", "Charge a stored battery to 60 % every three months.", []),
    "/fleet": ("Fleets", "Fleets of five bikes or more have a service plan.", []),
}
CHINESE = {
    "/": ("万驮帮助中心", "为骑手与车队解答问题。", ["/退货", "/保修", "/电池", "/车队"]),
    "/退货": (
        "退货与退款",
        "整车、配件与企业客户的规定见下面各页。退款在 10 天内到账。",
        ["/退货/整车", "/退货/企业"],
    ),
    "/退货/整车": ("整车退货", "新车签收后 15 天内可以退货，骑行里程不得超过 50 公里。", []),
    "/退货/企业": ("企业客户退货", "企业客户的退货条件以合同为准。", []),
    "/保修": ("保修", "车架保修五年，电机与电池保修两年。", ["/保修/申请"]),
    "/保修/申请": ("申请保修", "请把零件照片和车架号发给经销商。", []),
    "/电池": ("电池", "存放的电池每三个月充到 60 %。", []),
    "/车队": ("车队", "五辆及以上的车队享有服务计划。", []),
}


@contextmanager
def site(pages: dict[str, tuple[str, str, list[str]]]) -> Iterator[str]:
    """Serve the pages as long as the context lasts; gives the address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = pages.get(unquote(self.path))
            body = as_html(pages, *found).encode() if found else b"there is no such page"
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8" if found else "text/plain")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing on the terminal."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def as_html(
    pages: dict[str, tuple[str, str, list[str]]], title: str, text: str, links: list[str]
) -> str:
    listed = "".join(
        f'<li><a href="{escape(path)}">{escape(pages[path][0])}</a></li>' for path in links
    )
    head = f"<!doctype html><html><head><meta charset=utf-8><title>{escape(title)}</title></head>"
    return (
        f"{head}<body><main><h1>{escape(title)}</h1><p>{escape(text)}</p><ul>{listed}</ul></main>"
        "</body></html>"
    )
