"""Checks whether the sources of an answer say what the answer says. Nothing is looked up, and no language model is asked.

`check_answer(text, sources)` checks every cited statement, `check_statement(statement, sources)` one;
with a `MeaningComparison`, what they would call 未见 is compared in meaning. The modules
`numbers`, `stated_dates` and `wording` compare texts without any source, for other checks.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
