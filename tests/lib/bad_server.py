# SPDX-License-Identifier: Apache-2.0
"""A chart repository that behaves as badly as it is told: bad_server.py DIR prints its URL and serves DIR.

/NAME/FILE is answered as DIR/NAME.how says: good (the file DIR/NAME/FILE), 404, 500, html, close (no answer), silent (nothing,
with an open connection), slow (a byte a second), endless (a body without end), short (less than it announced), long (more),
headers (without end), loop (redirects to itself), empty (no body). A request for FILE alone can be told apart with
DIR/NAME.FILE.how.
"""
import http.server
import os
import sys
import time

ROOT = sys.argv[1]


def how(name, file):
    for path in (f"{name}.{file}.how", f"{name}.how"):
        try:
            with open(os.path.join(ROOT, path)) as f:
                return f.read().strip()
        except FileNotFoundError:
            continue
    return "404"


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        parts = self.path.strip("/").split("/", 1)
        name, file = parts[0], os.path.basename(parts[-1])
        self.close_connection = True
        getattr(self, "be_" + how(name, file), self.be_good)(os.path.join(ROOT, name, file))

    def head(self, status, kind="application/yaml", length=None):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        if length is not None:
            self.send_header("Content-Length", str(length))
        self.send_header("Connection", "close")
        self.end_headers()

    def answer(self, status, body, kind="application/yaml"):
        self.head(status, kind, len(body))
        self.wfile.write(body)

    def be_good(self, path):
        with open(path, "rb") as f:
            self.answer(200, f.read())

    def be_404(self, _):
        self.answer(404, b"not here\n", "text/plain")

    def be_500(self, _):
        self.answer(500, b"out of order\n", "text/plain")

    def be_html(self, _):
        self.answer(200, b"<html><body>Please log in</body></html>\n", "text/html; charset=utf-8")

    def be_close(self, _):
        self.connection.close()

    def be_silent(self, _):
        time.sleep(30)

    def be_slow(self, _):
        self.head(200, length=1000)
        for _ in range(60):
            self.wfile.write(b"#")
            self.wfile.flush()
            time.sleep(1)

    def be_endless(self, _):
        self.head(200)
        while True:
            self.wfile.write(b"# and so on\n" * 1000)
            time.sleep(0.01)

    def be_short(self, path):
        with open(path, "rb") as f:
            body = f.read()
        self.head(200, length=len(body) + 100)
        self.wfile.write(body)

    def be_long(self, path):
        self.be_good(path)
        self.wfile.write(b"and more\n" * 100)

    def be_headers(self, _):
        self.send_response(200)
        self.flush_headers()
        for i in range(100000):
            self.wfile.write(b"X-Number-%d: %s\r\n" % (i, b"x" * 100))

    def be_loop(self, _):
        self.send_response(302)
        self.send_header("Location", self.path)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def be_empty(self, _):
        self.answer(200, b"")

    def handle_one_request(self):
        try:
            super().handle_one_request()
        except (OSError, ValueError):
            self.close_connection = True

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer.request_queue_size = 64
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
print(f"serving {ROOT} at http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
