"""A follow-up in words that can be searched: 「那第二种呢？」 alone says nothing to a search engine.

A rule joins the words of the questions before it; a model, where there is one, is asked for a better query, once and
briefly. Whatever it may do wrong, the rule's words are searched instead. An earlier answer was written from pages of the web:
only its outline is shown to the model, and a query may carry nothing out that its reader did not write.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from core.answer.message import Message
from core.base.chinese.sentences import QUESTION_WORDS, key_phrases, key_terms
from core.base.settings import ModelChoice
from core.base.text import fold, one_line, shorten, terms
from core.llm.errors import ModelEmptyAnswer, ModelError
from core.llm.model import Model
from core.llm.pieces import TextPiece, ThoughtPiece, TokenUsage
from core.llm.tokens import estimate_tokens
from core.reading.instructions import count_instructions
from core.run.prompts import LONGEST_QUERY, fill, quotes_instructions

log = logging.getLogger(__name__)

SECONDS = 4.0
"""The search waits no longer for a query than for a slow engine."""
TOKENS = 512
"""For the query itself 60 would do; some models think first."""
REST_SECONDS = 600.0
"""A model that took its time and brought nothing is not asked again for so long."""
REMEMBERED = 5
"""Questions before this one."""
QUESTION_LENGTH = 200
ENOUGH_TOKENS = 20
"""A question that points back to nothing and is longer than this says what it is about."""
MOST_TOKENS = 45
"""A question that is longer than this can be searched, whatever it points to."""
LITTLE = 6
"""Characters of content: with fewer a question leaves out what it is about, unless they are one long word."""
LONG_WORD = 5
REPEATED_SHARE = 0.5
"""Of its words, that a question has in common with the one before it when it names its subject again."""
OUTLINE_LENGTH = 400
KNOWN_SHARE = 0.5
"""Of a query's words, that must have been said before: prose about the task has fewer."""
NOTHING_SPENT = TokenUsage(0, 0, estimated=False)


@dataclass(frozen=True, slots=True)
class Rewritten:
    query: str
    """Empty: the model was of no help."""
    usage: TokenUsage = NOTHING_SPENT


