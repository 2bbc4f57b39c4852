"""Every variable of the environment with values that nobody should give it: the settings load, say so, and hold."""

from __future__ import annotations

import logging

import pytest

from core.answer.events import Usage
from core.app import build_app, extra_sections
from core.base.settings import LoadedSettings, load_settings
from core.base.settings.describe import list_settings
from core.search.errors import AllEnginesFailed
from core.search.types import SearchQuery
from support.base import NOWHERE, VARIABLES, loaded
from support.faults import unused_port

PASSWORD = "geheim"

ODD = [
    *("", "   ", "\u3000", "\t\r\n", "\x00", "a\x00b", "\udcff\udcfe", "\ud800", "\u202e", "\u200b", "🙂" * 10),
    *("-1", "0", "1e400", "nan", "-inf", "9" * 5000, "1_000", "0x10", "１２", "٣", "1,5", "1;DROP TABLE"),
    *("true", "perhaps", "None", "null", "[]", "{}", "- a", "&a [*a]", "!!python/object:os.system"),
    *(
        "../../etc/passwd",
        "/dev/null/x",
        "~",
        "~nobody-here/x",
        "$HOME",
        "%s%n",
        "{0.__class__}",
        "<script>",
        "x" * 50_000,
    ),
    *("javascript:alert(1)", "http://", "http://[", "http://a\\@b", "file:///etc/passwd", "http://a:99999", "//a"),
    *(
        f"http://user:{PASSWORD}@a.example:1/",
        f"http://user:x@{PASSWORD}@a.example:1/",
        f"ftp://u:{PASSWORD}@a.example/",
    ),
    *(f"redis://:{PASSWORD}@127.0.0.1:1/0", f"redis://:{PASSWORD}@127.0.0.1:1/0?nosuch=1", "redis://h:0/0", "unix://"),
    *(
        f"postgresql://u:{PASSWORD}@127.0.0.1:1/x",
        f"postgresql://u:{PASSWORD}@h:p/x",
        "sqlite:///x",
        f"mysql://u:{PASSWORD}@h/x",
    ),
    *(
        ",",
        "、、、",
        "=",
        "a=",
        "=1",
        "a=1=2",
        "a=-1",
        "a=1e400/2",
        "none",
        "NONE",
        "*",
        "::",
        "openai:",
        "nosuch:model",
    ),
]


@pytest.mark.parametrize("name", sorted(VARIABLES))
def test_no_value_of_a_variable_breaks_the_settings(name: str) -> None:
    """What cannot be used is named, and only there; whatever is in force can be shown, and shows no password."""
    usual = _in_force(load())
    for value in ODD:
        found = load(**{name: value})
        assert {problem.key for problem in found.problems} <= {name}
        told = _in_force(found)
        assert PASSWORD not in f"{told} {found} {[*map(str, found.problems)]}"
        str(told).encode()
        assert found.values.data_dir.is_absolute()
        assert told | {name: ""} == usual | {name: ""}


def load(**environ: str) -> LoadedSettings:
    """Without settings.yaml, which takes longer to read than everything else."""
    return load_settings(NOWHERE, environ, sections=extra_sections())


