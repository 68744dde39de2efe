"""Extracting the text of files and pages, each in a worker process with tight limits.

    document = await extract(data, mime="application/pdf", name="report.pdf")

Quotes are taken from the text, so it contains what the file contains and nothing else. Marks say
where its pages, slides, sheets, headings and messages begin.

`formats` detects the format, `read_document` calls the function in `readers` that reads it, and
`workers` runs that in a confined process.
"""

from __future__ import annotations

from deepdiver.tools.extract.formats import FORMATS, format_of
from deepdiver.tools.extract.workers.pool import Extractor, extract

__all__ = ["FORMATS", "Extractor", "extract", "format_of"]
