from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.answer.html.markdown import Block, BlockStream, render_html, split_blocks
from core.answer.html.source_html import references_html, results_html
from core.search.types import SearchResult, Source

APP = "http://localhost:8501"
MANUAL = f"{APP}/help"
SOURCES = (
    Source(1, '民法典 "全文" <b>', "https://flk.npc.gov.cn/detail?id=1&x=2", "第一千零七十七条"),
    Source(2, "裁判文书", "https://wenshu.court.gov.cn/", "摘要"),
    Source(3, "怎样配置", f"{MANUAL}?article=search", "手册"),
    Source(4, "坏地址", "javascript:alert(1)", "不可点击"),
)


class Page(HTMLParser):
    """What a browser would make of it."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(str(html))  # a piece of Markup is Markup, and would be escaped again
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("br", "hr"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def refuse(self, data: str) -> None:
        raise AssertionError(data)

    handle_comment = handle_decl = handle_pi = unknown_decl = refuse  # type: ignore[assignment]  # other parameter names

    @property
    def links(self) -> list[str | None]:
        return [attributes.get("href") for tag, attributes in self.tags if tag == "a"]


def render(markdown: str) -> str:
    return render_html(markdown, SOURCES, app_url=APP)


def text_of(markdown: str) -> str:
    return Page(render(markdown)).text


BARE = {"p", "h3", "h4", "h5", "h6", "ul", "li", "table", "thead", "tbody", "tr", "blockquote"}
BARE |= {"strong", "em", "del", "code", "pre", "br", "hr"}
ALLOWED = {tag: set[str]() for tag in BARE} | {
    "ol": {"start"},
    "table": {"tabindex"},
    "pre": {"tabindex"},
    "th": {"class"},
    "td": {"class"},
    "sup": {"class"},
    "a": {"href", "rel", "target", "title"},
    "span": {"class", "data-math"},
}
HREFS = {"https://flk.npc.gov.cn/detail?id=1&x=2", "https://wenshu.court.gov.cn/", "/help?article=search"}


def assert_harmless(html: str) -> None:
    page = Page(html)
    assert page.open == []
    for tag, attributes in page.tags:
        assert set(attributes) <= ALLOWED[tag], (tag, attributes)
        assert tag != "a" or attributes["href"] in HREFS
        assert attributes.get("class") in (None, "cite", "right", "center", "wy-math", "wy-named")
        for inside, about in Page(attributes.get("data-math") or "").tags:
            assert inside.startswith("m")
            assert not {"href", "style", "class", "id"} & about.keys()


# ── HTML ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_citation_is_a_superscript_link_to_its_source() -> None:
    assert render("撤回[1]。") == (
        '<p>撤回<sup class="cite"><a href="https://flk.npc.gov.cn/detail?id=1&amp;x=2"'
        ' rel="noreferrer" target="_blank"'
        ' title="民法典 &#34;全文&#34; &lt;b&gt; — flk.npc.gov.cn">1</a></sup>。</p>'
    )


@pytest.mark.parametrize("text", ["撤回[1][2]", "撤回[1, 2]", "撤回[1] 、[2]", "撤回[1-2]"])
def test_neighbouring_citations_do_not_read_as_one_number(text: str) -> None:
    assert text_of(text).split() == ["撤回1", "2"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("据称 [9]。", "据称。"),
        ("据称 [9] 如此", "据称 如此"),
        ("据称[8][9]，如此", "据称，如此"),
        ("末尾 [9]", "末尾"),
        ("so [9], and", "so, and"),
        ("前[1, 9]后", "前1后"),
    ],
)
def test_a_number_without_a_source_vanishes(text: str, shown: str) -> None:
    assert text_of(text) == shown


def test_a_citation_of_a_source_that_cannot_be_opened_is_not_a_link() -> None:
    assert render("如此[4]") == '<p>如此<sup class="cite">4</sup></p>'


def test_the_manual_is_linked_relative() -> None:
    assert Page(render(f"见[3]和[手册]({MANUAL}?article=search)")).links == ["/help?article=search"] * 2


@pytest.mark.parametrize(
    "target",
    [
        "https://wenshu.court.gov.cn/",
        "https://WENSHU.court.gov.cn",
        "http://wenshu.court.gov.cn:80/#top",
        "<https://wenshu.court.gov.cn/>",
    ],
)
def test_a_link_to_a_source_opens_the_source(target: str) -> None:
    assert Page(render(f"[文书]({target})")).links == ["https://wenshu.court.gov.cn/"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[点这里](https://www.evil.example/x?y=1)", "点这里（evil.example）"),
        ("[点这里](//evil.example/x)", "点这里（evil.example）"),
        ("[court.gov.cn](https://court.gov.cn@evil.example/)", "court.gov.cn（evil.example）"),
        ("<https://evil.example/x>", "https://evil.example/x（evil.example）"),
        ("https://evil.example/x", "https://evil.example/x"),
        ("[点](javascript:alert(1))", "点（javascript:alert(1)）"),
        ("[甲](见下文)", "甲（见下文）"),
        ("[x]\n\n[x]: https://evil.example/x", "[x][x]: https://evil.example/x"),
        ("![图](https://evil.example/x.png)", "[图片：图]"),
        ("[![图](https://evil.example/x.png)](https://evil.example)", "[图片：图]（evil.example）"),
        ("<img src=x onerror=alert(1)>", "<img src=x onerror=alert(1)>"),
        ("<script>alert(1)</script>", "<script>alert(1)</script>"),
        (":material/home: :green-badge[官方] -> --", ":material/home: :green-badge[官方] -> --"),
        ("$a*b*c$ 与 $5 和 $6", "$a*b*c$ 与 $5 和 $6"),
        ("$$\na*b*c\n$$", "$$\na*b*c\n$$"),
        ("[甲](http://[evil)", "甲（http://[evil）"),
    ],
)
def test_foreign_things_are_shown_and_cannot_be_clicked(text: str, shown: str) -> None:
    page = Page(render(text))
    assert page.text == shown
    assert page.links == []


def test_blocks_and_marks() -> None:
    assert render("# 一\n#### 二") == "<h3>一</h3><h6>二</h6>"
    assert render("3. 甲\n4. 乙") == '<ol start="3"><li>甲</li><li>乙</li></ol>'
    assert (
        render("**甲** *乙* ~~丙~~ `丁<`") == "<p><strong>甲</strong> <em>乙</em> <del>丙</del> <code>丁&lt;</code></p>"
    )
    assert render("甲\n乙<br/>丙") == "<p>甲<br>乙<br>丙</p>"
    assert render("甲\n---") == "<p>甲</p><hr>"
    assert render("```py\nx = [1]\n```") == '<pre tabindex="0"><code>x = [1]</code></pre>'
    assert '<td class="right">1</td>' in render("| 数 |\n|--:|\n| 1 |")


def test_anchors_lead_from_the_references_to_the_first_citation() -> None:
    answer = render_html("一[1]二[1]", SOURCES, anchor="a7")
    assert answer.count('id="a7-cite-1"') == 1
    assert 'href="#a7-cite-1"' in references_html(SOURCES[:1], anchor="a7")


hostile = st.text(max_size=300) | st.lists(
    st.sampled_from(
        [
            *"[]()【】<>!`*_~#|-:$\\&\"'\n\t 1289甲a",
            "](", "![", "[1]", "【2】", "[3-4]", "\n\n", "- ", "> ", "```", "$$", "\n| a |\n|--:|\n", "<b>", "<br>",
            "https://wenshu.court.gov.cn/", "https://evil.example/", "javascript:", "data:text/html,", "/help?article=x",
            '" onclick="x', "<a href=x>", "&#91;", "\ud800", "\u202e", "\x00", "\r", "\u2028",
        ]
    ),
    max_size=40,
).map("".join)  # fmt: skip


@given(hostile)
@example("[x](https://evil.example/\" onclick='x')")
@example("[" * 200 + "](https://evil.example)" + "]" * 200)
@example(">" * 300 + "[1]")
def test_nothing_but_the_whitelist_is_ever_written(markdown: str) -> None:
    assert_harmless(render(markdown))


@given(hostile, hostile, hostile)
def test_references_are_escaped(title: str, url: str, snippet: str) -> None:
    page = Page(references_html([Source(1, title, url, snippet)], anchor="a"))
    assert [tag for tag, _ in page.tags if tag not in ("ol", "li", "a", "span")] == []
    assert all(re.match(r"https?://|/help\?article=|#a-cite-1$", str(href), re.IGNORECASE) for href in page.links)


@pytest.mark.shared
def test_recorded_injections_are_harmless(shared: Path) -> None:
    for line in (shared / "data" / "injections.jsonl").read_text("utf-8").splitlines():
        text = json.loads(line)["text"]
        assert_harmless(render(text))
        assert not set(Page(references_html([Source(1, text, text, text)])).links) - {text}


# ── references ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_reference_has_number_title_domain_and_one_line() -> None:
    source = Source(7, "标题", "https://www.example.com/a", "第一行\n第二行" + "长" * 200)
    html = references_html([source])
    assert '<li value="7"><a href="https://www.example.com/a"' in html
    assert '<span class="domain">example.com</span>' in html
    summary = Page(html).text.removeprefix("标题 example.com日期不详 · 仅摘要")
    assert summary.startswith("第一行 第二行长")
    assert len(summary) == 120


def test_a_reference_says_when_it_was_published_and_how_much_was_read() -> None:
    source = Source(1, "标题", "https://example.com/", "", published="2026-01-31", read="page", characters=12_400)
    assert "2026-01-31 · 已读全文 · 12,400 字" in Page(references_html([source])).text
    assert "访问日期 2026-02-01" in Page(references_html([source], accessed="2026-02-01")).text
    late = Source(1, "标题", "https://example.com/", "", unread="超时")
    assert "日期不详 · 仅摘要（超时）" in Page(references_html([late])).text
    result = SearchResult("标题", "https://example.com/", "", "example.com", published="2026-01-31")
    assert "2026-01-31" in Page(results_html([result])).text


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("/help?article=search", "内置手册"),
        ("/legal?law=%E7%81%AF%E5%A1%94%E6%B3%95&article=x", "本地法规库"),
        ("/legal?case=x", "本地案例库"),
    ],
)
@pytest.mark.parametrize("start", [APP, ""])
def test_a_page_of_this_app_says_what_it_is(start: str, address: str, place: str) -> None:
    page = Page(references_html([Source(1, "怎样配置", start + address, "", read="library")], app_url=APP))
    assert page.text == f"怎样配置 {place}"
    assert page.links == [address]
    outside = Page(references_html([Source(1, "怎样配置", APP + address, "")]))
    assert outside.links == [APP + address], "a file that is taken away has the whole address"


def test_a_reference_without_a_web_address_is_not_a_link() -> None:
    assert Page(references_html([SOURCES[3]])).links == []


# ── blocks ────────────────────────────────────────────────────────────────────────────────────────────────────────

ANSWER = """\
# 标题[1]

