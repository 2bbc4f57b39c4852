"""Commands on the document library (资料库): import, list, search, remove and share.

Collections of the command line belong to the local operator: whoever may run commands here. Visitors of the pages see them
only through a share, except those of the watched folders, which everybody may read.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.base.text import one_line
from core.commands.output import FAILED, OK, Output, add_json, input_lines, print_note, run_all
from core.commands.parser import add_command, whole_number
from core.serve import OPERATOR, collection_json, document_json, find_collection, hit_json, own_collection

if TYPE_CHECKING:
    from core.app import App
    from core.documents import Collection, Document, ImportedFile, PassageHit

DEFAULT_RESULTS, MAX_RESULTS = 10, 100
WAIT_SECONDS = 1.0


# ── Arguments ─────────────────────────────────────────────────────────────────────────────────────────────────────


def add_arguments(parser: argparse.ArgumentParser) -> None:
    docs = parser.add_subparsers(required=True, metavar="操作")
    imported = add_command(
        docs,
        "import",
        "把目录或文件导入资料集；内容没有变的不再读",
        "把目录或文件导入资料集，没有这个资料集就新建。再次导入时只读内容变了的文件。"
        "有文件无法读取或没有导入时，退出码是 1。",
    )
    imported.add_argument("paths", metavar="DIR", nargs="+", type=Path, help="目录，或单个文件")
    imported.add_argument(
        "--remove-missing", action="store_true", help="目录里已经没有的文件，从资料集里删除；不写时只列出"
    )
    imported.set_defaults(command=_import)
    listed = add_command(docs, "list", "列出资料集；写了资料集的名称时列出其中的文件")
    listed.set_defaults(command=_list)
    searched = add_command(docs, "search", "在资料集里检索，打印文件、页和原文")
    searched.add_argument("query", metavar="QUERY", help="关键词或问题；- 表示从标准输入逐行读取")
    searched.add_argument(
        "--limit", type=whole_number(1, MAX_RESULTS), default=DEFAULT_RESULTS, metavar="N", help="最多几条，默认 10"
    )
    searched.set_defaults(command=_search)
    removed = add_command(docs, "remove", "从资料集里删除文件，或删除整个资料集，不能恢复")
    removed.add_argument("files", metavar="FILE", nargs="*", help="docs list 列出的文件名；也可以写文件夹")
    removed.add_argument("--all", action="store_true", help="删除整个资料集")
    removed.set_defaults(command=_remove, usage=removed.error)
    shared = add_command(docs, "share", "打印一个链接，打开它的人可以读这个资料集")
    shared.add_argument("--stop", action="store_true", help="收回以前的链接")
    shared.set_defaults(command=_share)
    for command in (imported, removed, shared):
        command.add_argument("--collection", metavar="NAME", required=True, help="资料集的名称")
    listed.add_argument("--collection", metavar="NAME", default="", help="资料集的名称")
    searched.add_argument("--collection", metavar="NAME", nargs="+", required=True, help="资料集的名称，可以写几个")
    for command in (imported, listed, searched, removed, shared):
        add_json(command)


# ── Collections ───────────────────────────────────────────────────────────────────────────────────────────────────


def _find_all(app: App, names: Sequence[str]) -> list[Collection]:
    return [find_collection(app, OPERATOR, name) for name in dict.fromkeys(names)]


def _share(app: App, options: argparse.Namespace, output: Output) -> int:
    collection = find_collection(app, OPERATOR, options.collection)
    if options.stop:
        app.documents.unshare_collection(collection.id, OPERATOR.access)
        output.print_document({"url": None}, lambda: f"「{collection.name}」的链接已经收回。")
        return OK
    key = app.documents.share_collection(collection.id, OPERATOR.access)
    url = f"{app.settings.public.url.rstrip('/')}/documents?share={key}"
    output.print_document({"url": url}, lambda: url)
    return OK


def _list(app: App, options: argparse.Namespace, output: Output) -> int:
    if options.collection:
        collection = find_collection(app, OPERATOR, options.collection)
        documents = app.documents.list_documents(collection.id, OPERATOR.access)
        document = {"collection": collection.name, "files": [document_json(one) for one in documents]}
        output.print_document(document, lambda: "\n".join(map(_document_line, documents)) or "还没有文件。")
        return OK
    collections = app.documents.list_collections(OPERATOR.access)
    document = {"collections": [collection_json(one) for one in collections]}
    nothing = "还没有资料集。用 docs import 目录 --collection 名称 建一个。"
    output.print_document(document, lambda: "\n".join(map(_collection_line, collections)) or nothing)
    return OK


def _collection_line(collection: Collection) -> str:
    facts = [f"{collection.documents:,} 个文件"]
    facts += [f"{collection.unfinished:,} 个还没有读完"] * bool(collection.unfinished)
    facts += [f"{collection.unreadable:,} 个无法读取"] * bool(collection.unreadable)
    facts += ["只读"] * (not collection.may_change) + ["已分享"] * bool(collection.share)
    return f"{collection.name} · {' · '.join(facts)}"


def _document_line(document: Document) -> str:
    facts = [document.state.label, *([f"{document.pages:,} 页"] if document.pages else [])]
    facts += [document.modified or ""] + ["旧版"] * document.is_outdated + [document.reason]
    return f"{document.name} · {' · '.join(filter(None, facts))}"


# ── Search ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _search(app: App, options: argparse.Namespace, output: Output) -> int:
    collections = _find_all(app, options.collection)
    if waiting := sum(one.unfinished for one in collections):
        print_note(f"还有 {waiting:,} 个文件没有读完，没有读到的部分查不到。")
    ids = [one.id for one in collections]

    def one(query: str) -> int:
        hits = app.documents.search(query, OPERATOR.access, collections=ids, limit=options.limit)
        document = {"query": query, "results": [hit_json(hit) for hit in hits]}
        output.print_document(document, lambda: "\n".join(_hit_lines(hits)) or "没有找到。")
        return OK

    return run_all(input_lines(options.query), output, one)


def _hit_lines(hits: Sequence[PassageHit]) -> Iterator[str]:
    for number, hit in enumerate(hits, 1):
        facts = [hit.place.label if hit.place else "", hit.document.modified or "", "旧版" * hit.document.is_outdated]
        yield f"{number}. {' · '.join(filter(None, (hit.document.name, *facts)))}"
        yield f"   {one_line(hit.text)}"


# ── Removal ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _remove(app: App, options: argparse.Namespace, output: Output) -> int:
    if bool(options.files) == options.all:
        options.usage("请写出要删除的文件，或用 --all 删除整个资料集")
    collection = find_collection(app, OPERATOR, options.collection)
    if options.all:
        app.documents.delete_collection(collection.id, OPERATOR.access)
        document = {"collection": collection.name, "removed": collection.documents}
        output.print_document(document, lambda: f"资料集「{collection.name}」和其中的文件已经删除。")
        return OK
    documents = app.documents.list_documents(collection.id, OPERATOR.access)
    gone = [one for one in documents if any(_is_meant(one.name, wanted) for wanted in options.files)]
    unknown = [wanted for wanted in options.files if not any(_is_meant(one.name, wanted) for one in documents)]
    for one in gone:
        app.documents.delete_document(one.id, OPERATOR.access)
    for name in unknown:
        print_note(f"资料集里没有 {name}。")
    report = {
        "collection": collection.name,
        "removed": len(gone),
        "files": [one.name for one in gone],
        "unknown": unknown,
    }
    output.print_document(report, lambda: "\n".join(f"已删除 {one.name}" for one in gone) or "没有删除文件。")
    return FAILED if unknown else OK


def _is_meant(name: str, wanted: str) -> bool:
    """Return whether a file is the named one, or in the named folder."""
    wanted = wanted.strip("/")
    return name == wanted or name.startswith(f"{wanted}/")


# ── Import ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _import(app: App, options: argparse.Namespace, output: Output) -> int:
    from core.documents import FolderImport

    collection = own_collection(app, OPERATOR, options.collection)
    work = FolderImport(
        app.documents, collection.id, OPERATOR.access, max_bytes=app.settings.documents.file_megabytes * 2**20
    )
    paths = [path.resolve() for path in options.paths]
    for path in paths:
        work.add_path(path, one_line(path.name))
    for path in filter(Path.is_dir, paths):
        work.note_missing(one_line(path.name), remove=options.remove_missing)
    _wait_until_read(app, collection)
    return _print_report(collection, work.report(), output)


def _wait_until_read(app: App, collection: Collection) -> None:
    """Wait until all files are read, and say how many are not."""
    while not app.documents.wait_until_indexed(collection.id, OPERATOR.access, seconds=WAIT_SECONDS):
        if sys.stderr.isatty():
            left = app.documents.open_collection(collection.id, OPERATOR.access).unfinished
            print(f"\r还有 {left:,} 个文件没有读完   ", end="", file=sys.stderr, flush=True)


def _print_report(collection: Collection, files: Sequence[ImportedFile], output: Output) -> int:
    from core.documents import ImportOutcome

    counts = Counter(file.outcome for file in files)
    document = {
        "collection": collection.name,
        "files": [_imported_json(file) for file in files],
        "counts": {outcome.value: counts[outcome] for outcome in ImportOutcome},
    }
    counted = "，".join(f"{outcome.label} {counts[outcome]:,}" for outcome in ImportOutcome if counts[outcome])
    lines = [str(file) for file in files if file.outcome is not ImportOutcome.UNCHANGED or file.reason]
    lines.append(f"资料集「{collection.name}」：{counted or '没有文件'}。")
    output.print_document(document, lambda: "\n".join(lines))
    if counts[ImportOutcome.MISSING]:
        print_note("目录里已经没有的文件还在资料集里；加上 --remove-missing 会删除它们。")
    return FAILED if any(file.outcome.is_failure for file in files) else OK


def _imported_json(file: ImportedFile) -> dict[str, Any]:
    return {"file": file.name, "status": file.outcome.value, "reason": file.reason, "pages": file.pages}
