from __future__ import annotations

import logging
import re
from pathlib import Path

import pytest
import yaml

from core.search.manual import ManualArticle, find_article, load_manual, manual_articles
from support.base import ROOT


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
