from __future__ import annotations

import re
import shutil
import subprocess
import sys
from datetime import timedelta, timezone
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import docx
import pytest
from docx.document import Document
from docx.oxml.ns import qn
from hypothesis import given, settings
from hypothesis import strategies as st

from core.answer.check_results import SourceText
from core.answer.events import Checked, Notice, SearchFinished
from core.answer.export import as_word
from core.answer.message import Message
from core.checks.check import check_answer
from core.legal.case_check import CaseFinding
from core.legal.statute_checks import StatuteCheck
from core.legal.verify import StatuteFinding, StatuteMark
from core.search.types import SearchQuery, SearchResponse, Source
from support.base import ROOT
from support.messages import FULL

SHANGHAI = timezone(timedelta(hours=8))
LATE = 1_763_222_400.0  # 2025-11-15 16:00 UTC, midnight in Shanghai
SOURCES = (
    Source(1, "民法典", "https://flk.npc.gov.cn/detail?id=1&x=2", "摘要", published="2020-05-28", read="page"),
    Source(4, "最高法解释", "https://www.court.gov.cn/a_(b)_c", "摘要"),
    Source(7, "《民法典》第一千零七十九条", "/legal?law=x&article=y", "摘要", read="library"),
)
TEXT = """# 结论

感情**确已破裂**的，准予离婚。[1][4] 见 [原文](https://flk.npc.gov.cn/detail?id=1&x=2) 和 [别处](https://evil.example/x)。

1. 甲[7]
   - 子项
2. 乙

另一列：

1. 丙

| 条 | 数 |
|:--|--:|
| 1079 | **12** |

> 引文

```python
if a[1] < 2: pass
```

公式 $E=mc^2$。

$$
x^2
$$

![图](https://evil.example/p.png)
"""


def answer(text: str = TEXT, *, created: float = LATE, more: tuple[Notice, ...] = ()) -> Message:
    search = SearchFinished(SearchResponse(SearchQuery("离婚"), provider="tavily", search_time=0.8), SOURCES)
    return Message("assistant", text, (search, *more), SOURCES, 3.2, model="gpt-5-mini", created=created)


def opened(*messages: Message, title: str = "离婚") -> Document:
    return docx.Document(BytesIO(as_word(title, messages, zone=SHANGHAI)))


def lines(document: Document) -> list[str]:
    return [paragraph.text for paragraph in document.paragraphs]


def targets(document: Document) -> set[str]:
    return {relation.target_ref for relation in document.part.rels.values() if relation.is_external}


def test_references_are_written_as_the_standard_wants_with_the_readers_day() -> None:
    found = lines(opened(answer()))
    assert found[found.index("参考文献") + 1 :][:3] == [
        "[1]\t民法典[EB/OL]. (2020-05-28)[2025-11-16]. https://flk.npc.gov.cn/detail?id=1&x=2.（已读全文 · 0 字）",
        "[4]\t最高法解释[EB/OL]. [2025-11-16]. https://www.court.gov.cn/a_(b)_c.（仅摘要）",
        "[7]\t《民法典》第一千零七十九条[Z]. 本地法规库.",
    ]
    assert found[:3] == ["离婚", "答", "gpt-5-mini · 2025-11-16 00:00（UTC+08:00） · 3.2 秒"]
    assert found[-1] == "搜索「离婚」：tavily，找到 0 条，0.8 秒"


def test_a_number_in_the_text_leads_to_its_reference_in_the_same_answer() -> None:
    document = opened(answer(), answer())
    body = document.element.body
    places = [place.get(qn("w:name")) for place in body.iter(qn("w:bookmarkStart"))]
    assert len(places) == len(set(places)) == 6
    led_to = [link.get(qn("w:anchor")) for link in body.iter(qn("w:hyperlink")) if link.get(qn("w:anchor"))]
    assert led_to == ["m1_ref_1", "m1_ref_4", "m1_ref_7", "m2_ref_1", "m2_ref_4", "m2_ref_7"]
    assert set(led_to) <= set(places)


def test_only_sources_can_be_followed_and_nothing_is_loaded() -> None:
    document = opened(answer())
    assert targets(document) == {SOURCES[0].url, SOURCES[1].url}
    assert "别处（evil.example）" in "".join(lines(document))
    assert "[图片：图]" in lines(document)


def test_markdown_becomes_what_word_has_for_it() -> None:
    document = opened(answer())
    style = {paragraph.text: paragraph.style.name for paragraph in document.paragraphs if paragraph.style}
    assert style["结论"] == "Heading 3"
    assert style["甲[7]"] == style["乙"] == style["丙"] == "List Number"
    assert style["子项"] == "List Bullet 2"
    assert style["引文"] == "Quote"
    assert style["if a[1] < 2: pass"] == "Code"
    assert style["x^2"] == "Normal"
    assert "公式 E=mc^2。" in style
    assert [cell.text for row in document.tables[0].rows for cell in row.cells] == ["条", "数", "1079", "12"]
    bold = [run.text for paragraph in document.paragraphs for run in paragraph.runs if run.bold]
    assert bold == ["确已破裂"]


