"""A report as one page of HTML with its evidence inside: nothing is fetched, and no script runs.

Beside the report are the sources as they were read, with every quote marked (`saved_pages`). The
evidence is an archive in a `template`, which a browser keeps and never shows.
"""

from __future__ import annotations

import base64
import binascii
import re

from deepdiver.errors import UnreadableError
from deepdiver.report.exports.package import (
    UNSEALED,
    Saved,
    from_archive,
    pack,
    seal,
    to_archive,
)
from deepdiver.report.exports.saved_pages import render_saved_pages, style_for, with_peeks
from deepdiver.report.figures.pictures import draw_pictures
from deepdiver.report.html import render_html

_EVIDENCE = re.compile(rb'<template id="evidence">([^<]*)</template>')


def render_page(saved: Saved, archive_of: bytes = b"") -> bytes:
    """Return the page.

    Args:
        saved: The run.
        archive_of: A page whose archive is to be used: another machine may compress another way.
    """
    found = _EVIDENCE.search(archive_of)
    packed = found[1] if found else base64.encodebytes(to_archive(pack(saved))).strip()
    drawn = draw_pictures(
        saved.report, saved.ledger, saved.text, scene=saved.scene, history=saved.history
    )
    page = render_html(
        saved.report,
        drawn,
        head=f'<meta name="seal" content="{UNSEALED}">',
        style=style_for(saved.report),
        sources=render_saved_pages(saved),
        tail=f'<template id="evidence">{packed.decode()}</template>',
    )
    return seal(with_peeks(page, saved.report).encode("utf-8", "replace"))


def evidence_in_page(data: bytes) -> dict[str, bytes]:
    """Return the files that a page carries.

    Raises:
        UnreadableError: If there are none, or they cannot be read.
    """
    found = _EVIDENCE.search(data)
    if not found:
        raise UnreadableError("this page carries no evidence, or what holds it was altered")
    try:
        return from_archive(base64.b64decode(found[1].replace(b"\n", b""), validate=True))
    except binascii.Error:
        raise UnreadableError("the evidence of this page was altered: it cannot be read") from None
