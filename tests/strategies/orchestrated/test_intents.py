from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver import tasks
from deepdiver.core.record import Credibility, Finding, Passage, Quote, Source, SourceKind, Stance
from deepdiver.core.text import STOPWORDS, stem, terms, words
from deepdiver.errors import ReasonError
from deepdiver.strategies.orchestrated import intents
from deepdiver.strategies.shared.base import Deps, LookResult
from deepdiver.strategies.shared.look import look_into, query_of_lead
from deepdiver.strategies.shared.summary import line_of
from deepdiver.tasks import SearchIntent, SearchPlan, SearchPlans
from deepdiver.tools.hit import Hit
from tests.strategies.rig import QUESTION, CorpusProvider, Rig, ScriptedReasoner

EXPLORE, DIVE, CHECK = (
    SearchIntent.INITIAL_EXPLORATION,
    SearchIntent.DEEP_DIVE,
    SearchIntent.FACT_CHECKING,
)
RELATED, SYNTHESIS = SearchIntent.RELATED_TOPICS, SearchIntent.SYNTHESIS
PARTS = ("Who owns Holm Works?", "When was Holm Works founded?")
ANNA = "Holm Works is owned by Anna Holm."
BERTIL = "Holm Works is owned by Bertil Ask, a trader."


def plan(intent: SearchIntent, query: str = "Holm Works owner", reasoning: str = "") -> SearchPlan:
    return SearchPlan(intent=intent, query=query, reasoning=reasoning)


class WebProvider(CorpusProvider):
    """Finds pages: (address, publisher, text), all of them for every query."""

    def __init__(self, *pages: tuple[str, str, str]) -> None:
        super().__init__({url: (publisher, "newspaper", text) for url, publisher, text in pages})

    def _hit(self, url: str) -> Hit:
        publisher, kind, text = self.corpus[url]
        return Hit(
            url=url,
            title=f"Page of {publisher or url}",
            kind=SourceKind.PAGE,
            publisher=publisher,
            publisher_kind=kind,
            published="2026-01-01",
            text=text,
            complete=True,
            provider=self.name,
        )


def deps_of(home: Path, provider: CorpusProvider | None = None, **rules: Any) -> tuple[Rig, Deps]:
    rig = Rig(home, ScriptedReasoner(**rules), provider, strategy="orchestrated")
    return rig, rig.session().deps


async def known(deps: Deps, *queries: str) -> list[Any]:
    """Search first, so that there is something to check."""
    looked = await look_into(deps, QUESTION, QUESTION, queries or [QUESTION])
    return [
        line_of(deps, deps.ledger.get(Finding, key).statement, [key]) for key in looked.findings
    ]


# -- which plans are used


def usable(
    *plans: SearchPlan, tried: tuple[str, ...] = (), first: bool = False, reason: str = ""
) -> Any:
    answer = SearchPlans(plans=plans, reason=reason)
    return intents.choose_plans(answer, QUESTION, tried, 3, first=first)


def test_no_answer_and_no_plan_are_failures_with_a_reason() -> None:
    assert intents.choose_plans(None, QUESTION, (), 3, first=True) == (
        [],
        False,
        "no plan could be had",
    )
    assert usable() == ([], False, "it has no search")
    assert usable(reason="all was searched") == ([], False, "all was searched")
    assert usable(plan(DIVE, " ")) == ([], False, "it has no search")


def test_a_search_that_was_made_is_not_made_again_in_whatever_order_its_words_stand() -> None:
    assert usable(plan(DIVE, "works HOLM"), tried=("Holm works",)) == (
        [],
        False,
        "every search of the plan was made before",
    )
    kept, _, failure = usable(plan(DIVE, "a b"), plan(CHECK, "b a"), plan(DIVE, "c"))
    assert [item.query for item in kept] == ["a b", "c"]
    assert failure == ""


def test_synthesis_ends_the_list_and_before_any_search_it_is_a_first_look() -> None:
    kept, ending, failure = usable(plan(DIVE, "a"), plan(SYNTHESIS, ""), plan(DIVE, "b"))
    assert ([item.query for item in kept], ending, failure) == (["a"], True, "")
    assert usable(plan(SYNTHESIS, "")) == ([], True, "")
    (look,), ending, failure = usable(plan(SYNTHESIS, ""), first=True)
    assert (look.intent, look.query, ending, failure) == (EXPLORE, QUESTION, False, "")


