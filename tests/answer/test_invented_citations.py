"""Citations of sources that do not exist: told at their place, in every form in which an answer leaves the program."""

from __future__ import annotations

import json
from io import BytesIO

import docx
import pytest

from core.answer.annotation import annotate
from core.answer.check_results import InventedCitation, invented_sentence
from core.answer.check_texts import source_texts, withdraw
from core.answer.citation_verdicts import tally, with_statutes
from core.answer.citations import INVENTED, drop_invented
from core.answer.events import Answer, Checked, Notice, RunEvent, RunStopped, SearchFinished, TextDelta, ToolStarted
from core.answer.export.html_page import as_html
from core.answer.export.json_file import as_json
from core.answer.export.markdown_text import answer_as_markdown, as_markdown
from core.answer.export.word_file import as_word
from core.answer.html.markdown import render_annotated
from core.answer.message import Message, message_from_run
from core.answer.sourced_text import SourcedEvents
from core.answer.stored_message import decode_message, encode_message
from core.checks import check_answer
from core.legal import StatuteCheck, StatuteFinding, StatuteMark
from core.search.types import SearchQuery, SearchResponse, Source

SOURCES = tuple(Source(number, f"标题{number}", f"https://site{number}.example/", "三十日之内") for number in (1, 2))
FOUND = SearchFinished(SearchResponse(SearchQuery("问"), provider="fake"), SOURCES)
WRITTEN = "应当在三十日之内提出[1]。守塔人喜欢唱歌[6]。灯塔很高[1][7]。"
SENTENCE = "模型引用了不存在的来源 6、7"


def run(*events: RunEvent) -> list[RunEvent]:
    """Return the events as every reader gets them, with the check of the answer."""
    sourced = SourcedEvents()
    told = [one for event in events for one in sourced.sourced(event)]
    return [one for event in told for one in (*_checked(event), event)]


def _checked(event: RunEvent) -> list[RunEvent]:
    if not isinstance(event, Answer):
        return []
    return [Checked(check_answer(event.text, source_texts(SOURCES, {}), invented=event.invented))]


MESSAGE = message_from_run(run(FOUND, TextDelta(WRITTEN), Answer(WRITTEN, SOURCES[:1])), seconds=1, id="a1")


@pytest.mark.parametrize(
    ("written", "left", "invented"),
    [
        ("甲[6]。", "甲。", [(1, (6,))]),
        ("甲[1][6]。乙[7]。", "甲[1]。乙。", [(4, (6,)), (6, (7,))]),
        ("甲【6】，［７］。", "甲。", [(1, (6, 7))]),
        ("甲[0]。", "甲。", [(1, (0,))]),
        ("甲[1200]。", "甲。", [(1, (1200,))]),
        ("甲[1-4]。", "甲[1][2]。", [(7, (3, 4))]),
        (f"甲[{INVENTED}1]。", "甲。", [(1, ())]),
        ("甲[999999999999]。", "甲[999999999999]。", []),
        ("`a[6]`、[文[6]](https://a.example/)、数组 [3, 9]、a[7]", "`a[6]`、[文[6]](https://a.example/)、数组 [3, 9]、a[7]", []),
        ("[7]: https://a.example/\n甲", "甲", []),
        ("\ufff47\ufff1甲。", "\ufff47\ufff1甲。", []),
    ],
)  # fmt: skip
def test_what_is_dropped_is_known_by_place_and_number(
    written: str, left: str, invented: list[tuple[int, tuple[int, ...]]]
) -> None:
    text, found = drop_invented(written, {1, 2})
    assert text == left
    assert [(one.at, one.numbers) for one in found] == invented


def test_many_numbers_make_a_short_sentence() -> None:
    assert invented_sentence(range(5, 400)) == "模型引用了不存在的来源 5、6、7、8、9、10、11、12、13、14 等 395 个"
    assert invented_sentence([7, 6, 6]) == SENTENCE
    assert "不指向任何来源" in invented_sentence([])


def test_the_answer_the_notice_and_the_check_tell_it() -> None:
    events = run(FOUND, TextDelta(WRITTEN), Answer(WRITTEN, SOURCES[:1]))
    answer = next(event for event in events if isinstance(event, Answer))
    assert (answer.text, answer.to_json()["invented"]) == (
        "应当在三十日之内提出[1]。守塔人喜欢唱歌。灯塔很高[1]。",
        [6, 7],
    )
    [notice] = [event for event in events if isinstance(event, Notice)]
    assert (notice.kind, notice.text.startswith(SENTENCE)) == ("invented_source", True)
    [checked] = [event for event in events if isinstance(event, Checked)]
    document = checked.to_json()
    assert [(one["text"], one["invented"]) for one in document["uncited"]] == [("守塔人喜欢唱歌。", [6])]
    assert [one["numbers"] for one in document["invented"]] == [[6], [7]]
    assert "1 句无出处" in tally(checked.check)


def test_without_any_source_the_numbers_point_to_nothing() -> None:
    events = run(TextDelta("来源提到它[1]。它很好[2]。"), Answer("来源提到它[1]。它很好[2]。"))
    [notice] = [event for event in events if isinstance(event, Notice)]
    assert notice.text.startswith("模型引用了不存在的来源 1、2，这次没有任何来源")


def test_an_answer_that_cites_well_has_no_remark() -> None:
    events = run(FOUND, Answer("应当在三十日之内提出[1]。", SOURCES[:1]))
    assert not any(isinstance(event, Notice) for event in events)
    assert "invented" not in json.dumps([event.to_json() for event in events])


