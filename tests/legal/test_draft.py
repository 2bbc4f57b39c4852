"""Drafts as lawyers have them: read, verified, and given back with comments."""

from __future__ import annotations

import io
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import docx
import pytest
from docx.document import Document
from docx.shared import RGBColor

from core.legal.draft import FORMATTING_LOST, TOO_MANY_CITATIONS, Draft, draft_with_comments
from core.legal.verify import Author, StatuteFinding, StatuteMark, Verifier, summary
from core.reading import Reader, ReadingSettings
from support import invented, word_files
from support.word_files import word_file

OPENING = "依据《灯塔法》第三条、第九条和《月光法》第一条起诉。"
QUOTED = "《灯塔法》第三条规定：“守塔人可以在日落前点灯。”"


@pytest.fixture(scope="module")
def verifier(tmp_path_factory: pytest.TempPathFactory) -> Verifier:
    folder = tmp_path_factory.mktemp("draft")
    return Verifier(invented.library(folder / "data", invented.lawrefbook(folder / "laws")))


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> Iterator[Reader]:
    monkeypatch.setattr("core.reading.reader.FILE_TIMEOUT", 120.0)  # a thousand comments on a busy machine
    reader = Reader(ReadingSettings())
    yield reader
    reader.close()


def formatted(document: Document) -> None:
    paragraph = document.add_paragraph("原告认为，", style="List Bullet")
    red = paragraph.add_run("依《灯塔法》")
    red.font.color.rgb = RGBColor(0xC0, 0, 0)
    italic = paragraph.add_run("第九条的约定，被告违约。")
    italic.italic = True


def comments(made: bytes) -> list[str]:
    return [comment.text for comment in docx.Document(io.BytesIO(made)).comments]


def commented_words(made: bytes) -> list[str]:
    """The words that each comment stands at, in the order of the text."""
    found: dict[str, str] = {}
    open_: set[str] = set()
    for element in docx.Document(io.BytesIO(made)).element.body.iter():
        name, id = element.tag.rpartition("}")[2], next(iter(element.attrib.values()), "")
        if name == "commentRangeStart":
            open_.add(id)
            found[id] = ""
        elif name == "commentRangeEnd":
            open_.discard(id)
        elif name == "t":
            found |= {one: found[one] + (element.text or "") for one in open_}
    return list(found.values())


def test_a_word_document_comes_back_with_comments_and_as_it_was(verifier: Verifier, reader: Reader) -> None:
    body = word_file(OPENING, QUOTED, rows=[["依据", "《灯塔法》第九十九条"]], change=formatted)
    draft = Draft.from_file("起诉状.docx", body, reader)
    verdicts = verifier.verify(draft.text, Author.PERSON)
    made = draft_with_comments(draft, verdicts, reader)
    said, counted = comments(made), f"法条核验：共引用 {len(verdicts)} 处，{summary(verdicts)}"
    said.remove(counted)
    assert commented_words(made)[1:] == [verdict.cited for verdict in verdicts]
    assert commented_words(made)[1:4] == ["《灯塔法》第三条", "第九条", "《月光法》第一条"]
    assert sorted(text[0] for text in said) == sorted(verdict.mark for verdict in verdicts)
    assert any("≠ 引文与条文不一致。" in text and "《中华人民共和国灯塔法》第三条" in text for text in said)
    before, after = (docx.Document(io.BytesIO(one)) for one in (body, made))
    assert [(one.text, one.style and one.style.name) for one in after.paragraphs] == [
        (one.text, one.style and one.style.name) for one in before.paragraphs
    ]
    runs = [(run.text, run.font.color.rgb, run.italic) for run in after.paragraphs[-1].runs if run.text]
    red = RGBColor(0xC0, 0, 0)
    assert runs == [
        ("原告认为，", None, None),
        ("依", red, None),
        ("《灯塔法》", red, None),
        ("第九条", None, True),
        ("的约定，被告违约。", None, True),
    ]
    assert Draft.from_file("起诉状.docx", made, reader).text == draft.text


@pytest.mark.parametrize("name", ["稿.txt", "粘贴"])
def test_of_a_plain_text_a_document_is_made(verifier: Verifier, reader: Reader, name: str) -> None:
    text = f"\n　　{OPENING}\n\n\t{QUOTED}\n"
    draft = Draft.from_file(name, text.encode("gb18030"), reader) if "." in name else Draft.from_text(text)
    verdicts = verifier.verify(draft.text, Author.PERSON)
    made = draft_with_comments(draft, verdicts, reader)
    assert commented_words(made)[1:] == [verdict.cited for verdict in verdicts]
    assert Draft.from_file("稿.docx", made, reader).text == draft.text


def test_citations_within_one_another_share_a_comment(reader: Reader) -> None:
    verdicts = [
        StatuteFinding(StatuteMark.EXISTS, 0, 6, "一二三四五六", "甲法", "第一条"),
        StatuteFinding(StatuteMark.MISSING, 3, 8, "四五六七八", "甲法", "第九条"),
    ]
    made = draft_with_comments(Draft("a", "一二三四五六七八九"), verdicts, reader)
    counted = "法条核验：共引用 2 处，有问题 1 · 只查到条文存在 1"
    assert (commented_words(made), comments(made)) == (
        ["一二三四五六七八"],
        [f"{counted}\n○ 未能比对。\n✗ 没有这一条。"],
    )


def test_a_document_that_takes_no_comments_comes_back_as_its_words(verifier: Verifier, reader: Reader) -> None:
    body = word_files.with_part(word_file(OPENING), "[Content_Types].xml", "<broken")
    draft = Draft.from_file("a.docx", body, reader)
    made = draft_with_comments(draft, verifier.verify(draft.text), reader)
    assert FORMATTING_LOST in comments(made)
    assert docx.Document(io.BytesIO(made)).paragraphs[0].text == OPENING


def test_of_very_many_citations_the_bad_ones_are_commented(verifier: Verifier, reader: Reader) -> None:
    draft = Draft.from_text("依《灯塔法》第三条。\n" * 1_100 + "依《灯塔法》第九条。")
    said = comments(draft_with_comments(draft, verifier.verify(draft.text, Author.PERSON), reader))
    assert (len(said), said[0][0]) == (1_001, "✗")
    assert TOO_MANY_CITATIONS in said


@pytest.mark.servers
@pytest.mark.skipif(not shutil.which("soffice"), reason="LibreOffice is not installed")
def test_another_program_opens_it_with_its_comments(verifier: Verifier, reader: Reader, tmp_path: Path) -> None:
    draft = Draft.from_file("a.docx", word_file(OPENING, QUOTED), reader)
    file = tmp_path / "a.docx"
    file.write_bytes(draft_with_comments(draft, verifier.verify(draft.text, Author.PERSON), reader))
    home = f"-env:UserInstallation=file://{tmp_path}/home"
    subprocess.run(
        ["soffice", home, "--headless", "--convert-to", "odt", "--outdir", tmp_path, file], check=True, timeout=120
    )
    content = word_files.part((tmp_path / "a.odt").read_bytes(), "content.xml")
    assert content.count("<office:annotation ") == 5  # one tells the counts
    assert "没有这一条" in content
