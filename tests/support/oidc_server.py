"""A small OpenID provider on loopback: authorization code flow with PKCE, RS256, key set, userinfo and logout.

It signs in whoever is chosen on its page, asks for no password, and is strict about everything else: an unknown client,
a redirect that was not registered, a code that was used before, a wrong verifier are refused, and on record in
`refused`.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT_ID, CLIENT_SECRET = "wenyuan", "client-secret-of-the-tests"
CALLBACK = "/oauth2callback"


class Refused(Exception):
    """What OAuth calls an error response."""


@dataclass(frozen=True)
class Grant:
    claims: dict[str, Any]
    redirect_uri: str
    challenge: str
    nonce: str


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: OidcServer

    def setup(self) -> None:
        self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        super().setup()

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._answer(dict(parse_qsl(urlsplit(self.path).query)))

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self._answer(dict(parse_qsl(body.decode())))

    def _answer(self, sent: dict[str, str]) -> None:
        try:
            match urlsplit(self.path).path:
                case "/.well-known/openid-configuration":
                    self._json(self.server.metadata())
                case "/jwks":
                    self._json({"keys": [self.server.key.as_dict(private=False)]})
                case "/authorize":
                    self._send(200, self.server.sign_in_page(sent), "text/html; charset=utf-8")
                case "/signed-in":
                    self._redirect(self.server.grant(sent))
                case "/token":
                    self._json(self.server.exchange(self.headers.get("Authorization", ""), sent))
                case "/userinfo":
                    self._json(self.server.tokens[self.headers["Authorization"].removeprefix("Bearer ")])
                case "/logout":
                    self.server.check(urlsplit(sent["post_logout_redirect_uri"]).path == CALLBACK, "logout elsewhere")
                    self.server.logouts += 1
                    self._redirect(sent["post_logout_redirect_uri"])
                case _:
                    self._send(404, "", "text/plain")
        except (Refused, KeyError) as error:
            self.server.refused.append(f"{self.path}: {error!r}")
            self._json({"error": "invalid_request", "error_description": str(error)}, status=400)

    def _json(self, value: Any, status: int = 200) -> None:
        self._send(status, json.dumps(value), "application/json")

    def _redirect(self, target: str) -> None:
        self._send(302, "", "text/plain", f"Location: {target}")

    def _send(self, status: int, text: str, type: str, *headers: str) -> None:
        body = text.encode()
        lines = [f"HTTP/1.1 {status} X", f"Content-Type: {type}", f"Content-Length: {len(body)}", *headers, "", ""]
        self.wfile.write("\r\n".join(lines).encode() + body)


class OidcServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, people: dict[str, dict[str, Any]]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.people = people
        """Who can sign in: what the page calls them, and what the provider says about them."""
        self.issuer = f"http://127.0.0.1:{self.server_address[1]}"
        self.key = RSAKey.generate_key(2048, parameters={"kid": "test", "use": "sig", "alg": "RS256"})
        self.refused: list[str] = []
        self.logouts = 0
        self.grants: dict[str, Grant] = {}
        self.tokens: dict[str, dict[str, Any]] = {}

    @property
    def secrets(self) -> str:
        """What an administrator writes into .streamlit/secrets.toml. Streamlit puts in the port."""
        return f"""
            [auth]
            redirect_uri = "http://127.0.0.1:{{port}}{CALLBACK}"
            cookie_secret = "cookie-secret-of-the-tests-0123456789"
            client_id = "{CLIENT_ID}"
            client_secret = "{CLIENT_SECRET}"
            server_metadata_url = "{self.issuer}/.well-known/openid-configuration"
        """

    def metadata(self) -> dict[str, Any]:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/jwks",
            "userinfo_endpoint": f"{self.issuer}/userinfo",
            "end_session_endpoint": f"{self.issuer}/logout",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "code_challenge_methods_supported": ["S256"],
            "scopes_supported": ["openid", "profile", "email"],
        }

    def check(self, condition: bool, problem: str) -> None:
        if not condition:
            raise Refused(problem)

    def _check_request(self, sent: dict[str, str]) -> None:
        redirect = urlsplit(sent["redirect_uri"])
        self.check(sent["client_id"] == CLIENT_ID, "unknown client")
        self.check(redirect.hostname == "127.0.0.1" and redirect.path == CALLBACK, "redirect is not registered")
        self.check(sent["response_type"] == "code" and "openid" in sent["scope"].split(), "not the code flow of OpenID")
        self.check(sent["code_challenge_method"] == "S256" and bool(sent["code_challenge"]), "without PKCE")
        self.check(bool(sent["nonce"]) and bool(sent["state"]), "without nonce or state")

    def sign_in_page(self, sent: dict[str, str]) -> str:
        self._check_request(sent)
        hidden = "".join(f'<input type=hidden name="{escape(k)}" value="{escape(v)}">' for k, v in sent.items())
        buttons = "".join(f'<button name=person value="{escape(p)}">{escape(p)}</button>' for p in self.people)
        return f"<!doctype html><title>provider</title><form action=/signed-in>{hidden}{buttons}</form>"

    def grant(self, sent: dict[str, str]) -> str:
        """The address to return to, with the code in it."""
        self._check_request(sent)
        code = secrets.token_urlsafe()
        claims = self.people[sent["person"]]
        self.grants[code] = Grant(claims, sent["redirect_uri"], sent["code_challenge"], sent["nonce"])
        return f"{sent['redirect_uri']}?{urlencode({'code': code, 'state': sent['state']})}"

    def exchange(self, authorization: str, sent: dict[str, str]) -> dict[str, Any]:
        """The tokens for a code: once, for who knows the client's secret and the verifier."""
        client = base64.b64decode(authorization.removeprefix("Basic ")).decode()
        self.check(client == f"{CLIENT_ID}:{CLIENT_SECRET}", "wrong client")
        grant = self.grants.pop(sent["code"])
        digest = hashlib.sha256(sent["code_verifier"].encode()).digest()
        self.check(base64.urlsafe_b64encode(digest).rstrip(b"=").decode() == grant.challenge, "wrong verifier")
        self.check(sent["redirect_uri"] == grant.redirect_uri, "another redirect")
        now = int(time.time())
        about = {"iss": self.issuer, "aud": CLIENT_ID, "iat": now, "exp": now + 300, "nonce": grant.nonce}
        token = secrets.token_urlsafe()
        self.tokens[token] = grant.claims
        return {
            "token_type": "Bearer",
            "expires_in": 300,
            "access_token": token,
            "id_token": jwt.encode({"alg": "RS256", "kid": "test"}, grant.claims | about, self.key),
        }


@contextmanager
def oidc_server(people: dict[str, dict[str, Any]]) -> Iterator[OidcServer]:
    server = OidcServer(people)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
