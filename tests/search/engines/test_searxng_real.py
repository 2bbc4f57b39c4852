"""A real server: Debian's `searx`, SearXNG's ancestor, over a small database of our own. Nothing leaves the machine.

It still knows no way to switch JSON off; the 403 of today's SearXNG is played back in engines/test_searxng.py.
"""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from core.base.http import Deadline, Request, fetch
from core.base.http.errors import HttpError
from core.doctor import searxng_settings
from core.search.engines.searxng import NO_TIME_RANGE, SearxngEngine, SearxngSettings
from core.search.errors import EngineUnavailable
from core.search.query import effective_query
from core.search.types import SearchQuery, SearchType, TimeRange
from support.base import loaded
from support.faults import unused_port

pytestmark = [
    pytest.mark.servers,
    pytest.mark.skipif(
        shutil.which("searx-run") is None, reason="searx is not installed: `apt-get install searx` as root"
    ),
    pytest.mark.xdist_group("searx"),
]

PAGES = [
    ("劳动合同法第三十八条", "https://law.example/38", "用人单位未及时足额支付劳动报酬的，劳动者可以解除劳动合同。"),
    (
        "劳动合同法第三十九条",
        "https://law.example/39",
        "劳动者严重违反用人单位的规章制度的，用人单位可以解除劳动合同。",
    ),
    ("“加班” +&# 工资 👍", "https://pay.example/?a=1&b=2", "加班费怎么算？"),
    ("labour law in brief", "https://law.example/en", "An English page about labour contracts."),
    ("坏链接", "javascript:alert(1)", "劳动合同"),
]
MATCHING = "FROM page WHERE title LIKE '%' || :query || '%' OR content LIKE '%' || :query || '%'"


def _settings(port: int, database: Path, *, disabled: Sequence[str] = ()) -> str:
    """searx ships no defaults: everything that it reads has to be here."""

    def engine(name: str, query: str, **options: object) -> dict[str, object]:
        return {"name": name, "engine": "sqlite", "shortcut": name[:3], "database": str(database), "query_str": query,
                "result_template": "default.html", "categories": "general", **options}  # fmt: skip

    return yaml.safe_dump(
        {
            "general": {"debug": False, "instance_name": "test", "contact_url": False, "enable_stats": False},
            "brand": dict.fromkeys(("git_url", "git_branch", "issue_url", "docs_url", "public_instances", "wiki_url"), ""),
            "search": {"safe_search": 0, "autocomplete": "", "default_lang": "", "formats": ["html", "json"],
                       "ban_time_on_fail": 0, "max_ban_time_on_fail": 0},
            "server": {"port": port, "bind_address": "127.0.0.1", "secret_key": "test", "base_url": False,
                       "image_proxy": False, "http_protocol_version": "1.1", "method": "GET",
                       "default_http_headers": {}},
            "ui": {"static_path": "/usr/share/python3-searx/static", "default_locale": "", "default_theme": "oscar",
                   "templates_path": "/usr/share/python3-searx/templates", "theme_args": {"oscar_style": "logicodev"}},
            "outgoing": {"request_timeout": 2.0, "useragent_suffix": "", "pool_connections": 1, "pool_maxsize": 1},
            "engines": [
                *(engine(name, f"SELECT title, url, content {MATCHING}", disabled=name in disabled)
                  for name in disabled or ["baidu"]),
                engine("broken", "SELECT title, url, content FROM nowhere", categories="news"),
            ],
            "locales": {"en": "English", "zh": "中文"},
            "doi_resolvers": {"doi.org": "https://doi.org/"},
            "default_doi_resolver": "doi.org",
        },
        allow_unicode=True,
    )  # fmt: skip


@contextmanager
def running(folder: Path, settings: Path, port: int, **environ: str) -> Iterator[str]:
    address = f"http://127.0.0.1:{port}"
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            ["searx-run"], stdout=log, stderr=log, cwd=folder,
            env={"PATH": "/usr/bin:/bin", "HOME": str(folder), "SEARX_SETTINGS_PATH": str(settings), **environ},
        )  # fmt: skip
    try:
        _wait_for(address, server, folder / "log")
        yield address
    finally:
        server.terminate()
        server.wait(10)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pages") / "pages.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE page (title TEXT, url TEXT, content TEXT)")
        connection.executemany("INSERT INTO page VALUES (?, ?, ?)", PAGES)
    connection.close()
    return path


