"""A second opinion on reports, by a model that is named wherever its figures are shown.

The deterministic measures come first; the judge is asked only if the user names one. It performs
the same task as the audit: do these quotes support this sentence? Here the quotes are sentences of
the report, and the sentence is a right answer or an insight.
"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

from deepdiver.core.events import Event
from deepdiver.core.record import Report
from deepdiver.core.settings import Settings
from deepdiver.evals.cases import Case, Kind
from deepdiver.evals.insights import counted_sentences


def claims_for_judge(
    kind: Kind, case: Case, report: Report
) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Return by name the statements to judge, each with the sentences that may support it."""
    if kind is Kind.INSIGHTS:
        return _insight_claims(case, report)
    said = tuple(sentence.text for sentence in report.answer)
    asked = case.question.strip()
    right = {f"answer {n}": (f"{asked} {gold}", said) for n, gold in enumerate(case.answers, 1)}
    return right | {f"wrong {n}": (f"{asked} {gold}", said) for n, gold in enumerate(case.wrong, 1)}


def _insight_claims(case: Case, report: Report) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Return for each insight its text and the sentences of the report that cite its file."""
    files = {item.number: Path(item.url).name for item in report.citations}
    told = [
        (line.text, {files.get(number) for number in line.citations})
        for line in counted_sentences(report)
    ]
    return {
        gold.id: (gold.text, tuple(text for text, cited in told if gold.file in cited))
        for gold in case.golds
    }


async def ask_judge(
    judge: str, kind: Kind, case: Case, report: Report, settings: Settings
) -> dict[str, Any]:
    """Ask the judge about a report.

    Returns:
        `judged`: for each claim, whether the report supports it in full; `judge_usd`: the cost.

    Raises:
        GatewayError: If the model did not answer.
        ReasonError: If its answer could not be used.
    """
    from deepdiver.reason.choose import choose_reasoner
    from deepdiver.run.detached import detached_gateway
    from deepdiver.tasks import CheckSupport, Claim

    asked = claims_for_judge(kind, case, report)
    labels = {f"C{n}": key for n, (key, (_, quotes)) in enumerate(asked.items(), 1) if quotes}
    judged = dict.fromkeys(asked, False)
    spent: list[Decimal] = []

    def note(event: Event) -> None:
        if event.type == "call_ended":
            spent.append(event.cost)

    if labels:
        shown = tuple(
            Claim(id=label, text=asked[key][0], quotes=asked[key][1])
            for label, key in labels.items()
        )
        alone = settings.model_copy(
            update={"model": judge, "fast_model": "", "task_models": {}, "budget": None}
        )
        async with detached_gateway(alone, emit=note) as gateway:
            reasoner = choose_reasoner(alone, gateway, note)
            try:
                answer = await reasoner.perform(CheckSupport.of(shown))
            finally:
                if close := getattr(reasoner, "close", None):
                    await close()
        judged |= {
            labels[item.id]: item.support == "full" for item in answer.checks if item.id in labels
        }
    return {"judged": judged, "judge_usd": f"{sum(spent, Decimal(0)):f}"}