@given(
    st.lists(
        st.builds(
            plan, st.sampled_from(SearchIntent), st.sampled_from(["", "a", "b", "a b", "b a", "c"])
        )
    )
)
def test_what_is_used_is_new_short_and_never_a_synthesis(listed: list[SearchPlan]) -> None:
    kept, ending, failure = usable(*listed[:8], tried=("c",))
    assert len(kept) <= 3
    assert all(
        item in listed and item.intent is not SYNTHESIS and item.query != "c" for item in kept
    )
    assert len({frozenset(words(item.query)) for item in kept}) == len(kept)
    assert bool(failure) == (not kept and not ending), "there is a plan, an end or a reason"


# -- what each intent does


async def test_synthesis_searches_nothing(tmp_path: Path) -> None:
    rig, deps = deps_of(tmp_path)
    done = await intents.carry_out(deps, plan(SYNTHESIS), intents.Knowledge(QUESTION, PARTS))
    assert done.looked == LookResult()
    assert not rig.provider.queries
    assert not rig.reasoner.asked


async def test_exploration_is_broad_the_nearest_part_too_and_read_for_the_whole_question(
    tmp_path: Path,
) -> None:
    rig, deps = deps_of(tmp_path)
    held = intents.Knowledge(QUESTION, PARTS, unanswered=PARTS)
    await intents.carry_out(deps, plan(EXPLORE, "Holm founded year"), held)
    assert sorted(rig.provider.queries) == ["Holm founded year", PARTS[1]]
    assert {task.problems[0].question for task in rig.reasoner.of(tasks.ExtractFindings)} == {
        QUESTION
    }


async def test_a_deep_dive_reads_for_the_open_question_and_follows_leads_one_hop(
    tmp_path: Path,
) -> None:
    def leading(task: tasks.ExtractFindings) -> tasks.Extraction:
        hop = len(rig.reasoner.of(tasks.ExtractFindings))
        return (
            ScriptedReasoner()
            ._extract_findings(task)
            .model_copy(update={"leads": (f"Holm {hop}",)})
        )

    rig, deps = deps_of(tmp_path, extract_findings=leading)
    held = intents.Knowledge(QUESTION, PARTS, unanswered=PARTS[1:])
    done = await intents.carry_out(deps, plan(DIVE, "Holm register"), held)
    assert {task.problems[0].question for task in rig.reasoner.of(tasks.ExtractFindings)} == {
        PARTS[1]
    }
    assert rig.provider.queries == ["Holm register", query_of_lead("Holm 1", PARTS[1])]
    assert done.looked.leads == ("Holm 2",), "the second hop is left to another plan"


async def test_the_reasoning_of_a_plan_tells_which_open_question_it_serves(tmp_path: Path) -> None:
    rig, deps = deps_of(tmp_path)
    held = intents.Knowledge(QUESTION, PARTS, unanswered=("Who is Bertil?", "Where do boats lie?"))
    await intents.carry_out(deps, plan(DIVE, "Holm", "Not answered yet: Where do boats lie?"), held)
    assert {task.problems[0].question for task in rig.reasoner.of(tasks.ExtractFindings)} == {
        "Where do boats lie?"
    }


async def test_related_topics_take_names_of_the_findings_and_no_word_that_was_searched(
    tmp_path: Path,
) -> None:
    rig, deps = deps_of(tmp_path)
    lines = await known(deps)
    rig.provider.queries.clear()
    held = intents.Knowledge(QUESTION, PARTS, lines, tried=[QUESTION], leads=["Lund harbour"])
    await intents.carry_out(deps, plan(RELATED, "Holm traders owner history"), held)
    lead = "Lund harbour traders owner history"
    # Searches at once have no order.
    others = [query for query in rig.provider.queries if query != lead]
    assert len(others) == len(rig.provider.queries) - 1 == intents.BESIDE - 1
    assert any(name in others[0] for name in ("Anna", "Bertil")), "else names of the findings"


