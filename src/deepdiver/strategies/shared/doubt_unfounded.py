"""Hypotheses that do not stand on the evidence that is said to support them."""

from __future__ import annotations

from collections.abc import Sequence

from deepdiver.core.record import Assessment, HypothesisStatus, Sentence, SentenceKind
from deepdiver.strategies.shared.base import Deps
from deepdiver.strategies.shared.drafting import titled_quotes
from deepdiver.strategies.shared.grounding import Said, find_bearings

UNFOUNDED = (
    "Its words are not those of the evidence that is said to support it, and the reader does not "
    "find it there."
)


async def doubt_unfounded(
    deps: Deps,
    asked: str,
    assessments: Sequence[Assessment] | None,
    answer: Sequence[Sentence],
) -> tuple[Sequence[Assessment] | None, frozenset[str]]:
    """Return the hypotheses, and the ids of those that do not stand on their evidence.

    The reasoner writes a hypothesis and judges the evidence for it. One whose words are neither
    those of its evidence nor those of the answer, and which the reader does not find in the
    evidence, was moved by nothing but the reasoner's word: it stands where it stood before, and
    the report says so. Neither does an answer rest on a hypothesis that has no evidence and is
    about something else.

    Args:
        deps: The run's dependencies.
        asked: The question and its parts.
        assessments: Where the hypotheses stand; None for a strategy without hypotheses.
        answer: The answer, after the audit.
    """
    held = [item for item in assessments or () if item.status is not HypothesisStatus.REFUTED]
    told = " ".join(item.text for item in answer if item.kind is not SentenceKind.FRAME)
    said = [
        Said(
            item.hypothesis.statement,
            titled_quotes(deps, Sentence(text="", findings=_evidence_of(item))),
            told,
        )
        for item in held
    ]
    bearings = zip(held, await find_bearings(said, asked), strict=True)
    unfounded = frozenset(item.hypothesis.id for item, found in bearings if found == "foreign")
    if assessments is None:
        return None, unfounded
    return [
        _put_back(deps, item) if item.hypothesis.id in unfounded else item for item in assessments
    ], unfounded


def _evidence_of(item: Assessment) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*item.supporting, *item.refuting, *item.hypothesis.findings)))


def _put_back(deps: Deps, item: Assessment) -> Assessment:
    """Return a hypothesis as it stood before what seemed to speak for it, and say so."""
    if item.supporting:
        deps.note_limit(f"Not counted: “{item.hypothesis.statement}”. {UNFOUNDED}")
    accepted = item.status is HypothesisStatus.SUPPORTED
    return item.model_copy(
        update={
            "posterior": min(item.posterior, item.hypothesis.prior),
            "status": HypothesisStatus.UNDECIDED if accepted else item.status,
            "supporting": (),
        }
    )
