"""The belief in an answer of a strategy that puts forward no hypotheses."""

from __future__ import annotations

from collections.abc import Sequence

from deepdiver.core.identity import content_id
from deepdiver.core.record import Evidence, Finding, Hypothesis, Sentence, SentenceKind, Stance
from deepdiver.core.text import terms
from deepdiver.report.compose import WeighedAnswer
from deepdiver.strategies.shared.base import Deps
from deepdiver.strategies.shared.hypotheses import assess, judge_all
from deepdiver.tasks import Judge

OTHERS = 12
"""Most other findings that a model judges a sentence by: those that share the most words with it,
besides the words of the question."""
JUDGED = 4
"""Most sentences of an answer for which all findings are judged; for the others only their own
findings count."""


async def weigh_answer(
    deps: Deps,
    question: str,
    lead: Sequence[Sentence],
    findings: Sequence[str],
    problems: Sequence[str],
    missing: Sequence[str],
) -> WeighedAnswer:
    """Return the belief in an answer without hypotheses, sentence by sentence.

    The findings of a sentence speak for it, as the audit has confirmed; the reasoner judges the
    others. The arithmetic is that of hypotheses.
    """
    stated = {SentenceKind.FACT, SentenceKind.CALCULATION}
    facts = [sentence for sentence in lead if sentence.kind in stated]
    # An answer that is all judgement is believed as far as what it stands on.
    judged, facts = len(facts), facts or _reasons(deps, lead)

    claims = [_claim(sentence) for sentence in facts]
    free = deps.reasoner.is_free(Judge)
    asked = [
        (
            claim,
            [
                *sentence.findings,
                *(findings if free else _nearest(deps, question, sentence, findings)),
            ],
        )
        for claim, sentence in zip(claims, facts[: min(JUDGED, judged)], strict=False)
    ]
    others = [*await judge_all(deps, question, asked), *([] for _ in facts[len(asked) :])]
    beliefs = [
        _believe(deps, claim, sentence, told)
        for claim, sentence, told in zip(claims, facts, others, strict=True)
    ]
    parts = {*(problems or (question,)), *missing}
    return WeighedAnswer(tuple(beliefs), 1.0 - len(set(missing)) / len(parts))


def _nearest(deps: Deps, question: str, sentence: Sentence, findings: Sequence[str]) -> list[str]:
    """Return the findings that are most about what a sentence says, without its own."""
    said = set(terms(sentence.text)) - set(terms(question))
    others = [key for key in dict.fromkeys(findings) if key not in sentence.findings]
    found = (deps.ledger.get(Finding, key) for key in others)
    told = (set(terms(f"{item.statement} {item.quotes[0].text}")) for item in found)
    shared = {key: len(said & words) for key, words in zip(others, told, strict=True)}
    near = sorted((key for key, many in shared.items() if many), key=lambda key: -shared[key])
    return near[:OTHERS]


def _claim(sentence: Sentence) -> Hypothesis:
    return Hypothesis(
        id=content_id("h", sentence.text),
        statement=sentence.text,
        supports_if="",
        refutes_if="",
        prior=0.5,
    )


def _believe(
    deps: Deps, claim: Hypothesis, sentence: Sentence, others: Sequence[Evidence]
) -> float:
    """Return the belief in a sentence, by its own findings and by the others."""
    own = [_carries(claim, key) for key in sentence.findings]
    against = [
        item
        for item in others
        if item.finding not in sentence.findings or item.stance is Stance.REFUTES
    ]
    return assess(deps, claim, [*own, *against], ()).posterior


def _reasons(deps: Deps, lead: Sequence[Sentence]) -> list[Sentence]:
    """Return what the judgements of an answer stand on, as sentences: what they cite."""
    keys = dict.fromkeys(key for sentence in lead for key in sentence.findings)
    found = [deps.ledger.get(Finding, key) for key in keys]
    return [Sentence(text=item.statement, findings=(item.id,)) for item in found]


def _carries(claim: Hypothesis, finding: str) -> Evidence:
    key = content_id("e", claim.id, finding, Stance.SUPPORTS, 1.0)
    return Evidence(
        id=key, hypothesis=claim.id, finding=finding, stance=Stance.SUPPORTS, strength=1.0
    )
