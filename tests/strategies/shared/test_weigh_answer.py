"""The belief in an answer without hypotheses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deepdiver import tasks
from deepdiver.core.record import Finding, RunStatus, Sentence, SentenceKind, Stance
from deepdiver.strategies.shared.look import look_into
from deepdiver.strategies.shared.weigh_answer import JUDGED, weigh_answer
from tests.strategies.drafts import answering, told
from tests.strategies.rig import QUESTION, Rig, ScriptedReasoner, fail, judgements
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


# -- judgements


async def test_what_is_carried_in_part_is_not_weighed_as_a_fact(tmp_path: Path) -> None:
    """It is a judgement then: the fact beside it is believed as if it stood alone."""
    both = answering(lambda label: [told(GAZETTE, label(GAZETTE)), told(OWNED, label(OWNED))])
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


async def test_a_model_judges_by_what_is_nearest_besides_the_words_of_the_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig, deps, keys = await looked_into(tmp_path, judge=by_name)
    rig.reasoner.free = False
    monkeypatch.setattr("deepdiver.strategies.shared.weigh_answer.OTHERS", 1)
    near = "The authority confirms that Anna Holm owns Holm Works."
    said = Sentence(text="Anna Holm owns it, the authority confirms.", findings=(keys[OWNED],))
    made = await weigh_answer(deps, QUESTION, [said], list(keys.values()), [QUESTION], [])
    (task,) = rig.reasoner.of(tasks.Judge)
    assert [item.quote for item in task.findings] == [OWNED, near]
    assert made.sentences[0] > 0.9
