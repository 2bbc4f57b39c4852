from __future__ import annotations

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.answer.citations import INVENTED, cited_numbers, drop_invented
from core.chat.link_citations import MAX_HELD_LENGTH, UNKNOWN_LINK_WAIT, LinkCitations
from core.search.types import Source

KNOWN = {"https://a.example/1": 1, "https://b.example/x_(y)?q=2": 2, "https://c.example/": 3}


def rewrite(text: str, *chunks: str) -> str:
    links = LinkCitations(KNOWN.get)
    return "".join(map(links.feed, chunks or (text,))) + links.end()


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("结论。([a.example](https://a.example/1))后文", "结论。[1]后文"),
        ("([a.example](https://a.example/1), [B 报](https://b.example/x_(y)?q=2))", "[1][2]"),
        ("([a](https://a.example/1)[a](https://a.example/1))", "[1]"),
        ("(参见[报道](https://a.example/1))", "(参见报道[1])"),
        ("据[新华社报道](https://a.example/1)，", "据新华社报道[1]，"),
        ("据[www.A.example](https://a.example/1)，", "据[1]，"),
        ("[1](https://b.example/x_(y)?q=2)", "[2]"),
        ("[[7]](https://c.example/)", "[3]"),
        ('[见](<https://c.example/> "题")', "见[3]"),
        ("([a](https://a.example/1), [坏](https://evil.example/))", "(a[1], [坏](https://evil.example/))"),
        ("![图](https://a.example/1)", "![图](https://a.example/1)"),
        ("[坏](https://evil.example/)", "[坏](https://evil.example/)"),
        ("[坏](javascript:alert(1))", "[坏](javascript:alert(1))"),
        ("`[a](https://a.example/1)` 与 [a](https://a.example/1)", "`[a](https://a.example/1)` 与 a[1]"),
        ("```\n[a](https://a.example/1)\n\n[1]\n```\n[1]", f"```\n[a](https://a.example/1)\n\n[1]\n```\n[{INVENTED}1]"),
        ("一个 ` 落单\n\n[a](https://a.example/1)", "一个 ` 落单\n\na[1]"),
        (r"\[a](https://a.example/1)", r"\[a](https://a.example/1)"),
        ("它自己编的[1]、【2】和[来源 3]", f"它自己编的[{INVENTED}1]、【{INVENTED}2】和[{INVENTED}来源 3]"),
        ("[[1, 2], [3, 4]] 与 [注] 与 (括号) 与 ![", f"[[{INVENTED}1, 2], [{INVENTED}3, 4]] 与 [注] 与 (括号) 与 !["),
        ("[报道 [2]](https://a.example/1)", f"报道 [{INVENTED}2][1]"),
        ("它自己编的[3, 1, 2]与[^1]", f"它自己编的[{INVENTED}3, 1, 2]与[{INVENTED}^1]"),
        (f"它自己编的[{'1, ' * 20}2]", f"它自己编的[{INVENTED}{'1, ' * 20}2]"),
    ],
)
def test_links_become_numbers(written: str, shown: str) -> None:
    assert rewrite(written) == shown
    assert rewrite("", *written) == shown


PIECES = st.sampled_from(
    [
        *(f"[x]({url})" for url in KNOWN),
        *(f"([x]({url}))" for url in KNOWN),
        "[y](https://unknown.example/ 'x')",
        "([y](https://unknown.example/))",
        "https://a.example/1",
        *"[]()!`\\ \n,x1中【】［］<>",
        "](",
        "([",
        "```",
        "\n\n",
        "[1]",
        '"',
        "http",
    ]
)
TEXTS = st.lists(PIECES | st.text(max_size=3), max_size=25).map("".join)


@st.composite
def chunked(draw: st.DrawFn) -> list[str]:
    text = draw(TEXTS)
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=12)))
    return [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]


@given(chunked())
@example(["(", "[x](https://a.example/1)", ",", " [x](https://c.example/)", ")"])
def test_the_borders_of_chunks_do_not_matter(chunks: list[str]) -> None:
    assert rewrite("", *chunks) == rewrite("".join(chunks))


@given(TEXTS)
def test_one_character_at_a_time_neither(text: str) -> None:
    assert rewrite("", *text) == rewrite(text)


@given(st.text(alphabet="ab 中。，,.-*#_\n1"))
def test_other_text_is_left_alone(text: str) -> None:
    assert rewrite(text) == text


@given(TEXTS)
def test_nothing_becomes_a_citation_but_links(text: str) -> None:
    links = LinkCitations(lambda _: None)
    shown = drop_invented(links.feed(text) + links.end(), range(1, 1000))[0]
    if "`" not in shown and "\\" not in shown:
        assert cited_numbers(shown, [Source(number, "", "", "") for number in range(1, 100)]) == ()


@pytest.mark.parametrize(
    "start", ["(", "[", "([x](https://a.example/", "([x](https://a.example/1)" * 3, "【", "![", "`"]
)
def test_what_is_held_back_is_bounded_and_cheap(start: str) -> None:
    links = LinkCitations(KNOWN.get)
    started = time.process_time()
    links.feed(start)
    for _ in range(3000):
        links.feed("字")
        assert len(links.pending) <= MAX_HELD_LENGTH
    assert time.process_time() - started < 3


def test_a_page_that_becomes_known_a_little_later() -> None:
    known: dict[str, int] = {}
    links = LinkCitations(known.get)
    assert links.feed("甲([n.example](https://n.example/))乙") == "甲"
    known["https://n.example/"] = 1
    assert links.feed("") == "[1]乙"
    assert links.feed("丙[n](https://other.example/)" + "字" * (UNKNOWN_LINK_WAIT - 1)) == "丙"
    assert links.feed("字") == "[n](https://other.example/)" + "字" * UNKNOWN_LINK_WAIT
