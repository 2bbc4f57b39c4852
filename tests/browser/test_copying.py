"""An answer taken along: both types on the clipboard, Markdown, a picture, paper, and the files of 导出."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path

import pytest
import rispy
from PIL import Image
from playwright.sync_api import Browser, Locator, Page, expect
from pybtex.database import parse_string

from support.app_server import AppServer
from support.found_pages import FoundPages, found_pages, reading_environment
from support.openai_server import OpenAIServer, in_turn
from support.visitor import Visitor
from support.waiting import until

pytestmark = pytest.mark.browser

Visit = Callable[..., Visitor]

HOSTILE = "<img src=x onerror=alert(1)> [点我](javascript:alert(3)) ![图](http://evil.example/p.png)"
ANSWER = rf"""## 结论

今年前三季度全市供水总量为 **1.2 亿立方米**[1]。全市将在十一月底以前更换老旧水表九千只[1]。根据 [1] 的说法，$E=mc^2$。

- 第一项
    - 嵌套一项，含 `a<b`
- 第二项

3. 先做
4. 再做

| 产品 | 数量 |
|---|---:|
| 水表 | 9,000 |

```python
if a < b:
    print("<b>x</b>")
```

$$
\int_0^1 x^2\,dx
$$

> 引文一句。

{HOSTILE}

居民换水表以后可以领取一笔补贴，由各街道办事处按月发放到个人账户[1]。新水厂的设计由海外团队完成[2]。