class Rewriter:
    """One for the process: it remembers which models are too slow for this. The arguments are for tests."""

    def __init__(self, *, seconds: float = SECONDS, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._rests: dict[tuple[ModelChoice, str | None], float] = {}

    async def rewrite(self, question: str, history: Sequence[Message], model: Model) -> Rewritten:
        """What to search for. The first question of a conversation is always searched in its own words."""
        earlier = [message.text for message in history if message.role == "user"]
        if not earlier or not _may_depend(question):
            return Rewritten(question)
        asked = Rewritten("")
        key = (model.choice, model.settings.openai.base_url)
        began = self._clock()
        if not model.choice.embedded and began >= self._rests.get(key, 0.0):
            asked = await by_model(question, history, model, seconds=self._seconds)
            if not asked.query and self._clock() - began >= self._seconds / 2:
                self._rests[key] = self._clock() + REST_SECONDS
        return Rewritten(asked.query or by_rule(question, earlier), asked.usage)


# ── The rule ──────────────────────────────────────────────────────────────────────────────────────────────────────────

_ASKS = re.compile(
    f"{QUESTION_WORDS}|什麼|怎麼|怎樣|為何|為什麼|嗎|哪|幾|多少|是否|誰|谁|几|何时|何時|what|how|why|when|which|who"
)
_COURTESY = re.compile(
    r"^(?:(?:好的?|好吧|嗯+|哦+|噢|行|对了?|對了?|谢谢[你您]?|謝謝[你您]?|多谢|多謝|感谢|感謝|辛苦了|明白了?|知道了|了解了?|瞭解了?|懂了"
    r"|原来如此|原來如此|不错|不錯|你好|您好|再见|再見|ok(?:ay)?|thanks?(?: you)?(?: very much)?|got it|i see|great|hello|hi|bye)"
    r"[\s，,。.！!、…～~]*(?=$|(?<=[\s，,。.！!、…～~]))|请问(?:一下)?[，,\s]*|請問(?:一下)?[，,\s]*)+",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(r"[，,；;。？?！!\n]")
# 那不勒斯 and 那英 are names, 其他 holds no pronoun, and 这周 points to the calendar.
_NAMES = "那(?:不勒斯|曲|英(?![国國语語文])|拉提|霸|达慕|達慕|坡)"
_TO_THE_ASSISTANT = re.compile(r"^[你您](?!们|們|说|說|提|讲|講|刚|剛|列|上面|前面|给|給)")
_ORDINAL = r"第[一二三四五六七八九十百两兩\d]+"
_LINK = rf"(?:那么|那麼|(?!{_NAMES})那|所以|然后|然後|接着|接著|还有|還有|另外|此外|而且|但是?|不过|不過|and|but|so|then|also)"
_POINTS_BACK = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"^{_LINK}(?![a-z])",
        r"^(?:再(?:说|說|讲|講|详|詳|举|舉|来|來|给|給|具|多)|继续|繼續|接着|接著|具[体體](?!行政)|详细|詳細|比如|例如|举[个些]?例|舉[個些]?例|以上|上面|前面|其中|另一|剩下)",
        r"^(?:有|有没有|有沒有|除此之外)?(?:其他|其它|其余|其餘|别的|別的)(?![人组組])",
        r"(?:接着|接著|继续|繼續)(?:写|寫|说|說|讲|講)",
        r"它|牠|(?<![吉其维維利排无無])[他她](?![人命乡鄉汀杀殺国國])",
        r"[这這](?!(?:一|几|幾|两|兩)?[个個]?(?:周|週|月|年|天|星期|礼拜|禮拜|段时间|段時間|届|屆))",
        r"那(?:个|個|种|種|些|样|樣|里|裡|边|邊|年|天|次|件|家|位|时|時)",
        r"(?<![因如彼])此(?:法|案|事|类|類|种|種|项|項|条|條)",
        r"(?<![应應不活])[该該](?:法|案|公司|条|條|项|項|规|規|办法|辦法|行|地|国|國|产品|產品|方案|方法|人)",
        r"上述|前者|后者|後者|两者|兩者|二者|三者|刚才|剛才|刚刚|剛剛|[你您](?:刚|剛)?(?:说|說|提|讲|講|列)",
        rf"^(?:那|么|麼|请|請|说说|說說|讲讲|講講|解释|解釋|介绍|介紹|一下|关于|關於|再|看看|选|選|用)*{_ORDINAL}(?:种|種|点|點|项|項|类|類|步|款|条|條|节|節|方案|部分|(?:个|個|位|家)(?=呢|怎|如何|是什|是啥|是谁|具|的|有|$))",
        r"^(?:如果|要是|假如|万一|萬一|若)[^，,]{1,14}(?:怎么办|怎麼辦|会怎样|會怎樣|怎么样|行吗|行嗎|可以吗|可以嗎)$",
        r"^(?:用|换成|換成|改成|改用)[^，,]{1,14}(?:怎|如何|可以|行|能|呢)",
        r"^(?:what|how) about\b|^(?:why|how so|really|which one|when|where|who)$|^(?:in|with|using|for|on|from)\b.{1,30}$",
        r"\b(?:its?(?! \w+ (?:to|that|for)\b)|they|them|their|he|she|his|her|th(?:is|at) one|those|these|the (?:first|second|third|last|other|latter|former|same)(?: ones?)?)\b(?! \w+ \w+ \w+ \w+ \w+)",
    )
)
_ENDS_IN_NE = re.compile(r"呢$")
_DEFINES = re.compile(
    r"^(?:什么是|什麼是|何为|何為|何谓|何謂|what(?:'s| is| are) |who(?:'s| is| was) )|^(.{2,12}?)(?:是什么|是什麼|是谁|是誰|是啥)(?:意思|东西|東西)?$",
    re.IGNORECASE,
)
_OF_SOMETHING = re.compile(
    "原因|流程|程序|后果|後果|条件|條件|优点|優點|缺点|缺點|区别|區別|标准|標準|依据|依據|作者|时间|時間|地点|地點|价格|價格|费用|費用"
    "|材料|步骤|步驟|方法|方式|意义|意義|目的|结果|結果|影响|影響|好处|好處|坏处|壞處|特点|特點|内容|內容|定义|定義|范围|範圍|期限|对象|對象"
    "|例外|风险|風險|前提|重点|重點|名字|地址|电话|電話|负责人|負責人|版本|答案|理由|性质|性質|本质|本質"
)
_LEFT_OUT = re.compile(
    r"上述的?|上面[提说說]到的|前面[提说說]到的|[刚剛][才刚剛]?[提说說]到?的|[你您](?:[刚剛][才刚剛]?)?[提说說讲講列](?:到|出)?的"
    r"|[这這那](?:个|個|种|種|些|件|家|位)|[它牠](?:们|們)?|(?<![吉其维維利排无無])[他她](?:们|們)?(?![人命乡鄉汀杀殺国國])"
    r"|^[这這](?=是|要|有|和|与|跟|能|会|算|怎|样|樣|么|麼)"
)
_ASKS_FOR_MORE = re.compile(
    r"(?:接着|接著|继续|繼續)(?:写|寫|说|說|讲|講)|^(?:继续|繼續)(?:吧|啊)?$|^再.{0,8}$|^(?:详细|詳細|具体|具體)(?:一点|一點|点|點|说说|說說|讲讲|講講)?$"
    r"|^(?:有|有没有|有沒有)?(?:其他|其它|别的|別的)?的?(?:吗|嗎)?$"
)
_TIES = re.compile(rf"^(?:(?:{_LINK}|what about|how about)(?![a-z])[\s，,]*)+", re.IGNORECASE)
_PARTICLES = re.compile(r"^[\s的，,、]+|(?:呢|吗|嗎|吧|啊|呀)?[\s？?。！!，,…～~]*$")


