from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deepdiver import tasks
from deepdiver.core.events import HypothesisProposed
from deepdiver.core.identity import content_id
from deepdiver.core.record import (
    Assessment,
    Evidence,
    Finding,
    Hypothesis,
    HypothesisStatus,
    RunStatus,
    Stance,
    Trial,
)
from deepdiver.errors import ReasonError
from deepdiver.strategies.shared import hypotheses, room
from deepdiver.strategies.shared.base import Deps
from deepdiver.strategies.shared.look import look_into
from tests.strategies.rig import (
    QUESTION,
    CorpusProvider,
    Rig,
    ScriptedReasoner,
    Shelf,
    judgements,
)


def fail(task: Any) -> Any:
    raise ReasonError("not today")


async def gathered(deps: Deps) -> list[str]:
    return list((await look_into(deps, QUESTION, QUESTION, [QUESTION])).findings)


def hypothesis(
    statement: str = "Anna Holm owns Holm Works.", prior: float = 0.5, **more: Any
) -> Hypothesis:
    return Hypothesis(
        id=content_id("h", statement),
        statement=statement,
        supports_if="a register says so",
        refutes_if="a register names another owner",
        prior=prior,
        **more,
    )


def evidence(one: Hypothesis, finding: str, stance: Stance, strength: float = 0.9) -> Evidence:
    key = content_id("e", one.id, finding, stance, strength)
    return Evidence(id=key, hypothesis=one.id, finding=finding, stance=stance, strength=strength)


def trial(one: Hypothesis, searched: bool = True, iteration: int = 1) -> Trial:
    key = content_id("t", one.id, iteration)
    return Trial(id=key, hypothesis=one.id, iteration=iteration, queries=("q",), searched=searched)


async def put(
    deps: Deps, keys: list[str], standing: list[Assessment] | None = None, limit: int = 4
) -> list[Assessment]:
    made = await hypotheses.conjecture(
        deps, QUESTION, [QUESTION], keys, standing or [], gaps=[], iteration=1, limit=limit
    )
    return made.new