水价将在 2027 年上涨 20%。
"""
QUESTION = "前三季度供水量是多少？<b>请列表</b>"
WRONG = "〔不符 [1]：回答说「九千只」，来源说「八千只」〕"
HOSTILE_TITLE = "供水 <script>alert(2)</script> ](javascript:alert(4)) \"' & 量"


@pytest.fixture(scope="module")
def world() -> Iterator[FoundPages]:
    with found_pages() as world:
        world.open.set()
        world.titles["second"] = HOSTILE_TITLE
        yield world


@pytest.fixture
def server(serve: Callable[..., AppServer], model_server: OpenAIServer, world: FoundPages) -> AppServer:
    model_server.reply = in_turn([ANSWER])
    return serve(**reading_environment(model_server, world, LLM_MODEL="openai:reply"))


def answered(visitor: Visitor) -> Locator:
    visitor.search_on()
    visitor.ask(QUESTION)
    visitor.answered("水价将在")
    visitor.answered("tokens")
    visitor.page.mouse.move(700, 400)
    visitor.page.mouse.wheel(0, 100_000)  # as a person does: from then on the page stays where they are
    visitor.settled()
    return visitor.page.get_by_test_id("stChatMessage").last


def allow_clipboard(page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])


def press(answer: Locator, kind: str, said: str = "已复制") -> None:
    """Press one of the entries behind ⋯, as a person does."""
    page = answer.page
    answer.get_by_role("button", name="更多").click()
    button = page.locator(f".wy-menu > [data-copy={kind}]")
    button.click()
    expect(button).to_have_attribute("data-said", said)
    page.keyboard.press("Escape")
    expect(button).to_have_count(0)


READ = """async () => {
  const [item] = await navigator.clipboard.read();
  const address = (blob) => new Promise(resolve => {
    const reader = Object.assign(new FileReader(), { onload: () => resolve(reader.result) });
    reader.readAsDataURL(blob);
  });
  return Object.fromEntries(await Promise.all(item.types.map(async (type) => [type, await address(await item.getType(type))])));
}"""


def clipboard(page: Page) -> dict[str, bytes]:
    return {kind: base64.b64decode(data.partition(",")[2]) for kind, data in page.evaluate(READ).items()}


class Tags(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


PLAIN_TAGS = {
    "html", "head", "body", "meta", "p", "h4", "ul", "ol", "li", "table", "tbody", "tr", "th", "td",
    "blockquote", "strong", "sup", "span", "pre", "code", "a", "br",
}  # fmt: skip


def check_html(html: str, world: FoundPages) -> None:
    page = Tags(html)
    assert {tag for tag, _ in page.found} <= PLAIN_TAGS
    attributes = {name for _, ones in page.found for name in ones}
    assert attributes <= {"style", "href", "border", "cellspacing", "width", "start", "charset"}
    links = {ones["href"] for tag, ones in page.found if tag == "a"}
    assert links == {f"http://{world.address}/news", f"http://{world.address}/second"}
    for written in (
        "<h4>结论</h4>",
        "<strong>1.2 亿立方米</strong><sup>[1]</sup>。",
        "<sup>[1]</sup><span",
        f">{WRONG}</span>",
        "根据 [1] 的说法，$E=mc^2$。",
        "<li>第一项<ul><li>嵌套一项，含 <code",
        '<ol start="3"><li>先做</li>',
        'border="1"',
        'text-align:right">9,000</td>',
        'if a &lt; b:\n    print("&lt;b&gt;x&lt;/b&gt;")</code></pre>',
        r"\int_0^1 x^2\,dx",
        "&lt;img src=x onerror=alert(1)&gt; 点我（javascript:alert(3)） [图片：图]",
        "<h4>参考文献</h4>",
        "<p>[1] 供水量增加 · 127.0.0.1 · 2024-10-12 · <a",
        "供水 &lt;script&gt;alert(2)&lt;/script&gt; ](javascript:alert(4))",
    ):
        assert written in html.replace("&quot;", '"').replace(": ", ":"), written
    for unwanted in ("无出处", "未核", "有据", "✓", "○", "已读全文", "在原文中查看", "依据核验"):
        assert unwanted not in page.text, unwanted


def check_plain(text: str, world: FoundPages) -> None:
    assert text.startswith("结论\n\n今年前三季度全市供水总量为 1.2 亿立方米[1]。")
    assert f"九千只[1]{WRONG}。根据 [1] 的说法，$E=mc^2$。\n\n" in text
    assert "· 第一项\n  · 嵌套一项，含 a<b\n· 第二项\n\n3. 先做\n4. 再做\n\n" in text
    assert "产品\t数量\n水表\t9,000\n\n" in text
    assert 'if a < b:\n    print("<b>x</b>")\n\n' in text
    assert "\n\n引文一句。\n\n" in text
    assert text.endswith(
        "水价将在 2027 年上涨 20%。\n\n参考文献\n"
        f"[1] 供水量增加 · 127.0.0.1 · 2024-10-12 · http://{world.address}/news\n"
        f"[2] {HOSTILE_TITLE} · 127.0.0.1 · http://{world.address}/second\n"
    )
    assert not re.search(r"\*\*|^#|^- |```|\n\n\n|无出处|✓|○", text, re.MULTILINE)


def test_one_click_puts_rich_and_plain_text_on_the_clipboard_and_the_others_stand_behind_the_dots(
    server: AppServer, world: FoundPages, visit: Visit
) -> None:
    visitor = visit(server, watched=True)
    page = visitor.page
    allow_clipboard(page)
    answer = answered(visitor)
    answer.get_by_role("button", name="复制", exact=True).click()
    expect(answer.locator(".wy-copy").first).to_have_attribute("data-said", "已复制")
    expect(page.locator(".wy-status")).to_have_text("已复制")
    copied = clipboard(page)
    assert set(copied) == {"text/html", "text/plain"}
    check_html(copied["text/html"].decode(), world)
    check_plain(copied["text/plain"].decode().replace("\r\n", "\n"), world)

    # What the page remarks on a place of the text goes along.
    answer.locator(".wy-answer p").last.evaluate(
        "p => p.append(Object.assign(document.createElement('sup'), "
        "{ className: 'wy-uncited wy-remark', textContent: '没有来源 6' }))"
    )
    answer.get_by_role("button", name="复制", exact=True).click()
    until(lambda: "20%。〔没有来源 6〕" in page.evaluate("navigator.clipboard.readText()"))

    press(answer, "markdown")
    (markdown,) = (text.decode() for text in clipboard(page).values())
    assert markdown.startswith("## 结论\n\n今年前三季度全市供水总量为 **1.2 亿立方米**[1]。")
    assert f"九千只[1]{WRONG}。" in markdown
    assert "- 第一项\n  - 嵌套一项，含 `a<b`\n- 第二项\n\n3. 先做\n4. 再做" in markdown
    assert '```python\nif a < b:\n    print("<b>x</b>")\n```' in markdown
    assert "\n\\<img src=x onerror=alert(1)>" in markdown
    assert "](javascript:" not in markdown.replace("\\](", "")
    assert f"- \\[1\\] [供水量增加](http://{world.address}/news) — 127.0.0.1（2024-10-12 · 已读全文" in markdown
    assert visitor.foreign == []


def picture(page: Page) -> Image.Image:
    (data,) = clipboard(page).values()
    drawn = Image.open(BytesIO(data))
    drawn.load()
    return drawn.convert("RGB")


@pytest.mark.parametrize("dark", [False, True])
def test_a_picture_is_light_or_dark_as_the_page_and_can_be_saved(server: AppServer, visit: Visit, dark: bool) -> None:
    visitor = visit(server, dark=dark, watched=True)
    page = visitor.page
    allow_clipboard(page)
    answer = answered(visitor)
    press(answer, "picture")
    drawn = picture(page)
    width, height = drawn.size
    assert width == 1440
    assert 1500 < height < 12_000
    assert drawn.getpixel((3, 3)) == ((23, 25, 28) if dark else (255, 254, 251))
    colours = {colour for _, colour in drawn.getcolors(1 << 24) or ()}
    assert len(colours) > 100, "there is text"
    assert ((240, 146, 155) if dark else (168, 50, 63)) in colours, "不符 is red"
    with page.expect_download() as download:
        press(answer, "save-picture", "已开始下载")
    with Image.open(download.value.path()) as saved:
        assert saved.size == drawn.size
    assert visitor.foreign == []


KEEP_CARDS = """() => {
  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function (how) { return (window.card = attach.call(this, how)) };
}"""


def test_a_picture_of_a_long_answer_ends_and_says_so(
    server: AppServer, visit: Visit, model_server: OpenAIServer
) -> None:
    model_server.reply = in_turn([f"{'今年前三季度全市供水总量为多少。' * 20}\n\n" * 60 + "水价将在 2027 年上涨。"])
    visitor = visit(server)
    allow_clipboard(visitor.page)
    answer = answered(visitor)
    visitor.page.evaluate(KEEP_CARDS)
    press(answer, "picture")
    assert 11_000 < picture(visitor.page).height <= 12_000
    text = visitor.page.evaluate("window.card.textContent")
    assert "全文见问源中的这个回答" in text
    assert "水价将在" not in text


NO_CLIPBOARD = "Object.defineProperty(navigator, 'clipboard', { value: undefined })"


def test_without_a_clipboard_of_its_own_the_old_way_still_copies_both_types(
    browser: Browser, server: AppServer, world: FoundPages
) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 844}, locale="zh-CN")
    context.add_init_script(NO_CLIPBOARD)
    try:
        visitor = Visitor(context.new_page(), server.url)
        page = visitor.page
        answer = answered(visitor)
        answer.get_by_role("button", name="复制", exact=True).click()
        expect(answer.locator(".wy-copy").first).to_have_attribute("data-said", "已复制")
        # What a program gets that it is pasted into.
        page.evaluate(
            "addEventListener('paste', event => { window.pasted = Object.fromEntries("
            "event.clipboardData.types.map(type => [type, event.clipboardData.getData(type)])) }, true)"
        )
        page.get_by_test_id("stChatInputTextArea").focus()
        page.keyboard.press("Control+V")
        page.wait_for_function("window.pasted")
        pasted = page.evaluate("window.pasted")
        check_html(pasted["text/html"], world)
        check_plain(pasted["text/plain"].replace("\r\n", "\n"), world)
        press(answer, "picture", "没有复制成功，请用「保存图片」")
        page.evaluate("document.execCommand = () => false")
        press(answer, "markdown", "没有复制成功，请选中文字后复制")
    finally:
        context.close()


def test_export_has_the_references_for_other_programs_and_prints(
    server: AppServer, world: FoundPages, visit: Visit
) -> None:
    visitor = visit(server)
    page = visitor.page
    answered(visitor)
    page.get_by_test_id("stChatMessage").last.get_by_role("button", name="导出").click()

    def exported(name: str, ending: str) -> str:
        with page.expect_download() as download:
            page.get_by_role("button", name=name, exact=True).click()
        assert download.value.suggested_filename.endswith(ending)
        return Path(download.value.path()).read_bytes().decode()

    addresses = [f"http://{world.address}/news", f"http://{world.address}/second"]
    assert [entry["urls"] for entry in rispy.loads(exported("RIS", ".ris"))] == [[one] for one in addresses]
    bibtex = parse_string(exported("BibTeX", ".bib"), "bibtex")
    assert [entry.fields["url"] for entry in bibtex.entries.values()] == addresses
    csl = json.loads(exported("CSL-JSON", "-参考文献.json"))
    assert [(entry["URL"], entry["title"]) for entry in csl] == [
        (addresses[0], "供水量增加"),
        (addresses[1], HOSTILE_TITLE),
    ]

    page.evaluate("() => { window.print = () => { window.printed = (window.printed ?? 0) + 1 } }")
    page.get_by_role("button", name="打印 / PDF").click()
    assert page.evaluate("window.printed") == 1
    page.emulate_media(media="print")
    for unwanted in (
        page.get_by_role("button", name="打印 / PDF"),
        page.locator("[class*=st-key-actions-]"),
        page.locator(".wy-rail"),
    ):
        expect(unwanted.filter(visible=True)).to_have_count(0)
    expect(page.locator(".wy-answer .cite.contradicted .wy-verdict")).to_be_visible()
    question, text = page.locator(".wy-question").bounding_box(), page.locator(".wy-answer").first.bounding_box()
    assert question
    assert text
    assert text["y"] - question["y"] - question["height"] < 20, "no empty band between a question and its answer"
    chip = page.locator(".wy-answer .cite.contradicted").first
    chip.evaluate("chip => { chip.className = 'cite model denied' }")
    expect(page.locator(".wy-answer .cite.denied .wy-verdict")).to_be_visible()
