"""A long answer as a model would stream it: paragraphs, a list, a table, citations."""

from __future__ import annotations

TOKENS = 2_000
PAUSE = 0.005


def long_answer(tokens: int = TOKENS) -> list[str]:
    sentence = [
        "用人",
        "单位",
        "应当",
        "按照",
        "劳动",
        "合同",
        "约定",
        "和",
        "国家",
        "规定",
        "及时",
        "支付",
        "报酬",
        "[1]",
        "。",
    ]
    pieces: list[str] = []
    while len(pieces) < tokens:
        pieces += sentence * 6 + ["\n\n"]
        pieces += ["- ", "要点", "一", "\n", "- ", "要点", "二", "[2]", "\n\n"]
    return pieces[:tokens]
