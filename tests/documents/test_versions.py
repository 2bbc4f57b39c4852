"""Versions of the same file are told apart, and the newer one comes first."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.documents import Access, DocumentLibrary
from core.documents.version_marks import find_date, full_day, read_marks, stem_of
from core.documents.versions import decode_traits, encode_traits, outdated_ids

OWNER = Access("owner")

POLICY = """差旅报销管理制度
{head}
第一条 员工出差前应在系统里提交申请，经部门负责人批准后方可订票。
第二条 住宿标准：一线城市每晚不超过 {hotel} 元，其他城市每晚不超过 {other} 元。
第三条 市内交通凭票据实报销，每天不超过 {taxi} 元；夜间十点以后可以乘坐出租车。
第四条 出差补助每天 {daily} 元，随报销款一起发放，不需要票据。
第五条 报销单应在返回后十五个工作日内提交，逾期需要分管副总经理签字。
"""
OLD = POLICY.format(head="", hotel=450, other=300, taxi=80, daily=60)
NEW = POLICY.format(head="", hotel=600, other=400, taxi=120, daily=100)


def outdated(*files: tuple[str, str], modified: dict[str, str] | None = None) -> set[str]:
    """The names of those of these files (name and text) that are outdated."""
    days = modified or {}
    found = (decode_traits(name, encode_traits(name, text), days.get(name)) for name, text in files)
    return outdated_ids(version for version in found if version)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("差旅报销制度2023.docx", "差旅报销制度2025.docx"),
        ("制度/2023/差旅报销制度.docx", "制度/2025/差旅报销制度.docx"),
        ("差旅报销制度_v1.docx", "差旅报销制度_v2.docx"),
        ("差旅报销制度 v1.9.docx", "差旅报销制度 v1.10.docx"),
        ("差旅报销制度（征求意见稿）.docx", "差旅报销制度（终稿）.docx"),
        ("差旅报销制度-初稿.docx", "差旅报销制度.docx"),
        ("旧/差旅报销制度.docx", "差旅报销制度.docx"),
        ("差旅报销制度（作废）.docx", "差旅报销制度.docx"),
        ("差旅报销制度-旧版.docx", "差旅报销制度.docx"),
        ("archive/travel_policy_2023.md", "travel_policy_2025.md"),
        ("travel policy (superseded).md", "travel policy.md"),
        ("travel_policy_draft.md", "travel_policy_final.md"),
        ("差旅报销制度20230105.docx", "差旅报销制度20250630.docx"),
        ("第一版 差旅报销制度.docx", "第三版 差旅报销制度.docx"),
    ],
)
def test_names_tell_versions_apart(old: str, new: str) -> None:
    assert outdated((old, OLD), (new, NEW)) == {old}
    assert outdated((new, NEW), (old, OLD)) == {old}


def test_texts_tell_versions_apart() -> None:
    dated = POLICY.format(head="发布日期：2023 年 3 月 1 日", hotel=450, other=300, taxi=80, daily=60)
    later = POLICY.format(head="发布日期：2025 年 6 月 30 日", hotel=600, other=400, taxi=120, daily=100)
    assert outdated(("甲/差旅.docx", dated), ("乙/差旅.docx", later)) == {"甲/差旅.docx"}
    repealed = POLICY.format(head="（本制度已废止）", hotel=450, other=300, taxi=80, daily=60)
    assert outdated(("差旅办法.docx", repealed)) == {"差旅办法.docx"}
    replacing = f"{later}\n第六条 本制度自发布之日起施行，《出差费用规定（2021 年）》同时废止。"
    files = (("出差费用规定.docx", "出差费用规定\n住宿每晚二百元。"), ("差旅.docx", replacing))
    assert outdated(*files) == {"出差费用规定.docx"}


def test_the_day_of_the_file_tells_nearly_equal_texts_apart() -> None:
    files = ("甲/差旅.docx", OLD), ("乙/差旅.docx", NEW)
    days = {"甲/差旅.docx": "2023-01-05", "乙/差旅.docx": "2025-06-30"}
    assert outdated(*files, modified=days) == {"甲/差旅.docx"}
    assert outdated(*files) == set()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("甲/说明.md", "灯塔的维护手册，写给值班的人。"), ("乙/说明.md", "食堂的菜单，每周一更换一次。")),
        (("2024-06 会议纪要.md", OLD), ("2024-07 会议纪要.md", NEW)),
        (("租赁合同-张三.docx", OLD), ("租赁合同-李四.docx", NEW)),
        (("2023 年度报告.pdf", OLD), ("2024 年度报告.pdf", NEW)),
        (("作废发票管理办法.docx", OLD), ("旧城改造方案.docx", NEW)),
        (
            ("关于废止旧版制度的通知.docx", "关于废止《出差规定》的通知\n现决定废止《出差规定》。"),
            ("发票制度.docx", NEW),
        ),
    ],
)
def test_other_files_are_no_versions_of_each_other(one: tuple[str, str], other: tuple[str, str]) -> None:
    assert outdated(one, other) == set()


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("发布日期：2025年3月1日", "2025-03-01"),
        ("2025-03", "2025-03"),
        ("20250301", "2025-03-01"),
        ("March 1, 2025", "2025-03-01"),
        ("12 June 2025", "2025-06-12"),
        ("june 2025", "2025-06"),
        ("Q1 2025", "2025"),
        ("2025 年度", "2025"),
        ("电话 20250301234", ""),
        ("第 12 页", ""),
    ],
)
def test_dates_are_read_as_exactly_as_they_are_written(text: str, date: str) -> None:
    assert find_date(text) == date
    assert full_day(text) == (date if len(date) == 10 else None)


def test_marks_of_a_version_are_no_part_of_the_name() -> None:
    names = [
        "价目表 最终版 20250630.xlsx",
        "价目表-2024-11.xlsx",
        "价目表（作废）.xlsx",
        "a/价目表v2.xlsx",
        "价目表(1).xlsx",
        "价目表旧版.xlsx",
    ]
    assert {stem_of(name) for name in names} == {"价目表"}
    assert stem_of("2025.pdf") == ""
    assert read_marks("价目表 最终版.xlsx", "").rank == 1


def filled(library: DocumentLibrary, *files: tuple[str, str]) -> str:
    collection = library.create_collection("制度", OWNER)
    for name, text in files:
        library.add_document(collection.id, name, text.encode(), OWNER)
    assert library.wait_until_indexed(collection.id, OWNER, seconds=60)
    return collection.id


def test_the_newer_file_comes_first_and_the_older_one_when_it_is_asked_for(library: DocumentLibrary) -> None:
    id = filled(library, ("差旅报销制度2023.txt", OLD + "住宿标准说明：住宿标准。"), ("差旅报销制度2025.txt", NEW))
    found = [hit.document.name for hit in library.search("出差住宿标准是多少", OWNER, collections=[id])]
    assert found == ["差旅报销制度2025.txt", "差旅报销制度2023.txt"]
    (asked, *_) = library.search("2023 年的出差住宿标准是多少", OWNER, collections=[id])
    assert asked.document.name == "差旅报销制度2023.txt"
    assert asked.document.is_outdated


def test_a_file_is_valid_again_when_the_newer_one_is_deleted(library: DocumentLibrary) -> None:
    id = filled(library, ("差旅报销制度2023.txt", OLD), ("差旅报销制度2025.txt", NEW))
    old, new = library.list_documents(id, OWNER)
    assert (old.is_outdated, new.is_outdated) == (True, False)
    library.delete_document(new.id, OWNER)
    assert not library.open_document(old.id, OWNER).is_outdated


def test_right_values_come_before_stale_ones_in_the_notes_of_a_firm(library: DocumentLibrary, shared: Path) -> None:
    """27 files, some of them stale, and eight questions with the values that an answer needs."""
    folder = shared / "data" / "documents"
    collection = library.create_collection("公司", OWNER)
    for file in sorted((folder / "internal_docs").rglob("*.*")):
        name = str(file.relative_to(folder / "internal_docs"))
        library.add_document(collection.id, name, file.read_bytes(), OWNER)
    assert library.wait_until_indexed(collection.id, OWNER, seconds=120)
    for question in map(json.loads, (folder / "facts.jsonl").read_text("utf-8").splitlines()):
        hits = library.search(question["q"], OWNER, collections=[collection.id], limit=5)
        names = [hit.document.name for hit in hits]
        stale = [place for place, name in enumerate(names) if "archive" in name or "superseded" in name]
        before_stale = " ".join(hit.text for hit in hits[: min(stale, default=5)])
        assert [value for value in question["must"] if value not in before_stale] == [], (question["q"], names)
