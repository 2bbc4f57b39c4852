"""The lawyer's desk: what is done with an article, a draft beside its verdicts, and the laws in force."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import Locator, expect

from support import invented
from support.app_server import AppServer
from support.axe import judge
from support.visitor import Visitor

pytestmark = pytest.mark.browser

Visit = Callable[..., Visitor]

ARTICLE = {"law": "中华人民共和国灯塔法", "article": "第三条"}
COPIED = """《中华人民共和国灯塔法》第三条
守塔人应当在日落前点灯。
（2020-08-08 公布，2020-10-01 施行，有效）"""
CLIPBOARD = """async () => {
    const [item] = await navigator.clipboard.read();
    const read = async type => [type, await (await item.getType(type)).text()];
    return Object.fromEntries(await Promise.all(item.types.map(read)));
}"""
DRAFT = (
    "根据《灯塔法》第三条规定：“守塔人应当在日落前点灯。”\n\n"
    + "本段没有引用。\n\n" * 40
    + "另见《灯塔法》第九条，《浮标法》第二条，《月光法》第一条。"
)


@pytest.fixture(scope="module")
def server(serve: Callable[..., AppServer], tmp_path_factory: pytest.TempPathFactory) -> AppServer:
    folder = tmp_path_factory.mktemp("legal-desk")
    invented.library(folder / "data", invented.lawrefbook(folder / "laws"))
    return serve(SEARCH_PROVIDER_PRIORITY="bundled", DATA_DIR=str(folder / "data"))


def clipboard(visitor: Visitor) -> dict[str, str]:
    visitor.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    copied: dict[str, str] = visitor.page.evaluate(CLIPBOARD)
    return copied


def named(visitor: Visitor) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(visitor.page.url).query).items()}


def verify(visitor: Visitor, text: str) -> None:
    page = visitor.page
    page.get_by_test_id("stMain").get_by_text("核验文稿", exact=True).click()
    page.get_by_role("textbox", name="文稿").fill(text)
    page.get_by_role("button", name="核验", exact=True).click()
    page.locator(".wy-desk").wait_for()
    visitor.settled()


def compare(one: Locator, other: Locator, how: str) -> bool:
    """Compare where two elements stand, in the same moment: the page moves while a fold closes."""
    script = f"(node, other) => {{ const a = node.getBoundingClientRect(), b = other.getBoundingClientRect(); return {how} }}"
    return bool(one.evaluate(script, other.element_handle()))


def is_within(inner: Locator, outer: Locator) -> bool:
    return compare(inner, outer, "b.top <= a.top && a.bottom <= b.bottom + 1")


# ── An article ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("path", [urlencode(ARTICLE), urlencode({"q": "灯塔法第三条"})], ids=["article", "hit"])
def test_an_article_is_copied_with_its_name_and_its_version(
    server: AppServer, visit: Visit, path: str, width: int
) -> None:
    visitor = visit(server, path=f"/legal?{path}", width=width)
    button = visitor.page.get_by_role("button", name="复制条文").first
    button.focus()
    visitor.page.keyboard.press("Enter")
    expect(button).to_have_attribute("data-said", "已复制")
    heading, *lines = COPIED.splitlines()
    html = f"<p><b>{heading}</b></p>" + "".join(f"<p>{line}</p>" for line in lines)
    assert clipboard(visitor) == {"text/plain": COPIED, "text/html": html}, "as a browser copies that allows no more"
    visitor.page.evaluate("navigator.clipboard.writeText('')")
    expect(button).not_to_have_attribute("data-said", "已复制")
    button.click()
    expect(button).to_have_attribute("data-said", "已复制")
    assert clipboard(visitor) == {"text/plain": COPIED, "text/html": html}
    visitor.page.get_by_role("button", name="复制引用").first.click()
    expect(visitor.page.get_by_role("button", name="复制引用").first).to_have_attribute("data-said", "已复制")
    assert clipboard(visitor)["text/plain"] == "《中华人民共和国灯塔法》第三条"
    assert visitor.page.evaluate("document.documentElement.scrollWidth") <= width


def test_an_older_version_is_cited_as_one(server: AppServer, visit: Visit) -> None:
    older = {"law": "中华人民共和国灯塔法", "article": "第二条", "version": "2010-05-01"}
    visitor = visit(server, path=f"/legal?{urlencode(older)}")
    expect(visitor.page.locator(".wy-tag")).to_have_text("已修改")
    visitor.page.get_by_role("button", name="复制引用").click()
    expect(visitor.page.get_by_role("button", name="复制引用")).to_have_attribute("data-said", "已复制")
    assert clipboard(visitor)["text/plain"] == "《中华人民共和国灯塔法》（2010-05-01公布的版本）第二条"


@pytest.mark.parametrize("dark", [False, True])
def test_each_article_of_a_whole_law_has_the_same_row(server: AppServer, visit: Visit, *, dark: bool) -> None:
    visitor = visit(server, path=f"/legal?{urlencode({'law': '中华人民共和国灯塔法'})}", width=390, dark=dark)
    page = visitor.page
    page.get_by_role("button", name="第三条：复制、提问、核验").focus()
    page.keyboard.press("Enter")
    row = page.get_by_role("group", name="《中华人民共和国灯塔法》第三条")
    expect(row.get_by_role("button", name="复制条文")).to_be_focused()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.keyboard.press("Enter")
    expect(row.get_by_role("button", name="复制条文")).to_have_attribute("data-said", "已复制")
    assert clipboard(visitor)["text/plain"] == COPIED
    visitor.settled()
    assert judge(visitor) == [], "the row of an article in a whole law"
    page.get_by_role("button", name="第三条：复制、提问、核验").click()
    expect(row).to_have_count(0)


def test_a_question_about_an_article_waits_in_the_box(server: AppServer, visit: Visit) -> None:
    visitor = visit(server, path=f"/legal?{urlencode(ARTICLE)}")
    visitor.page.get_by_role("link", name="就此提问").click()
    box = visitor.page.get_by_test_id("stChatInputTextArea")
    expect(box).to_have_value("《灯塔法》第三条是什么意思，适用时要注意什么？")
    expect(visitor.page.get_by_test_id("stChatMessage")).to_have_count(0)


def test_an_article_is_added_in_place_and_looked_for_in_the_draft(server: AppServer, visit: Visit) -> None:
    visitor = visit(server, path=f"/legal?{urlencode({'q': '守塔人点灯'})}")
    page = visitor.page
    page.get_by_role("group", name="《中华人民共和国灯塔法》第三条").get_by_role("link", name="加入核验").first.click()
    expect(page.get_by_text("已加入核验文稿：《中华人民共和国灯塔法》第三条")).to_be_visible()
    visitor.settled()
    assert named(visitor) == {"q": "守塔人点灯"}
    verify(visitor, DRAFT)
    expect(page.locator(".wy-added")).to_have_text("《中华人民共和国灯塔法》第三条：文稿引用了 1 处，一致 1")


# ── A draft ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_draft_stands_beside_its_verdicts(server: AppServer, visit: Visit) -> None:
    visitor = visit(server, path="/legal")
    page = visitor.page
    verify(visitor, DRAFT)
    text, verdicts = page.locator(".wy-draft"), page.locator(".wy-findings details")
    assert compare(text, verdicts.first, "a.right <= b.left"), "side by side"
    expect(verdicts.first).to_contain_text("✗ 没有这一条")
    place = page.locator('.wy-draft [data-verdict="draft-0-0"]')
    assert not is_within(place, text), "the draft is long"
    verdicts.first.scroll_into_view_if_needed()
    scrolled = page.get_by_test_id("stMain").evaluate("main => main.scrollTop")
    verdicts.first.hover()
    expect(place).to_have_class("lit")
    assert is_within(place, text)
    assert text.evaluate("box => box.scrollTop") > 0
    assert page.get_by_test_id("stMain").evaluate("main => main.scrollTop") == scrolled, "the page stays"
    page.locator(".wy-place").last.click()
    last = page.locator(".wy-findings details.lit")
    expect(last).to_have_attribute("open", "")
    expect(last).to_contain_text("《月光法》第一条")
    expect(last.locator("summary")).to_be_focused()


@pytest.mark.parametrize("dark", [False, True])
def test_on_a_phone_the_draft_stands_above_its_verdicts(server: AppServer, visit: Visit, *, dark: bool) -> None:
    visitor = visit(server, path="/legal", width=390, dark=dark)
    page = visitor.page
    verify(visitor, DRAFT)
    text, verdicts = page.locator(".wy-draft"), page.locator(".wy-findings details")
    assert compare(text, verdicts.first, "a.bottom <= b.top"), "above"
    verdicts.last.locator("summary").click()
    place = page.locator('.wy-draft [data-verdict="draft-0-3"]')
    expect(place).to_have_class("lit")
    assert is_within(place, text)
    page.get_by_role("link", name="在文稿中的位置").last.click()
    expect(page.locator("#draft-0-3-at")).to_be_focused()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    visitor.settled()
    assert judge(visitor) == [], "a draft and its verdicts"


def test_the_form_folds_and_opens_again_with_the_text(server: AppServer, visit: Visit) -> None:
    visitor = visit(server, path="/legal")
    page = visitor.page
    verify(visitor, DRAFT)
    expect(page.get_by_role("textbox", name="文稿")).to_be_hidden()
    page.get_by_text("编辑文稿").click()
    expect(page.get_by_role("textbox", name="文稿")).to_have_value(DRAFT)
    visitor.settled()
    page.get_by_role("textbox", name="文稿").fill("见《灯塔法》第九条。")
    page.get_by_role("button", name="核验", exact=True).click()
    expect(page.get_by_text("共引用 1 处：有问题 1")).to_be_visible()
    expect(page.get_by_role("textbox", name="文稿")).to_be_hidden()


# ── Laws in force ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_laws_in_force_come_by_themselves_and_others_when_asked_for(server: AppServer, visit: Visit) -> None:
    visitor = visit(server, path=f"/legal?{urlencode({'q': '雾号应当短促'})}")
    page = visitor.page
    hit = page.get_by_test_id("stPageLink").get_by_text("《关于雾号问题的批复》")
    expect(page.get_by_role("radio", name="现行有效")).to_be_checked()
    expect(hit).to_have_count(0)
    page.get_by_test_id("stMain").get_by_text("全部", exact=False).first.click()
    expect(hit).to_be_visible()
    expect(page.locator(".wy-tag").first).to_have_text("已废止")
    visitor.settled()
    assert named(visitor) == {"q": "雾号应当短促", "state": "全部"}
    page.mouse.move(0, 0)
    assert judge(visitor) == [], "hits, one of a repealed law"
    page.reload()
    expect(hit).to_be_visible()
