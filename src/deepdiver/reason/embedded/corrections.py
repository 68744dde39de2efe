"""Tells what corrects and what is corrected: a correction outranks what it corrects.

An erratum, an addendum, a final version, a withdrawal says of itself what it is. So does a draft.
"""

from __future__ import annotations

import re

from deepdiver.reason.embedded.language.units import sentence_with
from deepdiver.tasks import ShownFinding

_CORRECTS = re.compile(
    r"\b(?:correct(?:ion|ions|ed|s)|errat(?:um|a)|corrigend(?:um|a)|addend(?:um|a)|amend(?:ed|s|ment)"
    r"|revis(?:ed|es|ion)|supersed(?:es|ed|ing)|replac(?:es|ing) the|retract(?:ion|ed|s)|withdrawn"
    r"|withdrawal|(?:was|were|is|are) (?:wrong|incorrect|mistaken|changed|moved|postponed)"
    r"|(?:by|in) (?:mistake|error)|changed from|moved from|raised from|lowered from|instead of"
    r"|final version|approved version|no longer)\b",
    re.IGNORECASE,
)
_LATER = re.compile(
    r"\b(?:corrections?|errat(?:um|a)|corrigend(?:um|a)|addend(?:um|a)|final|approved|revised|amended"
    r"|update[ds]?)\b",
    re.IGNORECASE,
)
_EARLIER = re.compile(
    r"\b(?:draft|preliminary|provisional|superseded|obsolete|outdated|old|first version|v1)\b",
    re.IGNORECASE,
)

_REPORTS = re.compile(
    r"\b(?:said|stated|reported|gave|claimed|showed|named|listed|wrote|put at|had been|instead"
    r" of|rather than|wrongly|mistakenly)\b",
    re.IGNORECASE,
)


def corrects(finding: ShownFinding) -> bool:
    """Return whether a finding says that it corrects something, or its source that it is final."""
    return bool(_LATER.search(_words(finding.source)) or _CORRECTS.search(finding.statement))


def takes_back(finding: ShownFinding, value: str) -> bool:
    """Return whether a correction names a value as what was said before.

    "The report said that it lasted 12 minutes", in an addendum to that report.
    """
    return corrects(finding) and bool(_REPORTS.search(sentence_with(finding.quote, value)))


def is_provisional(finding: ShownFinding) -> bool:
    """Return whether the source of a finding says that it is not the last word."""
    return bool(_EARLIER.search(_words(finding.source)))


def _words(title: str) -> str:
    """Return a title, or the name of a file, as words: plan_v2-final.docx."""
    return re.sub(r"[_\-.]+", " ", title)
