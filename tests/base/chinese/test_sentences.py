from __future__ import annotations

import time

import pytest

from core.base.chinese.sentences import (
    best_passage,
    coverage,
    idf_weights,
    key_phrases,
    key_terms,
    markdown_to_text,
    split_sentences,
)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", []),
        ("第一句。第二句！第三句", ["第一句。", "第二句！", "第三句"]),
        ("他问「怎么办？行吗？」就走了。完", ["他问「怎么办？行吗？」就走了。", "完"]),
        ("见（例如。这样）说明。好", ["见（例如。这样）说明。", "好"]),
        (
            "Version 3.5 is out. See help?article=x for it. Yes!",
            ["Version 3.5 is out.", "See help?article=x for it.", "Yes!"],
        ),
        ("Use e.g. this. The U.S. Court agreed.", ["Use e.g. this.", "The U.S. Court agreed."]),
        ("1. 打开设置。2. 保存。", ["1. 打开设置。", "2. 保存。"]),
        ("一行\n二行", ["一行", "二行"]),
        ("没有引号的结尾「。后面", ["没有引号的结尾「。", "后面"]),
    ],
)
def test_sentences(text: str, parts: list[str]) -> None:
    assert split_sentences(text) == parts


@pytest.mark.parametrize("text", ["「" * 50_000, "“（《" * 20_000, "。" * 50_000, "a. " * 20_000])
def test_splitting_hostile_text_takes_no_time(text: str) -> None:
    started = time.thread_time()
    split_sentences(text)
    assert time.thread_time() - started < 10


@pytest.mark.parametrize(
    ("question", "phrases"),
    [
        ("怎么打开联网搜索？", ["打开联网搜索"]),
        ("SearXNG 返回 403 怎么办", ["SearXNG", "返回", "403"]),
        ("How do I set OPENAI_API_KEY in settings.yaml?", ["set", "OPENAI_API_KEY", "settings.yaml"]),
        ("首都和申请", ["首都和申请"]),
        ("C++ 是什么", ["C++"]),
        ("怎么办呢？", []),
        ("what is it", []),
    ],
)
def test_key_phrases_leave_the_question_words_out(question: str, phrases: list[str]) -> None:
    assert key_phrases(question) == phrases


def test_key_terms_do_not_cross_a_question_word() -> None:
    assert key_terms("搜索的引擎") == ["搜索", "引擎"]


def test_rare_terms_and_whole_words_weigh_more() -> None:
    weights = idf_weights(["搜索", "缓存", "没有", "redis"], [{"搜索", "缓存"}, {"搜索"}, {"搜索"}])
    assert weights["搜索"] < weights["缓存"] < weights["没有"] < weights["redis"]
    assert coverage(weights, {"搜索", "缓存", "没有", "redis"}) == pytest.approx(1)
    assert coverage(weights, set()) == 0
    assert coverage({}, {"搜索"}) == 0


def test_the_best_passage_begins_to_the_point_and_keeps_sentences_whole() -> None:
    text = "前言很长。" * 20 + "缓存保存一小时。之后重新搜索。" + "后记很长。" * 20
    passage = best_passage(text, {"缓存": 1.0}, 40)
    assert passage.startswith("缓存保存一小时。之后重新搜索。后记很长。")
    assert len(passage) <= 40
    assert passage.endswith("。")


def test_without_a_match_the_passage_is_the_beginning() -> None:
    assert best_passage("第一句。第二句。", {"缓存": 1.0}, 5) == "第一句。"


def test_only_a_sentence_longer_than_the_limit_is_cut() -> None:
    assert best_passage("缓存" * 50, {"缓存": 1.0}, 20) == ("缓存" * 50)[:19] + "…"
    assert best_passage("缓存" * 50 + "。短句。", {"缓存": 1.0}, 20) == "短句。"


def test_plain_text_has_no_marks() -> None:
    markdown = """# 标题

**粗体**和 `SEARXNG_URL`，见[手册](x.md)。

1. 第一步 `a_b`
2. 改成：

```yaml
search:
  formats: [html]
```

- [ ] 待办 *重点*
> 引用

| 键 | 默认 | 说明 |
|---|:-:|---|
| `A` | 1 | 第一 |
| B | 2 | 第二 |

| 名 | 值 |
|---|---|
| C | 3 |
"""
    assert markdown_to_text(markdown).splitlines() == [
        "粗体和 SEARXNG_URL，见手册。",
        "第一步 a_b。",
        "改成：「search: formats: [html]」。",
        "待办 重点。",
        "引用。",
        "A：默认 1，说明 第一。",
        "B：默认 2，说明 第二。",
        "C：3。",
    ]


def test_a_long_listing_is_left_out() -> None:
    assert markdown_to_text("看下面。\n```\n" + "x = 1\n" * 100 + "```\n完。") == "看下面。\n完。"
