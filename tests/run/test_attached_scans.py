"""Attached files of which pages were not recognized: the reader is told which, in both modes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.answer.events import Notice, PageRead
from core.base.extras import OCR
from core.run import page_reading
from core.run.page_reading import attach_files
from core.run.run_sources import RunSources
from support.sectioned import sectioned_page

WHAT = "附件「扫描.pdf」第 21–24 页只有图像，其中的文字没有识别，回答没有用到。"


@pytest.mark.parametrize(
    ("is_installed", "recognized", "advice"),
    [
        (True, 20, "每个附件最多识别 20 页；更多的请放进「资料库」，在后台识别。"),
        (True, 3, ""),
        (False, 0, f"管理员用 {OCR.command} 装上文字识别后可以读。"),
    ],
)
def test_the_pages_that_were_not_recognized_are_named(
    is_installed: bool, recognized: int, advice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_reading, "is_recognition_installed", lambda: is_installed)
    pages = [f"第{number}页的字。" for number in range(1, 21)]
    file = sectioned_page("扫描.pdf", pages, recognized=range(1, recognized + 1))
    read, notice = attach_files(RunSources(), [replace(file, unread_pages=(21, 22, 23, 24))])
    assert isinstance(read, PageRead)
    assert isinstance(notice, Notice)
    assert (notice.kind, notice.text) == ("unread_pages", WHAT + advice)


def test_of_a_file_that_was_read_whole_nothing_is_said() -> None:
    assert len(list(attach_files(RunSources(), [sectioned_page("合同.pdf", ["一页。"])]))) == 1
