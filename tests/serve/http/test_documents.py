"""Collections of documents over HTTP: uploaded, found and deleted by their owner, and by nobody else."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

import pytest

from core.documents.access import FOLDERS
from core.serve import Scope as May
from support.filled_collections import LEASE, LEAVE
from support.http_api import HttpApi, error_of, http_api
from support.reading import kept_workers
from support.waiting import until

__all__ = ["kept_workers"]


@pytest.fixture
def api() -> Iterator[HttpApi]:
    with http_api(DOCUMENTS_FILE_MEGABYTES="2", API_BODY_MEGABYTES="1") as api:
        yield api


def upload(api: HttpApi, token: str, collection: str, name: str, body: str | bytes = LEASE, **fields: str) -> int:
    """Upload a file, wait until it is read, and return the status."""
    path = f"/documents/{quote(collection, safe='')}/files/{quote(name)}"
    reply = api("PUT", path, token=token, content=body if isinstance(body, bytes) else body.encode(), params=fields)
    until(lambda: all(not one["unfinished"] for one in collections(api, token)))
    return reply.status_code


def collections(api: HttpApi, token: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = api.get("/documents", token).json()["collections"]
    return found


def files(api: HttpApi, token: str, collection: str) -> list[str]:
    return [one["file"] for one in api.get(f"/documents/{quote(collection, safe='')}", token).json()["files"]]


def test_files_are_uploaded_replaced_found_and_deleted(api: HttpApi) -> None:
    mine = api.new_token("m")
    assert upload(api, mine, "合同/甲方", "租赁/2026.txt", modified="2026-03-01") == 200
    assert upload(api, mine, "合同/甲方", "年假.txt", LEAVE) == 200
    assert files(api, mine, "合同/甲方") == ["年假.txt", "租赁/2026.txt"]
    [only] = collections(api, mine)
    assert (only["name"], only["files"], only["mayChange"]) == ("合同/甲方", 2, True)
    assert upload(api, mine, "合同/甲方", "租赁/2026.txt", LEASE.replace("八千六百", "九千")) == 200
    found = api.post("/documents/search", mine, query="月租金").json()["results"]
    assert "九千元" in found[0]["text"]
    assert found[0]["file"] == "租赁/2026.txt"
    assert (
        api("DELETE", f"/documents/{quote('合同/甲方', safe='')}/files/租赁/2026.txt", token=mine).json()["removed"]
        == 1
    )
    assert files(api, mine, "合同/甲方") == ["年假.txt"]
    missing = api("DELETE", f"/documents/{quote('合同/甲方', safe='')}/files/租赁/2026.txt", token=mine)
    assert error_of(missing)[:2] == (404, "document_not_found")
    assert api("DELETE", f"/documents/{quote('合同/甲方', safe='')}", token=mine).json()["files"] == ["年假.txt"]
    assert collections(api, mine) == []


def test_a_caller_reaches_nothing_of_another_in_any_way(api: HttpApi) -> None:
    """Another maker's token, and the operator of this machine."""
    mine, theirs = api.new_token("m"), api.new_token("t")
    assert upload(api, mine, "合同", "lease.txt") == 200
    for stranger in (theirs, ""):
        assert collections(api, stranger) == []
        attempts = (
            api.get("/documents/合同", stranger),
            api.post("/documents/search", stranger, query="月租金", collections=["合同"]),
            api.post("/ask", stranger, question="月租金多少？", collections=["合同"]),
            api("DELETE", "/documents/合同/files/lease.txt", token=stranger),
            api("DELETE", "/documents/合同", token=stranger),
        )
        for attempt in attempts:
            assert error_of(attempt)[:2] == (404, "collection_not_found")
            assert "合同」。" not in attempt.text, "nor is it told which there are"
        assert api.post("/documents/search", stranger, query="月租金").json()["results"] == []
    assert upload(api, theirs, "合同", "lease.txt", LEAVE) == 200, "one of the same name is another one"
    assert "八千六百" in api.post("/documents/search", mine, query="月租金").json()["results"][0]["text"]
    assert [one["text"] for one in api.post("/documents/search", theirs, query="月租金 年假").json()["results"]] == [
        LEAVE
    ]
    assert api("DELETE", "/documents/合同", token=theirs).status_code == 200
    assert files(api, mine, "合同") == ["lease.txt"]


def test_two_tokens_of_one_maker_share_their_collections(api: HttpApi) -> None:
    reading, changing = api.new_token("m", May.DOCUMENTS), api.new_token("m", May.CHANGE_DOCUMENTS)
    assert api("PUT", "/documents/合同/files/lease.txt", token=changing, content=LEASE.encode()).status_code == 200
    assert files(api, reading, "合同") == ["lease.txt"]
    assert error_of(api("DELETE", "/documents/合同", token=reading))[:2] == (403, "scope_missing")


def test_a_shared_collection_of_the_operator_can_be_read_but_not_changed(api: HttpApi) -> None:
    """The folders that are watched belong to everybody."""
    api.app.documents.create_collection("公共", FOLDERS)
    token = api.new_token("m")
    [only] = collections(api, token)
    assert (only["name"], only["mayChange"]) == ("公共", False)
    assert error_of(api("DELETE", "/documents/公共", token=token))[:2] == (404, "collection_not_found")
    assert upload(api, token, "公共", "lease.txt") == 200, "into one of the caller's own"
    assert sorted(bool(one["mayChange"]) for one in collections(api, token)) == [False, True]


@pytest.mark.parametrize(
    ("name", "body", "status", "said"),
    [
        ("big.txt", b"x" * (2 * 2**20 + 1), 413, "2 MB"),
        ("empty.txt", b"", 422, "「empty.txt」是空的"),
        ("%2E%2E%2F%2E%2E", b"x", 422, "这个文件没有名字"),
        ("%00%E2%80%8B", b"x", 422, "「name」写得不对"),
        ("a" * 401, b"x", 422, "「name」太长"),
    ],
)
def test_a_file_that_cannot_be_stored_is_refused_in_a_sentence(
    api: HttpApi, name: str, body: bytes, status: int, said: str
) -> None:
    reply = api("PUT", f"/documents/a/files/{name}", content=body)
    assert error_of(reply)[0] == status
    assert said in reply.json()["error"]["message"]
    assert [one["files"] for one in collections(api, "")] in ([], [0])


def test_an_upload_may_be_as_large_as_a_file_of_the_library_and_not_as_a_request(api: HttpApi) -> None:
    assert api("PUT", "/documents/a/files/a.txt", content=b"a" * (2 * 2**20)).status_code == 200


def test_without_a_library_the_sentence_says_who_closed_it() -> None:
    with http_api(DOCUMENTS_ENABLED="false") as api:
        for reply in (api.get("/documents"), api("PUT", "/documents/a/files/a.txt", content=b"a")):
            assert error_of(reply) == (422, "document", "管理员关闭了资料库。已有的资料没有删除，打开之后仍在。")
