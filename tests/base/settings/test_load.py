from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import Field, ValidationError

from core.base.settings import ApiKey, LoadedSettings, Section, Settings, load_settings
from core.base.settings.describe import format_value, list_settings
from core.search.engines.searxng import SearxngSettings
from core.search.registry import EngineOrder, engine_sections
from support.base import NOWHERE, loaded


def load(yaml_text: str | None = None, tmp_path: Path | None = None, /, **environ: str) -> LoadedSettings:
    path = NOWHERE
    if yaml_text is not None:
        assert tmp_path is not None
        path = tmp_path / "settings.yaml"
        path.write_text(yaml_text, "utf-8")
    return load_settings(path, environ, sections=engine_sections())


def test_defaults_of_the_specification() -> None:
    values = load().values
    assert (values.search.result_count, values.search.timeout, values.search.language) == (5, 5, "auto")
    assert (values.search.snippet_length, values.search.rate_limit) == (200, 10)
    assert (values.agent.max_iterations, values.agent.max_execution_time, values.agent.verbose) == (5, 60, False)
    order = values.section(EngineOrder).provider_priority
    assert order[:4] == ("native", "perplexity", "exa", "tavily")
    assert order[-1] == "bundled"
    assert load().problems == ()


def test_environment_wins_over_file_wins_over_default(tmp_path: Path) -> None:
    loaded = load("search: {timeout: 7, snippet_length: 300}", tmp_path, SEARCH_TIMEOUT="9")
    assert (loaded.values.search.timeout, loaded.values.search.snippet_length) == (9, 300)
    assert loaded.origins["SEARCH_TIMEOUT"] == "environment"
    assert loaded.origins["SEARCH_SNIPPET_LENGTH"] == "settings.yaml"
    assert loaded.origins["SEARCH_RATE_LIMIT"] == "default"


@pytest.mark.parametrize("text", ["  7 ", "７", "\t7.0", " ７．０ "])
def test_padding_and_full_width_digits_are_read(text: str) -> None:
    loaded = load(SEARCH_TIMEOUT=text)
    assert loaded.values.search.timeout == 7
    assert not loaded.problems


@pytest.mark.parametrize("text", ["", " ", "\u3000"])
def test_blank_means_not_set(text: str) -> None:
    loaded = load(SEARCH_TIMEOUT=text, OPENAI_API_KEY=text, SEARXNG_URL=text)
    assert loaded.values.search.timeout == 5
    assert loaded.values.openai.api_key is None
    assert loaded.values.section(SearxngSettings).url == ()
    assert not loaded.problems


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("0", "不能小于 1"),
        ("-3", "不能小于 1"),
        ("61", "不能大于 60"),
        ("1e400", "必须是有限的数字"),
        ("nan", "必须是有限的数字"),
        ("inf", "必须是有限的数字"),
        ("五", "需要一个数字"),
        ("5s", "需要一个数字"),
        ("9" * 5000, "必须是有限的数字"),
    ],
)
def test_an_unusable_number_becomes_the_default_and_is_named(text: str, reason: str) -> None:
    loaded = load(SEARCH_TIMEOUT=text)
    assert loaded.values.search.timeout == 5
    (problem,) = loaded.problems
    assert problem.key == "SEARCH_TIMEOUT"
    assert problem.used_instead == "默认值 5.0"
    assert reason in problem.reason


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("SEARCH_RESULT_COUNT", "6"),
        ("SEARCH_RESULT_COUNT", "4.5"),
        ("SEARCH_RATE_LIMIT", "0"),
        ("SEARCH_CACHE_TTL", "-1"),
        ("AGENT_MAX_ITERATIONS", "11"),
        ("AGENT_MAX_EXECUTION_TIME", "9.9"),
        ("AGENT_VERBOSE", "perhaps"),
        ("LLM_TEMPERATURE", "3"),
        ("LOG_LEVEL", "loud"),
        ("CHAT_SEARCH_DEFAULT", "perhaps"),
        ("SEARXNG_URL", "ftp://example.org"),
        ("SEARXNG_URL", "http://127.0.0.1\\@1.1.1.1/"),
        ("SEARXNG_URL", "http://"),
        ("SEARXNG_URL", "http://host:99999"),
        ("SEARXNG_URL", "http://host:0"),
        ("OPENAI_BASE_URL", "http://host/v1?key=sk-1"),
        ("OPENAI_BASE_URL", "http://host/v1#x"),
        ("METRICS_PRICES", "gpt-5-mini"),
        ("METRICS_PRICES", "=1/2"),
        ("OPENAI_BASE_URL", "localhost:11434"),
        ("PUBLIC_URL", "javascript:alert(1)"),
        ("PUBLIC_PAGES", "help,admin"),
    ],
)
def test_every_kind_of_bad_value_has_one_answer(name: str, bad: str) -> None:
    loaded = load(**{name: bad})
    assert [problem.key for problem in loaded.problems] == [name]
    (entry,) = [entry for entry in list_settings(loaded) if entry.variable == name]
    assert entry.is_invalid
    assert entry.value == format_value(entry.default)


