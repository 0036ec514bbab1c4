"""An HTTP(S) server, a process of its own, that misbehaves in as many ways as it has paths.

`python badserver.py [PORT] [--tls CERT KEY]` prints its port and serves until it is killed. `PUT /doc` sets what
`GET /doc` answers (a JSON object: status, body, etag, headers; or `as`, another path to answer like); `GET /log`
tells the requests seen so far, with their headers.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import socket
import ssl
import sys
import threading
import time
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

GOOD = b'{"profile_matrix": {"a": {"cpuset": {}}}}'
seen: list[dict[str, Any]] = []
current: dict[str, Any] = {"status": 200, "body": GOOD.decode(), "etag": None, "headers": {}}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def answer(self, status: int, body: bytes, media: str = "application/json", **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", media)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if status != 304:
            self.wfile.write(body)

    def do_PUT(self) -> None:
        data = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        current.clear()
        current.update({"status": 200, "body": "", "etag": None, "headers": {}, **data})
        self.answer(200, b"{}")

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        if path == "/log":
            self.answer(200, json.dumps(seen).encode())
            return
        seen.append({"path": self.path, "headers": {k.lower(): v for k, v in self.headers.items()}})
        name = "do_" + path.strip("/").replace("-", "_").split("/")[0]
        with contextlib.suppress(BrokenPipeError, ConnectionResetError, ssl.SSLError):
            getattr(self, name, lambda _: self.answer(404, b'{"error": "not found"}'))(query)

    def do_doc(self, _: str) -> None:
        if current.get("as"):
            path, _, query = current["as"].partition("?")
            getattr(self, "do_" + path.strip("/").replace("-", "_"))(query)
            return
        etag = current["etag"]
        headers = {"ETag": etag, **current["headers"]} if etag else current["headers"]
        if etag and current["status"] == 200 and self.headers.get("If-None-Match") == etag:
            self.answer(304, b"", **headers)
        else:
            self.answer(current["status"], current["body"].encode(), **headers)

    def do_good(self, _: str) -> None:
        self.answer(200, GOOD)

    def do_status(self, query: str) -> None:
        self.answer(int(query), GOOD)  # a valid document under a status that says it is none

    def do_body(self, query: str) -> None:
        self.answer(200, bytes.fromhex(query))

    def do_html(self, _: str) -> None:
        self.answer(200, b"<!DOCTYPE html><html><body>Please log in</body></html>", "text/html; charset=utf-8")

    def do_cut(self, _: str) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(GOOD) + 100))
        self.end_headers()
        self.wfile.write(GOOD)  # valid so far
        self.close_connection = True

    def do_cut_open(self, _: str) -> None:
        self.send_response(200)
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(GOOD[:-5])
        self.close_connection = True

    def do_cut_chunk(self, _: str) -> None:
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(GOOD), GOOD))
        self.close_connection = True

    def do_chunked(self, _: str) -> None:
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for byte in GOOD:
            self.wfile.write(b"1\r\n%c\r\n" % byte)
        self.wfile.write(b"0\r\n\r\n")

    def do_huge(self, _: str) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(50 * 1024 * 1024))
        self.end_headers()
        self.flood()

    def do_huge_open(self, _: str) -> None:
        self.send_response(200)
        self.send_header("Connection", "close")
        self.end_headers()
        self.flood()
        self.close_connection = True

    def flood(self) -> None:
        for _ in range(50):
            self.wfile.write(b" " * (1024 * 1024))

    def do_drip(self, _: str) -> None:
        self.send_response(200)
        self.send_header("Connection", "close")
        self.end_headers()
        self.drip(GOOD + b" " * 1000)  # complete and valid long before it ends
        self.close_connection = True

    def do_drip_header(self, _: str) -> None:
        self.drip(b"HTTP/1.1 200 OK\r\nX-Slow: " + b"y" * 1000)
        self.close_connection = True

    def drip(self, data: bytes) -> None:
        for index in range(len(data)):
            self.wfile.write(data[index : index + 1])
            self.wfile.flush()
            time.sleep(0.02 if index < len(GOOD) else 0.2)

    def do_silent(self, _: str) -> None:
        time.sleep(30)

    def do_hang_up(self, _: str) -> None:
        self.close_connection = True

    def do_garbage(self, _: str) -> None:
        self.wfile.write(b"\x16\x03\x01 this is no HTTP\r\n\r\n")
        self.close_connection = True

    def do_gzip(self, _: str) -> None:
        self.answer(200, gzip.compress(GOOD), Content_Encoding="gzip")

    def do_gzip_two(self, _: str) -> None:
        self.answer(200, gzip.compress(GOOD[:9]) + gzip.compress(GOOD[9:]), Content_Encoding="gzip")

    def do_gzip_bomb(self, _: str) -> None:
        """300 MiB of spaces in 300 kB; made of one block again and again, so that making it takes no time."""
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        block = packer.compress(b" " * 1024 * 1024) + packer.flush(zlib.Z_FULL_FLUSH)
        self.answer(200, gzip.compress(b"")[:10] + 300 * block, Content_Encoding="gzip")

    def do_gzip_cut(self, _: str) -> None:
        self.answer(200, gzip.compress(GOOD)[:-12], Content_Encoding="gzip")

    def do_gzip_not(self, _: str) -> None:
        self.answer(200, GOOD, Content_Encoding="gzip")

    def do_brotli(self, _: str) -> None:
        self.answer(200, GOOD, Content_Encoding="br")

    def do_loop(self, query: str) -> None:
        self.answer(302, b"", Location=f"/loop?{int(query or 0) + 1}")

    def do_hops(self, query: str) -> None:
        left = int(query)
        self.answer(307, b"", Location=f"/hops?{left - 1}" if left > 1 else "/good")

    def do_to(self, query: str) -> None:
        self.answer(302, GOOD, Location=query)

    def do_no_location(self, _: str) -> None:
        self.answer(302, GOOD)

    def do_not_modified(self, _: str) -> None:
        self.answer(304, b"")

    def do_other_etag(self, _: str) -> None:
        """Claims that something else than what was asked about is unchanged."""
        if self.headers.get("If-None-Match"):
            self.answer(304, b"", ETag='"other"')
        else:
            self.answer(200, GOOD, ETag='"mine"')

    def do_bad_etag(self, _: str) -> None:
        self.answer(200, GOOD, ETag="x" * 5000)


def main() -> None:
    arguments = sys.argv[1:]
    tls = arguments[arguments.index("--tls") + 1 :] if "--tls" in arguments else None
    port = int(arguments[0]) if arguments and arguments[0].isdigit() else 0
    ThreadingHTTPServer.allow_reuse_address = True
    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    if tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(tls[0], tls[1])
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    print(server.server_address[1], flush=True)
    threading.Thread(target=lambda: (sys.stdin.read(), server.shutdown()), daemon=True).start()
    server.serve_forever()


if __name__ == "__main__":
    socket.setdefaulttimeout(60)
    main()
