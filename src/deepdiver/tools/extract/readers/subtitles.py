"""Subtitles (SRT, WebVTT): what is said, as running text, with the time marked minute by minute."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import PurePosixPath

from deepdiver.tools.extract.decode import decode
from deepdiver.tools.extract.document_draft import DocumentDraft
from deepdiver.tools.extract.readers.plain_text import plain_lines

_CUE = re.compile(
    r"^[ \t]*(?:(?P<hours>\d{1,4}):)?(?P<minutes>\d\d):(?P<seconds>\d\d)[.,]\d{1,3}"
    r"[ \t]+-->[^\n]*\n"
    r"(?P<said>(?:[ \t]*\S[^\n]*(?:\n|\Z))*+)",
    re.MULTILINE,
)
"""Times, and the lines until the next empty one."""
_SPEAKER = re.compile(r"<v(?:\.[^ >]*)?[ \t]+([^>]+)>")
_TAG = re.compile(r"</?[A-Za-z][^>]{0,200}>|<[\d:.]+>|\{\\[^}]{0,200}\}")
"""Tags of HTML, times within a line, and positions as `{\\an8}`."""
EVERY = 60
"""Seconds from one mark to the next."""


def read_subtitles(
    data: bytes, *, format: str, mime: str = "", name: str = "", url: str = ""
) -> DocumentDraft:
    """Read subtitles."""
    text, note = decode(data, mime)
    draft = DocumentDraft(format)
    draft.note(note)
    draft.title = PurePosixPath(name).stem or "Subtitles"  # the first mark is a time
    due, before = 0, ""
    for seconds, said in cues(plain_lines(text)):
        if said == before:  # live subtitles repeat the line above
            continue
        if seconds >= due:
            draft.mark_next("heading", str(timedelta(seconds=seconds)))
            due = seconds - seconds % EVERY + EVERY
            draft.add(said)
        else:
            draft.add(said, "\n")
        before = said
    return draft


def cues(text: str) -> Iterator[tuple[int, str]]:
    """Yield when each line is said, in seconds, and the line itself without its tags."""
    for cue in _CUE.finditer(text):
        seconds = int(cue["hours"] or 0) * 3600 + int(cue["minutes"]) * 60 + int(cue["seconds"])
        said = _TAG.sub("", _SPEAKER.sub(r"\1: ", cue["said"]))
        if said := "\n".join(filter(None, map(str.strip, html.unescape(said).splitlines()))):
            yield seconds, said