def test_zero_switches_the_cache_off() -> None:
    loaded = load(SEARCH_CACHE_TTL="0")
    assert loaded.values.search.cache_ttl == 0
    assert not loaded.problems


def test_a_bad_key_is_named_but_never_shown() -> None:
    loaded = load(TAVILY_API_KEY="tvly-abc def", EXA_API_KEY="ｅｘａ－ｋｅｙ")
    text = " ".join(map(str, loaded.problems)) + repr(loaded)
    assert {problem.key for problem in loaded.problems} == {"TAVILY_API_KEY", "EXA_API_KEY"}
    assert "abc" not in text
    assert "ｅｘａ" not in text


def test_secrets_do_not_print() -> None:
    loaded = load(OPENAI_API_KEY="sk-very-secret", DATABASE_URL="postgresql+psycopg://me:pw@localhost/x")
    assert "very-secret" not in repr(loaded)
    assert "pw@" not in repr(loaded)
    assert set(loaded.values.secrets()) == {"sk-very-secret", "postgresql+psycopg://me:pw@localhost/x"}


def test_a_password_inside_an_address_is_a_secret_too() -> None:
    loaded = load(SEARXNG_URL="http://a.example,http://me:geheim42@b.example", PUBLIC_URL="http://c.example:80")
    assert loaded.values.secrets() == ["geheim42"]


def test_a_misspelt_name_is_reported_with_the_one_that_was_meant(tmp_path: Path) -> None:
    loaded = load("serach: {timeout: 9}\nsearch: {timeuot: 9, 三: 1}\n", tmp_path)
    assert loaded.values.search.timeout == 5
    assert [str(problem) for problem in loaded.problems] == [
        "settings.yaml serach：没有这个设置，是不是想写 search，已改用 默认值",
        "settings.yaml search.timeuot：没有这个设置，是不是想写 timeout，已改用 默认值",
        "settings.yaml search.三：没有这个设置，已改用 默认值",
    ]


def test_lists_are_read_as_people_write_them() -> None:
    loaded = load(SEARCH_PROVIDER_PRIORITY=" searxng ，bundled、ddgs,, ", SEARXNG_URL="http://a:8080/ , https://b/x/")
    assert loaded.values.section(EngineOrder).provider_priority == ("searxng", "bundled", "ddgs")
    assert loaded.values.section(SearxngSettings).url == ("http://a:8080", "https://b/x")


@pytest.mark.parametrize("text", ["search: [", "- a\n- b", "just words", "search: 5", "\x00", "a: &a [*a]" * 3])
def test_a_broken_file_is_reported_and_the_defaults_hold(text: str, tmp_path: Path) -> None:
    loaded = load(text, tmp_path)
    assert loaded.values == load().values
    assert loaded.problems
    assert "settings.yaml" in loaded.problems[0].key


def test_a_file_in_another_encoding_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "settings.yaml"
    path.write_bytes("search: {language: 中文}".encode("gb18030"))
    assert "UTF-8" in load_settings(path, {}, sections=()).problems[0].reason


def test_yaml_types_that_are_not_numbers(tmp_path: Path) -> None:
    loaded = load("search: {timeout: true, rate_limit: [1], result_count: 2026-01-01}", tmp_path)
    assert loaded.values.search == load().values.search
    assert loaded.values.unusable == {"SEARCH_TIMEOUT", "SEARCH_RATE_LIMIT", "SEARCH_RESULT_COUNT"}
    assert len(loaded.problems) == 3