def _in_force(found: LoadedSettings) -> dict[str, str]:
    return {entry.variable: entry.value for entry in list_settings(found)}


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("SEARCH_TIMEOUT", "\u200b7\ufeff", "7"),
        ("LLM_MODEL", "open\u200bai:gpt\u202e-5\udcff", "openai:gpt-5"),
        ("LEGAL_CASE_SITES", "court.gov.cn\udcff, \u2060, \x00", "court.gov.cn"),
        ("OPENAI_BASE_URL", f"http://a:b@{PASSWORD}@h.example/v1", "http://已隐藏@h.example/v1"),
        (
            "SEARXNG_URL",
            f"http://a:{PASSWORD}@h.example, http://k.example",
            "http://已隐藏@h.example, http://k.example",
        ),
        ("DATA_DIR", "\udcff", "data"),
        ("OPENAI_API_KEY", f"{PASSWORD}\u200b", "已设置"),
    ],
)
def test_what_nobody_sees_is_not_part_of_a_value(name: str, value: str, shown: str) -> None:
    assert _in_force(load(**{name: value}))[name] == shown


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("DATA_DIR", "~nobody-here/data", "没有这个用户"),
        ("CACHE_URL", "redis://127.0.0.1:1/0?db=x", "选项无法识别"),
        ("CACHE_URL", "redis://127.0.0.1:1/0?socket_timeout=soon", "选项无法识别"),
        ("CACHE_URL", "redis://127.0.0.1:1/0?nosuch=1", "选项无法识别"),
        ("CACHE_URL", "http://127.0.0.1:1/0", "redis://"),
        ("CACHE_URL", "redis://", "无法识别"),
        ("DATABASE_URL", "postgresql+asyncpg://127.0.0.1/x", "postgresql+psycopg://"),
        ("DATABASE_URL", "postgresql://", "无法识别"),
        ("SEARCH_ENGINE_QUOTAS", "tavily=0000000011999999", "引擎名=每分钟次数"),
        ("SEARCH_ENGINE_QUOTAS", "tavily=" + "9" * 5000, "引擎名=每分钟次数"),
        ("SEARCH_ENGINE_QUOTAS", "tavily=-1", "引擎名=每分钟次数"),
        ("METRICS_PRICES", "m=1e400/1", "模型名=输入价/输出价"),
        ("METRICS_PRICES", "m=-1/1", "模型名=输入价/输出价"),
        ("SEARCH_LANGUAGE", "zh-CN\r\nX: y", "语言代码"),
        ("SEARCH_LANGUAGE", "../../x", "语言代码"),
        ("OPENAI_API_KEY", "sk-1\r\nX-Injected: 1", "换行"),
        ("OPENAI_API_KEY", "sk-密钥", "非英文字符"),
        ("OPENAI_BASE_URL", "http://h.example\r\nX: y", "不允许的字符"),
        ("OPENAI_BASE_URL", "http://h.example/<x>", "不允许的字符"),
        ("OPENAI_BASE_URL", "http://[::1", "不是有效的网址"),
        ("PUBLIC_URL", "data:text/html,x", "http:// 或 https://"),
        ("LEGAL_IMPORT_BY", "everyone, please", "只能是"),
        ("PANEL_ALLOW", "model,api_key", "只能是"),
        ("LOG_LEVEL", "NOTSET", "只能是"),
        ("AGENT_MAX_ITERATIONS", "1e1", "需要一个数字"),
        ("LIMITS_ANSWERS_PER_MINUTE", "9" * 5000, "需要一个数字"),
    ],
)
def test_the_reason_is_said(name: str, value: str, reason: str) -> None:
    found = load(**{name: value})
    (problem,) = found.problems
    assert problem.key == name
    assert reason in problem.reason
    (entry,) = (entry for entry in list_settings(found) if entry.variable == name)
    assert entry.is_invalid
    assert entry.value == _in_force(load())[name]


STUBBORN: dict[str, dict[str, str]] = {
    "a folder under a file": {"DATA_DIR": "/dev/null/x"},
    "a folder that is a file": {"DATA_DIR": "/etc/passwd"},
    "a folder of a thousand letters": {"DATA_DIR": "x" * 5000},
    "a user who does not exist": {"DATA_DIR": "~nobody-here"},
    "options that Redis does not know": {"CACHE_URL": "redis://127.0.0.1:1?nosuch=1"},
    "options that PostgreSQL does not know": {"DATABASE_URL": "postgresql://127.0.0.1:1/x?nosuch=1"},
    "a protocol of Redis's that does not exist": {"CACHE_URL": "redis://127.0.0.1:1/0?protocol=9"},
    "engines that do not exist": {"SEARCH_PROVIDER_PRIORITY": "<script>,nosuch,bundled"},
    "words that are no text": {"LEGAL_CASE_WORDS": "\udcff", "METRICS_CURRENCY": "\ud800"},
    "a prompt that is a device": {"AGENT_PROMPT": "/dev/null"},
    "a Chrome that is a folder": {"GOOGLE_CHROME": "/"},
}


@pytest.mark.parametrize("environ", STUBBORN.values(), ids=STUBBORN)
def test_the_app_starts_searches_and_answers_all_the_same(environ: dict[str, str]) -> None:
    app = build_app(loaded(**{"SEARCH_PROVIDER_PRIORITY": "bundled", **environ}))
    try:
        assert app.search.search(SearchQuery("怎么打开联网搜索？")).results
        assert isinstance(list(app.chat.stream("怎么打开联网搜索？"))[-1], Usage)
        assert isinstance(list(app.agent.stream("怎么打开联网搜索？"))[-1], Usage)
    finally:
        app.close()


@pytest.mark.parametrize("password", [PASSWORD, f"x@{PASSWORD}", f"{PASSWORD}:y", f"%40{PASSWORD}"])
def test_a_password_in_an_address_is_in_no_log(password: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    address = f"http://user:{password}@127.0.0.1:{unused_port()}"
    found = loaded(SEARXNG_URL=address, SEARCH_PROVIDER_PRIORITY="searxng")
    assert password in found.values.secrets()
    app = build_app(found)
    try:
        with pytest.raises(AllEnginesFailed) as caught:
            app.search.search(SearchQuery("法"))
    finally:
        app.close()
    assert PASSWORD not in caplog.text + repr(caught.value) + str(caught.value.attempts)
