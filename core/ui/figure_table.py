"""Table of figures on the page, with a download for spreadsheets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import streamlit as st
from markupsafe import Markup

from core.base.spreadsheet import to_csv
from core.ui.escape import draw_html


class Table(NamedTuple):
    name: str
    """Part of the name of the downloaded file."""
    columns: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]
    """Values, with numbers as numbers and None for unknown."""


def draw(table: Table) -> None:
    head = Markup().join(Markup("<th>%s</th>") % column for column in table.columns)
    rows = Markup().join(Markup("<tr>%s</tr>") % Markup().join(map(_cell, row)) for row in table.rows)
    draw_html(Markup('<table class="wy-figures" tabindex="0"><tr>%s</tr>%s</table>') % (head, rows))
    st.download_button(
        "下载 CSV",
        lambda: to_csv(table.columns, table.rows).encode(),
        file_name=f"wenyuan-{table.name}.csv",
        mime="text/csv",
        key=f"csv-{table.name}",
        icon=":material/download:",
        on_click="ignore",
    )


def _cell(value: Any) -> Markup:
    if isinstance(value, int | float):
        return Markup('<td class="number">%s</td>') % f"{value:,}"
    return Markup("<td>%s</td>") % ("–" if value is None else str(value))
