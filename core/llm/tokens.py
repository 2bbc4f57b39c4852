"""How many tokens a text is likely to cost, for budgets and for models that do not report it."""

from __future__ import annotations

import math
import re

# What current tokenizers make of ordinary prose, within about a quarter: one Chinese character is a little less than
# a token, four other characters are about one.
_TOKENS_PER_HAN = 0.7
_TOKENS_PER_OTHER = 0.25
_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+")


def estimate_tokens(text: str) -> int:
    """An estimate, to be shown as one (估算): no tokenizer is loaded."""
    other = len(_HAN.sub("", text))
    return math.ceil((len(text) - other) * _TOKENS_PER_HAN + other * _TOKENS_PER_OTHER)