@pytest.mark.parametrize(("written", "meant"), [("on", "on"), ("off", "off"), ("'on'", "on"), ("Auto", "auto")])
def test_on_and_off_may_be_written_with_or_without_quotes(written: str, meant: str, tmp_path: Path) -> None:
    found = load(f"chat: {{search_default: {written}}}", tmp_path)
    assert (found.values.chat.search_default, found.problems) == (meant, ())
    assert load(CHAT_SEARCH_DEFAULT=written.strip("'")).values.chat.search_default == meant


def test_settings_are_frozen() -> None:
    values = load().values
    with pytest.raises(ValidationError):
        values.search.timeout = 1  # type: ignore[misc]


class Kettle(Section):
    name = "kettle"
    group = "数据与运行"
    key: ApiKey | None = Field(None, description="水壶的密钥")
    litres: float = Field(1.5, ge=1, description="水壶的容量")


class KettleLid(Section):
    name = "kettle"
    group = "数据与运行"
    colour: str = Field("red", description="壶盖的颜色")


def test_a_section_that_stands_elsewhere_is_like_all_the_others(tmp_path: Path) -> None:
    path = tmp_path / "settings.yaml"
    path.write_text("kettle: {litres: 0, colour: blue, clour: x}", "utf-8")
    loaded = load_settings(path, {"KETTLE_KEY": "hush"}, sections=(Kettle, KettleLid))
    assert loaded.values.section(Kettle).litres == 1.5
    assert loaded.values.section(KettleLid).colour == "blue", "a section may be told in parts"
    assert loaded.values.secrets() == ["hush"]
    assert [problem.key for problem in loaded.problems] == ["settings.yaml kettle.clour", "KETTLE_LITRES"]
    assert loaded.origins["KETTLE_KEY"] == "environment"
    assert loaded.origins["KETTLE_COLOUR"] == "settings.yaml"
    assert load_settings(path, {}, sections=()).problems[0].reason == "没有这个设置"


def test_without_arguments_everything_has_its_default() -> None:
    assert Settings().sections == load_settings(NOWHERE, {}, sections=()).values.sections
    assert Settings().section(Kettle) == Kettle()


@pytest.mark.parametrize(
    ("variable", "address"),
    [
        ("CACHE_URL", "redis://localhost:port/0"),
        ("CACHE_URL", "redis://:pa/ss@localhost:6379/0"),
        ("CACHE_URL", "redis://localhost:6379/word"),
        ("DATABASE_URL", "postgresql+psycopg://u:geheim@db:port/wenyuan"),
        ("DATABASE_URL", "postgresql+psycopg://u:ge/heim@db/wenyuan"),
        ("DATABASE_URL", "mysql://u:geheim@db/wenyuan"),
    ],
)
def test_an_address_that_cannot_be_read_serves_the_default_and_tells_no_password(variable: str, address: str) -> None:
    found = loaded(**{variable: address})
    assert getattr(found.values, variable.split("_")[0].lower()).url is None
    (problem,) = found.problems
    assert problem.key == variable
    assert "heim" not in str(problem)
    assert "pa/ss" not in str(problem)


def test_a_password_in_an_address_is_not_in_the_repr() -> None:
    settings = loaded(
        SEARXNG_URL="https://user:geheim@searx.example", OPENAI_BASE_URL="https://u:geheim@llm.example/v1"
    )
    assert "geheim" not in repr(settings.values)
    assert "searx.example" in repr(settings.values)


def test_a_value_that_cannot_be_used_is_quoted_but_no_secret_is() -> None:
    wrong = {
        "SEARCH_TIMEOUT": "bald",
        "PUBLIC_URL": "ftp://me:geheim42@c.example",
        "DATABASE_URL": "mysql://me:geheim42@db/x",
        "CACHE_URL": "geheim42",
        "LOG_LEVEL": "x" * 10_000,
        "CHAT_PROMPT": "api_key=geheim42geheim42",
    }
    problems = "\n".join(problem.for_operator() for problem in load(**wrong).problems)
    assert "SEARCH_TIMEOUT：「bald」需要一个数字，已改用 默认值" in problems
    assert "ftp://***@c.example" in problems
    assert "geheim42" not in problems
    assert len(problems) < 1_500
