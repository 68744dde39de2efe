"""The belief in an answer without hypotheses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deepdiver import tasks
from deepdiver.core.identity import content_id
from deepdiver.core.record import (
    Assessment,
    Contradiction,
    Evidence,
    Finding,
    Hypothesis,
    HypothesisStatus,
    RunStatus,
    Sentence,
    SentenceKind,
    Stance,
)
from deepdiver.strategies.shared.look import look_into
from deepdiver.strategies.shared.weigh_answer import JUDGED, weigh_answer
from deepdiver.strategies.shared.write_report import write_report
from tests.strategies.drafts import answering, told
from tests.strategies.drafts import report_of as drafted
from tests.strategies.rig import QUESTION, PaidReasoner, Rig, ScriptedReasoner, fail, judgements
from tests.strategies.shared.written import (
    GAZETTE,
    OWNED,
    doubting,
    owned,
    repairing,
    weighed,
)


def by_name(task: tasks.Judge) -> tasks.Judgements:
    """Judge that a finding speaks against a sentence unless it names the same person."""
    return judgements(
        task,
        lambda rival, found: (
            Stance.SUPPORTS
            if ("Bertil" if "Bertil" in rival.hypothesis else "Anna") in found.quote
            else Stance.REFUTES,
            0.9,
        ),
    )


async def looked_into(home: Path, **rules: Any) -> tuple[Rig, Any, dict[str, str]]:
    """Return a run, its dependencies, and the ids of its findings by their quotes."""
    rig = Rig(home, ScriptedReasoner(**rules))
    deps = rig.session().deps
    looked = await look_into(deps, QUESTION, QUESTION, [QUESTION])
    keys = {deps.ledger.get(Finding, key).quotes[0].text: key for key in looked.findings}
    return rig, deps, keys


@pytest.mark.parametrize(
    ("missing", "partly", "coverage"),
    [
        ([], ["a"], 0.75),
        (["b"], ["a"], 0.25),
        (["a"], ["a"], 0.5),
        ([], ["c"], 5 / 6),
        ([], [], 1.0),
    ],
)
async def test_what_is_answered_in_part_counts_half(
    tmp_path: Path, missing: list[str], partly: list[str], coverage: float
) -> None:
    deps = Rig(tmp_path).session().deps
    made = await weigh_answer(deps, QUESTION, [], [], ["a", "b"], missing, partly)
    assert made.coverage == pytest.approx(coverage)


async def test_a_sentence_is_weighed_by_what_speaks_for_and_against_it(tmp_path: Path) -> None:
    """Two speak for Anna Holm, the gazette against.

    Less than without the gazette, and the gazette's own far less.
    """
    owner, _ = await weighed(tmp_path / "anna", write_report=owned)
    against, _ = await weighed(tmp_path / "against", judge=by_name, write_report=owned)
    other, _ = await weighed(
        tmp_path / "bertil",
        judge=by_name,
        write_report=answering(lambda label: [told(GAZETTE, label(GAZETTE))]),
    )
    assert owner.status is against.status is RunStatus.ANSWERED
    assert other.status is RunStatus.PARTIAL
    assert 0 < other.confidence < 0.5 < against.confidence < 1


async def test_a_judge_who_fails_leaves_the_findings_that_carry_the_sentence(
    tmp_path: Path,
) -> None:
    report, _ = await weighed(tmp_path, judge=fail, write_report=owned)
    assert report.confidence == pytest.approx(0.8897, abs=2e-3), "one register of 0.95 by itself"
    assert any("judge failed" in line for line in report.limits)


async def test_so_many_sentences_are_judged_and_no_more(tmp_path: Path) -> None:
    twelve = answering(lambda label: [told(OWNED, label(OWNED))] * 12)
    _, rig = await weighed(tmp_path, write_report=twelve)
    (task,) = rig.reasoner.of(tasks.Judge)
    assert len(task.rivals) == JUDGED


async def test_findings_of_a_sentence_that_speak_against_it_count_and_its_own_do_not_twice(
    tmp_path: Path,
) -> None:
    rig, deps, keys = await looked_into(tmp_path, judge=by_name)

    async def belief(*findings: str, others: tuple[str, ...] = ()) -> float:
        sentence = Sentence(text=OWNED, findings=findings)
        (made,) = (await weigh_answer(deps, QUESTION, [sentence], others, [], [])).sentences
        return made

    alone = await belief(keys[OWNED])
    assert await belief(keys[OWNED], others=(keys[OWNED],)) == alone
    judged = await belief(keys[OWNED], keys[GAZETTE])
    rig.reasoner.rules["judge"] = fail
    assert await belief(keys[OWNED]) == alone
    assert judged < await belief(keys[OWNED], keys[GAZETTE])


# -- what a model has said before


async def read_by_a_model(home: Path) -> tuple[Any, dict[str, str]]:
    """Return the dependencies of a run with a model, and the ids of its findings by quotes."""
    rig = Rig(home, PaidReasoner(judge=fail))
    deps = rig.session().deps
    looked = await look_into(deps, QUESTION, QUESTION, [QUESTION])
    return deps, {deps.ledger.get(Finding, key).quotes[0].text: key for key in looked.findings}


async def believed(deps: Any, *findings: str, said: str = OWNED) -> float:
    sentence = Sentence(text=said, findings=findings)
    (made,) = (await weigh_answer(deps, QUESTION, [sentence], [], [], [])).sentences
    return made


def clash(*findings: str, kind: Any = "contradicts") -> Contradiction:
    return Contradiction(
        id=content_id("c", kind, *findings),
        findings=findings,
        kind=kind,
        description="Who owns it.",
    )


async def test_a_model_is_not_asked_again_and_sources_that_differ_lower_the_belief(
    tmp_path: Path,
) -> None:
    deps, keys = await read_by_a_model(tmp_path)
    alone = await believed(deps, keys[OWNED])
    deps.add(clash(keys[OWNED], keys[GAZETTE], kind="qualifies"))
    assert await believed(deps, keys[OWNED]) == alone, "what narrows it is not against it"
    deps.add(clash(keys[OWNED], keys[GAZETTE]))
    assert await believed(deps, keys[OWNED]) < alone
    both = await believed(deps, keys[OWNED], keys[GAZETTE])
    assert both > alone, "a sentence that tells both sides stands on both"
    assert deps.reasoner.of(tasks.Judge) == []


async def test_sources_that_differ_count_less_where_the_report_says_which_it_follows(
    tmp_path: Path,
) -> None:
    believed_by: dict[bool | None, float] = {}
    for decided in (None, False, True):
        deps, keys = await read_by_a_model(tmp_path / str(decided))
        if decided is not None:
            made = clash(keys[OWNED], keys[GAZETTE])
            deps.add(made.model_copy(update={"decided": decided}))
        believed_by[decided] = await believed(deps, keys[OWNED])
    assert believed_by[False] < believed_by[True] < believed_by[None]


async def test_only_what_is_decided_leaves_an_answer_as_settled_as_it_was(tmp_path: Path) -> None:
    settled: dict[bool | None, tuple[float, ...]] = {}
    for decided in (None, False, True):
        deps, keys = await read_by_a_model(tmp_path / str(decided))
        if decided is not None:
            made = clash(keys[OWNED], keys[GAZETTE])
            deps.add(made.model_copy(update={"decided": decided}))
        sentence = Sentence(text=OWNED, findings=(keys[OWNED],))
        weighed_ = await weigh_answer(deps, QUESTION, [sentence], [], [], [])
        assert (weighed_.settled == weighed_.sentences) is (decided is not True)
        settled[decided] = weighed_.settled
    assert settled[False] < settled[True] == settled[None]


@pytest.mark.parametrize(
    ("description", "counts"),
    [
        ("T1:1 says 40 owners, T2:1 says 41", False),
        ("T1:1 says 1998, T2:1 says 2001", True),
        ("Q1 2024 against Q2 2024", True),
        ("“Top 10” says Anna, “40 owners” says Bertil", True),
        ("12 boats against 14 in 2024", True),
    ],
)
async def test_a_contradiction_about_figures_counts_against_what_tells_them(
    tmp_path: Path, description: str, counts: bool
) -> None:
    deps, keys = await read_by_a_model(tmp_path)
    told = f"{OWNED} She has 12 boats."
    alone = await believed(deps, keys[OWNED], said=told)
    made = clash(keys[OWNED], keys[GAZETTE]).model_copy(update={"description": description})
    deps.add(made)
    assert (await believed(deps, keys[OWNED], said=told) < alone) is counts


async def test_what_a_test_brought_against_it_counts_as_a_contradiction_does(
    tmp_path: Path,
) -> None:
    deps, keys = await read_by_a_model(tmp_path / "clash")
    deps.add(clash(keys[OWNED], keys[GAZETTE]))
    clashing = await believed(deps, keys[OWNED])
    deps, keys = await read_by_a_model(tmp_path / "tested")
    deps.add(
        Hypothesis(id="h_1", statement=OWNED, supports_if="a", refutes_if="b", prior=0.3),
        *(
            Evidence(id=f"e_{stance}", hypothesis="h_1", finding=key, stance=stance, strength=1.0)
            for stance, key in ((Stance.SUPPORTS, keys[OWNED]), (Stance.REFUTES, keys[GAZETTE]))
        ),
    )
    assert await believed(deps, keys[OWNED]) == clashing


async def test_the_same_evidence_gives_the_same_number_with_and_without_hypotheses(
    tmp_path: Path,
) -> None:
    deps, keys = await read_by_a_model(tmp_path)
    hypothesis = Hypothesis(id="h_1", statement=OWNED, supports_if="a", refutes_if="b", prior=0.3)
    tested = Assessment(
        hypothesis=hypothesis, posterior=0.71, status=HypothesisStatus.SUPPORTED, trials=1
    )
    deps.reasoner.rules["write_report"] = owned
    sure = [
        (await write_report(deps, QUESTION, [QUESTION], held, [keys[OWNED]], [], [])).confidence
        for held in (None, [tested])
    ]
    assert sure[0] == sure[1] > 0.8


async def test_conflicts_that_the_writer_names_are_known_when_the_answer_is_weighed(
    tmp_path: Path,
) -> None:
    def confidence(said: tuple[str, ...]) -> Any:
        def write(task: tasks.WriteReport) -> tasks.ReportDraft:
            notes = "\n".join(f"conflict: {item}" for item in said)
            text = drafted(owned(task), QUESTION).markdown
            return tasks.ReportDraft(markdown=f"{text}\n\n---\n{notes}")

        return write

    made: list[float] = []
    ended: list[RunStatus] = []
    listed: list[bool] = []
    followed: list[bool] = []
    clashes = "T1:1 says Anna, T2:1 says Bertil"
    told = [(), ("T1:1 alone",), (clashes,), (f"{clashes} | T1:1",)]
    for number, said in enumerate(told):
        deps, keys = await read_by_a_model(tmp_path / str(number))
        deps.reasoner.rules |= {"write_report": confidence(said)}
        report = await write_report(
            deps, QUESTION, [QUESTION], None, [keys[OWNED], keys[GAZETTE]], [], []
        )
        made.append(report.confidence)
        ended.append(report.status)
        listed.append(any(it.startswith("Texts contradict each other:") for it in report.limits))
        followed.append(any("; this report follows “" in it for it in report.limits))
    assert listed == [False, False, True, True], "the evidence view says what they are"
    assert followed == [False, False, False, True], "and which text is followed, if one is"
    assert made[0] == made[1] > made[2] > 0
    assert made[0] > made[3] > made[2], "what is decided counts less"
    answered, partial = RunStatus.ANSWERED, RunStatus.PARTIAL
    assert ended == [answered, answered, partial, answered], "what nobody decides is a gap"


# -- judgements


async def test_what_is_carried_in_part_is_not_weighed_as_a_fact(tmp_path: Path) -> None:
    """It is a judgement then: the fact beside it is believed as if it stood alone."""
    said = "Bertil Ask, a trader, owns Holm Works."
    both = answering(lambda label: [told(said, label(GAZETTE)), told(OWNED, label(OWNED))])
    rules: dict[str, Any] = {"judge": by_name, "repair_sentences": repairing(None)}
    whole, _ = await weighed(tmp_path / "whole", write_report=both, **rules)
    part, _ = await weighed(
        tmp_path / "part", write_report=both, check_support=doubting("partial", "Bertil"), **rules
    )
    alone, _ = await weighed(tmp_path / "alone", write_report=owned, **rules)
    assert [item.kind for item in part.answer] == [SentenceKind.JUDGEMENT, SentenceKind.FACT]
    assert part.confidence == alone.confidence
    assert part.confidence != whole.confidence


async def test_an_answer_that_is_all_judgement_is_believed_as_far_as_what_it_stands_on(
    tmp_path: Path,
) -> None:
    rig, deps, keys = await looked_into(tmp_path, judge=fail)
    kind = SentenceKind.JUDGEMENT
    judged = [
        Sentence(text="So ask Anna Holm.", kind=kind, findings=(keys[OWNED],)),
        Sentence(text="She decides.", kind=kind, findings=(keys[OWNED], keys[GAZETTE])),
    ]
    found = list(keys.values())
    made = await weigh_answer(deps, QUESTION, judged, found, [QUESTION], [])
    assert rig.reasoner.of(tasks.Judge) == [], "what sources say is not judged again"
    facts = [Sentence(text=text, findings=(keys[text],)) for text in (OWNED, GAZETTE)]
    assert made == await weigh_answer(deps, QUESTION, facts, found, [QUESTION], [])


async def test_a_calculation_is_weighed_and_a_frame_is_not(tmp_path: Path) -> None:
    _, deps, keys = await looked_into(tmp_path, judge=fail)
    lead = [
        Sentence(text="The evidence speaks for it:", kind=SentenceKind.FRAME),
        Sentence(text=OWNED, kind=SentenceKind.CALCULATION, findings=(keys[OWNED],)),
        Sentence(text="It may be sold.", kind=SentenceKind.ASSUMPTION),
    ]
    made = await weigh_answer(deps, QUESTION, lead, [], [QUESTION], [])
    assert len(made.sentences) == 1


# -- how much is answered


@pytest.mark.parametrize(
    ("problems", "missing", "coverage"),
    [
        ([], [], 1.0),
        ([], ["Since when?"], 0.5),
        (["a", "b", "c", "d"], ["a"], 0.75),
        (["a", "b", "c"], ["d"], 0.75),
        (["a", "b"], ["a", "a"], 0.5),
        (["a"], ["a"], 0.0),
    ],
)
async def test_the_part_that_is_answered(
    tmp_path: Path, problems: list[str], missing: list[str], coverage: float
) -> None:
    _, deps, _ = await looked_into(tmp_path)
    made = await weigh_answer(deps, QUESTION, [], [], problems, missing)
    assert (made.sentences, made.coverage) == ((), coverage)
