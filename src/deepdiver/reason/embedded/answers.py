"""The short answers that findings give, by the reader, and how likely each is right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from deepdiver.reason.embedded.asked import understand
from deepdiver.reason.embedded.corrections import corrects, is_provisional, takes_back
from deepdiver.reason.embedded.question import analyse_question
from deepdiver.reason.embedded.rating import rate_findings
from deepdiver.reason.embedded.rivals import SURE_OF_NONE, Rival, find_rivals
from deepdiver.tasks import ShownFinding

CORRECTED = 0.5
"""The factor for an answer that a correction, or a later version, does not give."""
QUOTED = 0.85
"""The factor for an answer in corrections alone, which name what they correct too: no answer is
sure then."""
NEAR = 0.6
"""A correction bears on the question if its score is at least this share of the best one's."""


def find_short_answers(question: str, findings: Sequence[ShownFinding]) -> list[Rival]:
    """Return the answers that findings give, the likeliest first; a correction comes first."""
    text = understand(question).text
    rivals = find_rivals(text, analyse_question(text).chains[-1][-1], findings)
    if not rivals:
        return []
    scores = [item.score for item in rate_findings(text, findings)]
    bar = NEAR * max(scores)
    given = {number for rival in rivals for number in rival.giving}
    later = {n for n in given if scores[n] >= bar and corrects(findings[n])}
    earlier = {n for n, f in enumerate(findings) if is_provisional(f)}
    weighed = [
        replace(
            rival,
            likelihood=max(
                SURE_OF_NONE,
                round(rival.likelihood * _standing(rival, findings, later, earlier), 3),
            ),
        )
        for rival in rivals
    ]
    return sorted(weighed, key=lambda rival: -rival.likelihood)


def _standing(
    rival: Rival, findings: Sequence[ShownFinding], later: set[int], earlier: set[int]
) -> float:
    """Return the factor for an answer, by which of the findings give it."""
    giving = set(rival.giving)
    if any(takes_back(findings[number], rival.answer) for number in giving & later):
        return CORRECTED
    if later:
        if giving & later:
            return QUOTED if giving <= later else 1.0
        return CORRECTED
    return CORRECTED if giving and giving <= earlier else 1.0
