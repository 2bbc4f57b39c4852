"""法条核验 below an answer as a reader meets it: the marks, one click to the article, and all of it after a reload."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

from support import invented
from support.app_server import AppServer
from support.axe import BOTH_WAYS
from support.labour_law import INVENTED, RECORD
from support.openai_server import Call, OpenAIServer, in_turn
from support.visitor import Visitor

pytestmark = pytest.mark.browser

Serve = Callable[..., AppServer]
Visit = Callable[..., Visitor]

ANSWER = """守塔人应当在日落前点灯（《灯塔法》第三条）。有人说《灯塔法》第九十九条另有规定。

《浮标法》第二条规定：“浮标由船长登记，登记满三年的，应当重新登记。”
"""
CHIPS = ["✓ 《灯塔法》第三条", "✗ 《灯塔法》第九十九条", "≠ 《浮标法》第二条"]


@pytest.fixture(scope="session")
def lawful(serve: Serve, model_server: OpenAIServer, tmp_path_factory: pytest.TempPathFactory) -> AppServer:
    folder = tmp_path_factory.mktemp("statutes")
    invented.library(
        folder / "data", invented.lawrefbook(folder / "laws"), invented.jsonl(folder / "labour.jsonl", RECORD)
    )
    model = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": model_server.url, "LLM_MODEL": "openai:as-asked"}
    return serve(**model, SEARCH_PROVIDER_PRIORITY="bundled", AGENT_STRATEGY="tools", DATA_DIR=str(folder / "data"))


def unfold_check(visitor: Visitor) -> None:
    visitor.page.get_by_test_id("stChatMessage").last.get_by_text("核验 ·").click()
    visitor.settled()


def chips(visitor: Visitor) -> Locator:
    answer = visitor.page.get_by_test_id("stChatMessage").last
    return answer.get_by_test_id("stPopover").filter(has_text="法》第")


def test_marks_and_articles_before_and_after_a_reload(
    lawful: AppServer, visit: Visit, model_server: OpenAIServer
) -> None:
    model_server.script = list(ANSWER)
    visitor = visit(lawful, watched=True)
    visitor.ask("守塔人要做什么？ script:laws")
    visitor.answered("tokens")
    for _ in range(2):
        expect(visitor.page.get_by_text("法条 1 条查无")).to_have_css("color", "rgb(168, 50, 63)")
        unfold_check(visitor)
        expect(chips(visitor)).to_have_count(3)
        for number, chip in enumerate(CHIPS):
            expect(chips(visitor).nth(number)).to_contain_text(chip)
        chips(visitor).nth(2).get_by_role("button").click()
        article = visitor.page.get_by_test_id("stPopoverBody")
        expect(article).to_contain_text("引文与条文不一致")
        expect(article.locator("del")).to_have_text("三")
        expect(article.locator("ins")).to_have_text("五")
        address = article.get_by_text("在「法规与案例」页打开").get_attribute("href")
        visitor.page.keyboard.press("Escape")
        visitor.page.reload()
        visitor.answered("tokens")
    assert visitor.foreign == []
    assert address
    opened = visit(lawful, path=address)
    opened.page.get_by_text("登记满五年的，应当重新登记。").first.wait_for()


WRONG = "根据《劳动合同法》第十九条，劳动合同期限一年以上不满三年的，试用期不得超过六个月。"


def test_what_was_said_stands_beside_the_article_and_on_a_phone_above_it(
    lawful: AppServer, visit: Visit, model_server: OpenAIServer
) -> None:
    model_server.script = [f"{INVENTED}\n\n{WRONG}"]
    visitor = visit(lawful)
    visitor.ask("签了两年劳动合同，试用期最长多久？ script:probation")
    visitor.answered("tokens")
    unfold_check(visitor)
    expect(chips(visitor)).to_have_count(4)
    assert not any("✓" in chip.inner_text() for chip in chips(visitor).all())
    for width, scheme in BOTH_WAYS:
        visitor.page.set_viewport_size({"width": width, "height": 844})
        visitor.page.emulate_media(color_scheme=scheme)
        visitor.settled()
        chips(visitor).nth(3).get_by_role("button").click()
        body = visitor.page.get_by_test_id("stPopoverBody")
        expect(body).to_contain_text("所述内容与条文不符。文中写「不得超过六个月」，条文是「不得超过二个月」。")
        visitor.settled()
        said, article = (column.bounding_box() for column in body.locator(".wy-beside > div").all())
        assert said
        assert article
        beside = abs(said["y"] - article["y"]) < 2 and said["x"] + said["width"] <= article["x"]
        below = said["y"] + said["height"] <= article["y"] and abs(said["x"] - article["x"]) < 2
        assert below if width == 390 else beside
        assert article["x"] + article["width"] <= width
        assert visitor.page.evaluate("document.documentElement.scrollWidth") <= width
        visitor.page.keyboard.press("Escape")
        expect(body).to_have_count(0)


def test_sources_of_the_agent_open_in_the_app(lawful: AppServer, visit: Visit, model_server: OpenAIServer) -> None:
    # The next turn ends with the tools' results, not with a behaviour: the server's own answer cites [1] and [2].
    model_server.reply = in_turn(
        [
            Call("regulation_search", json.dumps({"law_name": "灯塔法", "article": "第三条之一"})),
            Call("case_search", json.dumps({"query": "浮标 漂走"})),
        ]
    )
    visitor = visit(lawful)
    visitor.flip("Agent")
    visitor.page.get_by_text("已切换到 Agent 模式").wait_for()
    visitor.settled()
    visitor.ask("雾天怎么办？ reply")
    visitor.answered("参考文献")
    steps = visitor.page.get_by_test_id("stChatMessage").last.locator("summary")
    expect(steps.filter(has_text="查法规「灯塔法 第三条之一」 · 本地法规库 · 1 条")).to_have_count(1)
    expect(steps.filter(has_text="查案例「浮标 漂走」 · 本地案例库 · 1 条")).to_have_count(1)
    sources = visitor.page.locator("ol.wy-refs li > a:not(.back)")
    addresses = {link.inner_text(): link.get_attribute("href") or "" for link in sources.filter(visible=True).all()}
    assert len(addresses) == 2
    for title, address in addresses.items():
        assert address.startswith("/legal?")
        text = "守塔人应当鸣笛" if "灯塔法" in title else "浮标在风暴中漂走"
        visit(lawful, path=address).page.get_by_text(text).first.wait_for()


CONCLUDED = """劳动合同期限一年以上不满三年的，试用期不得超过二个月[1]。因此，公司约定三个月的试用期没有问题。

