from __future__ import annotations

import logging
import re
from pathlib import Path

import pytest
import yaml

from core.answer.events import Answer, SearchFinished
from core.app import build_app
from core.run.question import AnswerOptions
from core.search.manual import ManualArticle, find_article, load_manual, manual_articles
from support.base import ROOT, loaded
from support.manual_questions import ABOUT, OUTSIDE


def write(folder: Path, name: str, text: str | bytes) -> None:
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())


def test_reads_front_matter_and_body(tmp_path: Path) -> None:
    write(
        tmp_path,
        "02-cache.md",
        "---\ntitle: 缓存：多久\nkeywords: 缓存 过期，TTL\nsection: 搜索\n---\n\n一小时。\n\n---\n完\n",
    )
    write(tmp_path, "01-list.md", "\ufeff---\r\ntitle: 列表\r\nkeywords: [make run, 启动]\r\n---\r\n正文。\r\n")
    assert load_manual(tmp_path) == (
        ManualArticle("list", "列表", ("make run", "启动"), "", "正文。"),
        ManualArticle("cache", "缓存：多久", ("缓存", "过期", "TTL"), "搜索", "一小时。\n\n---\n完"),
    )


@pytest.mark.parametrize(
    "broken",
    [
        "",
        "没有前言",
        "---\ntitle: 没有结尾\n正文",
        "---\ntitle: [坏\n---\n正文",
        "---\n只有一句话\n---\n正文",
        "---\nkeywords: 没有标题\n---\n正文",
        "---\ntitle: 没有正文\n---\n  \n",
        b"---\ntitle: \xff\xfe\n---\nx",
    ],
)
def test_a_broken_file_is_skipped_and_logged(
    tmp_path: Path, broken: str | bytes, caplog: pytest.LogCaptureFixture
) -> None:
    write(tmp_path, "a.md", broken)
    write(tmp_path, "b.md", "---\ntitle: 好\n---\n正文。")
    with caplog.at_level(logging.WARNING):
        assert [article.slug for article in load_manual(tmp_path)] == ["b"]
    assert "a.md" in caplog.text


def test_a_missing_folder_is_an_empty_manual(tmp_path: Path) -> None:
    assert load_manual(tmp_path / "missing") == ()


def test_the_real_manual_is_whole(caplog: pytest.LogCaptureFixture) -> None:
    articles = load_manual()
    assert not caplog.records
    assert len(articles) >= 48
    assert all(article.keywords and article.section for article in articles)
    slugs = [article.slug for article in articles]
    assert len(set(slugs)) == len(slugs)
    assert all(re.fullmatch(r"[a-z][a-z0-9-]*", slug) for slug in slugs)


def test_finds_an_article_by_its_slug() -> None:
    article = manual_articles()[0]
    assert find_article(article.slug) is article


@pytest.mark.parametrize("slug", ["", "missing", "../../README", "/etc/passwd", "a\x00b"])
def test_an_unknown_slug_finds_nothing(slug: str) -> None:
    assert find_article(slug) is None


def test_the_article_on_searxng_says_what_the_deployed_file_says() -> None:
    article = find_article("searxng-setup")
    assert article is not None
    (written,) = re.findall(r"```yaml\n(.*?)```", article.body, re.DOTALL)
    told, deployed = yaml.safe_load(written), yaml.safe_load((ROOT / "deploy/searxng/settings.yml").read_text("utf-8"))
    assert told["server"].pop("secret_key")
    assert told == deployed


@pytest.mark.parametrize("mode", ["chat", "agent"])
@pytest.mark.parametrize("web", ["", "searxng,"], ids=["no web engine", "the web is away"])
def test_without_a_model_only_questions_about_the_program_cite_the_manual(mode: str, web: str) -> None:
    """Measured: none of 60 outside, 58 of 60 about the program."""
    order, nowhere = f"{web}bundled", "http://127.0.0.1:9"
    app = build_app(loaded(SEARCH_PROVIDER_PRIORITY=order, SEARXNG_URL=nowhere, SEARCH_RATE_LIMIT="1000"))
    service = app.agent if mode == "agent" else app.chat

    def cited(question: str) -> set[str]:
        """Return the articles among the first three sources that were found for the question."""
        events = list(service.stream(question, options=AnswerOptions(search=True)))
        sources = [source for event in events if isinstance(event, SearchFinished) for source in event.sources]
        assert bool(sources) >= any(isinstance(event, Answer) and event.sources for event in events)
        return {source.url.rpartition("=")[2] for source in sources[:3]}

    try:
        assert len([question for question in OUTSIDE if cited(question)]) <= 1
        assert len([question for question, slugs in ABOUT.items() if cited(question) & set(slugs)]) >= 57
    finally:
        app.close()
