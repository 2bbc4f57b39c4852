from __future__ import annotations

import sys

from core.base.aside import aside


def test_turns_are_short_until_the_last_one_is_done() -> None:
    usual = sys.getswitchinterval()
    with aside():
        with aside():
            assert sys.getswitchinterval() < usual / 5
        assert sys.getswitchinterval() < usual / 5
    assert sys.getswitchinterval() == usual