根据《劳动合同法》第三十八条，公司没有依法为员工缴纳社会保险费的，员工有权解除劳动合同。根据《劳动合同法》第二十条，劳动者在试用期的工资不得低于劳动合同约定工资的百分之五十。综上，你可以要求补足工资。
"""


def test_a_conclusion_and_a_sentence_that_names_an_article_are_told_in_the_text(
    lawful: AppServer, visit: Visit, model_server: OpenAIServer
) -> None:
    model_server.script = [CONCLUDED]
    visitor = visit(lawful)
    visitor.search_on()
    visitor.ask("劳动合同期限一年以上不满三年的，试用期不得超过多久？ script:conclusion")
    visitor.answered("tokens")
    answer = visitor.page.locator(".wy-answer").last
    for _ in range(2):
        remarks = answer.locator(".wy-uncited")
        expect(remarks).to_have_text(
            [
                "结论，未核",
                "✓法条核验 《劳动合同法》第三十八条：引述与条文一致。",
                "≠ 所述内容与条文不符",
                "结论，未核",
            ]
        )
        expect(answer).not_to_contain_text("无出处")
        visitor.page.reload()
        visitor.answered("tokens")
    expect(visitor.page.locator("summary").filter(has_text="核验 ·").last).to_contain_text(
        re.compile("核验 · 法条 1 条不一致 · .*法条 1 条一致 · 1 处未核 · 2 句结论，未核")
    )


def test_a_copy_takes_along_what_is_wrong_about_a_statute_and_leaves_the_rest(
    lawful: AppServer, visit: Visit, model_server: OpenAIServer
) -> None:
    model_server.script = [CONCLUDED]
    visitor = visit(lawful)
    page = visitor.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visitor.search_on()
    visitor.ask("劳动合同期限一年以上不满三年的，试用期不得超过多久？ script:copied")
    visitor.answered("tokens")
    answer = page.get_by_test_id("stChatMessage").last
    answer.get_by_role("button", name="复制", exact=True).click()
    expect(answer.locator(".wy-copy")).to_have_attribute("data-said", "已复制")
    copied = page.evaluate("navigator.clipboard.readText()").replace("\r\n", "\n")
    assert "百分之五十〔法条核验 《劳动合同法》第二十条：" in copied.replace("。〔", "〔")
    assert copied.count("〔") == 1
    assert not any(word in copied for word in ("结论，未核", "✓", "引述与条文一致"))