async def test_related_topics_without_a_new_word_search_nothing(tmp_path: Path) -> None:
    rig, deps = deps_of(tmp_path)
    held = intents.Knowledge(QUESTION, PARTS, tried=["holm works"])
    done = await intents.carry_out(deps, plan(RELATED, "Works of Holm"), held)
    assert not rig.provider.queries
    assert not done.looked.searched


@given(
    st.lists(st.sampled_from("holm works boats Lund trader the of".split()), max_size=6).map(
        " ".join
    ),
    st.lists(st.sampled_from(["holm works", "boats of Lund", "trader"]), max_size=3),
    st.lists(st.sampled_from(["Anna Holm", "Lund", "Bertil Ask"]), max_size=3),
)
def test_a_broadened_search_repeats_no_plain_word_of_those_before(
    query: str, tried: list[str], leads: list[str]
) -> None:
    used = {term for made in tried for term in terms(made)}
    made = intents.broaden(query, tried, leads)
    assert len(made) <= intents.BESIDE
    for line in made:
        lead = next((lead for lead in leads if line.startswith(lead)), "")
        rest = words(line.removeprefix(lead))
        assert not [word for word in rest if stem(word) in used or word in STOPWORDS]
        assert line.strip()


# -- checking


PAGES = (
    ("https://post.example/1", "The Post", BERTIL),
    (
        "https://post.example/2",
        "Post Evening",
        "Bertil Ask does own Holm Works, as we said yesterday.",
    ),
    (
        "https://other.example/1",
        "the  post",
        "Readers say that Bertil Ask may own Holm Works today.",
    ),
    (
        "https://register.example/1",
        "Register",
        "The register says that Anna Holm is the one to own Holm Works.",
    ),
    (
        "https://notice.example/1",
        "Notice",
        "By notice of May the Holm Works, which Bertil Ask came to own, moved.",
    ),
)


def judging(**by_host: Stance) -> Any:
    def rule(task: tasks.Judge) -> tasks.Judgements:
        told = {item.publisher.lower(): item.id for item in task.findings}
        listed = [
            tasks.Judgement(finding=told[name], stance=stance, strength=0.8)
            for name, stance in by_host.items()
            if name in told
        ]
        return tasks.Judgements(judgements=tuple(listed))

    return rule


async def checked(
    home: Path, *pages: tuple[str, str, str], **stances: Stance
) -> tuple[Rig, Deps, intents.ExecutedPlan]:
    provider = WebProvider(pages[0])
    rig, deps = deps_of(home, provider, judge=judging(**stances))
    lines = await known(deps)
    provider.corpus = WebProvider(*pages).corpus
    held = intents.Knowledge(QUESTION, PARTS, lines)
    return (
        rig,
        deps,
        await intents.carry_out(deps, plan(CHECK, "Bertil Ask Holm Works owned"), held),
    )


async def test_fact_checking_reads_only_other_addresses_hosts_and_publishers(
    tmp_path: Path,
) -> None:
    rig, deps, done = await checked(tmp_path, *PAGES)
    assert {deps.ledger.get(Source, key).url for key in done.looked.sources} == {
        "https://register.example/1",
        "https://notice.example/1",
    }
    assert {task.problems[0].question for task in rig.reasoner.of(tasks.ExtractFindings)[1:]} == {
        BERTIL
    }
    assert done.checked == (next(key for key in deps.ledger.of(Finding) if key in done.checked),)


async def test_sources_that_agree_need_no_note(tmp_path: Path) -> None:
    _, _, done = await checked(tmp_path, *PAGES, notice=Stance.SUPPORTS)
    assert done.notes == ()
    assert done.checked


async def test_sources_that_disagree_are_told_with_how_many(tmp_path: Path) -> None:
    _, _, done = await checked(tmp_path, *PAGES, register=Stance.REFUTES, notice=Stance.SUPPORTS)
    assert done.notes == (intents.CONTESTED.format(1, 1, BERTIL),)


async def test_a_finding_that_nobody_else_carries_is_told(tmp_path: Path) -> None:
    _, _, done = await checked(tmp_path, *PAGES[:3])
    assert done.notes == (intents.ALONE.format(BERTIL),)
    assert done.checked, "it was looked for, so it is not looked for again"


MORE = " ".join(
    f"On day {n} it rained over {word}."
    for n, word in enumerate("bay cape dock east ford gate".split())
)


