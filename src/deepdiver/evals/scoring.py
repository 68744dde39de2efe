"""Scores: pure functions of a case and its record.

The same record gives the same score, whenever it is read.

The answer of a run is the short answer of its best accepted hypothesis; where none was accepted,
that of the likeliest one that the lead tells as undecided, for which the stated confidence is; else
the first sentence of fact of its lead; else there is none. Each outcome says which.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deepdiver.core.record import HypothesisStatus, Report, RunStatus, SentenceKind
from deepdiver.evals import insights, retrieval
from deepdiver.evals.cases import RESEARCHED, Case, EvalSet, Kind, file_name
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
from deepdiver.evals.performing import Kept

FAILED = "failed"
"""The loss of a case that ended in an error."""
NONE = "none"
"""No loss."""

Values = dict[str, float | bool | None]


@dataclass(frozen=True, slots=True)
class Scored:
    """What came of a case."""

    id: str
    """The case."""
    question: str
    """What was asked."""
    wanted: tuple[str, ...]
    """What is right."""
    said: str = ""
    """What was said."""
    by: str = "none"
    """Where that was read: hypothesis, undecided, lead or none; for a claim: verdict."""
    values: Values = field(default_factory=dict)
    """Its measures; None: it has none of this."""
    confidence: float | None = None
    """What was stated; None: nothing was stated."""
    right: bool = False
    """Whether what was said is right, as the set wants it."""
    sound: bool = False
    """Whether the one answer that the confidence is about is right: what confidence is compared
    with."""
    loss: str = NONE
    """Where it went wrong."""
    seconds: float = 0.0
    """How long it took."""
    usd: float = 0.0
    """What it cost."""
    error: str = ""
    """What ended it, if it failed."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What came of a set."""

    figures: dict[str, float]
    """Means and rates, by name; those that nothing gives are left out."""
    counts: dict[str, int]
    """How many, of what."""
    losses: dict[str, int]
    """Where cases went wrong, the commonest first."""
    bins: tuple[Bin, ...]
    """How often stated confidence was right."""


@dataclass(frozen=True, slots=True)
class Said:
    """The answer of a run."""

    text: str
    """Its words; empty: none."""
    by: str
    """hypothesis, undecided, lead or none."""
    accepted: tuple[str, ...]
    """The short answers of all accepted hypotheses, the best first."""


def answer_of(report: Report) -> Said:
    """Return the answer of a run."""
    best = sorted(report.hypotheses, key=lambda item: -item.posterior)  # of equals, the first
    supported = (item for item in best if item.status is HypothesisStatus.SUPPORTED)
    accepted = tuple(
        dict.fromkeys(a for item in supported if (a := item.hypothesis.answer.strip()))
    )
    if report.status is RunStatus.ANSWERED and accepted:
        return Said(accepted[0], "hypothesis", accepted)
    facts = [sentence.text for sentence in report.answer if sentence.kind is not SentenceKind.FRAME]
    if not facts:
        return Said("", "none", accepted)
    told = " ".join(facts)
    undecided = (item.hypothesis for item in best if item.status is HypothesisStatus.UNDECIDED)
    likeliest = (
        item.answer.strip()
        for item in undecided
        if item.statement in facts or stands_in(item.answer, told)
    )
    short = next((answer for answer in likeliest if answer), "")
    return (
        Said(short, "undecided", accepted)
        if short and not accepted
        else Said(facts[0], "lead", accepted)
    )


def score(kind: Kind, case: Case, record: Kept) -> Scored:
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
        return Scored(**told, values=owed, loss=FAILED, error=record["error"])
    if kind is Kind.RETRIEVAL:
        return Scored(**told | _ranked(case, record["ranked"]))
    if kind not in RESEARCHED:
        return Scored(**told | _claim(kind, case, record))
    report = Report.model_validate(record["report"])
    if kind is Kind.INSIGHTS:
        return Scored(**told | _insights(case, record, report))
    return Scored(**told | _answer(kind, case, record, report))


# Runs


