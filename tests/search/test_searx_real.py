"""A real server: Debian's `searx`, SearXNG's ancestor, over a small database of our own. Nothing leaves the machine.

It still knows no way to switch JSON off; the 403 of today's SearXNG is played back in engines/test_searxng.py.
"""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from core.errors import EngineUnavailable, HttpError
from core.http import Deadline, Request, fetch
from core.search.engines.searxng import NO_TIME_RANGE, SearxngEngine
from core.search.query import effective_query
from core.search.types import SearchQuery, SearchType, TimeRange
from support.base import loaded
from support.faults import unused_port

pytestmark = [
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


def _settings(port: int, database: Path) -> str:
    """searx ships no defaults: everything that it reads has to be here."""

    def engine(name: str, query: str, **options: str) -> dict[str, str]:
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
                engine("baidu", f"SELECT title, url, content {MATCHING}"),
                engine("broken", "SELECT title, url, content FROM nowhere", categories="news"),
            ],
            "locales": {"en": "English", "zh": "中文"},
            "doi_resolvers": {"doi.org": "https://doi.org/"},
            "default_doi_resolver": "doi.org",
        },
        allow_unicode=True,
    )  # fmt: skip


@pytest.fixture(scope="module")
def searx(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("searx")
    with sqlite3.connect(folder / "pages.sqlite") as database:
        database.execute("CREATE TABLE page (title TEXT, url TEXT, content TEXT)")
        database.executemany("INSERT INTO page VALUES (?, ?, ?)", PAGES)
    database.close()
    port = unused_port()
    (folder / "settings.yml").write_text(_settings(port, folder / "pages.sqlite"), "utf-8")
    address = f"http://127.0.0.1:{port}"
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            ["searx-run"], stdout=log, stderr=log, cwd=folder,
            env={"PATH": "/usr/bin:/bin", "HOME": str(folder), "SEARX_SETTINGS_PATH": str(folder / "settings.yml")},
        )  # fmt: skip
    try:
        _wait_for(address, server, folder / "log")
        yield address
    finally:
        server.terminate()
        server.wait(10)


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