async def test_a_copy_on_another_host_is_no_other_source(tmp_path: Path) -> None:
    story = f"{BERTIL} " + " ".join(
        f"He bought the {n}th of his boats in the spring of that year." for n in range(30)
    )
    rig, deps, done = await checked(
        tmp_path,
        ("https://post.example/1", "The Post", story),
        (
            "https://copy.example/1",
            "The Copy",
            f"{story} " + "Our own paper adds a word about the weather. " * 3 + MORE,
        ),
        copy=Stance.SUPPORTS,
    )
    assert {deps.ledger.get(Source, key).url for key in done.looked.sources} == {
        "https://copy.example/1"
    }
    assert not rig.reasoner.of(tasks.Judge), "one origin: there is nothing to judge"
    assert done.notes == (intents.ALONE.format(BERTIL),)


async def test_a_check_that_could_not_be_searched_is_none(tmp_path: Path) -> None:
    rig, deps = deps_of(tmp_path)
    lines = await known(deps)
    rig.provider.down = lambda query: True
    done = await intents.carry_out(
        deps, plan(CHECK, "Bertil"), intents.Knowledge(QUESTION, PARTS, lines)
    )
    assert done.checked == ()
    assert done.notes == ()
    assert done.looked.limits


async def test_a_judge_who_fails_says_neither_for_nor_against(tmp_path: Path) -> None:
    def fail(task: Any) -> Any:
        raise ReasonError("the model is not in the mood")

    provider = WebProvider(PAGES[0])
    _, deps = deps_of(tmp_path, provider, judge=fail)
    lines = await known(deps)
    provider.corpus = WebProvider(*PAGES).corpus
    done = await intents.carry_out(
        deps, plan(CHECK, "Bertil Ask owned"), intents.Knowledge(QUESTION, PARTS, lines)
    )
    assert done.notes == (intents.ALONE.format(BERTIL),)
    assert any("judge failed" in line for line in deps.notes)


async def test_with_nothing_to_check_a_check_is_a_first_look(tmp_path: Path) -> None:
    rig, deps = deps_of(tmp_path)
    done = await intents.carry_out(deps, plan(CHECK, "Holm"), intents.Knowledge(QUESTION, PARTS))
    assert done.checked == ()
    assert done.looked.findings
    assert sorted(rig.provider.queries) == sorted(["Holm", PARTS[0]]), (
        "the two go out at once, in either order"
    )


@pytest.mark.parametrize(
    ("url", "publisher", "independent"),
    [
        ("https://post.example/1", "", False),
        ("http://www.post.example/1/", "Somebody", False),
        ("https://post.example/other", "Somebody", False),
        ("https://else.example/1", "THE  Post", False),
        ("https://else.example/1", "The Poster", True),
        ("https://else.example/1", "", True),
        ("file:///shelf/a.txt", "", True),
    ],
)
def test_independence_is_told_by_address_host_and_publisher(
    url: str, publisher: str, independent: bool
) -> None:
    source = Source(
        id="s_1",
        kind=SourceKind.PAGE,
        url="https://post.example/1",
        title="t",
        snapshot="h",
        publisher="The Post",
        credibility=Credibility(score=0.5),
    )
    assert intents.independent_of([source])(Hit(url=url, publisher=publisher)) is independent
    assert intents.independent_of([])(Hit(url=url, publisher=publisher))


async def test_documents_without_host_and_publisher_do_not_exclude_each_other(
    tmp_path: Path,
) -> None:
    _, deps = deps_of(tmp_path)
    lines = await known(deps)
    carriers = intents.sources_of(deps, lines[0].findings)
    assert intents.independent_of(carriers)(Hit(url="doc:another"))
    assert not intents.independent_of(carriers)(Hit(url=carriers[0].url))


# -- voices, leads, results


def finding(deps: Deps, name: str, publisher: str, text: str) -> str:
    snapshot = deps.store.texts.put(deps.run.id, text)
    source = Source(
        id=f"s_{name}",
        kind=SourceKind.DOCUMENT,
        url=f"doc:{name}",
        title=name,
        snapshot=snapshot,
        publisher=publisher,
        credibility=Credibility(score=0.5),
    )
    quote = Quote(
        source=source.id, passage=Passage(snapshot=snapshot, start=0, end=4), text=text[:4]
    )
    made = Finding(id=f"f_{name}", statement=text, quotes=(quote,))
    deps.add(source, made)
    return made.id


