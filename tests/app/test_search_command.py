"""The options of the command `search`."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from support.command import Core, core
from support.scripted_searxng import scripted_searxng

__all__ = ["core"]


def days_ago(days: int) -> str:
    return (datetime.now(UTC) - timedelta(days=days)).date().isoformat()


def test_as_many_results_as_wanted(core: Core) -> None:
    everything = json.loads(core("search", "联网搜索", "--json").stdout)["results"]
    (few,) = (json.loads(core("search", "联网搜索", "--json", "-n", "2").stdout),)
    assert few["results"] == everything[:2]
    assert few["totalResults"] == 2
    assert len(core("search", "联网搜索", "-n3").stdout.splitlines()) == 1 + 3 * 3
    assert core("search", "联网搜索", "-n", "11").returncode == 2


@pytest.mark.parametrize(
    ("since", "asked_for"),
    [
        ("day", "day"),
        ("year", "year"),
        (days_ago(0), "day"),
        (days_ago(5), "week"),
        (days_ago(20), "month"),
        (days_ago(200), "year"),
    ],
)
def test_the_engine_is_asked_for_the_time_and_the_language(core: Core, since: str, asked_for: str) -> None:
    with scripted_searxng() as searxng:
        engine = {"SEARCH_PROVIDER_PRIORITY": "searxng", "SEARXNG_URL": searxng.url}
        done = core("search", "固态电池", "--since", since, "--language", "EN-us", "--type", "news", **engine)
    assert done.returncode == 0, done.stderr
    (asked,) = searxng.parameters
    assert (asked["time_range"], asked["language"], asked["categories"]) == (asked_for, "en-US", "news")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--since", "tomorrow"], "要写 day、week、month、year 或日期"),
        (["--since", days_ago(-3)], "还没有到"),
        (["--since", "2001-01-01"], "最多只能限定最近一年"),
        (["--language", "english"], "应是 auto 或语言代码"),
    ],
)
def test_what_no_engine_knows_is_refused(core: Core, options: list[str], said: str) -> None:
    done = core("search", "x", *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
