"""What would be 未见 is compared in meaning, where a model is configured. Nothing else changes by it."""

from __future__ import annotations

import pytest

from core.answer.check_results import AnswerCheck, SourceCheck, SourceText, Verdict
from core.checks import CheckMemory, MeaningComparison, check_answer, check_statement
from core.checks.meaning import MAX_ASKED, MAX_SENTENCES
from support.table_embedder import TableEmbedder

GROUPS = ("塔灯", "守值看护", "雾笛响吼", "鱼虾")
PARAPHRASE = "起霾时分须大声呼吼。"  # its meaning: 雾笛响吼
SAID = "大雾期间，鸣笛一直响到天明。"
PAGE = f"灯塔高三十米，建于一九二〇年。{SAID}守塔人日落前点灯。"
UNFOUNDED = "鲜活虾类不宜冷藏过夜。"


def near() -> tuple[TableEmbedder, MeaningComparison]:
    embedder = TableEmbedder(*GROUPS)
    return embedder, MeaningComparison(embedder)


def check(statement: str, meaning: MeaningComparison | None, page: str = PAGE) -> SourceCheck:
    return check_statement(statement, SourceText(1, page), meaning)


def verdicts(checked: AnswerCheck) -> list[Verdict]:
    return [citation.check.verdict for statement in checked.statements for citation in statement.citations]


def test_a_paraphrase_is_open_with_its_passage_instead_of_an_accusation() -> None:
    _, meaning = near()
    assert check(PARAPHRASE, None).verdict is Verdict.ABSENT
    found = check(PARAPHRASE, meaning)
    assert found.verdict is Verdict.UNCHECKED
    assert [passage.text for passage in found.evidence] == [SAID]
    assert PAGE[found.evidence[0].start : found.evidence[0].end] == SAID
    assert "意思相近" in found.reason
    assert (found.by, found.differences, found.alignment) == ("rules", (), ())


def test_what_is_near_in_neither_words_nor_meaning_is_absent() -> None:
    _, meaning = near()
    assert check(UNFOUNDED, meaning) == check(UNFOUNDED, None)
    assert check(UNFOUNDED, meaning).verdict is Verdict.ABSENT


@pytest.mark.parametrize(
    ("statement", "verdict"),
    [
        ("灯塔高三十米，建于一九二〇年。", Verdict.SUPPORTED),
        ("灯塔高四十米，建于一九二〇年。", Verdict.CONTRADICTED),
        ("灯塔很高，建于上世纪二十年代。", Verdict.UNCHECKED),
        ("The lighthouse is tall.", Verdict.UNCHECKED),
    ],
)
def test_a_model_that_finds_everything_near_changes_nothing_else(statement: str, verdict: Verdict) -> None:
    everything = TableEmbedder("".join({*PAGE, *statement}))
    found = check(statement, MeaningComparison(everything))
    assert found.verdict is verdict
    assert found == check(statement, None)
    assert everything.asked == []


def test_snippets_and_shared_numbers_are_not_asked_about() -> None:
    embedder, meaning = near()
    snippet = check_answer(f"{PARAPHRASE}[1]", [SourceText(1, PAGE, is_full=False)], meaning=meaning)
    shared = check_answer(f"{PARAPHRASE}守塔人日落前点灯[1]。", [SourceText(1, PAGE)], meaning=meaning)
    assert [*verdicts(snippet), *verdicts(shared)] == [Verdict.UNCHECKED, Verdict.UNCHECKED, Verdict.SUPPORTED]
    assert embedder.asked == []


def test_a_model_that_fails_accuses_nobody_and_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    broken = TableEmbedder(is_broken=True)
    meaning = MeaningComparison(broken)
    answer = f"{PARAPHRASE[:-1]}[1]。\n\n{UNFOUNDED[:-1]}[1]。"
    checked = check_answer(answer, [SourceText(1, PAGE)], meaning=meaning)
    assert verdicts(checked) == [Verdict.UNCHECKED] * 2
    assert {one.check.reason for one in checked.statements} == {"来源里没有相近的字句；意思没有比较，程序不能断定。"}
    assert len(broken.asked) == 1
    (record,) = caplog.records
    assert "语义模型无法载入" in record.getMessage()
    assert "\n" not in record.getMessage()
    assert check("灯塔高三十米，建于一九二〇年。", meaning).verdict is Verdict.SUPPORTED


def unfounded_answer(count: int, first: int = 0) -> str:
    """Return different statements: each ends with another character."""
    return "\n\n".join(f"{UNFOUNDED[:-1]}{chr(ord('草') + number)}[1]。" for number in range(first, first + count))


def test_each_text_is_embedded_once_and_alone() -> None:
    embedder, meaning = near()
    check_answer(unfounded_answer(3), [SourceText(1, PAGE)], meaning=meaning)
    assert len(embedder.asked) == len(set(embedder.asked)) == 3 + 3


def test_only_so_many_are_asked_and_the_rest_is_accused_of_nothing() -> None:
    embedder, meaning = near()
    checked = check_answer(unfounded_answer(2 * MAX_ASKED), [SourceText(1, PAGE)], meaning=meaning)
    assert verdicts(checked) == [Verdict.ABSENT] * MAX_ASKED + [Verdict.UNCHECKED] * MAX_ASKED
    assert len(embedder.asked) == 3 + MAX_ASKED


def test_of_a_long_page_the_likeliest_sentences_are_compared() -> None:
    embedder, meaning = near()
    filler = "".join(f"第{number}号货轮载重{number}吨，驶往南港。" for number in range(4_000))
    page = f"{filler}{SAID}{filler}"
    assert len(page) > 100_000
    found = check(PARAPHRASE.replace("须", "须在大雾中"), meaning, page)
    assert found.verdict is Verdict.UNCHECKED
    assert [passage.text for passage in found.evidence] == [SAID]
    assert len(embedder.asked) == 1 + MAX_SENTENCES


def test_an_answer_that_grows_ends_like_one_that_is_checked_at_once() -> None:
    sources = [SourceText(1, PAGE)]
    answer = f"{unfounded_answer(MAX_ASKED - 1)}\n\n{PARAPHRASE[:-1]}[1]。\n\n{unfounded_answer(2, first=40)}"
    whole = check_answer(answer, sources, meaning=near()[1])
    (embedder, meaning), memory = near(), CheckMemory()
    for length in range(0, len(answer), 20):
        check_answer(answer[:length], sources, memory, meaning)
    assert check_answer(answer, sources, memory, meaning) == whole
    assert verdicts(whole)[MAX_ASKED - 2 :] == [Verdict.ABSENT] + [Verdict.UNCHECKED] * 3
    asked = len(embedder.asked)
    check_answer(answer, sources, memory, meaning)
    assert len(embedder.asked) == asked


def test_without_a_model_all_is_as_before() -> None:
    answer, sources = f"{unfounded_answer(2 * MAX_ASKED)}\n\n{PARAPHRASE[:-1]}[1]。", [SourceText(1, PAGE)]
    assert set(verdicts(check_answer(answer, sources))) == {Verdict.ABSENT}