第一段，**重点**[1][2]。
***粗斜***接着写，见[citation:1]与【2†source】。
- 一项
- 两项

  还是两项

| 项目 | 数值 |
|---|--:|
| 甲[1] | 2 |
> 引文
```python
x = [1, 2]

y
```
公式：
$$
a
- b
$$

1. 甲

2. 乙
---
末段 [2, 1]"""


def test_split_blocks() -> None:
    blocks = split_blocks(ANSWER)
    kinds = ["heading", "paragraph", "list", "table", "quote", "code", "paragraph", "math", "list", "rule", "paragraph"]
    assert [block.kind for block in blocks] == kinds
    assert blocks[2].text == "- 一项\n- 两项\n\n  还是两项"
    assert blocks[5] == Block("code", "```python\nx = [1, 2]\n\ny\n```", "x = [1, 2]\n\ny", "python")
    assert blocks[7] == Block("math", "$$\na\n- b\n$$", "a\n- b")


def test_an_open_fence_keeps_everything_in_one_block() -> None:
    blocks = BlockStream()
    assert blocks.feed("文字\n\n```python\n# 注释\n\n- x\n\n") == [Block("paragraph", "文字")]
    assert [(block.kind, block.body.rstrip()) for block in blocks.open_blocks] == [("code", "# 注释\n\n- x")]


@pytest.mark.parametrize(
    ("text", "body"),
    [("$$x^2$$", "x^2"), ("\\[\nx\n\\]", "x"), ("$$\n没有结束\n\n- 列表", None), ("$$a$$ 与 $$b$$", None)],
)
def test_formulas(text: str, body: str | None) -> None:
    bodies = [block.body for block in split_blocks(text) if block.kind == "math"]
    assert bodies == ([] if body is None else [body])


def cut(text: str, places: list[int]) -> list[str]:
    borders = sorted({0, len(text), *(place % (len(text) + 1) for place in places)})
    return [text[start:end] for start, end in pairwise(borders)]


@given(hostile | st.just(ANSWER) | st.lists(st.sampled_from(ANSWER.splitlines(keepends=True))).map("".join), st.data())
def test_chunks_give_the_same_blocks_as_the_whole(text: str, data: st.DataObject) -> None:
    blocks = BlockStream()
    final = []
    for chunk in cut(text, data.draw(st.lists(st.integers(0, 10_000), max_size=30))):
        final += blocks.feed(chunk)
        assert len(blocks.open_blocks) <= len(split_blocks(text))
    assert final + blocks.finish() == split_blocks(text)


@given(hostile | st.lists(st.sampled_from(ANSWER.splitlines(keepends=True))).map("".join))
def test_blocks_alone_look_as_they_do_together(text: str) -> None:
    assert "".join(render(block.text) for block in split_blocks(text)) == render(text)


@given(st.lists(st.integers(0, 10_000), max_size=200))
@example(list(range(1000)))
def test_a_half_citation_is_never_shown(places: list[int]) -> None:
    blocks = BlockStream()
    shown = []
    for chunk in cut(ANSWER, places):
        shown += blocks.feed(chunk)
        for block in (*shown, *blocks.open_blocks):
            if block.kind != "code":
                assert not re.search(r"[\[【]|\]|】|citation|†", text_of(block.text)), block
