"""JSON, JSON lines and XML: each record becomes a line with its path and its named fields.

| orders[0] | number: 17 | total: 1200
| orders[0].customer | name: Berg | city: Vantskär
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from deepdiver.tools.extract.archive import local_name, parse_xml
from deepdiver.tools.extract.decode import decode
from deepdiver.tools.extract.document_draft import DocumentDraft
from deepdiver.tools.extract.readers import messages, plain_text

_GAP = re.compile(r"\s+")
LONG = 300
"""Characters of the longest field in a line. A longer value becomes a block of its own."""


def read_xml(
    data: bytes, *, format: str, mime: str = "", name: str = "", url: str = ""
) -> DocumentDraft:
    """Read XML."""
    draft = DocumentDraft(format)
    root = parse_xml(data)
    add_records(draft, {local_name(root.tag): _json_of(root)})
    return draft


def read_json(
    data: bytes, *, format: str, mime: str = "", name: str = "", url: str = ""
) -> DocumentDraft:
    """Read JSON or JSON lines; what turns out to be neither is read as plain text."""
    draft = DocumentDraft(format)
    text, note = decode(data, mime)
    draft.note(note)
    try:
        _add_json(draft, json.loads(text))
    except ValueError:
        records, broken = parse_json_lines(text)
        if broken > len(records):
            draft.format = "text"
            return plain_text.add_plain_text(draft, text)
        if broken:
            draft.note(f"{broken:,} lines are no JSON and were left out")
        _add_json(draft, records)
    return draft


def parse_json_lines(text: str) -> tuple[list[Any], int]:
    """Return the records of JSON lines, and the number of lines that are not JSON."""
    records: list[Any] = []
    broken = 0
    for line in text.split("\n"):
        if line.strip():
            try:
                records.append(json.loads(line))
            except ValueError:
                broken += 1
    return records, broken


def _add_json(draft: DocumentDraft, value: Any) -> None:
    """Add a value of JSON to a draft, as messages if it consists of messages."""
    records = value if isinstance(value, list) else [value]
    draft.format = "messages" if messages.add_messages(draft, records) else "json"
    if draft.format == "json":
        add_records(draft, value)


def add_records(draft: DocumentDraft, value: Any) -> None:
    """Add a value of JSON to a draft, one line for each record."""
    first = True
    for path, fields, texts in _records("", value):
        if fields:
            draft.add(
                "| " + " | ".join([path, *fields] if path else fields), "\n\n" if first else "\n"
            )
            first = False
        for text in texts:
            draft.add(text)
            first = True


def _records(path: str, value: Any) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield the path, the fields and the long texts of each object and list, outer ones first."""
    if not isinstance(value, dict | list):
        yield "", [] if value is None or value == "" else [_scalar(value)], []
        return
    fields: list[str] = []
    texts: list[str] = []
    inner: list[tuple[str, Any]] = []
    for key, below, item in _items(path, value):
        if _is_flat_list(item):
            fields.append(_field(key, ", ".join(map(_scalar, item))))
        elif isinstance(item, dict | list):
            inner.append((below, item))
        elif isinstance(item, str) and (len(item) > LONG or "\n" in item.strip()):
            texts.append(f"{below}: {item.strip()}")
        else:
            fields.append(_field("" if isinstance(value, list) else key, item))
    yield path, fields, texts
    for below, item in inner:
        yield from _records(below, item)


def _items(path: str, value: dict[str, Any] | list[Any]) -> Iterator[tuple[str, str, Any]]:
    """Yield the key, the path and the value of each item that is not empty."""
    if isinstance(value, list):
        items = [(str(at), f"{path}[{at}]", item) for at, item in enumerate(value)]
    else:
        items = [(key, f"{path}.{key}" if path else key, item) for key, item in value.items()]
    return (item for item in items if item[2] is not None and item[2] not in ("", [], {}))


def _is_flat_list(value: Any) -> bool:
    return isinstance(value, list) and not any(isinstance(item, dict | list) for item in value)


def _field(name: str, value: Any) -> str:
    said = " ".join(_scalar(value).split())
    return f"{name}: {said}" if name else said


def _scalar(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _json_of(element: Any) -> Any:
    """Return an element of XML as a value of JSON: its text, or its fields by name."""
    children = [child for child in element if local_name(child.tag)]
    own = (element.text or "").strip()
    if children and (own or any((child.tail or "").strip() for child in children)):
        # prose with marked-up words in it
        own, children = _GAP.sub(" ", "".join(element.itertext())).strip(), []
    found: dict[str, Any] = {local_name(key): value for key, value in element.attrib.items()}
    if not children and not found:
        return own
    for child in children:
        _add_field(found, local_name(child.tag), _json_of(child))
    if own:
        found["text"] = own
    return found


def _add_field(fields: dict[str, Any], name: str, value: Any) -> None:
    """Add a field; several of the same name become a list."""
    if name not in fields:
        fields[name] = value
        return
    before = fields[name]
    fields[name] = [*before, value] if isinstance(before, list) else [before, value]
