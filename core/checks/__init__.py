"""Checks whether the sources of an answer say what the answer says. No model is asked, and nothing is looked up.

`check_answer(text, sources)` checks every cited statement, `check_statement(statement, sources)` one. The modules
`numbers`, `stated_dates` and `wording` compare texts without any source, for other checks.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
