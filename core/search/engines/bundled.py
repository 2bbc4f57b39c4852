"""The built-in manual as a search engine: no key, no network, and no results if the question is not about it.

A question is about the program if most of its terms stand in the titles and keywords of the manual. A word that only the
text of an article mentions is no sign of that.

An article's score is the share of the question that it accounts for, 0 to 1. A term of the question weighs more the
fewer articles have it. It counts fully in a title, less in a keyword, least in the text. A term that no article has
weighs most.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Self

from core.base.chinese.sentences import best_passage, idf_weights, key_terms, markdown_to_text, phrase_terms
from core.base.http import Deadline
from core.base.settings import Settings
from core.base.text import is_chinese
from core.base.web_addresses import host_of
from core.search.engine import SearchEngine
from core.search.manual import MANUAL_FOLDER, ManualArticle, load_manual
from core.search.results import EngineResults
from core.search.types import SearchQuery, SearchResult, SearchType

SNIPPET_LENGTH = 200  # what a model gets to read of it

TITLE_CREDIT = 1.0
KEYWORD_CREDIT = 0.8
TEXT_CREDIT = 0.6
"""Limit that a term reaches if the text repeats it often; one mention earns half of it."""
THRESHOLD = 0.25

_GRAMMAR = frozenset("能会里")
"""Characters between words: an unknown pair with one of them, such as 里能 in 侧栏里能调什么, is not a word."""

# The manual is in Chinese; readers also ask in English. Names and commands are the same in both.
_IN_CHINESE = dict(
    re.findall(
        r"(\w+):(\w+)",
        """
    answer:回答 backup:备份 cache:缓存 case:案例 change:修改 citation:引用 cite:引用 close:关闭 command:命令
    config:配置 configure:配置 conversation:对话 copy:复制 court:法院 dark:深色 dashboard:看板 data:数据
    delete:删除 deploy:部署 difference:区别 disable:关闭 enable:打开 engine:引擎 error:报错 export:导出
    failed:失败 free:免费 history:历史 image:图片 install:安装 internet:联网 judgment:判决书 language:语言
    law:法律 limit:上限 link:链接 local:本地 login:登录 manual:手册 mobile:手机 mode:模式 model:模型 open:打开
    page:页面 phone:手机 privacy:隐私 proxy:代理 question:提问 reference:参考文献 run:运行 search:搜索
    server:服务器 set:设置 setting:设置 setup:配置 slow:太慢 source:来源 start:启动 statute:法条 step:步骤
    stop:停止 timeout:超时 web:联网
    """,
    )
)

_NAME_PARTS = re.compile(r"[._+#-]")
_CODE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Entry:
    article: ManualArticle
    title: frozenset[str]
    keywords: frozenset[str]
    text: Counter[str]
    everything: frozenset[str]

    def names(self, term: str) -> bool:
        """Return whether the term stands in the title or the keywords."""
        return term in self.title or term in self.keywords

    def credit(self, term: str) -> float:
        if term in self.title:
            return TITLE_CREDIT
        if term in self.keywords:
            return KEYWORD_CREDIT
        mentions = self.text[term]
        return TEXT_CREDIT * mentions / (mentions + 1)


class BundledEngine(SearchEngine):
    name = "bundled"
    label = "内置手册"
    filters_language = False
    filters_time_range = False
    reaches_web = False
    test_question = "怎么打开联网搜索"
    is_set_up = False
    is_cacheable = False
    """False: a cached answer from the manual would hide the web for an hour after the network is back."""

    def __init__(self, *, public_url: str, folder: Path = MANUAL_FOLDER) -> None:
        self._public_url = public_url.rstrip("/")
        self._folder = folder
        self._index: tuple[_Entry, ...] | None = None
        self._lock = Lock()

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        return cls(public_url=settings.public.url)

    def search(
        self, query: SearchQuery, num_results: int, *, deadline: Deadline | None = None
    ) -> Sequence[SearchResult]:
        if query.type is not SearchType.GENERAL or not self._allowed(query.sites):
            return []  # the manual holds no news, no statutes and no judgments
        entries = self._entries()
        question = query.question or query.text
        phrases = phrase_terms(question if is_chinese(question) else _in_chinese(question))
        if not _is_about_program(phrases, entries):
            return []
        weights = idf_weights((term for phrase in phrases for term in phrase), [entry.everything for entry in entries])
        scored = sorted(((_score(entry, phrases, weights), entry) for entry in entries), key=lambda pair: -pair[0])
        found = [entry.article for score, entry in scored if score >= THRESHOLD]
        return EngineResults(
            self._result(article, weights, rank) for rank, article in enumerate(found[:num_results], 1)
        )

    def _allowed(self, sites: tuple[str, ...]) -> bool:
        return not sites or host_of(self._public_url) in sites

    def _entries(self) -> tuple[_Entry, ...]:
        with self._lock:
            if self._index is None:
                self._index = tuple(map(_entry, load_manual(self._folder)))
            return self._index

    def _result(self, article: ManualArticle, weights: dict[str, float], rank: int) -> SearchResult:
        url = f"{self._public_url}/help?article={article.slug}"
        text = markdown_to_text(article.body)
        return SearchResult(
            title=article.title,
            url=url,
            snippet=best_passage(text, weights, SNIPPET_LENGTH),
            source=host_of(url),
            engine=self.name,
            rank=rank,
            read="library",  # the program's own words: there is no page out there to read
            text=f"{article.title}\n{text}",
        )


def _in_chinese(text: str) -> str:
    return re.sub(r"[A-Za-z]+", lambda word: _IN_CHINESE.get(re.sub("(?<=..)s$", "", word[0].lower()), word[0]), text)


def _entry(article: ManualArticle) -> _Entry:
    title, keywords, text = (
        Counter(_with_parts(key_terms(part)))
        for part in (article.title, "\n".join(article.keywords), _strip_code_examples(article.body))
    )
    return _Entry(article, frozenset(title), frozenset(keywords), text, frozenset(title | keywords | text))


def _strip_code_examples(markdown: str) -> str:
    """Remove Chinese from code: `search "离婚冷静期"` is about search, not about divorce."""
    return _CODE.sub(lambda code: re.sub(r"[^\x00-\x7f]+", " ", code[0]), markdown)


def _with_parts(found: Iterable[str]) -> Iterable[str]:
    """Yield each term and its parts: OPENAI_API_KEY is also found by the words openai, api and key."""
    for term in found:
        yield term
        if term.isascii():
            yield from (part for part in _NAME_PARTS.split(term) if 1 < len(part) < len(term))


def _is_about_program(phrases: Sequence[Sequence[str]], entries: Sequence[_Entry]) -> bool:
    """Return whether titles and keywords have more of the question's terms than they lack."""
    known = unknown = 0.0
    for phrase in phrases:
        named = [False, *(any(entry.names(term) for entry in entries) for term in phrase), False]
        for place, term in enumerate(phrase, 1):
            if named[place]:
                known += len(_NAME_PARTS.split(term))
            elif term.isascii():
                unknown += 2  # a name or an English word: the question is about that
            elif not _GRAMMAR & set(term):
                unknown += _seam_weight(named[place - 1], named[place + 1])
    return known > unknown


def _seam_weight(*neighbours: bool) -> float:
    """Return the weight of an unknown pair of characters: next to a known word it may be only the seam between two words."""
    return 1 - 0.5 * sum(neighbours)


def _score(entry: _Entry, phrases: Sequence[Sequence[str]], weights: dict[str, float]) -> float:
    earned = total = 0.0
    for phrase in phrases:
        credits = [0.0, *map(entry.credit, phrase), 0.0]
        for place, term in enumerate(phrase, 1):
            weight = weights[term]
            if not credits[place]:
                weight *= _seam_weight(credits[place - 1] > 0, credits[place + 1] > 0)
            earned += weight * credits[place]
            total += weight
    return earned / total if total else 0.0
