"""HTML that a browser loads first, with the web app manifest and the OpenSearch description."""

from __future__ import annotations

import json
import re
from email.utils import formatdate
from functools import cache
from hashlib import sha256
from pathlib import Path

from markupsafe import Markup
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import file_util, get_option

from core.base.settings import load_settings
from core.base.visitors import LOCAL_NAMES
from core.ui import frame, scripts
from core.ui.frame import FOLDER, NAME, PURPOSE

ASSETS = ("style.css", "scripts.js", "page.js")
LIGHT, DARK = "#fffefb", "#17191c"
"""The backgrounds of .streamlit/config.toml."""

_HEAD = Markup("""<link rel="manifest" href="./manifest.webmanifest" />
    <link rel="search" type="application/opensearchdescription+xml" title="{name}" href="./opensearch.xml" />
    <link rel="apple-touch-icon" href="./icon-192.png" />
    <meta name="description" content="{purpose}" />
    <meta name="theme-color" content="{light}" media="(prefers-color-scheme: light)" />
    <meta name="theme-color" content="{dark}" media="(prefers-color-scheme: dark)" />
  </head>""").format(name=NAME, purpose=PURPOSE, light=LIGHT, dark=DARK)

_LOGO = Markup((FOLDER / "icon.svg").read_text("utf-8").strip())  # noqa: S704 (a file of this program)
_OPENING = Markup("""  <style>
      .wy-opening {{
        position: fixed; inset: 0; display: grid; place-content: center; justify-items: center; gap: 1rem; margin: 0;
        background: {light}; color: #5c6166; font: 1rem/1.5 "PingFang SC", "Noto Sans CJK SC", "Microsoft YaHei", sans-serif;
        animation: wy-opening 0.2s 0.2s both;
      }}
      .wy-opening svg {{ width: 3.5rem; }}
      @keyframes wy-opening {{ from {{ opacity: 0; }} }}
      @media (prefers-color-scheme: dark) {{ .wy-opening {{ background: {dark}; color: #a9adb3; }} }}
      #root:has([data-testid="stMainBlockContainer"] [data-testid="stElementContainer"]) ~ .wy-opening {{ display: none; }}
      @media print, (scripting: none) {{ .wy-opening {{ display: none; }} }}
      @supports not selector(:has(a)) {{ .wy-opening {{ display: none; }} }}
    </style>
    <p class="wy-opening">{logo}{name} · 正在打开…</p>
  """).format(light=LIGHT, dark=DARK, name=NAME, logo=_LOGO)
"""What is seen until Streamlit has drawn something."""

_BODY = Markup("""  <link rel="stylesheet" href="./style.css?{version}" />
    <script src="./scripts.js?{version}"></script>
    <script src="./page.js?{version}"></script>
  </body>""")
"""End of the body. Streamlit writes its own styles into the head, and the last of equal rules counts."""

_UNTIL_STYLE = re.compile(r'(<head>)(.*?)(<link rel="stylesheet"[^>]*>)', re.DOTALL)

_PRELOADED = ("Html", "purify.es", "TextInput", "TextField", "Autocomplete", "MenuButton")
"""Chunks of Streamlit's front end that the first question needs. Otherwise they would load only when it is asked."""

_OPENSEARCH = Markup("""<?xml version="1.0" encoding="UTF-8"?>
<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">
  <ShortName>{name}</ShortName>
  <Description>{purpose}</Description>
  <InputEncoding>UTF-8</InputEncoding>
  <Image width="64" height="64" type="image/svg+xml">{address}icon.svg</Image>
  <Image width="192" height="192" type="image/png">{address}icon-192.png</Image>
  <Url type="text/html" method="get" template="{address}?q={{searchTerms}}&amp;search=1"/>
</OpenSearchDescription>
""")

_MANIFEST = {
    "name": NAME,
    "short_name": NAME,
    "description": PURPOSE,
    "lang": "zh-CN",
    "id": "./",
    "start_url": "./",
    "scope": "./",
    "display": "standalone",
    "background_color": LIGHT,
    "theme_color": LIGHT,
    "icons": [
        {"src": "./icon.svg", "type": "image/svg+xml", "sizes": "any"},
        {"src": "./icon-192.png", "type": "image/png", "sizes": "192x192"},
        {"src": "./icon-512.png", "type": "image/png", "sizes": "512x512"},
        {"src": "./icon-512.png", "type": "image/png", "sizes": "512x512", "purpose": "maskable"},
    ],
}


def _read(name: str) -> str:
    return scripts.combined_script() if name == "scripts.js" else (FOLDER / name).read_text("utf-8")


def _preload_links(folder: Path) -> Markup:
    names = (path.name for part in _PRELOADED for path in folder.glob(f"{part}.*.js"))
    return Markup().join(Markup('<link rel="modulepreload" href="./static/js/%s" />\n    ') % name for name in names)