def _answer(kind: Kind, case: Case, record: Kept, report: Report) -> dict[str, Any]:
    said = answer_of(report)
    answered = report.status is RunStatus.ANSWERED
    values: Values = {
        "answered": answered,
        "abstained_right": None if answered else not case.answers,
    }
    values |= _cited(case, record, report)
    good = sound = right(said.text, case.answers)
    if kind is Kind.CONFLICT:
        good = _conflict(case, report, said, values)
    elif case.answers:
        values["exact_match"] = max(exact(said.text, gold) for gold in case.answers)
        values["f1"] = max(f1(said.text, gold) for gold in case.answers)
        values["f1_accepted"] = values["f1"] if said.by == "hypothesis" else None
        values["in_lead"] = holds_one(_lead(report), case.answers)
    if answered:
        values["answered_right"] = good
    if judged := record.get("judged"):
        wanted = [value for key, value in judged.items() if key.startswith("answer")]
        spoilt = any(value for key, value in judged.items() if key.startswith("wrong"))
        values["judged_right"] = not spoilt and (
            all(wanted) if kind is Kind.CONFLICT else any(wanted)
        )
    stated = report.confidence if report.answer and said.by != "none" else None
    loss = (
        NONE
        if good or (not answered and not case.answers)
        else _loss(kind, case, record, report, said)
    )
    told = {"said": said.text, "by": said.by, "values": values, "confidence": stated}
    return told | {"right": good, "sound": sound, "loss": loss}


def _lead(report: Report) -> str:
    return " ".join(sentence.text for sentence in report.answer)


def _conflict(case: Case, report: Report, said: Said, values: Values) -> bool:
    """Whether all right answers are stated and nothing else; notes whether misinformation is.

    Stated is what stands in the lead or is an accepted short answer. Something else is an accepted
    answer that is none of the right ones, or, where none was accepted, a sentence of fact in the
    lead that holds none of them.
    """
    text = " . ".join((_lead(report), *said.accepted))
    facts = [sentence.text for sentence in report.answer if sentence.kind is not SentenceKind.FRAME]
    units = said.accepted or tuple(facts)
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


def _cited(case: Case, record: Kept, report: Report) -> Values:
    """Return how the documents that a report cites and read compare with those that the answer stands on."""
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


def _loss(kind: Kind, case: Case, record: Kept, report: Report, said: Said) -> str:
    """Return the first step at which a right answer was lost.

    Where documents repeat each other, not all of those that are right need be read, but all right
    answers are wanted.
    """
    if not case.answers:
        return "answered what cannot be answered"

    def holds(texts: Sequence[str]) -> bool:
        return all_or_any(any(right(text, [gold]) for text in texts) for gold in case.answers)

    all_or_any = all if kind is Kind.CONFLICT else any
    wanted, seen = (
        {file_name(key) for key in case.support},
        {Path(url).stem for url in record["read"]},
    )
    asked_yes_no = {gold.lower() for gold in case.answers} <= {"yes", "no"}
    put = [
        text
        for item in report.hypotheses
        for text in (item.hypothesis.answer, item.hypothesis.statement)
    ]
    short = [item.hypothesis.answer for item in report.hypotheses]
    steps: list[tuple[str, bool]] = [
        ("1 nothing was read", bool(record["read"])),
        ("2 a supporting document was not read", kind is Kind.CONFLICT or wanted <= seen),
        ("3 no finding was taken from what was read", bool(record["quotes"])),
        ("4 read, but no finding quotes the answer", asked_yes_no or holds(record["quotes"])),
        ("5 quoted, but no hypothesis was put forward", bool(report.hypotheses)),
        ("6 quoted, but no hypothesis says it", asked_yes_no or holds(put)),
        (
            "7 said by a hypothesis, but not as its short answer",
            any(right(text, case.answers) for text in short),
        ),
        (
            "8 put forward, but not accepted",
            any(right(text, case.answers) for text in said.accepted),
        ),
    ]
    return next(
        (name for name, held in steps if not held), "9 accepted beside something else, or not first"
    )


