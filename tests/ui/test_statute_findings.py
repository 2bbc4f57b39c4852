"""The chips of 法条核验: what they say, what a click shows, and that hostile text stays text."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from streamlit.testing.v1 import AppTest

from core.legal.verify import StatuteFinding, StatuteMark
from core.ui import statute_findings as legal_check
from support.pages import html


def verdict(cited: str, mark: StatuteMark = StatuteMark.EXISTS, **fields: object) -> StatuteFinding:
    values = {"law_name": "中华人民共和国灯塔法", "article_number": "第三条", "text": "守塔人应当在日落前点灯。"}
    return StatuteFinding(mark, 0, len(cited), cited, **{**values, **fields})  # type: ignore[arg-type]


def _draw(checks: "Sequence[StatuteFinding]") -> None:  # noqa: UP037 - its source is run by itself
    from core.ui import statute_findings as legal_check

    legal_check.draw(checks, key="test")


def drawn(*checks: StatuteFinding) -> AppTest:
    page = AppTest.from_function(_draw, default_timeout=30, kwargs={"checks": checks}).run()
    assert not page.exception
    return page


def chips(page: AppTest) -> list[str]:
    return [element.proto.popover.label for element in page.main.children[0].children.values()]


@pytest.mark.parametrize(
    ("cited", "shown"),
    [
        ("《灯塔法》第三条第一款", "《灯塔法》第三条第一款"),
        ("灯塔法82条", "灯塔法82条"),
        ("第三条", "《灯塔法》第三条"),
        ("本法第三条之一", "《灯塔法》第三条之一"),
        ("该条例第三条", "《灯塔法》第三条"),
    ],
)
def test_every_chip_names_its_law(cited: str, shown: str) -> None:
    assert legal_check.citation_label(verdict(cited)) == shown


def test_the_same_citation_is_one_chip_in_the_order_of_the_text() -> None:
    missing = verdict("《灯塔法》第九条", StatuteMark.MISSING, article_number="第九条", text=None, note="全文共六条。")
    page = drawn(
        verdict("《灯塔法》第三条"), missing, verdict("第三条"), verdict("《灯塔法》第四条", StatuteMark.NOT_IN_FORCE)
    )
    assert chips(page) == ["○ 《灯塔法》第三条", ":red[✗] 《灯塔法》第九条", ":orange[⌛] 《灯塔法》第四条"]
    assert '<b class="wy-mark red">✗</b> <b>没有这一条。</b>全文共六条。' in html(page)


def test_a_click_shows_the_article_its_date_and_the_way_to_it() -> None:
    shown = legal_check.finding_html(verdict("第三条", effective_date="2020-10-01", published="2020-08-08"))
    assert "<p>守塔人应当在日落前点灯。</p>" in shown
    assert "2020-10-01 起施行" in shown
    assert "version=2020-08-08" in shown
    assert "施行" not in legal_check.finding_html(verdict("第三条"))


def test_a_wrong_quotation_is_compared_word_by_word() -> None:
    shown = legal_check.finding_html(
        verdict("第三条", StatuteMark.DIFFERS, quote="守塔人可以在日落前点灯", is_misquoted=True)
    )
    assert "守塔人<del>可以</del><ins>应当</ins>在日落前点灯" in shown


@pytest.mark.parametrize(
    ("mark", "shown"),
    [
        (StatuteMark.AGREES, ":green[✓]"),
        (StatuteMark.EXISTS, "○"),
        (StatuteMark.DIFFERS, ":red[≠]"),
        (StatuteMark.MISSING, ":red[✗]"),
        (StatuteMark.NOT_IN_FORCE, ":orange[⌛]"),
        (StatuteMark.UNKNOWN, ":gray[？]"),
    ],
)
def test_only_agreement_is_green(mark: StatuteMark, shown: str) -> None:
    assert legal_check.coloured_mark(mark) == shown


def test_what_was_said_stands_beside_the_article() -> None:
    shown = legal_check.finding_html(
        verdict("第三条", StatuteMark.DIFFERS, claim="守塔人可以睡觉", note="更像第四条。")
    )
    assert "<b>所述内容与条文不符。</b>更像第四条。" in shown
    said, article = shown.split('<div class="wy-beside">')[1].split("</div><div>", 1)
    assert "文中所述" in said
    assert "<p>守塔人可以睡觉</p>" in said
    assert "<p>守塔人应当在日落前点灯。</p>" in article


def test_hostile_words_stay_words() -> None:
    attack = '<script>alert(1)</script>![x](http://evil.example/y)[l](javascript:alert(2))"><img src=x>'
    page = drawn(
        verdict(
            f"《{attack}》第三条",
            StatuteMark.DIFFERS,
            law_name=attack,
            text=attack * 2,
            quote=f"{attack}。",
            note=attack,
            is_misquoted=True,
            claim=attack,
        )
    )
    shown = html(page)
    assert "<script" not in shown
    assert "<img" not in shown
    assert 'href="/legal?law=%3Cscript%3E' in shown
    assert chips(page)[0].startswith(r":red[≠] 《\<script\>alert\(1\)\<\/script\>\!\[x\]")
