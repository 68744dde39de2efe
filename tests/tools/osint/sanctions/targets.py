"""Bulk files as OpenSanctions writes them: values in quotes, several separated by semicolons."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from pathlib import Path

HEADER = (
    "id schema name aliases birth_date countries addresses identifiers sanctions phones emails "
    "program_ids dataset "
    "first_seen last_seen last_change"
).split()
USUAL = {
    "schema": "Person",
    "dataset": "eu_fsf;us_ofac_sdn",
    "sanctions": "EX-1 - 2022-03-01",
    "first_seen": "2022-03-02T09:00:00",
    "last_seen": "2026-11-14T06:00:00",
    "last_change": "2026-11-01T06:00:00",
}
PETROV = {
    "id": "Q1",
    "name": "Ivan PETROV",
    "aliases": "Иван Петров;Vanya the Baker",
    "birth_date": "1961-05-02",
    "countries": "ru",
}
ENTITIES: tuple[Mapping[str, str], ...] = (
    PETROV,
    {"id": "Q2", "name": "Bashar al-Hadid", "birth_date": "1965-09-11", "countries": "sy"},
    {
        "id": "Q3",
        "schema": "Company",
        "name": "OOO Romashka Trading",
        "aliases": '"Daisy; Trading";Romashka',
    },
    {
        "id": "Q4",
        "name": "Mohammed Abdulrahman HASSAN",
        "birth_date": "1970;1971-02",
        "countries": "sy;suhh",
    },
    {"id": "Q5", "name": "LIU Dehua", "countries": "cn"},
    {"id": "Q6", "schema": "Vessel", "name": "STAR LIGHT", "countries": "pa"},
    {"id": "Q7", "schema": "LegalEntity", "name": "Northern Light Fund"},
)


def table(entities: Iterable[Mapping[str, str]] = ENTITIES, header: Iterable[str] = HEADER) -> str:
    """Return the text of a bulk file."""
    text = io.StringIO()
    rows = csv.DictWriter(text, list(header), restval="", extrasaction="ignore", dialect="unix")
    rows.writeheader()
    rows.writerows({**USUAL, **entity} for entity in entities)
    return text.getvalue()


def bulk_file(folder: Path, entities: Iterable[Mapping[str, str]] = ENTITIES) -> Path:
    """Write a bulk file."""
    file = folder / "targets.simple.csv"
    file.write_text(table(entities), encoding="utf-8")
    return file