@pytest.fixture(scope="module")
def searx(tmp_path_factory: pytest.TempPathFactory, database: Path) -> Iterator[str]:
    folder, port = tmp_path_factory.mktemp("searx"), unused_port()
    (folder / "settings.yml").write_text(_settings(port, database), "utf-8")
    with running(folder, folder / "settings.yml", port) as address:
        yield address


def _wait_for(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(300):
        try:
            if fetch(Request("GET", f"{address}/healthz"), deadline=Deadline(1)).status == 200:
                return
        except HttpError:
            time.sleep(0.1)
        if server.poll() is not None:
            break
    pytest.fail(f"searx did not start:\n{log.read_text('utf-8')[-2000:]}")


@pytest.fixture
def engine(searx: str) -> SearxngEngine:
    return SearxngEngine.from_settings(loaded(SEARXNG_URL=searx).values)


def asking(text: str, **fields: object) -> SearchQuery:
    return effective_query(SearchQuery(text, **fields), loaded().values)  # type: ignore[arg-type]


def test_a_chinese_question(engine: SearxngEngine) -> None:
    found = engine.search(asking("解除劳动合同"), 10)
    assert [(result.title, result.url) for result in found] == [page[:2] for page in PAGES[:2]]
    assert found[0].snippet == PAGES[0][2]
    assert all(result.source == "law.example" for result in found)


def test_quotes_signs_and_emoji(engine: SearxngEngine) -> None:
    (result,) = engine.search(asking("“加班” +&# 工资 👍"), 10)
    assert result.url == "https://pay.example/?a=1&b=2"


def test_an_unsafe_link_is_skipped(engine: SearxngEngine) -> None:
    found = engine.search(asking("劳动合同"), 10)
    assert len(found) == 2
    assert found.skipped == 1


def test_an_english_question_leaves_the_engines_to_the_server(engine: SearxngEngine) -> None:
    assert [result.url for result in engine.search(asking("labour"), 10)] == ["https://law.example/en"]


def test_nothing_found(engine: SearxngEngine) -> None:
    assert list(engine.search(asking("没有这样的词"), 10)) == []


def test_an_engine_without_time_ranges_is_silently_left_out(engine: SearxngEngine) -> None:
    found = engine.search(asking("解除劳动合同", time_range=TimeRange.WEEK), 10)
    assert len(found) == 2 or found.notes == (NO_TIME_RANGE,)


def test_a_server_whose_engines_all_fail_has_failed(engine: SearxngEngine) -> None:
    with pytest.raises(EngineUnavailable, match="broken"):
        engine.search(asking("新闻", type=SearchType.NEWS), 10)


def test_the_check_at_start(engine: SearxngEngine) -> None:
    engine.check(Deadline(5))


def test_the_settings_that_the_page_offers(tmp_path: Path, database: Path) -> None:
    """They build on the server's own defaults, in which the Chinese engines are switched off.

    Debian's package has lost its defaults: it is given some, beside its own files. It has neither formats nor a
    limiter to switch; those keys only must not harm it.
    """
    package = tmp_path / "searx"
    package.mkdir()
    for file in Path("/usr/lib/python3/dist-packages/searx").iterdir():
        (package / file.name).symlink_to(file)
    port = unused_port()
    chinese = SearxngSettings().engines_zh
    (package / "settings.yml").write_text(_settings(port, database, disabled=chinese), "utf-8")
    offered = tmp_path / "settings.yml"
    offered.write_text(searxng_settings(), "utf-8")
    with running(tmp_path, offered, port, PYTHONPATH=str(tmp_path)) as address:
        config = fetch(Request("GET", f"{address}/config"), deadline=Deadline(5)).json()
        assert {entry["name"] for entry in config["engines"] if entry["enabled"]} >= set(chinese)
        found = SearxngEngine.from_settings(loaded(SEARXNG_URL=address).values).search(asking("解除劳动合同"), 10)
        assert len(found) == 2
