"""Search for statutes by name, by article in any notation, or by everyday words: in the index, else on the web."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from core.base.chinese.numerals import NUMERAL, to_chinese
from core.base.chinese.script import plain, to_simplified
from core.base.chinese.sentences import QUESTION_WORDS
from core.base.text import is_blank, one_line, shorten
from core.legal.article_numbers import ArticleNumber
from core.legal.entities import LawKind, LawStatus
from core.legal.errors import NoLegalIndex
from core.legal.library.article_index import SemanticScores, StoredArticle
from core.legal.library.article_references import ArticleReference, article_references, cited_numbers
from core.legal.library.index import LegalIndex, LegalLibrary
from core.legal.library.law_index import LawVersion
from core.legal.library.version_on_day import VersionOnDay, repeal_note, version_on
from core.legal.text.law_names import law_key
from core.legal.text.law_qualifiers import edition_of_name, is_not_a_law
from core.legal.text.lay_words import search_terms
from core.legal.text.paragraphs import excerpt
from core.legal.text.periods import Period, parse_period
from core.legal.text.statute_citations import Citation, find_citations
from core.search.errors import AllEnginesFailed, QueryError
from core.search.types import SearchResponse, SearchResult

Fallback = Callable[[str, int], SearchResponse]
"""Web search of type regulation or case: takes the query and the number of results."""
AnsweredBy = Literal["index", "web"]
LawPredicate = Callable[[LawVersion], bool]
"""Filter that returns whether the reader wants to see results of a law."""

LONGEST_QUERY = 1_000
"""Limit of a search. A longer text that cites laws is checked, not searched for."""
_LONGEST_NAME = 50
_MANY_LAWS = 3
_MORE_THEN = 5
"""Factor for the number of hits to examine in a search at a time. Hits that were not in force then rank lower."""

_ASKS = re.compile(rf"[?？!！。；;]|{QUESTION_WORDS}|哪|\s.+\s")
_NAME_END = re.compile(
    r"(?:法典|法|条例|规定|办法|细则|规则|解释|决定|通则|准则|批复|通知|意见|纪要|修正案|公约|标准|章程|答复)"
    r"(?:[（(][一二三四五六七八九十\d]+年?[）)]|[一二三四五六七八九十])?$"
)
_IS_A_NAME = re.compile(r"[\w()（）]+(?:法典|条例|(?<![方办做说看想违合非执司守无算用办])法)")
# 公司法解释三 is the third interpretation, not its article 3.
_NUMBERED_INTERPRETATION = re.compile(r"(?:解释|规定)[（(]?[一二三四五六七八九十][）)]?$")
_NAME_AND_NUMBER = re.compile(
    rf"(?P<law>.*?[^\d第 ,])[ ,的]*第?\s*(?P<number>{NUMERAL})\s*条?(?:\s*之\s*(?P<suffix>{NUMERAL}))?"
)


@dataclass(frozen=True, slots=True)
class LegalArticle:
    """One result: an article, a whole law (no article number), or a page of the web."""

    law_name: str
    article_number: str | None
    content: str
    effective_date: str | None
    source: str
    kind: LawKind | None = None
    status: LawStatus | None = None
    published: str | None = None
    issuer: str | None = None
    path: tuple[str, ...] = ()
    paragraph: int | None = None
    item: int | None = None
    excerpt: str | None = None
    """The 款 or 项 that was asked for."""
    article_count: int | None = None
    references: tuple[ArticleReference, ...] = ()
    url: str | None = None
    law_id: int | None = None
    later_amendment: str = ""
    """Note that the law was amended after this text, or empty."""
    remark: str = ""
    """Note about the version, if the search was for a time."""

    def citation(self) -> str:
        """Return the citation as lawyers write it: 《中华人民共和国劳动合同法》第三十八条第一款."""
        paragraph = f"第{to_chinese(self.paragraph)}款" if self.paragraph else ""
        item = f"第（{to_chinese(self.item)}）项" if self.item else ""
        return f"《{self.law_name}》" + (f"{self.article_number}{paragraph}{item}" if self.article_number else "")

    def to_json(self) -> dict[str, Any]:
        """Return the article with the keys of the documented JSON."""
        return {
            "lawName": self.law_name,
            "articleNumber": self.article_number,
            "content": self.content,
            "effectiveDate": self.effective_date,
            "source": self.source,
            "kind": self.kind.value if self.kind else None,
            "status": self.status.value if self.status else None,
            "publishDate": self.published,
            "issuer": self.issuer,
            "path": list(self.path),
            "paragraph": self.paragraph,
            "item": self.item,
            "excerpt": self.excerpt,
            "articleCount": self.article_count,
            "references": [reference.to_json() for reference in self.references],
            "url": self.url,
            "amendedLater": self.later_amendment or None,
            "remark": self.remark,
        }


@dataclass(frozen=True, slots=True)
class RegulationResponse:
    query: str
    results: tuple[LegalArticle, ...]
    origin: AnsweredBy
    search_time: float = 0.0
    note: str = ""
    """Note for the reader, such as 《…》没有第…条."""
    web: SearchResponse | None = None
    as_of: Period | None = None
    """Period whose law was asked for."""

    def to_json(self) -> dict[str, Any]:
        return {
            "query": self.query,
            "asOf": self.as_of.iso if self.as_of else None,
            "results": [result.to_json() for result in self.results],
            "totalResults": len(self.results),
            "searchTime": round(self.search_time, 4),
            "origin": self.origin,
            "note": self.note,
        }


class RegulationService:
    """Search for laws and articles in the library, with the web as a fallback."""

    def __init__(self, library: LegalLibrary, fallback: Fallback | None = None) -> None:
        self._library = library
        self._fallback = fallback

    def search(
        self,
        text: str,
        limit: int = 10,
        *,
        other_wordings: Sequence[str] = (),
        named_articles: Sequence[Citation] = (),
        as_of: Period | None = None,
        law_filter: LawPredicate | None = None,
    ) -> RegulationResponse:
        """Return articles and laws for a query. `other_wordings` are the same question in other words, such as the
        reader's own if a model chose the query; `named_articles` are those that a model takes for the answer. `as_of`
        searches the law of that time. `law_filter` limits the laws, unless the query names a law."""
        started = time.perf_counter()
        query = one_line(text)
        if is_blank(query):
            raise QueryError
        if len(query) > LONGEST_QUERY:
            problem = f"查询有 {len(query):,} 个字符，超过了 {LONGEST_QUERY} 个字符的上限。"
            raise QueryError(problem, cure="请缩短后再查。")
        index = self._library.index()
        if index is None and self._fallback is None:
            raise NoLegalIndex
        wordings = tuple(to_simplified(words) for words in map(one_line, other_wordings) if _adds_terms(words, query))
        similar = self._library.similar_articles
        asked = to_simplified(query)
        lookup = _Lookup(index, asked, limit, similar, wordings, named_articles, as_of, law_filter) if index else None
        results, note = lookup.run() if lookup else ([], "")
        answered = lookup and (lookup.article_missing or (results and not lookup.law_missing))
        if answered or self._fallback is None:
            response = RegulationResponse(query, tuple(results[:limit]), "index", note=note)
        else:
            response = _search_web(self._fallback, query, limit, note)
        return replace(response, search_time=time.perf_counter() - started, as_of=as_of)


def _search_web(web_search: Fallback, query: str, limit: int, note: str) -> RegulationResponse:
    """Search the web. If that fails, the note that the library lacks the law is still returned."""
    try:
        web = web_search(query, limit)
    except AllEnginesFailed as error:
        if not note:
            raise
        return RegulationResponse(query, (), "index", note=f"{note}{error}")
    return RegulationResponse(query, tuple(map(_from_web, web.results)), "web", note=note, web=web)


_FEWEST_TERMS = 6
"""Fewest terms of a wording that is searched. 那第二种呢 has fewer and would find any article."""


def _adds_terms(words: str, query: str) -> bool:
    return words != query and len(words) <= LONGEST_QUERY and len(search_terms(words)) >= _FEWEST_TERMS


@dataclass(slots=True)
class _Lookup:
    """One query against one index."""

    _index: LegalIndex
    _query: str
    _limit: int
    _semantic_scores: SemanticScores
    _other_wordings: Sequence[str]
    _named_articles: Sequence[Citation]
    _as_of: Period | None
    _law_filter: LawPredicate | None
    law_missing: bool = False
    """True if the query names a law that the index does not hold, so the results are only related."""
    article_missing: bool = False
    """True if the index holds every law that was named but none of the articles: the web has no other."""
    _versions_by_key: dict[str, VersionOnDay] = field(default_factory=dict)

    def run(self) -> tuple[list[LegalArticle], str]:
        if cited := [citation for citation in find_citations(self._query, self._index.is_known) if citation.law]:
            return self._look_up_citations(cited)
        if self._index.resolve(self._query):
            return self._find_laws(), ""
        if ended := self._look_up_repealed(self._query):
            return ended
        if _NUMBERED_INTERPRETATION.search(self._query) and (laws := self._find_laws()):
            return laws, ""
        if loose := self._loosely_cited():
            return self._look_up_citations([loose])
        if name := self._name_before_number():
            self.law_missing = True
            return [], self._not_found_note(name)
        missing = self._name_not_in_index()
        results = self._named_or_described()
        return results, self._not_found_note(missing, "，以下是名称或内容相近的" if results else "") if missing else ""

    def _named_or_described(self) -> list[LegalArticle]:
        if len(self._query) > _LONGEST_NAME or _ASKS.search(self._query):
            return self._search_full_text()
        if _NAME_END.search(self._query) and (laws := self._find_laws()):
            return laws
        titled = self._index.containing(self._query, _MANY_LAWS) if len(self._query) >= 2 else []
        return self._law_results(titled) + self._search_full_text()

    def _name_not_in_index(self) -> str:
        """Return the law that the query names and the index does not hold: 《月光法》怎么规定, 月光法."""
        named = re.findall(r"《([^《》]{2,50})》", self._query)
        if not named and len(self._query) <= _LONGEST_NAME and _IS_A_NAME.fullmatch(self._query):
            named = [self._query]
        return next((name for name in named if not is_not_a_law(name) and not self._index.is_known(name)), "")

    def _version_on_day(self, key: str, period: Period) -> VersionOnDay:
        if key not in self._versions_by_key:
            self._versions_by_key[key] = version_on(self._index, key, period)
        return self._versions_by_key[key]

    def _look_up_citations(self, citations: Sequence[Citation]) -> tuple[list[LegalArticle], str]:
        results: list[LegalArticle] = []
        notes: list[str] = []
        for citation in citations:
            name = citation.law or ""
            law = self._find_law(name)
            if law is None:
                ended, note = self._look_up_repealed(name) or ([], self._not_found_note(name))
                self.law_missing |= not ended
                results += ended
                notes.append(note)
                continue
            if law_key(name) != law.key and not self._index.resolve(name):
                notes.append(f"库中没有《{name}》，以下是名称最接近的《{law.name}》。")
            then = self._version_on_day(law.key, self._as_of) if self._as_of else self._edition(law, citation)
            law = then.law if then else law
            found = list(self._articles(law, citation, then.note if then else None))
            results += found
            if not found:
                highest = to_chinese(self._index.highest(law.id))
                notes.append(f"没有这一条：《{law.name}》共{highest}条，没有{citation.article}。")
        self.law_missing &= not results
        self.article_missing = not results and not self.law_missing
        asked = len(self._query) - sum(citation.end - citation.start for citation in citations)
        if asked > 6:  # otherwise the query is only the citation, and other articles are no answer
            known = {(result.law_id, result.article_number) for result in results}
            results += [hit for hit in self._search_full_text() if (hit.law_id, hit.article_number) not in known]
        return results, "".join(notes)

    def _edition(self, law: LawVersion, citation: Citation) -> VersionOnDay | None:
        """Return the version of the year in a citation (公司法（2018年修正）): made then, else in force then."""
        name = citation.law or ""
        edition = citation.edition or (None if law_key(name) == law.key else edition_of_name(name))
        period = parse_period(str(edition.year)) if edition and edition.year else None
        if edition is None or period is None:
            return None
        for version in self._index.versions(law.key):
            if (version.published or "").startswith(str(edition.year)):
                return VersionOnDay(version, True, f"这是 {edition.year} 年公布的版本。")
        return self._version_on_day(law.key, period)

    def _not_found_note(self, name: str, instead: str = "") -> str:
        return f"库中没有《{name}》{instead}。{self._index.suggest_name(name)}"

    def _look_up_repealed(self, name: str) -> tuple[list[LegalArticle], str] | None:
        """Return the article that repealed a law which the index does not hold: 合同法 → 民法典第一千二百六十条."""
        repeal = self._index.repeal(law_key(name)) if not self._index.resolve(name) else None
        stored = self._index.article(repeal.law_id, repeal.number) if repeal else None
        if stored is None:
            return None
        by = self._index.version(stored.law_id).name
        then = repeal_note(self._index, law_key(name), self._as_of) if self._as_of else ""
        note = f"《{name}》已由《{by}》{stored.number}废止，库中没有它的条文。{then}"
        return [article_result(self._index, stored)], note

    def _find_law(self, name: str) -> LawVersion | None:
        exact = self._index.resolve(name)
        if exact is None and _NAME_END.search(name) and not self._index.repeal(law_key(name)):
            return next(iter(self._index.match(name, 1)), None)
        return exact

    def _articles(self, law: LawVersion, citation: Citation, version_note: str | None) -> Iterator[LegalArticle]:
        """Yield the cited articles as they are in force, then other versions with other words. With a note on the
        version, which is then one of a time, other versions are left out."""
        others = [other for other in self._index.versions(law.key) if other != law] if version_note is None else []
        for number in cited_numbers(citation):
            texts = set()
            for version in [law, *others]:
                stored = self._index.article(version.id, number)
                letters = re.sub(r"\W", "", stored.text) if stored else ""
                if stored and letters not in texts:
                    texts.add(letters)
                    yield replace(article_result(self._index, stored, citation), remark=version_note or "")

    def _loosely_cited(self) -> Citation | None:
        """Return the citation in a search box entry: 劳动合同法 38, 刑法120之一, 第38条 劳动合同法."""
        simple = plain(self._query)
        for citation in find_citations(simple, in_statute=True):
            rest = (simple[: citation.start] + simple[citation.end :]).strip(" ,的")
            if rest and len(rest) <= _LONGEST_NAME and self._find_law(rest):
                return replace(citation, law=rest, is_own_law=False)
        found = _NAME_AND_NUMBER.fullmatch(simple)
        if not found or not self._find_law(found["law"]):
            return None
        try:
            number = ArticleNumber.read(found["number"], found["suffix"])
        except ValueError:
            return None
        return Citation(0, len(simple), found["law"], number)

    def _name_before_number(self) -> str:
        """Return the name of the law in a query that is only a law and an article."""
        found = _NAME_AND_NUMBER.fullmatch(plain(self._query))
        return found["law"] if found and _NAME_END.search(found["law"]) else ""

    def _find_laws(self) -> list[LegalArticle]:
        exact = self._index.resolve(self._query)
        if exact is None:
            return self._law_results(self._index.match(self._query, self._limit))
        laws = dict.fromkeys([exact, *self._index.containing(exact.name, self._limit)])
        return self._law_results(list(laws)[: self._limit], named=exact)

    def _law_results(self, laws: Sequence[LawVersion], named: LawVersion | None = None) -> list[LegalArticle]:
        wanted = [law for law in laws if law == named or self._law_filter is None or self._law_filter(law)]
        if not self._as_of:
            return [_law_result(self._index, law) for law in wanted]
        then = [self._version_on_day(law.key, self._as_of) for law in wanted]
        return [replace(_law_result(self._index, one.law), remark=one.note) for one in then]

    def _search_full_text(self) -> list[LegalArticle]:
        wanted = self._is_wanted_version if self._as_of or self._law_filter else None
        limit = self._limit * (_MORE_THEN if self._as_of else 1)
        named = [article.id for article in map(self._named_article, self._named_articles) if article]
        hits = self._index.search(self._query, limit, self._semantic_scores, self._other_wordings, wanted, named)
        if not self._as_of:
            return [article_result(self._index, stored) for stored in hits]
        then = [(self._version_on_day(self._index.version(stored.law_id).key, self._as_of), stored) for stored in hits]
        lower = {stored.id: rank + (0 if one.is_exact else self._limit) for rank, (one, stored) in enumerate(then)}
        then.sort(key=lambda found: lower[found[1].id])
        return [replace(article_result(self._index, stored), remark=one.note) for one, stored in then[: self._limit]]

    def _named_article(self, citation: Citation) -> StoredArticle | None:
        law = self._index.resolve(citation.law or "")
        if law and self._as_of:
            law = self._version_on_day(law.key, self._as_of).law
        return self._index.article(law.id, citation.article) if law else None

    def _is_wanted_version(self, law: LawVersion) -> bool:
        current = self._version_on_day(law.key, self._as_of).law if self._as_of else self._index.current(law.key)
        return law == current and (self._law_filter is None or self._law_filter(law))


def article_result(index: LegalIndex, stored: StoredArticle, citation: Citation | None = None) -> LegalArticle:
    """Return a stored article as a result, with its law, status and references."""
    return replace(
        _result(index, index.version(stored.law_id), stored.text),
        article_number=str(stored.number) or None,
        path=stored.path,
        paragraph=citation.paragraph if citation else None,
        item=citation.item if citation else None,
        excerpt=excerpt(stored.text, citation.paragraph, citation.item) if citation else None,
        references=tuple(article_references(index, stored)),
    )


def _law_result(index: LegalIndex, law: LawVersion) -> LegalArticle:
    articles = index.articles(law.id)
    titles = dict.fromkeys(article.path[0] for article in articles if article.path)
    opening = articles[0].text if articles and not titles else ""
    summary = f"共{to_chinese(law.article_count)}条。" if law.article_count else ""
    content = summary + ("；".join(titles) or shorten(opening, 200))
    return replace(_result(index, law, content), article_count=law.article_count)


def _result(index: LegalIndex, law: LawVersion, content: str) -> LegalArticle:
    return LegalArticle(
        law_name=law.name,
        article_number=None,
        content=content,
        effective_date=law.effective,
        source=law.source,
        kind=law.kind,
        status=index.status(law),
        published=law.published,
        issuer=law.issuer,
        law_id=law.id,
        later_amendment=later_amendment_note(index, law),
    )


def later_amendment_note(index: LegalIndex, law: LawVersion) -> str:
    """Return a note if a version in force was amended after its text, else an empty string."""
    later = index.amended_later(law) if index.status(law) is LawStatus.IN_FORCE else None
    if later is None:
        return ""
    if later.key == law.key:
        since = f"，{later.effective} 起施行" if later.effective else ""
        return f"这是 {law.published} 公布的文本；修改后的文本已于 {later.published} 公布{since}。"
    return f"这是 {law.published} 公布的文本；《{later.name}》（{later.published} 公布）之后改过它。"


def _from_web(result: SearchResult) -> LegalArticle:
    found = LegalArticle(result.title, None, result.snippet, None, result.source)
    return replace(found, published=result.published, url=result.url)