def drawn(message: Message) -> str:
    annotated = annotate(message.text, message.check)
    return str(render_annotated(annotated.text, annotated, message.sources))


def test_the_page_shows_it_at_the_place() -> None:
    html = drawn(MESSAGE)
    assert (
        '守塔人喜欢唱歌。<sup class="wy-remark" title="模型引用了不存在的来源 6">无出处（来源 6 不存在）</sup>' in html
    )
    assert '<sup class="wy-remark" title="模型引用了不存在的来源 7">来源 7 不存在</sup>。' in html
    assert html.count("wy-remark") == 2


def test_it_is_stored_with_the_message_and_survives_a_new_checker() -> None:
    stored = encode_message(MESSAGE)
    again = decode_message(stored, id="a1", role="assistant", text=MESSAGE.text, created=0, load_texts=lambda _: {})
    assert again.invented == MESSAGE.invented
    assert again.notices == MESSAGE.notices
    assert again.check is not None
    assert "来源 6 不存在" in drawn(again)
    assert withdraw(again.check).invented == again.check.invented


def test_every_export_tells_it() -> None:
    word = docx.Document(BytesIO(as_word("题", [MESSAGE])))
    exports = {
        "markdown": as_markdown("题", [MESSAGE]).replace("\\", ""),
        "word": "\n".join(paragraph.text for paragraph in word.paragraphs),
        "html": str(as_html("题", [MESSAGE])),
        "json": as_json("题", [MESSAGE]),
    }
    for kind, text in exports.items():
        assert SENTENCE in text, kind
        assert "[6]" not in text, kind
    assert "无出处：守塔人喜欢唱歌。（模型引用了不存在的来源 6）" in answer_as_markdown(MESSAGE)
    [exported] = json.loads(exports["json"])["messages"]
    for cited in exported["check"]["invented"]:
        assert exported["text"][: cited["at"]].endswith(("唱歌", "[1]"))


def test_an_answer_that_was_stopped_tells_it() -> None:
    sourced = SourcedEvents()
    given: list[RunEvent] = [
        FOUND,
        TextDelta("查一下[8]"),
        ToolStarted("web_search", "q"),
        TextDelta("守塔人喜欢唱歌[6]。还有"),
        RunStopped("user"),
    ]
    message = message_from_run([one for event in given for one in sourced.sourced(event)], seconds=1)
    assert [notice.text for notice in message.notices if notice.kind == "invented_source"] == [
        "模型引用了不存在的来源 6；这些编号不指向任何内容，已经去掉。"
    ]


def test_another_text_has_its_own_invented_numbers() -> None:
    better = MESSAGE.with_text("应当在三十日之内提出[1]。", before=MESSAGE.text)
    assert better.invented == ()
    assert not better.notices
    worse = MESSAGE.with_text("守塔人。", before="", invented=(InventedCitation(3, (9,)),))
    assert [notice.text[:14] for notice in worse.notices] == ["模型引用了不存在的来源 9；"]


def test_the_notice_is_back_when_a_revision_is_taken_back() -> None:
    first = MESSAGE.with_revision("灯塔不高[1]。", (InventedCitation(4, (9,)),))
    assert [notice.text[:14] for notice in first.notices] == ["模型引用了不存在的来源 9；"]
    second = decoded(first.with_revision("灯塔很高[1]。", ()))
    assert not second.notices
    back = second.without_revision()
    assert (back.text, back.invented, back.before, back.before_invented) == (MESSAGE.text, MESSAGE.invented, "", ())
    assert back.notices == MESSAGE.notices
    assert "before_invented" not in encode_message(back)


def decoded(message: Message) -> Message:
    return decode_message(encode_message(message), id="a1", role="assistant", text=message.text, created=0)


def test_an_answer_of_an_earlier_version_gets_the_notice_with_its_new_check() -> None:
    old = message_from_run([FOUND, Answer(WRITTEN, SOURCES[:1])], seconds=1)
    again = old.with_repeated_check(MESSAGE.check)
    assert [notice.text for notice in again.notices] == [notice.text for notice in MESSAGE.notices]
    assert again.with_repeated_check(MESSAGE.check) == again, "told once"
    assert not MESSAGE.with_text("灯塔很高[1]。", before="").with_repeated_check(None).notices


# ── One verdict per sentence ──────────────────────────────────────────────────────────────────────────────────────────

LAW = "产品有缺陷的，生产者应当承担侵权责任。（《民法典》第一千二百零二条）\n\n另有70家分店。"


def finding(mark: StatuteMark) -> StatuteFinding:
    cited = "《民法典》第一千二百零二条"
    at = LAW.index(cited)
    claim = "产品有缺陷的，生产者应当承担侵权责任。"
    return StatuteFinding(mark, at, at + len(cited), cited, "民法典", "第一千二百零二条", claim=claim)


@pytest.mark.parametrize(
    ("mark", "counted"), [(StatuteMark.AGREES, "引述与条文一致"), (StatuteMark.EXISTS, "未能比对"), (StatuteMark.DIFFERS, "不符")]
)  # fmt: skip
def test_the_sentence_that_was_compared_with_an_article_is_not_without_source(mark: StatuteMark, counted: str) -> None:
    """The article may be cited behind the sentence."""
    check = with_statutes(check_answer(LAW, []), StatuteCheck((finding(mark),), (finding(mark),)))
    assert check is not None
    assert [one.text for one in check.unsourced] == ["另有70家分店。"]
    assert [one["text"] for one in check.to_json()["uncited"]] == ["另有70家分店。"]
    assert counted in tally(check)
    assert not any(words in tally(check) for words in ("有据", "没有问题"))
