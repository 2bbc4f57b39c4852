"""Collections of documents in an App, filled and indexed."""

from __future__ import annotations

from core.app import App
from core.documents import Access, Collection
from core.run.question import AnswerOptions

OWNER, STRANGER = Access("owner"), Access("stranger")
LEASE = "第一条 租赁物\n灯塔街 12 号的三间房屋。\n第二条 租金\n月租金为人民币八千六百元，每季度首月五日前支付。"
OLD_LEASE = LEASE.replace("八千六百", "七千九百")
LEAVE = "年假制度\n入职满一年的员工每年有十天年假，由部门经理批准。"


def fill_collection(app: App, name: str, access: Access = OWNER, **files: str | bytes) -> Collection:
    """Create a collection with these files and wait until they can be searched. `lease_txt` is lease.txt."""
    collection = app.documents.create_collection(name, access)
    for file, body in files.items():
        body = body.encode() if isinstance(body, str) else body
        app.documents.add_document(collection.id, file.replace("_", "."), body, access, modified="2026-03-01")
    assert app.documents.wait_until_indexed(collection.id, access, seconds=60)
    return app.documents.open_collection(collection.id, access)


def ask_in(*collections: Collection, access: Access = OWNER, search: bool = False) -> AnswerOptions:
    """Return the options of a question that uses these collections."""
    return AnswerOptions(search=search, collections=tuple(one.id for one in collections), access=access)
