"""What is left of a page: most of what a reader came for, and little of what surrounds it.

`make bench ARGS=reading` measures the same beside trafilatura's defaults and readability.
"""

from __future__ import annotations

from pathlib import Path
from statistics import mean

import pytest

from core.base.http import Deadline
from core.reading import Reader
from core.reading.extraction_types import NotReadable
from support.corpus import Sample, samples, share

SAMPLES = samples()
READABLE = [sample for sample in SAMPLES if not sample.reason]


def text_of(reader: Reader, body: bytes) -> str:
    return reader._workers.extract(body, "text/html", Deadline(60)).text


def test_there_are_enough_of_them() -> None:
    assert len(READABLE) >= 30
    assert all(sample.main for sample in READABLE)


@pytest.mark.parametrize("sample", READABLE, ids=lambda sample: sample.name)
def test_what_a_reader_came_for_is_kept(reader: Reader, sample: Sample) -> None:
    assert sample.kept(text_of(reader, sample.body)) >= 0.7


def test_on_average(reader: Reader) -> None:
    texts = [text_of(reader, sample.body) for sample in READABLE]
    assert mean(sample.kept(text) for sample, text in zip(READABLE, texts, strict=True)) >= 0.97
    assert mean(sample.left(text) for sample, text in zip(READABLE, texts, strict=True)) <= 0.2


@pytest.mark.parametrize("sample", [sample for sample in SAMPLES if sample.reason], ids=lambda sample: sample.name)
def test_what_stands_in_for_an_article_says_so(reader: Reader, sample: Sample) -> None:
    with pytest.raises(NotReadable, match=sample.reason):
        text_of(reader, sample.body)


@pytest.mark.shared
def test_public_pages(reader: Reader, shared: Path) -> None:
    """Where there are some: a page, and beside it its text, one paragraph a line."""
    pages = sorted((shared / "data" / "pages").glob("*.html"))
    pairs = [(page, page.with_suffix(".txt")) for page in pages if page.with_suffix(".txt").exists()]
    if not pairs:
        pytest.skip("NOT TESTED: no pages in ../shared/data/pages")
    kept = [share(text.read_text("utf-8").splitlines(), text_of(reader, page.read_bytes())) for page, text in pairs]
    assert mean(kept) >= 0.8
