"""Figures as a table: on the page, and as a file for a spreadsheet."""

from __future__ import annotations

import csv
import html
import io
from collections.abc import Sequence
from typing import Any, NamedTuple

import streamlit as st


class Table(NamedTuple):
    name: str
    """Of the file that it can be saved as."""
    columns: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]
    """Numbers as numbers, None for what cannot be known."""


def draw(table: Table) -> None:
    head = "".join(f"<th>{html.escape(column)}</th>" for column in table.columns)
    rows = "".join("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in table.rows)
    st.html(f'<table class="wy-figures"><tr>{head}</tr>{rows}</table>')
    st.download_button(
        "下载 CSV",
        lambda: as_csv(table),
        file_name=f"wenyuan-{table.name}.csv",
        mime="text/csv",
        key=f"csv-{table.name}",
        icon=":material/download:",
        on_click="ignore",
    )


def _cell(value: Any) -> str:
    if isinstance(value, int | float):
        return f'<td class="number">{value:,}</td>'
    return f"<td>{'–' if value is None else html.escape(str(value))}</td>"


def as_csv(table: Table) -> bytes:
    """With the mark by which Excel knows UTF-8; a cell of text never becomes a formula."""
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(table.columns)
    writer.writerows([[_harmless(value) for value in row] for row in table.rows])
    return file.getvalue().encode("utf-8-sig")


def _harmless(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")) else value
