"""A result page whose scripts try every way out of it, and a canary on this machine that notes whatever arrives.

Each way has a name, which is the path that it asks the canary for.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from support.google_site import GoogleSite, google_results


def own_address() -> str:
    """Of this machine in its network. Nothing is sent; a machine without a network has only loopback."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        with suppress(OSError):
            sock.connect(("198.51.100.1", 9))
        return str(sock.getsockname()[0])


# The names and spellings under which this machine can be asked for.
ADDRESSES = (
    *("127.0.0.1", "127.0.0.2", "127.1", "2130706433", "0x7f000001", "0.0.0.0", "0", "[::1]", "[::ffff:127.0.0.1]"),
    *("localhost", "localhost.", "sub.localhost", "gate.invalid", socket.gethostname(), own_address()),
)

# What `worker` runs in: a page, or a worker of any kind. `at(name)` is the canary's address for that way.
SCRIPT_ANYWHERE = """
const quietly = action => { try { Promise.resolve(action()).catch(() => {}) } catch {} }
quietly(() => fetch(at(`${place}-fetch`), {mode: "no-cors"}))
quietly(() => fetch(at(`${place}-preflight`), {method: "PUT", headers: {"X-Mine": "1"}}))
quietly(() => fetch(at(`${place}-keepalive`), {mode: "no-cors", method: "POST", body: "x", keepalive: true}))
quietly(() => fetch(`/bounce?to=${encodeURIComponent(at(`${place}-fetch-redirected`))}`, {mode: "no-cors"}))
quietly(() => { const asked = new XMLHttpRequest(); asked.open("GET", at(`${place}-xhr`)); asked.send() })
quietly(() => new WebSocket(at(`${place}-websocket`).replace(/^http/, "ws")))
quietly(() => new EventSource(at(`${place}-eventsource`)))
quietly(() => new WebTransport(at(`${place}-webtransport`).replace(/^http:/, "https:")).ready)
quietly(() => importScripts(at(`${place}-import`)))
"""

SCRIPT_IN_PAGE = """
navigator.sendBeacon(at("beacon"), "x")
for (const address of addresses) {
  const there = `${address}:${port}`
  quietly(() => fetch(`http://${there}/address-${address}`, {mode: "no-cors"}))
  quietly(() => fetch(`https://${there}/address-tls-${address}`, {mode: "no-cors"}))
  quietly(() => new WebSocket(`ws://${there}/address-websocket-${address}`))
}
quietly(() => new Worker("/worker.js"))
quietly(() => new Worker(URL.createObjectURL(new Blob([source("blob-worker")]))))
quietly(() => new SharedWorker("/worker.js"))
quietly(() => navigator.serviceWorker.register("/worker.js"))
quietly(() => import(at("module")))
quietly(() => window.open(at("popup")))
quietly(() => { window.open("about:blank").location = at("popup-later") })
quietly(() => { document.createElement("img").src = at("script-image") })
quietly(() => document.fonts.add(new FontFace("mine", `url(${at("script-font")})`)))
quietly(async () => {
  const server = [`stun:127.0.0.1:${port}`, `stun:localhost:${port}`, `turn:127.0.0.1:${port}?transport=udp`,
                  `turn:127.0.0.1:${port}?transport=tcp`, `turns:127.0.0.1:${port}?transport=tcp`]
  const peer = new RTCPeerConnection({iceServers: server.map(urls => ({urls, username: "u", credential: "c"}))})
  peer.createDataChannel("x")
  await peer.setLocalDescription(await peer.createOffer())
  await peer.addIceCandidate({candidate: `candidate:1 1 udp 2113937151 127.0.0.1 ${port} typ host`, sdpMid: "0"})
})
for (const [target, name] of [["popup", "form-popup"], ["framed", "form-frame"]]) {
  const form = document.createElement("form")
  Object.assign(form, {method: "post", action: at(name), target})
  document.body.append(form)
  form.submit()
}
"""

