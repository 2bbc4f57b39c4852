"""Google's own pages of several years, each with its hand-checked expectation."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.search.engines.google import GoogleCaptcha, GoogleJavaScriptWall, parse_results
from support.base import SHARED

pytestmark = pytest.mark.shared

FOLDER = Path("data") / "payloads" / "google"
PAGES = sorted(path.stem for path in (SHARED / FOLDER).glob("*.html"))
WALLS = {"captcha": GoogleCaptcha, "js_required": GoogleJavaScriptWall}


@pytest.mark.parametrize("name", PAGES or ["nothing is here"])
def test_organic_results_in_order_or_the_wall(shared: Path, name: str) -> None:
    html = (shared / FOLDER / f"{name}.html").read_text("utf-8", "replace")
    expected = json.loads((shared / FOLDER / f"{name}.expected.json").read_text("utf-8"))
    url = "https://www.google.com/search?q=x"
    if wall := WALLS.get(expected["page_kind"]):
        with pytest.raises(wall):
            parse_results(html, url)
        return
    found = parse_results(html, url)
    assert [result.url for result in found] == [entry["url"] for entry in expected["organic"]]
    assert [result.title for result in found] == [" ".join(entry["title"].split()) for entry in expected["organic"]]
    assert all(result.snippet for result in found)


@pytest.mark.parametrize(
    ("name", "total"),
    [("barclays_2025_02", 2_300_000), ("abortion_es_2023_05", 450_000_000), ("no_results_2023", None)],
)
def test_how_many_google_says_there_are(shared: Path, name: str, total: int | None) -> None:
    html = (shared / FOLDER / f"{name}.html").read_text("utf-8", "replace")
    assert parse_results(html, "https://www.google.com/search?q=x").total == total