def by_rule(question: str, earlier: Sequence[str]) -> str:
    """The content words of the questions before it and its own words; a question that stands alone, as it is."""
    meant = ""
    for asked in (*(shorten(one_line(text), QUESTION_LENGTH) for text in earlier[-REMEMBERED:]), question):
        meant = asked if not meant or _stands_alone(asked) else _joined(meant, asked)
    return meant


def _joined(before: str, question: str) -> str:
    own = _own_words(question)
    if _names_it_again(before, own):
        return own
    room = LONGEST_QUERY - len(own)
    kept = []
    for phrase in (phrase.removesuffix("有") for phrase in key_phrases(before)):
        room -= len(phrase) + 1
        if len(phrase) > 1 and phrase not in question and room >= 0:
            kept.append(phrase)
    return " ".join((*kept, own) if own else kept) if kept else one_line(question)


def _names_it_again(before: str, own: str) -> bool:
    """那上海的最低工资是多少, after 北京的最低工资是多少: with 北京 the wrong one would be found."""
    if _points_back(own) or _says_little(own):
        return False
    mine = set(key_terms(own))
    return len(mine & set(key_terms(before))) > REPEATED_SHARE * len(mine)


def _own_words(question: str) -> str:
    """Without what only ties it to the words before it."""
    words = _TIES.sub("", _COURTESY.sub("", one_line(question)))
    words = one_line(_PARTICLES.sub("", _LEFT_OUT.sub(" ", words)))
    return "" if _ASKS_FOR_MORE.search(words) else words


def _opening(question: str) -> str:
    """What a pronoun further back stands for may stand here."""
    return _CLAUSE_END.split(_COURTESY.sub("", one_line(question)), maxsplit=1)[0].strip()


def _stands_alone(question: str) -> bool:
    return not _may_depend(question) or not (_points_back(question) or _says_little(question))


def _may_depend(question: str) -> bool:
    """Whether it is worth a thought: no small talk, and no question that brings all it needs."""
    tokens = estimate_tokens(question)
    if tokens > MOST_TOKENS:
        return False
    opening = _opening(question)
    if not opening or _TO_THE_ASSISTANT.search(opening):
        return False
    return tokens <= ENOUGH_TOKENS or _points_back(question)


def _points_back(question: str) -> bool:
    opening = _opening(question)
    if _ENDS_IN_NE.search(opening) and not _ASKS.search(opening):  # 上海呢, but not 月亮为什么会发光呢
        return True
    return any(pattern.search(opening) for pattern in _POINTS_BACK)


def _says_little(question: str) -> bool:
    opening = _opening(question).removesuffix("呢")
    defined = _DEFINES.search(opening)
    if defined and not (defined[1] and _OF_SOMETHING.search(defined[1])):
        return False
    lengths = [3 if phrase.isascii() else len(phrase) for phrase in key_phrases(opening)]
    return sum(lengths) < LITTLE and max(lengths, default=0) < LONG_WORD


# ── The model ─────────────────────────────────────────────────────────────────────────────────────────────────────────