def customize_index(original: str, folder: Path) -> str:
    """Return Streamlit's index.html in Chinese, with the app's style and metadata. `folder` has the scripts of
    Streamlit's front end."""
    version = sha256("".join(map(_read, ASSETS)).encode()).hexdigest()[:12]
    return (
        _with_style_first(original)
        .replace('<html lang="en">', '<html lang="zh-CN">')
        .replace("<title>Streamlit</title>", Markup("<title>%s</title>") % NAME)
        .replace("You need to enable JavaScript to run this app.", "这个页面需要 JavaScript，请在浏览器中启用。")
        .replace("</head>", _preload_links(folder) + _HEAD, 1)
        .replace("</body>", _OPENING + _BODY.format(version=version), 1)
    )


def _with_style_first(html: str) -> str:
    """Move Streamlit's style sheet to the front. A browser paints nothing before it has it, and loads six files at once."""
    return _UNTIL_STYLE.sub(r"\1\n    \3\2", html, count=1)


class IndexHtml:
    """Middleware that replaces Streamlit's index.html with ours, for `/` and for the address of any page."""

    def __init__(self, app: ASGIApp) -> None:
        original = Path(file_util.get_static_dir()) / "index.html"
        self.app = app
        self.document = customize_index(original.read_text("utf-8"), original.parent / "static" / "js")
        self.last_modified = formatdate(original.stat().st_mtime, usegmt=True)
        self.home = f"/{base}/" if (base := get_option("server.baseUrlPath").strip("/")) else "/"
        frame.is_index_customized = True

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if scope["method"] == "GET" and scope["path"] == self.home:
            # Streamlit would open, read and send its own, in a thread for each reader.
            await self._answer(scope, receive, send)
            return
        replaced = False

        async def send_shell(message: Message) -> None:
            nonlocal replaced
            if message["type"] == "http.response.start" and self._is_original(message):
                replaced = True
                await self._answer(scope, receive, send)
            if not replaced:
                await send(message)

        await self.app(_without_cache_headers(scope), receive, send_shell)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        await HTMLResponse(self.document, headers={"Cache-Control": "no-cache"})(scope, receive, send)

    def _is_original(self, message: Message) -> bool:
        """Return whether a response is Streamlit's index.html. Other HTML is a file that a reader exports."""
        headers = Headers(raw=message["headers"])
        return headers.get("last-modified") == self.last_modified and headers["content-type"].startswith("text/html")


def _without_cache_headers(scope: Scope) -> Scope:
    """Remove the conditional headers of a request, because Streamlit's file may be unchanged while ours is not. Other
    files are not requested twice: their names contain the hash of their content."""
    conditions = (b"if-none-match", b"if-modified-since")
    return {**scope, "headers": [header for header in scope["headers"] if header[0] not in conditions]}


async def _opensearch(request: Request) -> Response:
    """Return the OpenSearch description. Its addresses must be absolute. A name that the request made up is not
    repeated: a cache in front would give it to others. Without PUBLIC_URL there is no description under such a name."""
    address = str(request.base_url) if _names_this_server(request) else _public_url()
    if not address:
        return Response("Not Found", 404, headers={"Cache-Control": "no-store"})
    text = _OPENSEARCH.format(name=NAME, purpose=PURPOSE, address=address)
    return Response(text, media_type="application/opensearchdescription+xml")


def _names_this_server(request: Request) -> bool:
    """Return whether the request names a host that is certainly this server: itself, or what it was reached at."""
    reached_at = (request.scope.get("server") or ("",))[0]
    return request.url.hostname in {reached_at, *LOCAL_NAMES}


@cache
def _public_url() -> str:
    """Return the address at which readers open the app; empty if nobody has set one that can be used."""
    loaded = load_settings(sections=())
    is_set = loaded.origins["PUBLIC_URL"] != "default" and "PUBLIC_URL" not in loaded.values.unusable
    return f"{loaded.values.public.url.rstrip('/')}/" if is_set else ""


async def _manifest(_: Request) -> Response:
    return Response(json.dumps(_MANIFEST, ensure_ascii=False), media_type="application/manifest+json")


def _image_route(name: str) -> Route:
    async def serve(_: Request) -> Response:
        return FileResponse(FOLDER / name, headers={"Cache-Control": "no-cache"})

    return Route(f"/{name}", serve)


def _asset_route(name: str) -> Route:
    """Return a route for an asset that may be cached for ever. New content gets a new address."""
    text, kind = _read(name), "text/css" if name.endswith(".css") else "text/javascript"

    async def serve(_: Request) -> Response:
        return Response(text, media_type=kind, headers={"Cache-Control": "public, max-age=31536000, immutable"})

    return Route(f"/{name}", serve)


ROUTES: list[BaseRoute] = [
    Route("/opensearch.xml", _opensearch),
    Route("/manifest.webmanifest", _manifest),
    *map(_asset_route, ASSETS),
    *map(_image_route, ("icon.svg", "icon-192.png", "icon-512.png")),
]