def test_every_numbered_list_counts_by_itself() -> None:
    document = opened(answer())
    counts = {
        paragraph.text: paragraph._p.xpath("w:pPr/w:numPr/w:numId/@w:val")
        for paragraph in document.paragraphs
        if paragraph.text in {"甲[7]", "乙", "丙"}
    }
    assert counts["甲[7]"] == counts["乙"] != counts["丙"]


def test_what_was_checked_goes_along() -> None:
    text = "试用期最长六个月。[1]"
    check = check_answer(text, [SourceText(1, "劳动合同法规定，试用期最长三个月。")])
    verdict = StatuteFinding(
        StatuteMark.MISSING, 0, 7, "民法典第九千条", "民法典", "第九千条", note="民法典没有这一条。"
    )
    message = Message("assistant", text, (Checked(check),), SOURCES[:1])
    case = CaseFinding(StatuteMark.UNKNOWN, 0, 7, "指导案例24号", "指导性案例24号", "库中没有这个案件")
    written = as_word("题", [message], check_statutes=lambda text: StatuteCheck((verdict,), cases=(case,)))
    found = lines(docx.Document(BytesIO(written)))
    assert "依据核验" in found
    assert any(line.startswith("✗") for line in found[found.index("依据核验") :])
    assert any("民法典第九千条" in line for line in found[found.index("法条核验") :])
    assert found[found.index("案号核验") + 1] == "？ 指导案例24号：库中没有这个案件。"


def test_remarks_and_untitled_conversations() -> None:
    found = lines(opened(answer("没有写完", more=(Notice("unfinished", "这条回答在写完之前中断了"),)), title=" "))
    assert found[0] == "未命名的对话"
    assert "这条回答在写完之前中断了" in found
    assert lines(opened(Message("note", "已切换"), FULL))[1] == "答"


def test_a_reader_of_word_is_told_what_it_is() -> None:
    known = opened(answer(), title="离婚\n<条件>").core_properties
    assert (known.title, known.author, known.comments) == ("离婚 <条件>", "问源", "")


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet=st.characters(codec=None), max_size=60), st.text(max_size=20))
def test_whatever_was_written_can_be_opened(text: str, title: str) -> None:
    source = Source(1, title, "https://good.example/", text)
    said = Message("assistant", f"{text}[1]\n\n- {text}\n\n| a |\n|---|\n| {title} |", (), (source,))
    assert targets(opened(Message("user", text), said, title=title)) <= {"https://good.example/"}


@pytest.mark.parametrize("url", ["javascript:alert(1)", "//evil.example", "https://evil.example/a\nb", "file:///etc"])
def test_what_is_no_web_address_is_no_link(url: str) -> None:
    source = Source(1, "题", url, "")
    document = opened(Message("assistant", "是。[1]", (), (source,)))
    assert targets(document) == set()
    assert any(line.startswith("[1]\t题[Z].") for line in lines(document))


def test_the_page_does_not_pay_for_word() -> None:
    asked = "import sys, core.ui.chat.export_menu; sys.exit('docx' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", asked], cwd=ROOT, check=False).returncode == 0


@pytest.mark.servers
@pytest.mark.skipif(not shutil.which("soffice"), reason="LibreOffice is not installed")
def test_libreoffice_opens_it(tmp_path: Path) -> None:
    file = tmp_path / "talk.docx"
    file.write_bytes(as_word("离婚", [answer()], zone=SHANGHAI))
    home = f"-env:UserInstallation=file://{tmp_path}/home"
    subprocess.run(
        ["soffice", home, "--headless", "--convert-to", "txt:Text", "--outdir", tmp_path, file], check=True, timeout=120
    )
    text = (tmp_path / "talk.txt").read_text("utf-8-sig")
    assert "[1]" in text
    assert "民法典[EB/OL]. (2020-05-28)[2025-11-16]." in text


def test_the_file_has_no_macros_and_no_remote_parts() -> None:
    with ZipFile(BytesIO(as_word("离婚", [answer()], zone=SHANGHAI))) as file:
        assert not [name for name in file.namelist() if re.search(r"vba|activeX|embeddings|\.\.|^/", name)]
        relations = "".join(file.read(name).decode() for name in file.namelist() if name.endswith(".rels"))
    assert set(re.findall(r'Target="([^"]*)" TargetMode="External"', relations)) == {
        "https://flk.npc.gov.cn/detail?id=1&amp;x=2",
        "https://www.court.gov.cn/a_(b)_c",
    }