_CITATION = re.compile(r"\s?\[\d{1,3}\]")
_ITEM = re.compile(
    r"^\s*(?:#{1,6}\s+|(?:[-*•·]|\d{1,2}[.、)）])\s*|[（(]?[一二三四五六七八九十]+[、)）])(?P<text>.+)$", re.MULTILINE
)
_ITEM_END = re.compile(r"[：:。；;，,（(]")
_LABEL = re.compile(r"^(?:搜索词|搜尋詞|查询|查詢|关键词|query|search query)\s*[:：]\s*", re.IGNORECASE)
_QUOTES = " \t`*\"'“”‘’「」『』"
_PROSE = re.compile(
    r"[。\n]|^(?:好的|当然|抱歉|对不起|很抱歉|以下是|这是|用户[的想问询在]|您|我(?!国|國|省|市|校)|改写[后成为：:]|sure|here|the user|i |i'|sorry|based on)",
    re.IGNORECASE,
)
# Where a query could lead an engine, or what could be carried in one.
_CARRIES = re.compile(
    r"\S*://\S*|\S*@\S+|\b(?:www\.)?[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}\b\S*|\b[a-z]{2,10}:\S+|[\w+/=-]{16,}|\d{6,}|[<>{}$|\\]",
    re.IGNORECASE | re.ASCII,
)


async def by_model(question: str, history: Sequence[Message], model: Model, *, seconds: float = SECONDS) -> Rewritten:
    """One short call. No query: it took too long, failed, or said something that nobody would search for."""
    earlier = [shorten(one_line(message.text), QUESTION_LENGTH) for message in history if message.role == "user"]
    earlier, outline = earlier[-REMEMBERED:], _outline(history)
    prompt = [("human", _prompt(question, earlier, outline))]
    said, thought = "", ""
    try:
        async with asyncio.timeout(seconds), aclosing(model.stream_short(prompt, tokens=TOKENS)) as pieces:  # type: ignore[type-var]
            async for piece in pieces:
                match piece:
                    case TextPiece(text=text):
                        said += text
                    case ThoughtPiece(text=text):
                        thought += text
                    case TokenUsage(cut_off=cut_off):
                        query = "" if cut_off else usable(said, question, earlier, outline)
                        return Rewritten(query, piece)
                if len(said) > 2 * LONGEST_QUERY:
                    break
    except (ModelError, TimeoutError) as error:
        log.info("no stand-alone query: %s", error or "too late")
        if isinstance(error, ModelError) and not isinstance(error, ModelEmptyAnswer) and not said + thought:
            return Rewritten("")
    return Rewritten("", TokenUsage(estimate_tokens(prompt[0][1]), estimate_tokens(said + thought), estimated=True))


def _prompt(question: str, earlier: Sequence[str], outline: str) -> str:
    return fill(
        "standalone",
        earlier="\n".join(f"- {text}" for text in earlier),
        outline=outline or "（没有）",
        question=one_line(question),
    )


def _outline(history: Sequence[Message]) -> str:
    """The headings and beginnings of items of the last answer: what 「第二种」 may mean, and little room for anything else."""
    answer = next((message.text for message in reversed(history) if message.role == "assistant"), "")
    return shorten("；".join(_items(answer)), OUTLINE_LENGTH)


def _items(answer: str) -> Iterator[str]:
    for item in _ITEM.finditer(answer[:20_000]):
        text = _ITEM_END.split(_CITATION.sub("", one_line(item["text"])).strip("*_` "), maxsplit=1)[0].strip("*_` ")
        if 2 <= len(text) <= 40 and not count_instructions(text) and not _CARRIES.search(text):
            yield text


def usable(said: str, question: str, earlier: Sequence[str], outline: str) -> str:
    """The query in what a model said; empty where there is none, or one that nobody would search for."""
    query = one_line(_LABEL.sub("", said.strip().strip(_QUOTES)).strip(_QUOTES))
    own = fold(" ".join((question, *earlier)))
    if not query or len(query) > LONGEST_QUERY or _PROSE.search(said.strip()):
        return ""
    if any(fold(found[0]) not in own for found in _CARRIES.finditer(query)) or quotes_instructions(query):
        return ""
    wanted = set(key_terms(query)) or set(terms(query))
    asked, known = set(terms(own)), set(terms(f"{own} {outline}"))
    said_before = len(wanted & known) >= KNOWN_SHARE * len(wanted)
    return query if said_before and wanted & asked else ""
