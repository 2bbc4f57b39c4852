"""The commands `backup` and `restore`: all that an installation keeps, in one file."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from core.base.paths import USER_DIR
from core.commands.output import FAILED, OK, Output, add_json, print_note

if TYPE_CHECKING:
    from core.app import App
    from core.backup import Contents, Installation


def add_backup_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", type=Path, help="要写的文件，如 wenyuan-备份.zip；页面可以开着")
    add_json(parser)
    parser.set_defaults(command=_backup)


def add_restore_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", metavar="FILE", type=Path, help="backup 写的文件，或没有用 DATABASE_URL 时的数据文件夹；请先停止页面"
    )
    parser.add_argument("--force", action="store_true", help="替换这里已有的内容")
    add_json(parser)
    parser.set_defaults(command=_restore)


def _backup(app: App, options: argparse.Namespace, output: Output) -> int:
    from core.backup import BackupError, require_known_places, write_backup

    require_known_places(app.loaded_settings, BackupError)
    contents = write_backup(_installation(app), options.file)
    output.print_document(contents.to_json(), lambda: f"已写入 {options.file}：{contents}。")
    print_note("备份里有密钥和全部对话，没有加密，请只放在自己能读的地方。环境变量（如 .env）不在其中，请另外保存。")
    if contents.problem:
        print_note(contents.problem)
    return FAILED if contents.problem else OK


def _restore(app: App, options: argparse.Namespace, output: Output) -> int:
    from core.backup import RestoreError, require_known_places, restore_backup

    require_known_places(app.loaded_settings, RestoreError)
    print_note("正在检查备份……")
    if options.file.is_dir():
        contents = _restore_folder(app, options.file, force=options.force)
    else:
        contents = restore_backup(_installation(app), options.file, force=options.force)
    output.print_document(contents.to_json(), lambda: f"已恢复：{contents}。")
    print_note("环境变量不在备份里，请确认它们与原来一样，再启动页面。")
    for problem in filter(None, (app.database.damage_note, contents.problem)):
        print_note(problem)
    return FAILED if contents.problem else OK


def _restore_folder(app: App, folder: Path, *, force: bool) -> Contents:
    from core.backup import Installation, RestoreError, restore_folder
    from core.base.settings import SavedSettingsFile
    from core.documents import DocumentTransfer
    from core.legal import LegalLibrary
    from core.store import Database

    settings = app.settings.in_folder(folder)
    if not app.settings.database.url and settings.data_dir == app.settings.data_dir.resolve():
        raise RestoreError(
            f"没有恢复：{folder} 就是现在的数据文件夹。", cure="要迁移到 PostgreSQL，请先设置 DATABASE_URL。"
        )
    database = Database.from_settings(settings)
    try:
        documents, laws = DocumentTransfer.from_settings(settings, database), LegalLibrary(settings.data_dir)
        saved = SavedSettingsFile(settings.data_dir)
        source = Installation(database, saved, settings.data_dir, settings.data_dir, documents, laws)
        return restore_folder(_installation(app), source, force=force)
    finally:
        database.close()


def _installation(app: App) -> Installation:
    from core.backup import Installation
    from core.documents import DocumentTransfer

    documents = DocumentTransfer.from_settings(app.settings, app.database)
    return Installation(app.database, app.saved_settings, app.settings.data_dir, USER_DIR, documents, app.legal.library)
