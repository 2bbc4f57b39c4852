"""NOTICE names every package that asks for more than to be mentioned."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts import list_licences
from support.base import ROOT


def test_notice_names_every_licence_that_asks_for_more(capsys: pytest.CaptureFixture[str]) -> None:
    assert list_licences.main(["--check"]) == 0, capsys.readouterr().err


def test_a_package_that_notice_does_not_name_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in list_licences.PINS:
        (tmp_path / name).write_text((ROOT / name).read_text("utf-8"), "utf-8")
    notice = (ROOT / "NOTICE").read_text("utf-8")
    (tmp_path / "NOTICE").write_text(notice.replace("psycopg, psycopg-binary", "psycopg-binary"), "utf-8")
    monkeypatch.setattr(list_licences, "PROGRAM_DIR", tmp_path)
    assert list_licences.main(["--check"]) == 1
    assert capsys.readouterr().err == "NOTICE does not name psycopg (LGPL-3.0-only)\n"


@pytest.mark.parametrize(
    ("licence", "is_permissive"),
    [
        ("MIT", True),
        ("Apache-2.0 OR BSD-3-Clause", True),
        ("BSD-3-Clause AND 0BSD AND MIT AND Zlib AND CC0-1.0", True),
        ("Apache Software License", True),
        ("Python Software Foundation License", True),
        ("MPL-2.0 AND (Apache-2.0 OR MIT)", False),
        ("MPL-1.1 OR GPL-2.0-only OR LGPL-2.1-or-later", False),
        ("Mozilla Public License 2.0 (MPL 2.0)", False),
        ("BSD-3-Clause, Apache-2.0, dependency licenses", False),
        ("unknown", False),
    ],
)
def test_which_licences_are_permissive(licence: str, is_permissive: bool) -> None:
    assert list_licences.is_permissive(licence) is is_permissive
