"""Workbooks: sheets as tables, with values as Excel shows them."""

from __future__ import annotations

import io
import math
import re
import warnings
import zipfile
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from typing import Any

from openpyxl import load_workbook  # type: ignore[import-untyped]
from openpyxl.utils.datetime import to_excel  # type: ignore[import-untyped]
from openpyxl.utils.exceptions import InvalidFileException  # type: ignore[import-untyped]

from deepdiver.errors import UnreadableError
from deepdiver.tools.extract import office_xml, table
from deepdiver.tools.extract.archive import Archive
from deepdiver.tools.extract.document_draft import DocumentDraft

_FORMULA = re.compile(rb"<f[ >]")
_LITERAL = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]|(?<=[sS])\.0+')
"""What a style shows as it is, its conditions and colours, and the fractions of seconds."""
_DIGITS = re.compile(r"[0#?]")
"""What a style shows a number by; one of dates and times has none."""
_SCALED = re.compile(r"[0#?]\s?([KkMB]|bn)(?![A-Za-z])")
"""A scale that a style sets behind the number: $0.60M."""
_CURRENCY = re.compile(r"\[\$([^\]\-]+)[^\]]*\]|([$€£¥₹])")
"""A plain sign, or one with its country: `[$€-407]`."""
_LARGEST_WHOLE = 1e15
"""Larger numbers are written with an exponent, as in Excel."""


def read_sheets(
    data: bytes, *, format: str, mime: str = "", name: str = "", url: str = ""
) -> DocumentDraft:
    """Read a workbook."""
    archive = Archive(data)
    draft = DocumentDraft(format)
    office_xml.add_properties(draft, archive)
    warnings.simplefilter("ignore")  # openpyxl warns about features that hold no text
    book = _open(data, values=True)
    formulas = _open(data, values=False) if _has_formulas(archive) else None
    for sheet in book.worksheets:
        draft.mark_next("sheet", sheet.title)
        if sheet.sheet_state != "visible":
            draft.note(f"the sheet {sheet.title} is hidden")
        table.add_table(draft, _rows(sheet, formulas and formulas[sheet.title], draft))
    if any(name.startswith("xl/charts/") for name in archive.names):
        draft.note("its charts were left out: what they show stands in the sheets")
    return draft


def _open(data: bytes, *, values: bool) -> Any:
    try:
        return load_workbook(io.BytesIO(data), read_only=True, data_only=values, keep_links=False)
    except (
        InvalidFileException,
        zipfile.BadZipFile,
        KeyError,
        ValueError,
        TypeError,
        AttributeError,
    ) as error:
        raise UnreadableError(f"it is damaged: {type(error).__name__}: {error}"[:300]) from None


def _has_formulas(archive: Archive) -> bool:
    sheets = (name for name in archive.names if name.startswith("xl/worksheets/"))
    return any(_FORMULA.search(archive.read(name)) for name in sheets)


def _rows(sheet: Any, formulas: Any, draft: DocumentDraft) -> Iterator[list[str]]:
    """Yield the rows. A formula without a stored result is shown as it is written."""
    sheet.reset_dimensions()  # the size that a sheet declares cannot be trusted
    if formulas is None:
        for row in sheet.iter_rows():
            yield [
                shown_value(cell.value, cell.number_format) if cell.value is not None else ""
                for cell in row
            ]
        return
    formulas.reset_dimensions()
    for row, written in zip(sheet.iter_rows(), formulas.iter_rows(), strict=False):
        cells = []
        for cell, formula in zip(row, written, strict=False):
            if (
                cell.value is None
                and isinstance(formula.value, str)
                and formula.value.startswith("=")
            ):
                draft.note(
                    f"formulas without a stored result, such as {formula.coordinate}, are shown as "
                    "they are written"
                )
                cells.append(formula.value)
            else:
                cells.append(
                    shown_value(cell.value, cell.number_format) if cell.value is not None else ""
                )
        yield cells


def shown_value(value: Any, style: str | None = None) -> str:
    """Return a value as a sheet shows it (dates, per cent, thousands, currencies), unrounded."""
    style = style or "General"
    if isinstance(value, datetime | time | timedelta) and _DIGITS.search(_LITERAL.sub("", style)):
        # "$#,##0.00M" is taken for a month by the letter behind the digits.
        value = to_excel(value)
    match value:
        case bool():
            return str(value).upper()
        case datetime():
            plain = value.isoformat(" ", "seconds")
            return plain.removesuffix(" 00:00:00")
        case date() | time():
            return value.isoformat()
        case timedelta():
            return str(value)
        case int() | float():
            return _number(float(value) if isinstance(value, float) else value, style)
        case _:
            return str(value)


def _number(value: float, style: str) -> str:
    if not math.isfinite(value):
        return str(value)
    percent = "%" in style
    value = round(value * 100, 10) if percent else value
    grouped = "," if "#,#" in style or ",0" in style else ""
    plain = _plain(value, grouped)
    currency, scale = _CURRENCY.search(style), _SCALED.search(style.replace('"', ""))
    sign, plain = ("-", plain[1:]) if plain.startswith("-") else ("", plain)
    return (
        f"{sign}{(currency[1] or currency[2]) if currency else ''}{plain}{'%' if percent else ''}"
        f"{scale[1] if scale else ''}"
    )


def _plain(value: float, grouped: str) -> str:
    if abs(value) >= _LARGEST_WHOLE:
        return f"{value:.15g}"
    if value == int(value):
        return f"{int(value):{grouped}d}"
    whole, _, rest = f"{value:.12g}".partition(".")
    return (
        f"{value:.12g}"
        if "e" in rest or "e" in whole
        else f"{int(whole):{grouped}d}.{rest}"
        if int(whole)
        else f"{whole}.{rest}"
    )
