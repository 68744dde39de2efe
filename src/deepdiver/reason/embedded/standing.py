"""Where the answers of a strategy stand that puts forward no hypotheses."""

from __future__ import annotations

from deepdiver.core import belief
from deepdiver.core.record import Stance
from deepdiver.reason.embedded.draft import Brief
from deepdiver.reason.embedded.propose import propose
from deepdiver.reason.embedded.weigh import weigh
from deepdiver.tasks import Hypothesise, HypothesisStanding, Judge, Rival


def standing_of(task: Brief) -> tuple[HypothesisStanding, ...]:
    """Return where the hypotheses stand, or the answers of a strategy that proposes none."""
    return weigh_hypotheses(task) if task.standing is None else task.standing


def weigh_hypotheses(task: Brief) -> tuple[HypothesisStanding, ...]:
    """Return the rival answers that the findings give, with the evidence for and against each.

    For a strategy that proposes no hypotheses. None of them was tested, and the report says so; the
    same arithmetic decides which of them is the answer.
    """
    known = {finding.id: finding for finding in task.findings}
    proposed = propose(
        Hypothesise(
            question=task.question,
            as_of=task.as_of,
            problems=task.problems,
            findings=tuple(task.findings),
            limit=8,
        )
    )
    standing = []
    for number, item in enumerate(proposed.hypotheses, 1):
        prior = belief.bounded_prior(item.prior)
        rival = Rival(id="H", hypothesis=item.statement, answer_if_true=item.answer)
        asked = Judge(
            question=task.question,
            as_of=task.as_of,
            findings=tuple(task.findings),
            rivals=(rival,),
        )
        judged = [(known[j.finding], j) for j in weigh(asked).judgements if j.finding in known]
        evidence = [
            belief.WeighedEvidence(j.stance, j.strength, f.credibility, f.origin or f.id)
            for f, j in judged
        ]
        posterior = belief.posterior(prior, evidence)
        standing.append(
            HypothesisStanding(
                id=f"H{number}",
                statement=item.statement,
                answer=item.answer,
                posterior=round(posterior, 6),
                status=belief.status(posterior, 1, prior),
                trials=0,
                supporting=tuple(f.id for f, j in judged if j.stance is Stance.SUPPORTS),
                refuting=tuple(f.id for f, j in judged if j.stance is Stance.REFUTES),
            )
        )
    return tuple(standing)
