"""Scores are functions of a case and its record alone.

Here against records that are worked out by hand.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.record import (
    Assessment,
    Citation,
    Hypothesis,
    HypothesisStatus,
    Passage,
    Report,
    RunStatus,
    Sentence,
    SentenceKind,
)
from deepdiver.evals.cases import Case, EvalSet, Gold, Kind
from deepdiver.evals.scoring import (
    FAILED,
    NONE,
    CaseScore,
    answer_of,
    score_case,
    score_set,
    summarise,
)

SUPPORTED, REFUTED, UNDECIDED = (
    HypothesisStatus.SUPPORTED,
    HypothesisStatus.REFUTED,
    HypothesisStatus.UNDECIDED,
)


def put(
    answer: str, posterior: float, status: HypothesisStatus = SUPPORTED, statement: str = ""
) -> Assessment:
    own = Hypothesis(
        id=f"h_{answer}",
        statement=statement or f"It is {answer}.",
        supports_if="",
        refutes_if="",
        answer=answer,
    )
    return Assessment(hypothesis=own, posterior=posterior, status=status, trials=1)


def report(
    *lead: str | Sentence,
    status: RunStatus = RunStatus.ANSWERED,
    hypotheses: tuple[Assessment, ...] = (),
    cited: tuple[str, ...] = (),
    confidence: float = 0.8,
) -> Report:
    lines = tuple(Sentence(text=item) if isinstance(item, str) else item for item in lead)
    citations = tuple(
        Citation(
            number=n,
            source=f"s_{name}",
            finding=f"f_{n}",
            title=name,
            url=f"/files/{name}.md",
            quote="q",
            passage=Passage(snapshot="h", start=0, end=1),
            credibility=0.5,
        )
        for n, name in enumerate(cited, 1)
    )
    told = confidence if lines else 0.0
    return Report(
        question="q",
        status=status,
        answer=lines,
        confidence=told,
        hypotheses=hypotheses,
        citations=citations,
    )


def kept(
    made: Report, *, read: tuple[str, ...] = (), quotes: tuple[str, ...] = (), **more: Any
) -> dict[str, Any]:
    record = {
        "case": "1",
        "error": "",
        "report": made.model_dump(mode="json"),
        "seconds": 2.0,
        "usd": "0.25",
    }
    return (
        record
        | {"read": [f"/files/{name}.md" for name in read], "quotes": list(quotes), "findable": []}
        | more
    )


CASE = Case("1", "Who?", ("Ann Lee",), support=("a", "b"))
EMPTY = report(status=RunStatus.NO_EVIDENCE)


# Which answer


def test_the_answer_is_the_best_accepted_one() -> None:
    both = (put("Bob", 0.75), put("Ann", 0.9), put("Eve", 0.95, REFUTED), put("Ann", 0.8))
    said = answer_of(report("It was Ann.", hypotheses=both))
    assert (said.text, said.by, said.accepted) == ("Ann", "hypothesis", ("Ann", "Bob"))


def test_without_an_accepted_answer_it_is_the_likeliest_that_the_lead_tells() -> None:
    frame = Sentence(text="The sources say:", kind=SentenceKind.FRAME)
    open_ = (
        put("Bob", 0.4, UNDECIDED),
        put("Ann", 0.6, UNDECIDED),
        put("Eve", 0.65, UNDECIDED),
        put("Cy", 0.7, REFUTED),
    )
    said = answer_of(
        report(frame, "It was Ann.", "Or Bob, or Cy.", status=RunStatus.PARTIAL, hypotheses=open_)
    )
    assert (said.text, said.by, said.accepted) == ("Ann", "undecided", ())


def test_a_short_answer_need_not_stand_in_the_sentence_that_gives_it() -> None:
    own = put("Richard Ann", 0.6, UNDECIDED, statement="Ann was first.")
    said = answer_of(report("Ann was first.", status=RunStatus.PARTIAL, hypotheses=(own,)))
    assert (said.text, said.by) == ("Richard Ann", "undecided")


def test_where_no_hypothesis_is_told_it_is_the_first_fact_of_the_lead() -> None:
    frame = Sentence(text="The sources say:", kind=SentenceKind.FRAME)
    open_ = (put("Ann", 0.6, UNDECIDED),)
    said = answer_of(report(frame, "It was Bob.", status=RunStatus.PARTIAL, hypotheses=open_))
    assert (said.text, said.by) == ("It was Bob.", "lead")
    assert answer_of(report("It was Ann.", hypotheses=(put("", 0.9),))).by == "lead"
    assert answer_of(report(frame, status=RunStatus.PARTIAL)).by == "none"
    assert answer_of(EMPTY).text == ""


# Failures first


def test_a_case_that_failed_has_reached_nothing_and_said_nothing() -> None:
    lost = score_case(Kind.ANSWERS, CASE, {"case": "1", "error": "CallError: gone", "seconds": 1.0})
    assert (lost.loss, lost.error, lost.right, lost.confidence) == (
        FAILED,
        "CallError: gone",
        False,
        None,
    )
    good = score_case(
        Kind.ANSWERS,
        CASE,
        kept(report("It is Ann Lee.", hypotheses=(put("Ann Lee", 0.8),), cited=("a",))),
    )
    summary = summarise(Kind.ANSWERS, [lost, good])
    assert summary.figures["f1"] == 0.5
    assert summary.figures["citation_recall"] == 0.25
    assert summary.figures["citation_precision"] == 1.0, "what it would have cited, nobody knows"
    assert (summary.counts["failed"], summary.counts["stated"]) == (1, 1)
    assert summary.losses == {FAILED: 1}


def test_insights_of_a_task_that_failed_were_not_found() -> None:
    golds = (
        Gold("1", "Waste fell by 8%.", "a.pdf"),
        Gold("2", "Hires rose by 9%.", "b.pdf", distractor=True),
    )
    lost = score_case(Kind.INSIGHTS, Case("1", "q", golds=golds), {"case": "1", "error": "x"})
    assert lost.values == {"insights": 1.0}
    assert summarise(Kind.INSIGHTS, [lost]).figures["insight_recall"] == 0.0


def test_nothing_gives_no_figures() -> None:
    for kind in Kind:
        summary = summarise(kind, [])
        assert summary.figures == {"usd": 0}
        assert summary.counts["cases"] == 0


# Answers


def test_an_answer_is_compared_with_all_that_are_right() -> None:
    case = Case("1", "Who?", ("G. Stanley Hall", "Stanley Hall"))
    item = score_case(
        Kind.ANSWERS,
        case,
        kept(report("It was Stanley Hall.", hypotheses=(put("Stanley Hall", 0.8),))),
    )
    assert (item.values["exact_match"], item.values["f1"], item.right, item.loss) == (
        True,
        1.0,
        True,
        NONE,
    )
    assert (item.seconds, item.usd, item.confidence) == (2.0, 0.25, 0.8)
    lead = score_case(
        Kind.ANSWERS, case, kept(report("It was Stanley Hall.", status=RunStatus.PARTIAL))
    )
    assert (lead.by, lead.right, lead.values["answered"], lead.values["in_lead"]) == (
        "lead",
        True,
        False,
        True,
    )
    assert lead.values["f1"] == pytest.approx(2 * 2 / (4 + 2))
    assert lead.values["f1_accepted"] is None


def test_what_is_cited_and_read_is_compared_with_the_support() -> None:
    item = score_case(
        Kind.ANSWERS, CASE, kept(report("x", cited=("a", "x", "y", "a")), read=("a", "b", "x"))
    )
    assert item.values["citation_recall"] == 0.5
    assert item.values["citation_precision"] == pytest.approx(1 / 3)
    assert item.values["support_read"] == 1.0
    assert item.values["all_support_read"] is True
    none = score_case(Kind.ANSWERS, CASE, kept(EMPTY))
    assert none.values["citation_precision"] is None
    assert (
        "citation_recall"
        not in score_case(Kind.ANSWERS, Case("1", "q", ("x",)), kept(EMPTY)).values
    )


def test_to_abstain_is_right_where_there_is_no_answer() -> None:
    unanswerable = Case("2", "Who?")
    abstained = score_case(Kind.ANSWERS, unanswerable, kept(EMPTY))
    assert (abstained.values["abstained_right"], abstained.loss, abstained.confidence) == (
        True,
        NONE,
        None,
    )
    invented = score_case(
        Kind.ANSWERS, unanswerable, kept(report("It is Bob.", hypotheses=(put("Bob", 0.8),)))
    )
    assert (invented.right, invented.loss) == (False, "answered what cannot be answered")
    silent = score_case(Kind.ANSWERS, CASE, kept(EMPTY))
    good = score_case(
        Kind.ANSWERS, CASE, kept(report("Ann Lee.", hypotheses=(put("Ann Lee", 0.8),)))
    )
    counts = summarise(Kind.ANSWERS, [abstained, invented, silent, good]).counts
    assert {name: counts[name] for name in counts if "_" in name} == {
        "answered_right": 1,
        "answered_wrong": 1,
        "abstained_right": 1,
        "abstained_wrong": 1,
    }


@pytest.mark.parametrize(
    ("made", "read", "quotes", "loss"),
    [
        (EMPTY, (), (), "1 "),
        (EMPTY, ("a",), ("Ann Lee runs it.",), "2 "),
        (EMPTY, ("a", "b"), (), "3 "),
        (EMPTY, ("a", "b"), ("Bob runs it.",), "4 "),
        (EMPTY, ("a", "b"), ("Ann Lee runs it.",), "5 "),
        (report("x", hypotheses=(put("Bob", 0.8),)), ("a", "b"), ("Ann Lee runs it.",), "6 "),
        (
            report("x", hypotheses=(put("the ferry", 0.8, statement="Ann Lee runs the ferry."),)),
            ("a", "b"),
            ("Ann Lee runs it.",),
            "7 ",
        ),
        (
            report("x", hypotheses=(put("Ann Lee", 0.6, UNDECIDED), put("Bob", 0.8))),
            ("a", "b"),
            ("Ann Lee runs it.",),
            "8 ",
        ),
        (
            report("x", hypotheses=(put("Ann Lee", 0.7), put("Bob", 0.8))),
            ("a", "b"),
            ("Ann Lee runs it.",),
            "9 ",
        ),
    ],
)
def test_a_loss_names_the_first_step_that_failed(
    made: Report, read: tuple[str, ...], quotes: tuple[str, ...], loss: str
) -> None:
    item = score_case(Kind.ANSWERS, CASE, kept(made, read=read, quotes=quotes))
    assert item.loss.startswith(loss), item.loss


def test_a_judge_counts_beside_the_measures_and_not_instead() -> None:
    record = kept(
        report("It is A. Lee.", hypotheses=(put("A. Lee", 0.8),)),
        judged={"answer 1": True},
        judge_usd="0.5",
    )
    item = score_case(Kind.ANSWERS, Case("1", "Who?", ("Annabel",)), record)
    assert (item.right, item.values["judged_right"], item.usd) == (False, True, 0.75)
    assert summarise(Kind.ANSWERS, [item]).figures["judged_right"] == 1.0


# Conflicts


@pytest.mark.parametrize(
    ("accepted", "lead", "every", "misinformed", "alone"),
    [
        ((), (), False, False, False),
        # The other right one is missing.
        (
            ("1902",),
            ("It was built in 1902.",),
            False,
            False,
            False,
        ),
        (("1902", "1856"), ("Built in 1902.", "Built in 1856."), True, False, True),
        (("1902", "1856", "1885"), ("Built in 1902.",), True, True, False),
        (("1902", "1856"), ("Built in 1902 or 1885.",), True, True, False),
        (("1902", "1856", "Iowa"), ("Built in 1902.",), True, False, False),  # something else
        ((), ("Built in 1902.", "Built in 1856."), True, False, True),  # nothing accepted, all told
        ((), ("Built in 1902.", "Built in 1856.", "It is grey."), True, False, False),
    ],
)
def test_all_right_answers_and_nothing_else(
    accepted: tuple[str, ...], lead: tuple[str, ...], every: bool, misinformed: bool, alone: bool
) -> None:
    case = Case("1", "When?", ("1902", "1856"), ("1885",))
    made = report(*lead, hypotheses=tuple(put(answer, 0.8) for answer in accepted))
    item = score_case(Kind.CONFLICT, case, kept(made))
    told = (
        item.values["all_right"],
        item.values["misinformation"],
        item.values["all_and_nothing_else"],
    )
    assert told == (every, misinformed, alone)
    assert item.right is alone


def test_misinformation_is_counted_where_there_is_some() -> None:
    plain = score_case(Kind.CONFLICT, Case("1", "q", ("x",)), kept(EMPTY))
    assert plain.values["misinformation"] is None
    within = Case("2", "When?", ("February 8, 1900",), ("1900",))
    item = score_case(
        Kind.CONFLICT,
        within,
        kept(report("Born February 8, 1900.", hypotheses=(put("February 8, 1900", 0.8),))),
    )
    assert item.values["misinformation"] is False, "the wrong answer stands within the right one"
    assert summarise(Kind.CONFLICT, [plain, item]).figures["misinformation"] == 0.0


# Insights


def test_insights_and_distractors() -> None:
    golds = (
        Gold("1", "Waste fell by 8%.", "a.md"),
        Gold("2", "Sales grew by 12%.", "a.md"),
        Gold("3", "Hires rose by 9%.", "b.md", distractor=True),
        Gold("4", "Rent rose by 7%.", "c.md", distractor=True),
    )
    lines = (
        Sentence(text="Waste fell by 8%.", citations=(1,)),
        Sentence(text="Hires rose by 9%.", citations=(2,)),
    )
    record = kept(
        report(*lines, cited=("a", "b")), findable=["1", "2", "3"], judged={"1": True, "2": True}
    )
    item = score_case(Kind.INSIGHTS, Case("1", "q", golds=golds), record)
    figures = summarise(Kind.INSIGHTS, [item]).figures
    assert figures["insight_recall"] == 0.5
    assert figures["distractors_let_in"] == 1.0, "of those that are findable"
    assert figures["findable"] == 1.0
    assert figures["judged_recall"] == 1.0
    assert figures["words"] == 8.0
    assert item.loss.startswith("3 ")
    assert score_case(Kind.INSIGHTS, Case("1", "q", golds=golds), kept(EMPTY)).loss.startswith("1 ")


# Claims and queries


def claim(label: str, said: str, value: float, kind: Kind = Kind.STANCE) -> CaseScore:
    record = {
        "case": "1",
        "error": "",
        "said": said,
        "score": value,
        "confidence": 0.9,
        "usd": "0",
        "seconds": 0.1,
    }
    return score_case(kind, Case("1", "It is so.", label=label), record)


def test_stances() -> None:
    items = [
        claim("supports", "supports", 0.4),
        claim("supports", "neutral", 0.0),
        claim("refutes", "refutes", -0.4),
        claim("refutes", "supports", 0.2),
        claim("neutral", "neutral", 0.0),
    ]
    figures = summarise(Kind.STANCE, items).figures
    assert figures["balanced"] == pytest.approx((0.75 + 0.5) / 2)
    assert figures["balanced_strict"] == 0.5
    assert figures["auc"] == pytest.approx((1 + 1 + 1 + 0) / 4)
    assert figures["stance_accuracy"] == 0.6
    assert figures["decided"] == 0.6
    assert figures["macro_f1"] == pytest.approx((0.5 + 2 / 3 + 2 / 3) / 3)
    assert figures["brier"] == pytest.approx((0.01 + 0.01 + 0.81) / 3), (
        "only where a side was taken"
    )
    assert summarise(Kind.STANCE, items).losses == {
        "refutes, said to be supports": 1,
        "supports, said to be neutral": 1,
    }


def test_support() -> None:
    items = [
        claim("full", "full", 1.0, Kind.SUPPORT),
        claim("full", "not", 0.5, Kind.SUPPORT),
        claim("not", "full", 1.0, Kind.SUPPORT),
        claim("not", "not", 0.0, Kind.SUPPORT),
    ]
    figures = summarise(Kind.SUPPORT, items).figures
    assert figures["auc"] == pytest.approx((0.5 + 1 + 0 + 1) / 4)
    assert figures["citation_precision"] == 0.5
    assert figures["citation_recall"] == 0.5
    assert figures["accuracy"] == 0.5


def test_rankings() -> None:
    case = Case("1", "q", gains={"a": 1.0, "b/c": 1.0})
    record = {"case": "1", "error": "", "ranked": ["a", "x", "y"], "usd": "0", "seconds": 0.1}
    item = score_case(Kind.RETRIEVAL, case, record)
    assert (item.values["recall@5"], item.values["all-support@8"], item.right) == (0.5, 0.0, False)


def test_a_set_is_scored_in_its_order() -> None:
    of = EvalSet("s", Kind.ANSWERS, (CASE, Case("2", "Why?", ("x",))))
    records = [kept(EMPTY), kept(report("x", hypotheses=(put("x", 0.8),)))]
    assert [(item.id, item.right) for item in score_set(of, records)] == [("1", False), ("2", True)]
    assert score_set(of, records) == score_set(of, records)
    with pytest.raises(ValueError, match="shorter"):
        score_set(of, records[:1])


# Whatever a run says


answers = st.sampled_from(["1902", "in 1902", "1885", "the ferry", "yes", "no", "Ann Lee", ""])
lines = st.sampled_from(
    ["It was built in 1902.", "Others say 1885.", "Ann Lee runs the ferry.", "It is grey."]
)
put_forward = st.lists(
    st.builds(
        put, answers, st.floats(0.01, 0.99), st.sampled_from([SUPPORTED, REFUTED, UNDECIDED])
    ),
    max_size=4,
).map(tuple)
reports = st.builds(
    lambda lead, status, hypotheses, cited: report(
        *lead, status=status, hypotheses=hypotheses, cited=tuple(cited)
    ),
    st.lists(lines, max_size=3),
    st.sampled_from([RunStatus.ANSWERED, RunStatus.PARTIAL, RunStatus.NO_EVIDENCE]),
    put_forward,
    st.lists(st.sampled_from("abc"), max_size=3),
)
cases = st.builds(
    lambda right, wrong, support: Case("1", "When?", tuple(right), tuple(wrong), tuple(support)),
    st.lists(answers.filter(bool), max_size=2, unique=True),
    st.lists(st.just("1885"), max_size=1),
    st.lists(st.sampled_from("abd"), max_size=2, unique=True),
)


@given(
    st.sampled_from([Kind.ANSWERS, Kind.CONFLICT]),
    cases,
    reports,
    st.lists(st.sampled_from("abcd"), max_size=3),
)
def test_every_measure_is_a_part_and_every_wrong_case_has_a_loss(
    kind: Kind, case: Case, made: Report, read: list[str]
) -> None:
    record = kept(made, read=tuple(read), quotes=("It was built in 1902.",) if read else ())
    item = score_case(kind, case, record)
    assert item == score_case(kind, case, record), "the same record gives the same score"
    assert all(0.0 <= float(value) <= 1.0 for value in item.values.values() if value is not None)
    if item.values.get("exact_match"):
        assert item.values["f1"] == 1.0
        assert item.right
    if item.right:
        assert item.loss == NONE
    elif case.answers:
        assert item.loss[0].isdigit()
    assert (item.by == "none") == (item.said == "")
    if kind is Kind.CONFLICT and item.right:
        assert not item.values["misinformation"]
        assert not item.values["something_else"]
    summary = summarise(kind, [item, item])
    assert summary.counts["cases"] == 2
    assert sum(summary.counts[name] for name in summary.counts if "_" in name) == 2
    assert sum(summary.losses.values()) in (0, 2)


@given(reports)
def test_only_an_accepted_hypothesis_gives_a_short_answer(made: Report) -> None:
    said = answer_of(made)
    held = {a.hypothesis.answer for a in made.hypotheses if a.status is SUPPORTED}
    assert set(said.accepted) <= held
    if said.by == "hypothesis":
        assert made.status is RunStatus.ANSWERED
        best = max(
            a.posterior for a in made.hypotheses if a.status is SUPPORTED and a.hypothesis.answer
        )
        assert any(
            a.posterior == best and a.hypothesis.answer == said.text for a in made.hypotheses
        )


@given(
    st.lists(
        st.tuples(st.sampled_from(["supports", "refutes", "neutral"]), st.floats(-0.49, 0.49)),
        max_size=20,
    )
)
def test_figures_of_claims_are_parts(judged: list[tuple[str, float]]) -> None:
    items = [
        claim(label, "supports" if v > 0 else "refutes" if v < 0 else "neutral", v)
        for label, v in judged
    ]
    figures = summarise(Kind.STANCE, items).figures
    assert all(
        0.0 <= value <= 1.0 for name, value in figures.items() if name not in {"seconds", "usd"}
    )
    sides = {label for label, _ in judged} & {"supports", "refutes"}
    assert ("balanced" in figures) == (len(sides) == 2)
