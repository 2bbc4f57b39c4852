"""Formulas as MathML: what TeX says, and nothing that it would bring along."""

from __future__ import annotations

import pytest

from core.answer.html.formulas import mathml, strip_delimiters
from core.answer.html.markdown import BlockStream, render_html, render_standalone
from core.search.types import Source

SOURCES = [Source(n, f"题{n}", f"https://site{n}.example/", "摘要") for n in (1, 2, 3)]


@pytest.mark.parametrize("written", ["$x^2$", r"\(x^2\)", "$$x^2$$", "$$\nx^2\n$$", r"\[x^2\]"])
def test_the_signs_around_a_formula_are_not_part_of_it(written: str) -> None:
    assert strip_delimiters(written) == "x^2"


def test_a_formula_is_mathml() -> None:
    assert mathml("x_1^2") == (
        '<math display="inline"><mrow><msubsup><mi>x</mi><mn>1</mn><mn>2</mn></msubsup></mrow></math>'
    )
    assert 'display="block"' in str(mathml(r"\frac{a}{b}", display=True))
    assert "<mo>&lt;</mo>" in str(mathml("a<b"))


@pytest.mark.parametrize(
    "tex",
    [
        r"\href{javascript:alert(1)}{x}",
        r"\style{position:fixed}{x}",
        r"\class{a}{x}",
        r"\hspace{-50em}x",
        r"\kern-99em x",
    ],
)
def test_it_leads_nowhere_and_stays_in_its_place(tex: str) -> None:
    written = str(mathml(tex))
    assert not any(word in written for word in ("href", "javascript", "style=", "class=", "-50", "-99", "fixed"))


@pytest.mark.parametrize("tex", [r"\bad{", "^", "{" * 900, r"\left( x", "5 元，涨到了"])
def test_what_is_no_formula_is_shown_as_it_was_written(tex: str) -> None:
    assert mathml(tex) is None
    assert render_html(f"${tex}$", []).count("<math") == 0


def test_in_a_page_it_waits_for_the_script_and_in_an_export_it_is_there() -> None:
    text = r"由 $a^2+b^2=c^2$ 得 \(c\)，价格 $5 和 $6。"
    assert render_html(text, []).count('<span class="wy-math" data-math="&lt;math ') == 2
    assert ">$a^2+b^2=c^2$</span>" in render_html(text, []), "who has no scripts can read what was written"
    exported = render_standalone(text, [], anchor="m")
    assert (exported.count("<math "), "data-math" in exported, "价格 $5 和 $6。" in exported) == (2, False, True)


def test_half_a_formula_is_not_drawn_while_the_text_grows() -> None:
    blocks, seen = BlockStream(), []
    for character in "由 $a^2$ 得，\n\n$$\n\\frac{a}{b}\n$$\n\n共 $5 元。":
        blocks.feed(character)
        seen.append(" ".join(block.text for block in blocks.open_blocks))
    assert not [text for text in seen if "$a" in text and "$a^2$" not in text]
    assert not [text for text in seen if "frac" in text and "{b}\n$$" not in text]
    assert seen[-1].endswith("共 $5 元。"), "a price is none"


def test_a_number_that_stands_for_its_source_is_read_with_it() -> None:
    drawn = render_html("根据 [1] 的规定，三十日 [2]。[3] 说可以撤回。结束。[1] 下一句。", SOURCES)
    named = drawn.split('<span class="wy-named">')[1:]
    assert [part[part.index('">') :].split("</a>")[0][-1] for part in named] == ["1", "3"]


def test_numbers_ascend_and_stand_apart() -> None:
    exported = render_standalone("三十日[3][1]。", SOURCES, anchor="m")
    assert exported.index(">1</a>]</sup>") < exported.index(">3</a>]</sup>")
    assert "</sup>\u202f<sup" in exported