def _insights(case: Case, record: Kept, report: Report) -> dict[str, Any]:
    found = set(insights.told(report, case.golds))
    there = set(record["findable"])
    wanted = [gold for gold in case.golds if not gold.distractor]
    distract = [gold for gold in case.golds if gold.distractor and gold.id in there]
    files = {Path(item.url).name for item in report.citations}
    values: Values = {
        "insights": float(len(wanted)),
        "insights_found": float(sum(gold.id in found for gold in wanted)),
        "insights_findable": float(sum(gold.id in there for gold in wanted)),
        "insight_files_cited": float(sum(gold.file in files for gold in wanted)),
        "distractors": float(len(distract)),
        "distractors_let_in": float(sum(gold.id in found for gold in distract)),
        "words": float(insights.length(report)),
    }
    if judged := record.get("judged"):
        values["judged_found"] = float(sum(judged.get(gold.id, False) for gold in wanted))
    # An insight that stands in two neighbouring sentences counts, so "every insight" is the one
    # right outcome.
    good = bool(wanted) and all(gold.id in found for gold in wanted)
    loss = NONE if good else _insights_lost(values)
    return {
        "wanted": tuple(gold.text for gold in wanted),
        "said": _lead(report),
        "by": answer_of(report).by,
    } | {
        "values": values,
        "right": good,
        "loss": loss,
    }


def _insights_lost(values: Values) -> str:
    if not values["words"]:
        return "1 the report is empty"
    return (
        "2 some files of insights are not cited"
        if values["insight_files_cited"] != values["insights"]
        else ("3 all files of insights are cited, but not every sentence")
    )


# Claims and queries


def _claim(kind: Kind, case: Case, record: Kept) -> dict[str, Any]:
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


def _ranked(case: Case, ranked: Sequence[str]) -> dict[str, Any]:
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


def summarise(kind: Kind, scored: Sequence[Scored]) -> Summary:
    """Return what came of a set."""
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
    return Summary(
        figures={name: value for name, value in figures.items() if value is not None},
        counts=counts,
        losses=dict(sorted(lost.items(), key=lambda item: (-item[1], item[0]))),
        bins=bins,
    )


Figures = dict[str, float | None]


UNEARNED = frozenset(
    {"misinformation", "something_else", "citation_precision", "f1_accepted", "answered_right"}
)
"""Measures of what was said: a case that failed has said nothing. In all others it has reached 0.
"""


def _values(scored: Sequence[Scored], name: str) -> list[float]:
    """Return a measure of all cases that have it."""
    return [float(value) for item in scored if (value := item.values.get(name)) is not None]


def _mean(scored: Sequence[Scored], name: str) -> float | None:
    held = _values(scored, name)
    lost = [] if name in UNEARNED or not held else [0.0 for item in scored if item.loss == FAILED]
    return mean([*held, *lost])


def _means(*names: str) -> Callable[[Sequence[Scored]], Figures]:
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


def _of_insights(scored: Sequence[Scored]) -> Figures:
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


def _of_support(scored: Sequence[Scored]) -> Figures:
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


def _of_stance(scored: Sequence[Scored]) -> Figures:
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


_FIGURES: Mapping[Kind, Callable[[Sequence[Scored]], Figures]] = {
    Kind.ANSWERS: _means("exact_match", "f1", "f1_accepted", "in_lead", *_RUN),
    Kind.CONFLICT: _means(
        "all_and_nothing_else", "misinformation", "all_right", "something_else", *_RUN
    ),
    Kind.INSIGHTS: _of_insights,
    Kind.SUPPORT: _of_support,
    Kind.STANCE: _of_stance,
    Kind.RETRIEVAL: _means("ndcg@10", "recall@5", "all-support@8"),
}


def _abstention(kind: Kind, scored: Sequence[Scored]) -> dict[str, int]:
    """Return the table of abstention: answered or abstained, and whether that was right."""
    if kind not in {Kind.ANSWERS, Kind.CONFLICT}:
        return {}
    cells = Counter(
        f"{'answered' if item.values['answered'] else 'abstained'}_"
        f"{'right' if (item.right if item.values['answered'] else item.values['abstained_right']) else 'wrong'}"
        for item in scored
        if not item.error
    )
    return {
        f"{what}_{how}": cells[f"{what}_{how}"]
        for what in ("answered", "abstained")
        for how in ("right", "wrong")
    }


def scored(of: EvalSet, records: Sequence[Kept]) -> list[Scored]:
    """Score all cases of a set, in its order."""
    return [score(of.kind, case, record) for case, record in zip(of.cases, records, strict=True)]
