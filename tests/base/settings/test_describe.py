"""The settings as people read them: on the page 设置, in settings.yaml and in the manual."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from core.app import extra_sections
from core.base.settings import LoadedSettings, load_settings
from core.base.settings.describe import SettingEntry, format_value, list_settings
from support.base import VARIABLES


def load(tmp_path: Path, yaml: str = "", **environ: str) -> LoadedSettings:
    file = tmp_path / "settings.yaml"
    file.write_text(yaml, "utf-8")
    return load_settings(file, environ, sections=extra_sections())


def by_variable(loaded: LoadedSettings) -> dict[str, SettingEntry]:
    return {entry.variable: entry for entry in list_settings(loaded)}


def test_every_setting_is_there_once_with_its_meaning(tmp_path: Path) -> None:
    found = list_settings(load(tmp_path))
    assert sorted(entry.variable for entry in found) == sorted(VARIABLES)
    assert [entry.variable for entry in found if not entry.purpose] == []
    assert not any(entry.is_changed for entry in found)
    assert [entry.variable for entry in found if entry.value != format_value(entry.default)] == []


def test_the_settings_of_one_group_stand_together(tmp_path: Path) -> None:
    groups = [entry.group for entry in list_settings(load(tmp_path))]
    assert len(dict.fromkeys(groups)) == 1 + sum(a != b for a, b in pairwise(groups))


def test_where_a_value_comes_from(tmp_path: Path) -> None:
    found = by_variable(load(tmp_path, "search: {timeout: 8, result_count: 4}", SEARCH_TIMEOUT="9"))
    assert (found["SEARCH_TIMEOUT"].value, found["SEARCH_TIMEOUT"].origin) == ("9", "environment")
    assert (found["SEARCH_RESULT_COUNT"].value, found["SEARCH_RESULT_COUNT"].origin) == ("4", "settings.yaml")
    assert (found["SEARCH_LANGUAGE"].value, found["SEARCH_LANGUAGE"].origin) == ("auto", "default")
    assert format_value(found["SEARCH_TIMEOUT"].default) == "5"


def test_a_meaning_says_what_may_be_written(tmp_path: Path) -> None:
    found = by_variable(load(tmp_path))
    for variable, limits in {
        "SEARCH_TIMEOUT": "1 到 60 秒",
        "SEARCH_HEDGE_AFTER": "0.1 到 60 秒",
        "SEARCH_CACHE_TTL": "0 到 2592000 秒",
        "SEARCH_RESULT_COUNT": "3 到 5",
        "LLM_TEMPERATURE": "0 到 2",
        "PANEL_MAX_ITERATIONS": "1 到 10 次",
        "SEARCH_SORT_WORDS": "true 或 false",
        "SERPAPI_ENGINE": "google、bing 或 baidu",
        "SEARCH_LANGUAGE": "auto 或语言代码，如 zh-CN、en",
        "OPENAI_BASE_URL": "网址",
        "DATA_DIR": "",
    }.items():
        assert found[variable].limits == limits, variable
    assert found["SEARCH_TIMEOUT"].meaning == "整次搜索的时间，换引擎也在内（1 到 60 秒）"
    assert found["DATA_DIR"].meaning == found["DATA_DIR"].purpose


def test_an_unusable_value_is_marked(tmp_path: Path) -> None:
    found = by_variable(load(tmp_path, SEARCH_TIMEOUT="soon"))
    assert found["SEARCH_TIMEOUT"].is_invalid
    assert found["SEARCH_TIMEOUT"].value == "5"
    assert not found["SEARCH_LANGUAGE"].is_invalid


def test_a_secret_is_set_or_not_set(tmp_path: Path) -> None:
    found = by_variable(
        load(
            tmp_path,
            EXA_API_KEY="exa-one",
            CACHE_URL="redis://:hunter2@127.0.0.1/0",
            DATABASE_URL="postgresql+psycopg://me:hunter2@127.0.0.1/x",
            SEARXNG_URL="http://me:hunter2@127.0.0.1:8080,https://search.example",
        )
    )
    for variable in ("EXA_API_KEY", "CACHE_URL", "DATABASE_URL"):
        assert (found[variable].value, found[variable].default) == ("已设置", None)
    assert found["OPENAI_API_KEY"].value == "未设置"
    assert found["SEARXNG_URL"].value == "http://已隐藏@127.0.0.1:8080, https://search.example"


def test_values_are_written_as_in_the_file(tmp_path: Path) -> None:
    found = by_variable(load(tmp_path, AGENT_VERBOSE="yes", SEARCH_ENGINE_QUOTAS="tavily=20,exa=3"))
    assert found["AGENT_VERBOSE"].value == "true"
    assert found["SEARCH_ENGINE_QUOTAS"].value == "tavily=20, exa=3"
    assert found["SEARCH_HEDGE_AFTER"].value == "1.2"
