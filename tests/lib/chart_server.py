# SPDX-License-Identifier: Apache-2.0
"""An ordinary static web server for chart tests, with what such servers are found to have around them.

chart_server.py DIR [--log FILE] [--login USER:PASSWORD] [--bearer TOKEN] [--tls CERT KEY] [--client-ca CA]
                    [--proxy-login USER:PASSWORD]
                    [--tokens KEY CERT]

Listens on a free port of 127.0.0.1, prints it, and ends when its standard input does. Each request is a line in the log:
"METHOD TARGET AUTHORIZATION", the last "-" without one. Beyond the files of DIR:

    /redirect/CODE/URL          answers CODE with that Location
    /token?service=S&scope=X    signs a token for docker-registry (--tokens: RSA key and certificate); wants the login
    an absolute target          is served by its path alone: this is then a proxy for everything
"""
import argparse
import base64
import http.server
import json
import os
import ssl
import subprocess
import sys
import threading
import time
import urllib.parse

arguments = argparse.ArgumentParser()
arguments.add_argument("dir")
arguments.add_argument("--log")
arguments.add_argument("--login")
arguments.add_argument("--bearer")
arguments.add_argument("--proxy-login")
arguments.add_argument("--tls", nargs=2)
arguments.add_argument("--client-ca")
arguments.add_argument("--tokens", nargs=2)
options = arguments.parse_args()
lock = threading.Lock()


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def token(service, scopes, user):
    key, cert = options.tokens
    with open(cert, encoding="ascii") as f:
        der = base64.b64encode(ssl.PEM_cert_to_DER_cert(f.read())).decode()
    now = int(time.time())
    access = []
    for scope in scopes:
        kind, name, actions = scope.split(":")
        access.append({"type": kind, "name": name, "actions": actions.split(",")})
    claims = {"iss": "tests", "sub": user, "aud": service, "exp": now + 300, "nbf": now - 10, "iat": now,
              "jti": str(now), "access": access}
    parts = [{"alg": "RS256", "typ": "JWT", "x5c": [der]}, claims]
    text = ".".join(b64(json.dumps(part).encode()) for part in parts)
    signed = subprocess.run(["openssl", "dgst", "-sha256", "-sign", key], input=text.encode(), stdout=subprocess.PIPE,
                            check=True)
    return text + "." + b64(signed.stdout)


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def note(self):
        if options.log:
            with lock, open(options.log, "a", encoding="utf-8") as f:
                f.write(f"{self.command} {self.path} {self.headers.get('Authorization') or '-'}\n")

    def answer(self, code, headers=(), body=b""):
        self.send_response(code)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def is_allowed(self):
        given = self.headers.get("Authorization") or ""
        wanted = []
        if options.login:
            wanted.append("Basic " + base64.b64encode(options.login.encode()).decode())
        if options.bearer:
            wanted.append("Bearer " + options.bearer)
        return not wanted or given in wanted

    def do_token(self, query):
        scopes = [s for value in query.get("scope", []) for s in value.split(" ") if s]
        text = token(query.get("service", [""])[0], scopes, (options.login or "").split(":")[0])
        body = json.dumps({"token": text}).encode()
        self.answer(200, [("Content-Type", "application/json")], body)

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.note()
        self.answer(405)

    def do_GET(self):
        self.note()
        if not self.is_allowed():
            self.answer(401, [("WWW-Authenticate", 'Basic realm="charts"')])
            return
        if options.proxy_login and self.headers.get("Proxy-Authorization") != "Basic " + base64.b64encode(options.proxy_login.encode()).decode():
            self.answer(407, [("Proxy-Authenticate", 'Basic realm="proxy"')])
            return
        url = urllib.parse.urlsplit(self.path)
        if url.path == "/token" and options.tokens:
            self.do_token(urllib.parse.parse_qs(url.query))
        elif url.path.startswith("/redirect/"):
            code, target = self.path[len("/redirect/"):].split("/", 1)
            self.answer(int(code), [("Location", target)])
        elif not os.path.isfile(self.translate_path(url.path)):
            self.answer(404)
        else:
            self.path = url.path
            super().do_GET()

    do_HEAD = do_GET


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass


os.chdir(options.dir)
server = Server(("127.0.0.1", 0), Handler)
if options.tls:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*options.tls)
    if options.client_ca:
        context.load_verify_locations(options.client_ca)
        context.verify_mode = ssl.CERT_REQUIRED
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_address[1], flush=True)
sys.stdin.read()