MARKUP = """
<link rel="preconnect" href="{at}/preconnect"><link rel="dns-prefetch" href="{at}/dns-prefetch">
<link rel="prefetch" href="{at}/prefetch"><link rel="preload" as="script" href="{at}/preload">
<link rel="modulepreload" href="{at}/modulepreload"><link rel="prerender" href="{at}/prerender">
<link rel="stylesheet" href="{at}/stylesheet"><link rel="icon" href="{at}/icon"><link rel="manifest" href="{at}/manifest">
<script type="speculationrules">{{"prefetch": [{{"urls": ["{at}/speculation-prefetch"], "eagerness": "immediate"}}],
  "prerender": [{{"urls": ["{at}/speculation-prerender"], "eagerness": "immediate"}}]}}</script>
<style>@import "{at}/css-import"; @font-face {{ font-family: f; src: url({at}/css-font) }}
  body {{ font-family: f; background: url({at}/css-image); cursor: url({at}/css-cursor), auto }}</style>
<script src="{at}/script"></script><script type="module" src="{at}/script-module"></script>
<img src="{at}/image"><img src="/bounce?to={at}/image-redirected"><object data="{at}/object"></object>
<embed src="{at}/embed"><video src="{at}/video"></video><audio src="{at}/audio"><track src="{at}/track"></audio>
<iframe src="{at}/frame"></iframe><iframe name="framed"></iframe><iframe src="/bounce?to={at}/frame-redirected"></iframe>
<iframe srcdoc="<meta http-equiv=refresh content='0;url={at}/frame-refresh'><img src={at}/srcdoc-image>"></iframe>
<iframe sandbox="allow-scripts" srcdoc="<script>fetch('{at}/sandboxed', {{mode: 'no-cors'}})</script>"></iframe>
<svg><image href="{at}/svg-image"/><use href="{at}/svg-use#x"/></svg><a ping="{at}/ping" href="#" id="pinged">x</a>
<script src="/bounce?to={at}/script-redirected"></script>
"""


class Canary:
    """Listens on one port for every address of this machine, over TCP and UDP."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self._v4 = socket.create_server(("0.0.0.0", 0))
        self.port: int = self._v4.getsockname()[1]
        self.place = f"127.0.0.1:{self.port}"
        self._listeners = [self._v4]
        with suppress(OSError):  # a machine may have no IPv6
            self._listeners.append(socket.create_server(("::1", self.port), family=socket.AF_INET6))
        self._datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._datagrams.bind(("0.0.0.0", self.port))

    def start(self) -> None:
        for listener in self._listeners:
            threading.Thread(target=self._accept, args=(listener,), daemon=True).start()
        threading.Thread(target=self._receive, daemon=True).start()

    def close(self) -> None:
        for sock in (*self._listeners, self._datagrams):
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
            sock.close()

    def _accept(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                sock, _ = listener.accept()
                threading.Thread(target=self._answer, args=(sock,), daemon=True).start()

    def _answer(self, sock: socket.socket) -> None:
        """Every connection counts, also one that asks for nothing; what it says is only for the report."""
        entry = len(self.seen)
        self.seen.append("connection")
        with sock, suppress(OSError):
            sock.settimeout(5)
            said = sock.recv(65536)
            self.seen[entry] = said.split(b"\r\n", 1)[0].decode("ascii", "backslashreplace")[:80] or "connection"
            sock.sendall(
                b"HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nAccess-Control-Allow-Headers: *\r\n"
                b"Access-Control-Allow-Methods: *\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            )

    def _receive(self) -> None:
        with suppress(OSError):
            while self._datagrams.recv(65536):
                self.seen.append("datagram")


@contextmanager
def canary() -> Iterator[Canary]:
    bird = Canary()
    bird.start()
    try:
        yield bird
    finally:
        bird.close()


def set_up(site: GoogleSite, canary: Canary, scheme: str = "http") -> None:
    """The site answers a query that begins with `hostile` with ten results and every way out, and has what they need.

    `scheme` is the site's own: what is less secure than itself, a page does not ask for in the first place.
    """
    url = f"{scheme}://127.0.0.1:{canary.port}"
    prelude = f"const port = {canary.port}, at = name => `{url}/${{name}}`;"
    worker = f"{prelude} const place = self.constructor.name; {SCRIPT_ANYWHERE}"
    site.scripts["/worker.js"] = worker
    source = f"const source = place => `const place = '${{place}}';` + {_literal(prelude + SCRIPT_ANYWHERE)};"
    script = (
        f"{prelude} const place = 'page', addresses = {list(ADDRESSES)}; {source} {SCRIPT_ANYWHERE} {SCRIPT_IN_PAGE}"
    )
    attack = f"{MARKUP.format(at=url)}<script>{script}; document.querySelector('#pinged').click()</script>"
    site.pages["hostile"] = google_results(before=attack)


def _literal(script: str) -> str:
    return "`" + script.replace("\\", "\\\\").replace("`", "\\`").replace("${", "\\${") + "`"
