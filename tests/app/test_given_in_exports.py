"""How much of an attached file the model was given: the same words in every export and on the command line."""

from __future__ import annotations

import json
import re
from io import BytesIO
from pathlib import Path
from typing import Any

import docx
import pytest
from lxml import html

from core.answer.events import PageRead, SourcesGiven
from core.answer.export import answer_as_markdown, as_html, as_json, as_markdown, as_word
from core.answer.message import Message
from core.search.types import Source
from support.command import Core, core
from support.openai_server import openai_server
from support.pdf_files import pdf_file
from support.reading import kept_workers

__all__ = ["core", "kept_workers"]

SAID = "附件 · 112,000 字，交给模型 9,876 字（第 3–5、31 页）"
SOURCES = (
    (Source(1, "馆规.pdf", "attachment:00/馆规.pdf", "", read="file", characters=112_000, given=9_876, given_places="第 3–5、31 页"), SAID),
    (Source(1, "馆规.pdf", "attachment:00/馆规.pdf", "", read="file", characters=800, given=800), "附件 · 800 字，全文交给模型"),
    (Source(1, "馆规.pdf", "attachment:00/馆规.pdf", "", read="file", characters=112_000, given=90_000, given_parts=7), "附件 · 112,000 字，分 7 部分交给模型，读到其中 90,000 字"),
)  # fmt: skip


@pytest.mark.parametrize(("source", "said"), SOURCES, ids=["passages", "whole", "parts"])
def test_every_export_says_it(source: Source, said: str) -> None:
    message = Message(
        "assistant", "每季领取三十七枚[1]。", (PageRead(source), SourcesGiven((source,))), cited=(source,), id="a"
    )
    assert said in answer_as_markdown(message)
    assert said in as_markdown("标题", [message])
    page: Any = html.fromstring(as_html("标题", [message]))
    assert said in page.text_content()
    document = docx.Document(BytesIO(as_word("标题", [message])))
    assert any(said in paragraph.text for paragraph in document.paragraphs)
    (reference,) = json.loads(as_json("标题", [message]))["messages"][0]["references"]
    assert (reference["characters"], reference["given"]) == (source.characters, source.given)
    assert reference.get("givenPlaces", "") == source.given_places
    assert reference.get("givenParts", 0) == source.given_parts


def test_the_command_line_says_it(core: Core, tmp_path: Path) -> None:
    line = "本馆的陈列柜在春季擦拭一次，由值班人员登记，登记簿放在前台的抽屉里。"
    file = tmp_path / "馆规.pdf"
    file.write_bytes(pdf_file(*[[f"{line}{page}·{row}" for row in range(25)] for page in range(1, 13)]))
    with openai_server() as server:
        server.listing = (200, json.dumps({"data": [{"id": "reply", "max_model_len": 8_192}]}).encode())
        server.reply = lambda asked: ["陈列柜在春季擦拭一次[1]。"]
        model = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.url, "LLM_MODEL": "openai:reply"}
        told = core("ask", "第 7 页讲什么？", "--file", str(file), **model)
        asked = core("ask", "第 7 页讲什么？", "--file", str(file), "--json", **model)
    said = re.search(r"附件 · ([\d,]+) 字，交给模型 ([\d,]+) 字（第 [^）]+ 页）", told.stderr)
    assert said
    assert said[0] in told.stdout.partition("参考文献")[2]
    events = [json.loads(line) for line in asked.stdout.splitlines()]
    (answer,) = [event for event in events if event["type"] == "answer"]
    (source,) = answer["sources"]
    assert [f"{source[key]:,}" for key in ("characters", "given")] == [said[1], said[2]]
    assert f"（{source['givenPlaces']}）" in said[0]
