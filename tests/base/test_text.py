from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.base.text import clean, is_chinese, normalize, one_line, shorten, terms

INVISIBLE = {
    "lone surrogate": "\ud800",
    "control": "\x07",
    "bidi override": "\u202e",
    "bidi isolate": "\u2066",
    "zero width space": "\u200b",
    "word joiner": "\u2060",
    "byte order mark": "\ufeff",
    "soft hyphen": "\u00ad",
    "tag letter": "\U000e0041",
    "hangul filler": "\u3164",
    "annotation": "\ufff9",
    "C1 control": "\x9b",
    "stray joiner": "\u200d",
}


@pytest.mark.parametrize("name", INVISIBLE)
def test_characters_nobody_sees_are_removed(name: str) -> None:
    assert clean(f"法{INVISIBLE[name]}律") == "法律"


def test_what_people_see_stays() -> None:
    text = "第三十八条\n\t用人单位 “引号” — ½ ① 👨‍👩‍👧 ❤️ é 한국 العربية"
    assert clean(text) == text


def test_all_line_ends_become_one() -> None:
    assert clean("a\r\nb\rc\u2028d\x85e") == "a\nb\nc\nd\ne"


@given(st.text(alphabet=st.characters(), max_size=200))
def test_clean_is_stable_and_always_encodable(text: str) -> None:
    cleaned = clean(text)
    assert clean(cleaned) == cleaned
    cleaned.encode("utf-8")
    json.dumps(cleaned)


@given(st.text(max_size=100), st.integers(1, 50))
def test_shorten_keeps_the_limit(text: str, limit: int) -> None:
    short = shorten(text, limit)
    assert len(short) <= limit
    assert short == text or short.endswith("…")


def test_one_line_folds_blanks() -> None:
    assert one_line("  a \n\n b\u3000c ") == "a b c"


def test_fold_makes_spellings_equal() -> None:
    assert normalize(" Ｐｙｔｈｏｎ　３ ") == normalize("python 3")


def test_terms_are_words_and_pairs_of_characters() -> None:
    assert terms("SearXNG 返回 403") == ["searxng", "403", "返回"]
    assert terms("劳动合同") == ["劳动", "动合", "合同"]
    assert terms("法") == ["法"]
    assert terms("gpt-4.1 C++") == ["gpt-4.1", "c"] or terms("gpt-4.1 C++")[0] == "gpt-4.1"


@pytest.mark.parametrize(
    ("text", "chinese"),
    [
        ("怎么打开联网搜索？", True),
        ("how to enable 搜索", False),
        ("OpenAI 的 CEO 是谁", True),
        ("123 !?", False),
        ("", False),
    ],
)
def test_language(text: str, chinese: bool) -> None:
    assert is_chinese(text) is chinese


def test_ten_megabytes_are_cleaned_in_reasonable_time() -> None:
    started = time.thread_time()
    clean("字\u200b" * 2_000_000)
    assert time.thread_time() - started < 5
