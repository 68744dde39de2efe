"""Scores: pure functions of a case and its record, so that they can be computed again at any time.

The answer of a run is the short answer of its best accepted hypothesis. If none was accepted, it is
that of the likeliest undecided hypothesis that the lead states; else the first factual sentence of
the lead; else there is none. Each score says which. Confidence is what the report states: in words
alone for an answer that was not accepted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deepdiver.core.outcomes import stated_confidence
from deepdiver.core.record import Assessment, HypothesisStatus, Report, RunStatus, SentenceKind
from deepdiver.evals import insights, retrieval
from deepdiver.evals.cases import RESEARCHED, Case, EvalSet, Gold, Kind
from deepdiver.evals.documents import file_name
from deepdiver.evals.measures import (
    Bin,
    auc,
    balanced,
    brier,
    ece,
    ece_by_chance,
    exact,
    f1,
    holds_one,
    macro_f1,
    mean,
    rate,
    reliability,
    right,
    same_answer,
    stands_in,
    without,
)
from deepdiver.evals.perform_case import CaseRecord

FAILED = "failed"
"""The loss of a case that ended in an error."""
NONE = "none"
"""No loss."""

Values = dict[str, float | bool | None]


@dataclass(frozen=True, slots=True)
class CaseScore:
    """The score of a case."""

    id: str
    """Id of the case."""
    question: str
    """The question."""
    wanted: tuple[str, ...]
    """The right answers."""
    said: str = ""
    """The answer that was given."""
    by: str = "none"
    """Where the answer comes from: hypothesis, undecided, lead or none; for a claim: verdict."""
    values: Values = field(default_factory=dict)
    """Its measures; None: the measure does not apply."""
    confidence: float | None = None
    """The stated confidence; None: none was stated."""
    right: bool = False
    """Whether the answer is right, as the set requires."""
    sound: bool = False
    """Whether the one answer that the confidence is about is right; confidence is compared with
    this."""
    loss: str = NONE
    """Where the right answer was lost."""
    seconds: float = 0.0
    """The time it took."""
    usd: float = 0.0
    """The cost."""
    error: str = ""
    """The error, if the case failed."""


@dataclass(frozen=True, slots=True)
class SetSummary:
    """The summary of a set."""

    figures: dict[str, float]
    """Means and rates by name; those that do not apply are left out."""
    counts: dict[str, int]
    """Counts by name."""
    losses: dict[str, int]
    """Where right answers were lost, the commonest first."""
    bins: tuple[Bin, ...]
    """Confidence and accuracy, by bin."""


@dataclass(frozen=True, slots=True)
class RunAnswer:
    """The answer of a run."""

    text: str
    """The answer; empty: none."""
    by: str
    """hypothesis, undecided, lead or none."""
    accepted: tuple[str, ...]
    """The short answers of all accepted hypotheses, best first."""


def answer_of(report: Report) -> RunAnswer:
    """Return the answer of a run."""
    best = sorted(report.hypotheses, key=lambda item: -item.posterior)  # of equals, the first
    supported = (item for item in best if item.status is HypothesisStatus.SUPPORTED)
    accepted = tuple(
        dict.fromkeys(a for item in supported if (a := item.hypothesis.answer.strip()))
    )
    if report.status is RunStatus.ANSWERED and accepted:
        return RunAnswer(accepted[0], "hypothesis", accepted)
    facts = _lead_facts(report)
    if not facts:
        return RunAnswer("", "none", accepted)
    if not accepted and (short := _undecided_answer(best, facts)):
        return RunAnswer(short, "undecided", accepted)
    return RunAnswer(facts[0], "lead", accepted)


def _lead_facts(report: Report) -> list[str]:
    return [sentence.text for sentence in report.answer if sentence.kind is not SentenceKind.FRAME]


def _undecided_answer(best: Sequence[Assessment], facts: Sequence[str]) -> str:
    """Return the short answer of the likeliest undecided hypothesis that the lead states, or ""."""
    lead = " ".join(facts)
    for item in best:
        hypothesis = item.hypothesis
        stated = hypothesis.statement in facts or stands_in(hypothesis.answer, lead)
        if item.status is HypothesisStatus.UNDECIDED and stated and hypothesis.answer.strip():
            return hypothesis.answer.strip()
    return ""


def score_case(kind: Kind, case: Case, record: CaseRecord) -> CaseScore:
    """Score a case by its record."""
    told: dict[str, Any] = {"id": case.id, "question": case.question, "wanted": case.answers}
    told |= {"seconds": float(record.get("seconds", 0)), "usd": float(record.get("usd") or 0)}
    told["usd"] += float(record.get("judge_usd") or 0)
    if record["error"]:
        owed: Values = (
            {"insights": float(sum(not gold.distractor for gold in case.golds))}
            if case.golds
            else {}
        )
        return CaseScore(**told, values=owed, loss=FAILED, error=record["error"])
    if kind is Kind.RETRIEVAL:
        return CaseScore(**told | _score_ranking(case, record["ranked"]))
    if kind not in RESEARCHED:
        return CaseScore(**told | _score_claim(kind, case, record))
    report = Report.model_validate(record["report"])
    if kind is Kind.INSIGHTS:
        return CaseScore(**told | _score_insights(case, record, report))
    return CaseScore(**told | _score_answer(kind, case, record, report))


# Runs


def _score_answer(kind: Kind, case: Case, record: CaseRecord, report: Report) -> dict[str, Any]:
    said = answer_of(report)
    answered = report.status is RunStatus.ANSWERED
    values: Values = {
        "answered": answered,
        "abstained_right": None if answered else not case.answers,
    }
    values |= _citation_values(case, record, report)
    good = sound = right(said.text, case.answers)
    if kind is Kind.CONFLICT:
        good = _score_conflict(case, report, said, values)
    elif case.answers:
        values |= _match_values(case, report, said)
    if answered:
        values["answered_right"] = good
    if judged := record.get("judged"):
        values["judged_right"] = _judged_right(kind, judged)
    abstained_right = not answered and not case.answers
    loss = NONE if good or abstained_right else _where_lost(kind, case, record, report, said)
    return {
        "said": said.text,
        "by": said.by,
        "values": values,
        "confidence": stated_confidence(report),
        "right": good,
        "sound": sound,
        "loss": loss,
    }


def _match_values(case: Case, report: Report, said: RunAnswer) -> Values:
    """Return how well an answer matches the right ones."""
    best = max(f1(said.text, gold) for gold in case.answers)
    return {
        "exact_match": max(exact(said.text, gold) for gold in case.answers),
        "f1": best,
        "f1_accepted": best if said.by == "hypothesis" else None,
        "in_lead": holds_one(_lead(report), case.answers),
    }


def _judged_right(kind: Kind, judged: Mapping[str, bool]) -> bool:
    """Whether the judge found the right answers in the report, and no wrong one."""
    wanted = [value for key, value in judged.items() if key.startswith("answer")]
    spoilt = any(value for key, value in judged.items() if key.startswith("wrong"))
    return not spoilt and (all(wanted) if kind is Kind.CONFLICT else any(wanted))


def _lead(report: Report) -> str:
    return " ".join(sentence.text for sentence in report.answer)


def _score_conflict(case: Case, report: Report, said: RunAnswer, values: Values) -> bool:
    """Whether all right answers are stated and nothing else; adds the measures to `values`.

    An answer is stated if it is in the lead or is an accepted short answer. Something else is an
    accepted answer that is not among the right ones or, if none was accepted, a factual sentence of
    the lead that contains none of them.
    """
    text = " . ".join((_lead(report), *said.accepted))
    units = said.accepted or tuple(_lead_facts(report))
    every = bool(units) and all(
        stands_in(gold, text) or any(same_answer(unit, gold) for unit in said.accepted)
        for gold in case.answers
    )
    left = without(text, case.answers)
    misinformed = any(stands_in(wrong, left) for wrong in case.wrong)
    others = [unit for unit in units if not any(same_answer(unit, gold) for gold in case.answers)]
    values |= {
        "all_right": every,
        "misinformation": misinformed if case.wrong else None,
        "something_else": bool(others),
    }
    values["all_and_nothing_else"] = every and not misinformed and not others
    return bool(values["all_and_nothing_else"])


def _citation_values(case: Case, record: CaseRecord, report: Report) -> Values:
    """Return how many of the supporting documents were cited and read."""
    wanted = {file_name(key) for key in case.support}
    if not wanted:
        return {}
    cited = {Path(item.url).stem for item in report.citations}
    seen = {Path(url).stem for url in record["read"]}
    return {
        "citation_recall": len(cited & wanted) / len(wanted),
        "citation_precision": len(cited & wanted) / len(cited) if cited else None,
        "support_read": len(seen & wanted) / len(wanted),
        "all_support_read": wanted <= seen,
    }


def _holds_any(case: Case, texts: Sequence[str]) -> bool:
    """Whether one of the texts holds one of the right answers."""
    return any(right(text, case.answers) for text in texts)


def _holds_all(case: Case, texts: Sequence[str]) -> bool:
    """Whether each of the right answers is in one of the texts."""
    return all(any(right(text, [gold]) for text in texts) for gold in case.answers)


def _where_lost(kind: Kind, case: Case, record: CaseRecord, report: Report, said: RunAnswer) -> str:
    """Return the first step at which a right answer was lost.

    In a set of conflicts documents repeat each other, so that not all right ones need be read, but
    all right answers are wanted.
    """
    if not case.answers:
        return "answered what cannot be answered"
    wanted = {file_name(key) for key in case.support}
    seen = {Path(url).stem for url in record["read"]}
    asked_yes_no = {gold.lower() for gold in case.answers} <= {"yes", "no"}
    put = [item.hypothesis for item in report.hypotheses]
    short = [hypothesis.answer for hypothesis in put]
    stated = [*short, *(hypothesis.statement for hypothesis in put)]
    holds = _holds_all if kind is Kind.CONFLICT else _holds_any
    steps: list[tuple[str, bool]] = [
        ("1 nothing was read", bool(record["read"])),
        ("2 a supporting document was not read", kind is Kind.CONFLICT or wanted <= seen),
        ("3 no finding was taken from what was read", bool(record["quotes"])),
        ("4 read, but no finding quotes the answer", asked_yes_no or holds(case, record["quotes"])),
        ("5 quoted, but no hypothesis was put forward", bool(put)),
        ("6 quoted, but no hypothesis says it", asked_yes_no or holds(case, stated)),
        ("7 said by a hypothesis, but not as its short answer", _holds_any(case, short)),
        ("8 put forward, but not accepted", _holds_any(case, said.accepted)),
    ]
    last = "9 accepted beside something else, or not first"
    return next((name for name, held in steps if not held), last)


def _score_insights(case: Case, record: CaseRecord, report: Report) -> dict[str, Any]:
    found = set(insights.told_insights(report, case.golds))
    there = set(record["findable"])
    wanted = [gold for gold in case.golds if not gold.distractor]
    distract = [gold for gold in case.golds if gold.distractor and gold.id in there]
    files = {Path(item.url).name for item in report.citations}
    values: Values = {
        "insights": float(len(wanted)),
        "insights_found": _count(wanted, lambda gold: gold.id in found),
        "insights_findable": _count(wanted, lambda gold: gold.id in there),
        "insight_files_cited": _count(wanted, lambda gold: gold.file in files),
        "distractors": float(len(distract)),
        "distractors_let_in": _count(distract, lambda gold: gold.id in found),
        "words": float(insights.word_count(report)),
    }
    if judged := record.get("judged"):
        values["judged_found"] = _count(wanted, lambda gold: judged.get(gold.id, False))
    # An insight may be stated in two neighbouring sentences, so all of them can be found.
    good = bool(wanted) and values["insights_found"] == values["insights"]
    loss = NONE if good else _insights_lost(values)
    return {
        "wanted": tuple(gold.text for gold in wanted),
        "said": _lead(report),
        "by": answer_of(report).by,
        "values": values,
        "right": good,
        "loss": loss,
    }


def _count(golds: Sequence[Gold], is_so: Callable[[Gold], bool]) -> float:
    return float(sum(map(is_so, golds)))


def _insights_lost(values: Values) -> str:
    if not values["words"]:
        return "1 the report is empty"
    if values["insight_files_cited"] != values["insights"]:
        return "2 some files of insights are not cited"
    return "3 all files of insights are cited, but not every sentence"


# Claims and queries


def _score_claim(kind: Kind, case: Case, record: CaseRecord) -> dict[str, Any]:
    said, label = record["said"], case.label
    good = said == label
    values: Values = {"score": float(record["score"]), "decided": said != "neutral"}
    if kind is Kind.SUPPORT:
        values |= {"positive": label == "full", "told_positive": said == "full"}
    else:
        values["positive"] = None if label == "neutral" else label == "supports"
    loss = NONE if good else f"{label}, said to be {said}"
    stated = record.get("confidence") if values["decided"] else None
    told = {
        "wanted": (label,),
        "said": said,
        "by": "verdict",
        "values": values,
        "confidence": stated,
    }
    return told | {"right": good, "sound": good, "loss": loss}


def _score_ranking(case: Case, ranked: Sequence[str]) -> dict[str, Any]:
    gains = {file_name(key): gain for key, gain in case.gains.items()}
    values: Values = {
        "ndcg@10": retrieval.ndcg(ranked, gains),
        "recall@5": retrieval.recall(ranked, gains),
        "all-support@8": retrieval.all_support(ranked, gains),
    }
    good = bool(values["all-support@8"])
    told = {
        "wanted": tuple(case.gains),
        "said": " ".join(ranked[:10]),
        "by": "ranking",
        "values": values,
    }
    return told | {"right": good, "loss": NONE if good else "not all within the first 8"}


# Sets


def summarise(kind: Kind, scored: Sequence[CaseScore]) -> SetSummary:
    """Return the summary of a set."""
    stated = [(item.confidence, item.sound) for item in scored if item.confidence is not None]
    bins = reliability(stated)
    figures = _FIGURES[kind](scored)
    figures |= {"brier": brier(stated), "ece": ece(bins), "ece_by_chance": ece_by_chance(bins)}
    figures |= {"confidence": mean([sure for sure, _ in stated])}
    figures |= {
        "seconds": mean([item.seconds for item in scored]),
        "usd": sum(item.usd for item in scored),
    }
    lost = Counter(item.loss for item in scored if item.loss != NONE)
    counts = {
        "cases": len(scored),
        "failed": lost.get(FAILED, 0),
        "right": sum(item.right for item in scored),
    }
    counts |= {"stated": len(stated), **_abstention(kind, scored)}
    return SetSummary(
        figures={name: value for name, value in figures.items() if value is not None},
        counts=counts,
        losses=dict(sorted(lost.items(), key=lambda item: (-item[1], item[0]))),
        bins=bins,
    )


Figures = dict[str, float | None]


UNEARNED = frozenset(
    {"misinformation", "something_else", "citation_precision", "f1_accepted", "answered_right"}
)
"""Measures of the answer, which a failed case does not have; in all others it counts as 0."""


def _values(scored: Sequence[CaseScore], name: str) -> list[float]:
    """Return the values of a measure, for the cases that have it."""
    return [float(value) for item in scored if (value := item.values.get(name)) is not None]


def _mean(scored: Sequence[CaseScore], name: str) -> float | None:
    held = _values(scored, name)
    lost = [] if name in UNEARNED or not held else [0.0 for item in scored if item.loss == FAILED]
    return mean([*held, *lost])


def _means(*names: str) -> Callable[[Sequence[CaseScore]], Figures]:
    return lambda scored: {name: _mean(scored, name) for name in names}


_RUN = (
    "answered",
    "answered_right",
    "citation_recall",
    "citation_precision",
    "support_read",
    "all_support_read",
    "judged_right",
)


def _of_insights(scored: Sequence[CaseScore]) -> Figures:
    def part(some: str, every: str) -> float | None:
        total = sum(_values(scored, every))
        return sum(_values(scored, some)) / total if total else None

    return {
        "insight_recall": part("insights_found", "insights"),
        "distractors_let_in": part("distractors_let_in", "distractors"),
        "findable": part("insights_findable", "insights"),
        "insight_files_cited": part("insight_files_cited", "insights"),
        "judged_recall": part("judged_found", "insights")
        if _values(scored, "judged_found")
        else None,
        "words": mean(_values(scored, "words")),
    }


def _of_support(scored: Sequence[CaseScore]) -> Figures:
    judged = [
        (bool(item.values["positive"]), float(item.values["score"] or 0))
        for item in scored
        if not item.error
    ]
    called = [item for item in scored if item.values.get("told_positive")]
    return {
        "auc": auc(judged),
        "accuracy": rate(item.right for item in scored),
        "citation_precision": rate(bool(item.values["positive"]) for item in called),
        "citation_recall": rate(
            bool(i.values.get("told_positive")) for i in scored if i.values.get("positive")
        ),
    }


def _of_stance(scored: Sequence[CaseScore]) -> Figures:
    sided = [item for item in scored if item.values.get("positive") is not None]
    judged = [(bool(item.values["positive"]), float(item.values["score"] or 0)) for item in sided]
    return {
        "balanced": balanced(judged),
        "balanced_strict": balanced(judged, undecided=0.0),
        "auc": auc(judged),
        "stance_accuracy": rate(item.right for item in scored),
        "macro_f1": macro_f1([(item.wanted[0], item.said) for item in scored if item.wanted]),
        "decided": rate(bool(item.values.get("decided")) for item in scored),
    }


_FIGURES: Mapping[Kind, Callable[[Sequence[CaseScore]], Figures]] = {
    Kind.ANSWERS: _means("exact_match", "f1", "f1_accepted", "in_lead", *_RUN),
    Kind.CONFLICT: _means(
        "all_and_nothing_else", "misinformation", "all_right", "something_else", *_RUN
    ),
    Kind.INSIGHTS: _of_insights,
    Kind.SUPPORT: _of_support,
    Kind.STANCE: _of_stance,
    Kind.RETRIEVAL: _means("ndcg@10", "recall@5", "all-support@8"),
}


def _abstention(kind: Kind, scored: Sequence[CaseScore]) -> dict[str, int]:
    """Return how often runs answered or abstained, and whether that was right."""
    if kind not in {Kind.ANSWERS, Kind.CONFLICT}:
        return {}
    cells = Counter(_abstention_cell(item) for item in scored if not item.error)
    return {
        f"{what}_{how}": cells[f"{what}_{how}"]
        for what in ("answered", "abstained")
        for how in ("right", "wrong")
    }


def _abstention_cell(item: CaseScore) -> str:
    if item.values["answered"]:
        return "answered_right" if item.right else "answered_wrong"
    return "abstained_right" if item.values["abstained_right"] else "abstained_wrong"


def score_set(of: EvalSet, records: Sequence[CaseRecord]) -> list[CaseScore]:
    """Score all cases of a set, in its order."""
    return [
        score_case(of.kind, case, record) for case, record in zip(of.cases, records, strict=True)
    ]
