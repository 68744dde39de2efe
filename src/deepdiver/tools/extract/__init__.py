"""Taking the text out of files and pages, each in a child process that may do little and not for long.

    document = await extract(data, mime="application/pdf", name="report.pdf")

The text is what is quoted from, so it is what the format says and nothing else; marks tell where
its pages, slides, sheets, headings and messages begin.
"""

from __future__ import annotations

from deepdiver.tools.extract.formats import FORMATS, format_of
from deepdiver.tools.extract.workers.pool import Extractor, extract

__all__ = ["FORMATS", "Extractor", "extract", "format_of"]