async def test_without_findings_nothing_is_put_forward_and_nobody_is_asked(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    assert await put(rig.session().deps, []) == []
    assert rig.reasoner.asked == []


async def test_a_reasoner_that_fails_puts_nothing_forward(tmp_path: Path) -> None:
    deps = Rig(tmp_path, ScriptedReasoner(hypothesise=fail)).session().deps
    assert await put(deps, await gathered(deps)) == []


async def test_hypotheses_are_put_forward_open_and_announced(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    deps = rig.session().deps
    new = await put(deps, await gathered(deps))
    assert [item.status for item in new] == [HypothesisStatus.OPEN] * 2
    assert [event.hypothesis for event in rig.of(HypothesisProposed)] == [
        item.hypothesis.id for item in new
    ]
    assert all(item.hypothesis.findings for item in new)
    assert all(item.hypothesis.refutes_if for item in new)


ESSAY = "One would see that a register names her. " * 30
"""What a model writes where it is asked for a sentence."""


async def test_a_hypothesis_is_as_long_as_its_first_sentences(tmp_path: Path) -> None:
    def wordy(task: tasks.Hypothesise) -> tasks.HypothesisSet:
        one = tasks.Proposed(statement=f"Anna owns it. {ESSAY}", supports_if="a", refutes_if=ESSAY)
        return tasks.HypothesisSet(hypotheses=(one,))

    deps = Rig(tmp_path, ScriptedReasoner(hypothesise=wordy)).session().deps
    (new,) = await put(deps, await gathered(deps))
    assert new.hypothesis.statement.startswith("Anna owns it. One would see")
    assert len(new.hypothesis.statement) <= room.BRIEF
    assert new.hypothesis.refutes_if == ESSAY, "on record it is whole"


async def test_long_criteria_are_shown_again_by_their_first_sentences(tmp_path: Path) -> None:
    rig = Rig(tmp_path, ScriptedReasoner(refute_queries=fail))
    deps = rig.session().deps
    keys = await gathered(deps)
    one = hypothesis(answer=ESSAY).model_copy(update={"supports_if": ESSAY, "refutes_if": ESSAY})
    queries = await hypotheses.write_refuting_queries(deps, QUESTION, one, (), ())
    await hypotheses.judge_all(deps, QUESTION, [(one, keys)])
    (asked,), (judge,) = rig.reasoner.of(tasks.RefuteQueries), rig.reasoner.of(tasks.Judge)
    (rival,), (stood,) = judge.rivals, hypotheses.stand([_assessed(one)], {})
    told = (asked.refutes_if, *queries, rival.answer_if_true, rival.supports_if, rival.refutes_if)
    for text in (*told, stood.answer, stood.refutes_if):
        assert ESSAY.startswith(text)
        assert 0 < len(text) <= room.BRIEF


def _assessed(one: Hypothesis) -> Assessment:
    return Assessment(hypothesis=one, posterior=0.5, status=HypothesisStatus.OPEN, trials=0)


@pytest.mark.parametrize(("given", "kept"), [(0.95, 0.65), (0.05, 0.12), (0.6, 0.6)])
async def test_a_prior_is_kept_within_reach_of_evidence(
    tmp_path: Path, given: float, kept: float
) -> None:
    def sure(task: tasks.Hypothesise) -> tasks.HypothesisSet:
        one = tasks.Proposed(
            statement="x y", supports_if="a", refutes_if="", prior=given, findings=("F1", "F99")
        )
        return tasks.HypothesisSet(hypotheses=(one,))

    deps = Rig(tmp_path, ScriptedReasoner(hypothesise=sure)).session().deps
    (new,) = await put(deps, await gathered(deps))
    assert new.hypothesis.prior == kept
    assert len(new.hypothesis.findings) == 1, "a label that does not exist is no finding"
    assert new.hypothesis.refutes_if, "what would refute it is never empty"


async def test_no_more_than_the_limit_is_put_forward(tmp_path: Path) -> None:
    deps = Rig(tmp_path).session().deps
    assert len(await put(deps, await gathered(deps), limit=1)) == 1


async def test_the_words_of_a_hypothesis_make_it_the_same(tmp_path: Path) -> None:
    deps = Rig(tmp_path).session().deps
    keys = await gathered(deps)
    first = await put(deps, keys)

    def louder(task: tasks.Hypothesise) -> tasks.HypothesisSet:
        one = tasks.Proposed(
            statement="ANNA HOLM  owns Holm Works", supports_if="a", refutes_if="b"
        )
        return tasks.HypothesisSet(hypotheses=(one,))

    deps.reasoner = ScriptedReasoner(hypothesise=louder)
    assert await put(deps, keys, first) == []


async def test_without_queries_of_the_reasoner_the_attempt_is_made_all_the_same(
    tmp_path: Path,
) -> None:
    rig = Rig(tmp_path, ScriptedReasoner(refute_queries=fail))
    looked, made = await hypotheses.try_to_refute(
        rig.session().deps, QUESTION, hypothesis(), [], [], 1
    )
    assert rig.provider.queries == ["a register names another owner"]
    assert made.searched
    assert made.queries == looked.queries


async def test_an_attempt_that_could_not_be_searched_says_so(tmp_path: Path) -> None:
    provider = CorpusProvider()
    provider.down = lambda query: True
    deps = Rig(tmp_path, provider=provider).session().deps
    _, made = await hypotheses.try_to_refute(deps, QUESTION, hypothesis(), [], [], 1)
    assert not made.searched
    assert made.failures


async def test_what_shares_no_word_with_the_hypothesis_is_not_shown_to_the_judge(
    tmp_path: Path,
) -> None:
    rig = Rig(tmp_path)
    deps = rig.session().deps
    keys = await gathered(deps)
    zebras, anna = hypothesis("Zebras graze."), hypothesis()
    assert await hypotheses.judge_all(deps, QUESTION, [(zebras, keys)]) == [[]]
    assert rig.reasoner.of(tasks.Judge) == []
    nothing, judged = await hypotheses.judge_all(deps, QUESTION, [(zebras, keys), (anna, keys)])
    assert nothing == []
    assert {item.hypothesis for item in judged} == {anna.id}
    (task,) = rig.reasoner.of(tasks.Judge)
    assert [rival.id for rival in task.rivals] == ["H2"], "nobody is asked about the zebras"


async def test_all_hypotheses_are_judged_by_findings_that_are_shown_once(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    deps = rig.session().deps
    keys = await gathered(deps)
    anna = hypothesis("Anna Holm owns Holm Works.", answer="Anna Holm")
    bertil = hypothesis("Bertil Ask owns Holm Works.", answer="Bertil Ask")
    asked = [(anna, keys), (bertil, keys[1:])]
    told = await hypotheses.judge_all(deps, QUESTION, asked)
    (task,) = rig.reasoner.of(tasks.Judge)
    assert [rival.id for rival in task.rivals] == ["H1", "H2"]
    labels = [item.id for item in task.findings]
    assert len(labels) == len({item.quote for item in task.findings}) == len(keys)
    assert [rival.findings for rival in task.rivals] == [tuple(labels), tuple(labels[1:])]
    assert '"findings"' not in task.prompt().user, "a model sees for itself what bears on what"
    assert [{item.hypothesis for item in listed} for listed in told] == [{anna.id}, {bertil.id}]
    apart = [await hypotheses.judge_all(deps, QUESTION, [item]) for item in asked]
    assert told == [listed for (listed,) in apart], "as if each stood alone"


async def test_each_hypothesis_has_its_share_of_what_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = Rig(tmp_path)
    deps = rig.session().deps
    keys = await gathered(deps)
    monkeypatch.setattr(room, "FREE", replace(room.FREE, most_findings=1))
    # The gazette is believed least, and is all that speaks for one of them.
    gazette = next(k for k in keys if "Bertil" in deps.ledger.get(Finding, k).statement)
    told = await hypotheses.judge_all(
        deps, QUESTION, [(hypothesis(), keys), (hypothesis("Bertil Ask owns it."), [gazette])]
    )
    assert [item.finding for item in told[1]] == [gazette]
    assert len(told[0]) == 1


async def test_judgements_of_hypotheses_that_nobody_asked_about_count_for_nothing(
    tmp_path: Path,
) -> None:
    def confused(task: tasks.Judge) -> tasks.Judgements:
        said = [
            tasks.Judgement(hypothesis=label, finding="F1", stance=Stance.SUPPORTS, strength=1)
            for label in ("H1", "h2", "H9", "")
        ]
        return tasks.Judgements(judgements=tuple(said))

    rig = Rig(tmp_path, ScriptedReasoner(judge=confused))
    deps = rig.session().deps
    keys = await gathered(deps)
    asked = [(hypothesis("Anna Holm owns it."), keys), (hypothesis("Bertil Ask owns it."), keys)]
    assert [len(listed) for listed in await hypotheses.judge_all(deps, QUESTION, asked)] == [1, 1]
    rig.reasoner.rules["judge"] = fail
    assert await hypotheses.judge_all(deps, QUESTION, asked) == [[], []]


async def test_of_one_hypothesis_the_label_need_not_be_said(tmp_path: Path) -> None:
    def terse(task: tasks.Judge) -> tasks.Judgements:
        said = tasks.Judgement(finding="F1", stance=Stance.REFUTES, strength=1)
        return tasks.Judgements(judgements=(said,))

    deps = Rig(tmp_path, ScriptedReasoner(judge=terse)).session().deps
    keys = await gathered(deps)
    ((told,),) = await hypotheses.judge_all(deps, QUESTION, [(hypothesis(), keys)])
    assert (told.finding, told.stance) == (keys[0], Stance.REFUTES)


async def test_a_judge_who_invents_labels_or_says_nothing_changes_nothing(tmp_path: Path) -> None:
    def odd(task: tasks.Judge) -> tasks.Judgements:
        return tasks.Judgements(
            judgements=(
                tasks.Judgement(finding="F99", stance=Stance.SUPPORTS, strength=1.0),
                tasks.Judgement(finding="F1", stance=Stance.NEUTRAL, strength=1.0),
                tasks.Judgement(finding="F2", stance=Stance.REFUTES, strength=0.0),
            )
        )

    deps = Rig(tmp_path, ScriptedReasoner(judge=odd)).session().deps
    asked = [(hypothesis(), await gathered(deps))]
    assert await hypotheses.judge_all(deps, QUESTION, asked) == [[]]


async def test_belief_follows_from_evidence_and_acceptance_from_a_trial(tmp_path: Path) -> None:
    deps = Rig(tmp_path).session().deps
    keys, one = await gathered(deps), hypothesis()
    for_it = [evidence(one, keys[0], Stance.SUPPORTS), evidence(one, keys[2], Stance.SUPPORTS)]
    untested = hypotheses.assess(deps, one, for_it, [])
    assert untested.posterior > 0.9
    assert untested.status is HypothesisStatus.OPEN
    assert (
        hypotheses.assess(deps, one, for_it, [trial(one, searched=False)]).status
        is HypothesisStatus.OPEN
    )
    assert hypotheses.assess(deps, one, for_it, [trial(one)]).status is HypothesisStatus.SUPPORTED
    against = [evidence(one, key, Stance.REFUTES) for key in keys]
    refuted = hypotheses.assess(deps, one, against, [trial(one)])
    assert refuted.status is HypothesisStatus.REFUTED
    assert set(refuted.refuting) == set(keys)


async def test_a_later_judgement_replaces_the_earlier_of_the_same_finding(tmp_path: Path) -> None:
    deps = Rig(tmp_path).session().deps
    keys, one = await gathered(deps), hypothesis()
    twice = [evidence(one, keys[0], Stance.SUPPORTS), evidence(one, keys[0], Stance.REFUTES)]
    assert hypotheses.assess(deps, one, twice, []).refuting == (keys[0],)
    assert hypotheses.assess(deps, one, twice, []).supporting == ()


async def test_copies_of_one_story_count_once(tmp_path: Path) -> None:
    story = (
        "Holm Works is owned by Anna Holm, as the register of the county has shown since the year "
        "1998."
    )
    copies = {f"doc:{n}": (f"Paper {n}", "newspaper", story) for n in range(5)}
    deps = Rig(tmp_path, provider=CorpusProvider(copies)).session().deps
    keys, one = await gathered(deps), hypothesis()
    assert len(keys) == 5
    all_five = [evidence(one, key, Stance.SUPPORTS) for key in keys]
    assert (
        hypotheses.assess(deps, one, all_five, []).posterior
        == hypotheses.assess(deps, one, all_five[:1], []).posterior
    )


async def test_a_settled_hypothesis_is_not_tested_again(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    deps = rig.session().deps
    keys = await gathered(deps)
    standing = await put(deps, keys)
    shared: dict[str, Any] = {"tried": [], "iteration": 1, "trials": [], "evidence": []}
    first = await hypotheses.try_all(deps, QUESTION, standing, keys, **shared)
    assert {item.status for item in first.standing} == {
        HypothesisStatus.SUPPORTED,
        HypothesisStatus.REFUTED,
    }
    shared = {"tried": [], "iteration": 2, "trials": first.trials, "evidence": first.evidence}
    second = await hypotheses.try_all(deps, QUESTION, first.standing, keys, **shared)
    assert second.trials == first.trials
    assert second.standing == first.standing


def undecided(task: tasks.Judge) -> tasks.Judgements:
    """Judge that everything speaks for it a little."""
    return judgements(task, lambda rival, found: (Stance.SUPPORTS, 0.05))


@pytest.mark.parametrize("free", [True, False])
async def test_who_is_paid_is_not_asked_again_about_what_was_weighed(
    tmp_path: Path, free: bool
) -> None:
    rig = Rig(tmp_path, ScriptedReasoner(judge=undecided))
    deps = rig.session().deps
    keys = await gathered(deps)
    standing = await put(deps, keys)
    rig.reasoner.free = free
    shared: dict[str, Any] = {"tried": [], "trials": [], "evidence": []}
    first = await hypotheses.try_all(deps, QUESTION, standing, keys[:2], iteration=1, **shared)
    assert first.weighed == 2
    shared = {"tried": [], "trials": first.trials, "evidence": first.evidence}
    await hypotheses.try_all(
        deps, QUESTION, first.standing, keys, iteration=2, weighed=first.weighed, **shared
    )
    second = rig.reasoner.of(tasks.Judge)[-1]
    texts = [deps.ledger.get(Finding, key).quotes[0].text for key in keys]
    assert {item.quote for item in second.findings} == set(texts if free else texts[2:])


async def test_what_a_judge_did_not_answer_is_asked_again(tmp_path: Path) -> None:
    rig = Rig(tmp_path, ScriptedReasoner(judge=fail))
    deps = rig.session().deps
    keys = await gathered(deps)
    standing = await put(deps, keys)
    rig.reasoner.free = False
    shared: dict[str, Any] = {"tried": [], "iteration": 1, "trials": [], "evidence": []}
    made = await hypotheses.try_all(deps, QUESTION, standing, keys, **shared)
    assert made.weighed == 0
    assert made.evidence == []


@pytest.mark.parametrize("free", [True, False])
async def test_who_is_paid_to_conjecture_is_shown_what_is_new_and_what_hypotheses_stand_on(
    tmp_path: Path, free: bool
) -> None:
    rig = Rig(tmp_path)
    deps = rig.session().deps
    keys = await gathered(deps)
    rig.reasoner.free = free
    old = hypothesis(findings=(keys[1],))
    standing = [hypotheses.assess(deps, old, [evidence(old, keys[1], Stance.SUPPORTS)], ())]
    await hypotheses.conjecture(deps, QUESTION, [], keys, standing, iteration=2, limit=2, seen=2)
    shown = rig.reasoner.of(tasks.Hypothesise)[-1].findings
    texts = [deps.ledger.get(Finding, key).quotes[0].text for key in keys]
    assert {item.quote for item in shown} == set(texts if free else texts[1:])


async def test_the_pool_links_a_hypothesis_to_those_that_it_revises_and_to_no_others(
    tmp_path: Path,
) -> None:
    deps = Rig(tmp_path).session().deps
    keys = await gathered(deps)
    old, rival = hypothesis("Bertil Ask owns it."), hypothesis("Carl Dahl owns it.")
    new = hypothesis(iteration=2, findings=(keys[0],), revises=(old.id,))
    other = hypothesis("Nobody owns Holm Works.", iteration=2)
    deps.add(old, rival, new, other)
    against = evidence(old, keys[0], Stance.REFUTES)
    first, then = (evidence(rival, keys[0], Stance.REFUTES, share) for share in (0.2, 0.9))
    deps.add(against, first, then)
    assessed = [
        hypotheses.assess(deps, old, [against], [trial(old)]),
        hypotheses.assess(deps, rival, [first, then], [trial(rival)]),
        hypotheses.assess(deps, new, [], []),
        hypotheses.assess(deps, other, [], []),
    ]
    assert [item.status for item in assessed[:2]] == [HypothesisStatus.REFUTED] * 2
    pool = hypotheses.build_experience_pool(deps, assessed, [against.id, first.id, then.id])
    links = [item for item in pool if item["type"] == "link" and item["kind"] != "rivals"]
    assert {(item["kind"], item["head"], item["tail"]) for item in links} == {
        ("refutes", keys[0], old.id),
        ("refutes", keys[0], rival.id),
        ("raised", keys[0], new.id),
        ("revises", new.id, old.id),
    }
    assert len(links) == 4, "a later judgement replaces the earlier one"


async def test_what_a_proposal_revises_is_on_record(tmp_path: Path) -> None:
    def revise(task: tasks.Hypothesise) -> tasks.HypothesisSet:
        told: dict[str, Any] = {"supports_if": "a", "refutes_if": "b"}
        one = tasks.Proposed(statement="Anna Holm owns half.", revises=("h1", "H9", "1"), **told)
        other = tasks.Proposed(statement="Nobody owns it.", **told)
        return tasks.HypothesisSet(hypotheses=(one, other))

    rig = Rig(tmp_path)
    deps = rig.session().deps
    keys = await gathered(deps)
    first = await put(deps, keys)
    deps.reasoner = ScriptedReasoner(hypothesise=revise)
    half, nobody = await put(deps, keys, first)
    assert half.hypothesis.revises == (first[0].hypothesis.id,)
    assert "revises" not in nobody.hypothesis.model_dump(), "its report keeps its hash"
    told = {event.statement: event.revises for event in rig.of(HypothesisProposed)}
    assert told["Anna Holm owns half."] == (first[0].hypothesis.id,)
    assert told["Nobody owns it."] == ()


async def test_lessons_are_drawn_from_the_pool_with_the_weightiest_evidence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hypotheses, "DECIDING", 1)
    deps = Rig(tmp_path).session().deps
    keys = await gathered(deps)
    refuted = hypothesis("Bertil Ask owns it.", answer="Bertil Ask")
    accepted, unsettled = hypothesis(answer="Anna Holm"), hypothesis("Carl Dahl owns it.")
    deps.add(refuted, accepted, unsettled)
    judged = [
        evidence(refuted, keys[0], Stance.REFUTES, 0.3),
        evidence(refuted, keys[1], Stance.REFUTES, 0.9),
        evidence(refuted, keys[2], Stance.SUPPORTS, 0.1),
        evidence(accepted, keys[0], Stance.SUPPORTS, 0.9),
    ]
    deps.add(*judged)
    assessed = [
        hypotheses.assess(deps, one, [e for e in judged if e.hypothesis == one.id], [trial(one)])
        for one in (refuted, accepted, unsettled)
    ]
    pool = hypotheses.build_experience_pool(deps, assessed, [e.id for e in judged])
    told = {key: deps.ledger.get(Finding, key).statement for key in keys}
    lessons = hypotheses.draw_lessons(pool, assessed, 10_000)
    assert [lesson.model_dump(mode="json") for lesson in lessons] == [
        {
            "hypothesis": "H2",
            "statement": accepted.statement,
            "answer": "Anna Holm",
            "status": "supported",
            "because": [told[keys[0]]],
        },
        {
            "hypothesis": "H1",
            "statement": refuted.statement,
            "answer": "Bertil Ask",
            "status": "refuted",
            "because": [told[keys[1]]],
        },
    ]
    most = len(lessons[0].model_dump_json()) + 1
    assert hypotheses.draw_lessons(pool, assessed, most) == lessons[:1], "the latest come first"
    assert hypotheses.draw_lessons([], [], most) == ()


def test_labels_stand_for_the_findings_that_are_shown() -> None:
    item = Assessment(
        hypothesis=hypothesis(),
        posterior=0.8,
        status=HypothesisStatus.SUPPORTED,
        trials=1,
        supporting=("f_1", "f_2"),
        refuting=("f_3",),
    )
    (shown,) = hypotheses.stand([item], {"F1": "f_1", "F2": "f_3"})
    assert (shown.id, shown.supporting, shown.refuting) == ("H1", ("F1",), ("F2",))


async def test_who_puts_forward_is_shown_past_runs_and_who_judges_is_not(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    deps = rig.session().deps
    past = tasks.RecalledRun(
        id="P1", question=QUESTION, date="2026-03-01", days=30, status=RunStatus.ANSWERED
    )
    keys = await gathered(deps)
    await hypotheses.conjecture(
        deps, QUESTION, [QUESTION], keys, [], gaps=[], iteration=1, limit=4, past=(past,)
    )
    assert [task.past for task in rig.reasoner.of(tasks.Hypothesise)] == [(past,)]
    for kind in (
        tasks.Judge,
        tasks.RefuteQueries,
        tasks.Decide,
        tasks.WriteReport,
        tasks.OutlineReport,
        tasks.WriteSections,
        tasks.WriteBottomLine,
        tasks.CheckSupport,
    ):
        assert "past" not in kind.model_fields


# -- with tools to test them


TOOL = tasks.ShownTool(name="search", about="everything", arguments=("query: words",))


async def test_hypotheses_may_come_before_findings_and_bring_their_tests(
    tmp_path: Path,
) -> None:
    query = tasks.ToolQuery(tool="search", args=(tasks.Argument(name="query", value="x"),))

    def propose(task: tasks.Hypothesise) -> tasks.HypothesisSet:
        made = tasks.Proposed(
            statement="It is so.", supports_if="a", refutes_if="b", test_queries=(query,)
        )
        return tasks.HypothesisSet(hypotheses=(made, made), reasoning_chain=("First.", "Then."))

    rig = Rig(tmp_path, ScriptedReasoner(hypothesise=propose))
    made = await hypotheses.conjecture(
        rig.session().deps,
        QUESTION,
        [QUESTION],
        [],
        [],
        iteration=0,
        limit=4,
        tools=(TOOL,),
        early=True,
    )
    (only,) = made.new
    assert made.queries == {only.hypothesis.id: (query,)}
    assert made.reasoning == ("First.", "Then.")
    assert rig.reasoner.of(tasks.Hypothesise)[0].tools == (TOOL,)


async def test_a_reasoner_that_fails_with_tools_puts_nothing_forward(tmp_path: Path) -> None:
    deps = Rig(tmp_path, ScriptedReasoner(hypothesise=fail)).session().deps
    made = await hypotheses.conjecture(
        deps, QUESTION, [QUESTION], [], [], iteration=0, limit=4, tools=(TOOL,), early=True
    )
    assert (made.new, made.queries, made.searches, made.reasoning) == ([], {}, {}, ())


async def test_without_findings_nothing_is_put_forward_unless_it_may_come_early(
    tmp_path: Path,
) -> None:
    rig = Rig(tmp_path)
    made = await hypotheses.conjecture(
        rig.session().deps, QUESTION, [QUESTION], [], [], iteration=0, limit=4, tools=(TOOL,)
    )
    assert made.new == []
    assert rig.reasoner.of(tasks.Hypothesise) == []


async def test_searches_that_were_planned_are_made_and_only_then_others_are_asked_for(
    tmp_path: Path,
) -> None:
    rig = Rig(tmp_path)
    deps = rig.session().deps
    planned = ("Holm register", "Holm gazette", "Holm notice")

    async def written(tried: list[str]) -> list[str]:
        return [
            *await hypotheses.write_refuting_queries(
                deps, QUESTION, hypothesis(), [], tried, planned
            )
        ]

    assert await written([]) == ["Holm register", "Holm gazette"]
    assert await written(["gazette Holm"]) == ["Holm register", "Holm notice"]
    assert rig.reasoner.of(tasks.RefuteQueries) == []
    assert await written(list(planned)) == ["refute: Anna Holm owns Holm Works."]
    assert len(rig.reasoner.of(tasks.RefuteQueries)) == 1


async def test_where_everything_is_read_whole_nobody_is_asked_for_searches(tmp_path: Path) -> None:
    reasoner = ScriptedReasoner()
    reasoner.free = False
    for number, provider in enumerate((CorpusProvider(), Shelf())):
        rig = Rig(tmp_path / str(number), reasoner, provider=provider)
        await hypotheses.conjecture(
            rig.session().deps, QUESTION, [QUESTION], [], [], iteration=0, limit=4, early=True
        )
    assert [task.searched for task in reasoner.of(tasks.Hypothesise)] == [True, False]


async def test_what_would_refute_a_hypothesis_is_searched_for_in_its_own_words_if_need_be(
    tmp_path: Path,
) -> None:
    deps = Rig(tmp_path, ScriptedReasoner(refute_queries=fail)).session().deps
    assert await hypotheses.write_refuting_queries(deps, QUESTION, hypothesis(), [], []) == (
        "a register names another owner",
    )
    many = tasks.Queries(queries=("a", "b", "c"))
    deps = Rig(tmp_path / "b", ScriptedReasoner(refute_queries=lambda task: many)).session().deps
    assert await hypotheses.write_refuting_queries(deps, QUESTION, hypothesis(), [], []) == (
        "a",
        "b",
    )


async def test_new_findings_are_weighed_for_every_hypothesis_with_the_evidence_before(
    tmp_path: Path,
) -> None:
    deps = Rig(tmp_path).session().deps
    keys = await gathered(deps)
    standing = await put(deps, keys)
    first, held = await hypotheses.weigh_all(
        deps, QUESTION, standing, keys[:1], trials=[], evidence=[]
    )
    second, all_ = await hypotheses.weigh_all(
        deps, QUESTION, first, keys[1:], trials=[], evidence=held
    )
    assert set(held) < set(all_)
    whole, _ = await hypotheses.weigh_all(deps, QUESTION, standing, keys, trials=[], evidence=[])
    assert [item.posterior for item in second] == [item.posterior for item in whole], (
        "in one look or in two"
    )
