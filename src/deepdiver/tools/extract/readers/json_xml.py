"""JSON, JSON lines and XML.

Each record a line that names its fields and where in the tree it stands.

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
"""Characters from which a value is a text of its own rather than a field in a line."""


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
    """Return the records of JSON lines, and how many lines are none."""
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
    """Put messages down as messages, anything else as records."""
    records = value if isinstance(value, list) else [value]
    draft.format = "messages" if messages.add_messages(draft, records) else "json"
    if draft.format == "json":
        add_records(draft, value)


def add_records(draft: DocumentDraft, value: Any) -> None:
    """Put a value of JSON into a draft."""
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
    """Give each object and list.

    Its path, its fields, and its long texts; what is within it follows.
    """
    if not isinstance(value, dict | list):
        yield "", [] if value is None or value == "" else [_scalar(value)], []
        return
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    fields: list[str] = []
    texts: list[str] = []
    inner: list[tuple[str, Any]] = []
    for key, item in pairs:
        below = (
            f"{path}[{key}]" if isinstance(value, list) else f"{path}.{key}" if path else str(key)
        )
        if isinstance(item, dict | list):
            if (
                isinstance(item, list)
                and item
                and not any(isinstance(one, dict | list) for one in item)
            ):
                fields.append(_field(str(key), ", ".join(map(_scalar, item))))
            elif item:
                inner.append((below, item))
        elif isinstance(item, str) and (len(item) > LONG or "\n" in item.strip()):
            texts.append(f"{below}: {item.strip()}")
        elif item is not None and item != "":
            fields.append(_field("" if isinstance(value, list) else str(key), item))
    yield path, fields, texts
    for below, item in inner:
        yield from _records(below, item)


def _field(name: str, value: Any) -> str:
    said = " ".join(_scalar(value).split())
    return f"{name}: {said}" if name else said


def _scalar(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _json_of(element: Any) -> Any:
    """Return what an element of XML holds as JSON would have it.

    Text, or fields by name; several of a name, a list.
    """
    children = [child for child in element if local_name(child.tag)]
    attributes = {local_name(key): value for key, value in element.attrib.items()}
    own = (element.text or "").strip()
    if children and (own or any((child.tail or "").strip() for child in children)):
        own, children = (
            _GAP.sub(" ", "".join(element.itertext())).strip(),
            [],
        )  # prose with words set off in it
    if not children and not attributes:
        return own
    found: dict[str, Any] = dict(attributes)
    for child in children:
        name, value = local_name(child.tag), _json_of(child)
        if name in found:
            before = found[name]
            found[name] = [*before, value] if isinstance(before, list) else [before, value]
        else:
            found[name] = value
    if own:
        found["text"] = own
    return found
