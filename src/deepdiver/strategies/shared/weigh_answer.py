"""The belief in an answer: the same evidence gives the same number in every strategy.

The sentences of the answer are weighed, each by the sources that carry it and by what is known to
contradict them: findings that do not go together, and what a test of a hypothesis has brought
against it. The arithmetic is that of hypotheses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal

from deepdiver.core.identity import content_id
from deepdiver.core.numbers import figures_in
from deepdiver.core.record import (
    Contradiction,
    Evidence,
    Finding,
    Hypothesis,
    Sentence,
    SentenceKind,
    Stance,
)
from deepdiver.report.compose import WeighedAnswer
from deepdiver.strategies.shared.base import Deps
from deepdiver.strategies.shared.hypotheses import assess, judge_all
from deepdiver.tasks import Judge

_LABEL = re.compile(r"“[^”]*”|\b[A-Z]\d{1,4}(?::[\d,;\s–-]*\d)?|\bQ[1-4]\b")
"""A title, a label of a text with the numbers of its sentences, or the name of a quarter."""
DECIDED = 0.5
"""How strongly sources speak against each other where the report says which it follows."""
JUDGED = 4
"""Most sentences of an answer for which a reasoner that costs nothing judges all findings."""


async def weigh_answer(
    deps: Deps,
    question: str,
    lead: Sequence[Sentence],
    findings: Sequence[str],
    problems: Sequence[str],
    missing: Sequence[str],
    partly: Sequence[str] = (),
) -> WeighedAnswer:
    """Return the belief in an answer, sentence by sentence.

    The findings of a sentence speak for it, as the audit has confirmed. A reasoner that costs
    nothing judges all others too; of a model, what it has said before is enough.

    Args:
        deps: The run's dependencies.
        question: What was asked.
        lead: The answer.
        findings: Ids of all findings.
        problems: The parts of the question.
        missing: Those that are not answered.
        partly: Those that are answered in part, which count half.
    """
    stated = {SentenceKind.FACT, SentenceKind.CALCULATION}
    facts = [sentence for sentence in lead if sentence.kind in stated]
    # An answer that is all judgement is believed as far as what it stands on.
    judged, facts = len(facts), facts or _reasons(deps, lead)
    claims = [_claim(sentence) for sentence in facts]
    asked = [
        (claim, [*sentence.findings, *findings])
        for claim, sentence in zip(claims, facts[: min(JUDGED, judged)], strict=False)
        if deps.reasoner.is_free(Judge)
    ]
    others = [*await judge_all(deps, question, asked), *([] for _ in facts[len(asked) :])]
    weighed = [*zip(claims, facts, others, strict=True)]
    beliefs, settled = (
        tuple(_believe(deps, *item, clashes=clashes) for item in weighed)
        for clashes in (_clashes(deps), _clashes(deps, undecided=True))
    )
    parts = {*(problems or (question,)), *missing, *partly}
    open_ = len({*missing}) + len({*partly} - {*missing}) / 2
    return WeighedAnswer(beliefs, 1.0 - open_ / len(parts), settled)


def _clashes(deps: Deps, *, undecided: bool = False) -> list[Contradiction]:
    """Return what is known not to go together, or only that between which nobody decides."""
    held = deps.ledger.of(Contradiction).values()
    return [
        clash for clash in held if clash.kind == "contradicts" and not (undecided and clash.decided)
    ]


def _claim(sentence: Sentence) -> Hypothesis:
    return Hypothesis(
        id=content_id("h", sentence.text),
        statement=sentence.text,
        supports_if="",
        refutes_if="",
        prior=0.5,
    )


def _believe(
    deps: Deps,
    claim: Hypothesis,
    sentence: Sentence,
    others: Sequence[Evidence],
    clashes: Sequence[Contradiction],
) -> float:
    """Return the belief in a sentence, by its own findings and by the others."""
    own = [_weigh(claim, key, Stance.SUPPORTS) for key in sentence.findings]
    told_against = _against(deps, sentence, clashes)
    against = [_weigh(claim, key, Stance.REFUTES, how) for key, how in told_against]
    told = [
        item
        for item in others
        if item.finding not in sentence.findings or item.stance is Stance.REFUTES
    ]
    return assess(deps, claim, [*own, *against, *told], ()).posterior


def _against(
    deps: Deps, sentence: Sentence, clashes: Sequence[Contradiction]
) -> list[tuple[str, float]]:
    """Return the findings that are known to contradict those of a sentence, and how strongly.

    What the sentence tells itself, as one that gives both sides does, is not against it.
    """
    own = [deps.ledger.get(Finding, key) for key in sentence.findings]
    against: dict[str, float] = {}
    for key, how in _contradicting(deps, own, sentence.text, clashes):
        against[key] = max(how, against.get(key, 0.0))
    for item in _refuting(deps, own):
        against[item.finding] = max(item.strength, against.get(item.finding, 0.0))
    return list(against.items())


def _contradicting(
    deps: Deps, own: Sequence[Finding], said: str, clashes: Iterable[Contradiction]
) -> Iterator[tuple[str, float]]:
    """Yield the findings that are known not to go together with what a sentence says of some.

    Each comes with how strongly it speaks against the sentence: half as much if the report decides
    between them, for a reason that it gives.
    """
    for clash in (clash for clash in clashes if _is_about(clash, said)):
        sides = [deps.ledger.get(Finding, key) for key in clash.findings]
        others = [side.id for side in sides if not _tells(own, side)]
        if len(others) < len(sides):
            yield from ((key, DECIDED if clash.decided else 1.0) for key in others)


def _is_about(clash: Contradiction, said: str) -> bool:
    """Return whether a sentence tells one of the figures that a contradiction is about.

    A passage may hold much that nobody disputes: a table of which one cell is doubted carries sums
    over the others. One that names no figures is about all that its passages say.
    """
    disputed = _figures(clash.description)
    return not disputed or bool(disputed & _figures(said))


def _figures(text: str) -> set[Decimal]:
    """Return the figures of a text, but for those of labels."""
    return figures_in(_LABEL.sub(" ", text))


def _refuting(deps: Deps, own: Sequence[Finding]) -> Iterator[Evidence]:
    """Yield what speaks against the hypotheses that some findings support."""
    told = [
        (item, _tells(own, deps.ledger.get(Finding, item.finding)))
        for item in deps.ledger.of(Evidence).values()
    ]
    carried = {item.hypothesis for item, own_ in told if own_ and item.stance is Stance.SUPPORTS}
    for item, own_ in told:
        if not own_ and item.stance is Stance.REFUTES and item.hypothesis in carried:
            yield item


def _tells(own: Iterable[Finding], other: Finding) -> bool:
    """Return whether one of some findings quotes what another quotes."""
    return any(
        one.source == two.source
        and one.passage.start < two.passage.end
        and two.passage.start < one.passage.end
        for finding in own
        for one in finding.quotes
        for two in other.quotes
    )


def _reasons(deps: Deps, lead: Sequence[Sentence]) -> list[Sentence]:
    """Return what the judgements of an answer stand on, as sentences: what they cite."""
    keys = dict.fromkeys(key for sentence in lead for key in sentence.findings)
    found = [deps.ledger.get(Finding, key) for key in keys]
    return [Sentence(text=item.statement, findings=(item.id,)) for item in found]


def _weigh(claim: Hypothesis, finding: str, stance: Stance, strength: float = 1.0) -> Evidence:
    key = content_id("e", claim.id, finding, stance, strength)
    return Evidence(id=key, hypothesis=claim.id, finding=finding, stance=stance, strength=strength)
