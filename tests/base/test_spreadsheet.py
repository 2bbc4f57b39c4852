from __future__ import annotations

import csv
import io

from core.base.spreadsheet import to_csv


def test_a_table_can_be_taken_into_a_spreadsheet() -> None:
    file = to_csv(("模型", "次数"), [("=1+1", 5), ('a,"b"', None), ("好", 0.5), ("", -3)])
    assert file.encode().startswith(b"\xef\xbb\xbf")
    rows = list(csv.reader(io.StringIO(file.removeprefix("\ufeff"))))
    assert rows == [["模型", "次数"], ["'=1+1", "5"], ['a,"b"', ""], ["好", "0.5"], ["", "-3"]]