async def test_sources_of_one_publisher_are_one_voice(tmp_path: Path) -> None:
    _, deps = deps_of(tmp_path)
    one = finding(
        deps, "a", "The Post", "Anna owns it, we learnt from her lawyer on the first day of May."
    )
    two = finding(
        deps,
        "b",
        "the post",
        "It is Anna who owns the works by the harbour, says the court in its ruling.",
    )
    three = finding(
        deps, "c", "", "Nobody but Anna can be the owner of what stands at the northern quay."
    )
    assert intents.count_voices(deps, [one]) == 1
    assert intents.count_voices(deps, [one, two]) == 1
    assert intents.count_voices(deps, [one, two, three]) == 2
    assert intents.count_voices(deps, []) == 0


def test_a_lead_is_looked_up_when_one_search_held_all_of_its_words() -> None:
    leads = ["Anna Holm", "Bertil Ask", "Lund"]
    assert intents.drop_looked_up(leads, ["anna holm born", "bertil", "ask"]) == [
        "Bertil Ask",
        "Lund",
    ]


async def test_results_are_ranked_marked_with_their_intent_and_told_once_for_each(
    tmp_path: Path,
) -> None:
    _, deps = deps_of(tmp_path)
    held = intents.Knowledge(QUESTION, PARTS)
    first = await intents.carry_out(deps, plan(EXPLORE, QUESTION), held)
    again = await intents.carry_out(deps, plan(EXPLORE, "Holm Works again"), held)
    dive = await intents.carry_out(deps, plan(DIVE, "Holm Works deep"), held)
    results = intents.results_of(deps, QUESTION, [first, again], [])
    assert len(results) == 3, "three documents, each once"
    assert [item["relevance_score"] for item in results] == sorted(
        item["relevance_score"] for item in results
    )
    assert {item["search_intent"] for item in results} == {"initial_exploration"}
    later = intents.results_of(deps, QUESTION, [again, dive], results)
    assert {item["search_intent"] for item in later} == {"deep_dive"}, (
        "what another intent finds is told again"
    )
    whole = intents.add_content(deps, results[-1], QUESTION)
    assert whole.content == deps.store.texts.get(
        deps.ledger.get(Source, results[-1]["source"]).snapshot
    )
    assert whole.timestamp.isoformat() == deps.run.created
    shown = intents.show_results(deps, QUESTION, results)
    assert [item.title for item in shown] == [item["title"] for item in results]
    assert all(item.content for item in shown)


async def test_of_a_result_whose_findings_are_shown_the_content_is_not_shown_too(
    tmp_path: Path,
) -> None:
    _, deps = deps_of(tmp_path)
    held = intents.Knowledge(QUESTION, PARTS)
    done = await intents.carry_out(deps, plan(EXPLORE, QUESTION), held)
    results = intents.results_of(deps, QUESTION, [done], [])
    key = done.looked.findings[0]
    line = line_of(deps, deps.ledger.get(Finding, key).statement, [key])
    shown = intents.show_results(deps, QUESTION, results, [line])
    told = deps.ledger.get(Finding, key).quotes[0].source
    assert {item["source"] for item in results} > {told}
    for item, result in zip(shown, results, strict=True):
        assert bool(item.content) is (result["source"] != told)
        assert item.title == result["title"]


async def test_the_content_of_a_long_source_is_its_best_part(tmp_path: Path) -> None:
    text = "\n\n".join(
        [*(f"Paragraph {n} tells of weather and of nothing else. " * 8 for n in range(30)), ANNA]
    )
    _, deps = deps_of(tmp_path, CorpusProvider({"doc:long": ("Long", "newspaper", text)}))
    done = await intents.carry_out(
        deps, plan(EXPLORE, QUESTION), intents.Knowledge(QUESTION, PARTS)
    )
    (result,) = intents.results_of(deps, QUESTION, [done], [])
    whole = intents.add_content(deps, result, QUESTION)
    assert len(whole.content) <= 2_000
    assert ANNA in whole.content
