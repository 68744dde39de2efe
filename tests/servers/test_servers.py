"""The scripted server and its brain: what the other tests stand on must itself be right."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from deepdiver.core.record import CorrelationKind, HypothesisStatus
from deepdiver.reason.ladder import answer_schema
from deepdiver.tasks import (
    TASKS,
    Analyse,
    AnalyseOutput,
    CheckSupport,
    CitedFinding,
    CiteReport,
    Claim,
    Conclusion,
    Correlate,
    Decide,
    DecideAction,
    Decompose,
    DecomposeTask,
    ExtractFindings,
    Faulty,
    Hypothesise,
    HypothesisStanding,
    Judge,
    KeyFinding,
    NavigatorTool,
    NumberedText,
    Outline,
    OutlineReport,
    Pairing,
    PlannedSection,
    PlanResearch,
    PlanSearches,
    Reflect,
    RefuteQueries,
    RepairSentences,
    Rival,
    ShownFinding,
    ShownTool,
    Task,
    TypedFindings,
    VerifyConclusions,
    WriteBottomLine,
    WriteQueries,
    WriteReport,
    WriteSections,
)
from deepdiver.tasks import (
    Answer as TaskAnswer,
)
from tests.patience import PATIENCE
from tests.servers.apart import ServerApart
from tests.servers.brain import ANSWERS, made, made_page, made_search, popper_brain, sentences_of
from tests.servers.scripted import Answer, ScriptedServer
from tests.texts import parts_of, shown_text

TEXT = made("svedjan-ost-1", "").text
FINDINGS = tuple(
    ShownFinding(
        id=f"F{number}",
        statement=f"Count {number} was made.",
        quote=f"Count {number} was made.",
        source="Notes",
    )
    for number in range(1, 6)
)
HELD = HypothesisStanding(
    id="H1",
    statement="Count 1 was made.",
    posterior=0.5,
    status=HypothesisStatus.OPEN,
    trials=1,
    refutes_if="x",
)
NUMBERED = NumberedText(
    id="T1",
    title="Notes",
    text=" ".join(f"<{number}> Count {number} was made." for number in range(1, 6)),
)
CITED = tuple(
    CitedFinding(**dict(found), cites=f"T1:{number}") for number, found in enumerate(FINDINGS, 1)
)
PLAN = Outline(
    title="Count 3 was made",
    sections=(
        PlannedSection(heading="The third", cites=("F3",)),
        PlannedSection(heading="The last", cites=("F5", "F9", "F4")),
    ),
)
TOOLS = (ShownTool(name="search", about="everything", arguments=("query: words",)),)
BRIEF: dict[str, Any] = {
    "texts": (NUMBERED,),
    "question": "q",
    "as_of": "2026-11-01",
    "problems": ("p",),
    "standing": (HELD,),
    "findings": CITED,
}
EVERY: tuple[Task[Any], ...] = (
    Decompose(question="How many crates came to Porto?", as_of="2026-11-01"),
    WriteQueries(question="How many crates?", problem="What is recorded about crates?"),
    RefuteQueries(
        question="How many crates?", hypothesis="Count 1 was made.", refutes_if="another count"
    ),
    ExtractFindings(
        question="q", problems=parts_of("p"), texts=(shown_text(id="T1", title="Notes", text=TEXT),)
    ),
    Hypothesise(
        question="q", as_of="2026-11-01", problems=("p",), findings=FINDINGS, standing=(HELD,)
    ),
    Judge(
        question="q",
        as_of="2026-11-01",
        rivals=(
            Rival(id="H1", hypothesis="Count 1 was made."),
            Rival(id="H2", hypothesis="Count 2 was made in the matter of salt."),
        ),
        findings=FINDINGS,
    ),
    Decide(
        question="q",
        problems=("p",),
        standing=(HELD,),
        findings=5,
        new_findings=2,
        iteration=1,
        max_iterations=3,
    ),
    WriteReport(**BRIEF),
    OutlineReport(**BRIEF),
    CheckSupport(claims=(Claim(id="S1", text="Count 1 was made.", quotes=("Count 1 was made.",)),)),
    RepairSentences(
        question="q",
        sentences=(
            Faulty(id="S1", text="Count 2.", problem="wrong", quotes=("Count 1 was made.",)),
        ),
    ),
    Reflect(
        question="q",
        as_of="2026-11-01",
        known=("Count 1 was made.",),
        iteration=1,
        max_iterations=5,
    ),
    PlanSearches(
        question="q",
        as_of="2026-11-01",
        findings=(KeyFinding(statement="Count 1 was made.", sources=1),),
        iteration=1,
        max_iterations=5,
    ),
    DecideAction(
        initial_query="q",
        as_of="2026-11-01",
        tools=(NavigatorTool(name="search_tavily", about="the web"),),
        max_iterations=5,
    ),
    AnalyseOutput(
        initial_query="q",
        as_of="2026-11-01",
        action="search_tavily",
        query_or_url="crates",
        texts=(shown_text(id="T1", title="Notes", text=TEXT),),
    ),
    PlanResearch(question="q", as_of="2026-11-01", tools=TOOLS),
    DecomposeTask(question="q", as_of="2026-11-01"),
    Analyse(question="q", as_of="2026-11-01", findings=FINDINGS, tools=TOOLS),
    Correlate(
        question="q",
        by_type=(TypedFindings(type="log", findings=FINDINGS),),
        proposals=(
            Pairing(
                id="P1",
                correlation_type=CorrelationKind.TEMPORAL,
                finding_ids=("F1", "F2"),
                measured="1 minute apart",
            ),
        ),
    ),
    VerifyConclusions(
        question="q",
        findings=FINDINGS,
        conclusions=(
            Conclusion(
                id="I3",
                kind="insight",
                text="Count 1 was made.",
                confidence=0.5,
                finding_ids=("F1",),
            ),
        ),
    ),
    WriteReport(**BRIEF, unmarked=True),
    CiteReport(
        texts=BRIEF["texts"], question="q", as_of="2026-11-01", report="# [1] Count 1 was made"
    ),
    WriteSections(
        texts=(NUMBERED,),
        findings=CITED,
        question="q",
        as_of="2026-11-01",
        outline=PLAN,
        write=("The third", "The last"),
    ),
    WriteBottomLine(
        question="q",
        as_of="2026-11-01",
        title="Count 3 was made",
        verdict="Count 3 was made.",
        sections="## The third\n\nThe counts:\n\n- Count 3 was made. {F3}\n- Count 5 was made. {F5}"
        "\n- Count 4 was made. {F4}",
    ),
)


def body_of(task: Task[Any], **more: Any) -> dict[str, Any]:
    prompt = task.prompt()
    messages = [
        {"role": "system", "content": f"Mine.\n\n{prompt.system}"},
        {"role": "user", "content": prompt.user},
    ]
    return {"model": "made", "messages": messages, **more}


def performed(task: Task[Any], **more: Any) -> TaskAnswer:
    said = popper_brain()(body_of(task, **more), 0)
    answer: TaskAnswer = task.answer().model_validate_json(said.text)
    return answer


@pytest.fixture
def client() -> Iterator[httpx.Client]:
    with httpx.Client(trust_env=False, timeout=PATIENCE) as opened:
        yield opened


# The brain


def test_every_task_is_known_to_the_brain() -> None:
    assert {task.name() for task in TASKS} == set(ANSWERS) == {task.name() for task in EVERY}


@pytest.mark.parametrize("task", EVERY, ids=lambda task: task.name())
def test_the_brain_answers_every_task_the_same_way_each_time(task: Task[Any]) -> None:
    schema = answer_schema(task.answer())
    value = json.loads(popper_brain()(body_of(task), 0).text)
    wanted = schema.get("required", task.answer().model_fields)  # strict modes give every field
    assert set(value) == set(wanted)
    assert performed(task) == performed(task)
    tool = {"type": "function", "function": {"name": schema["title"], "parameters": {}}}
    called = popper_brain()(body_of(task, tools=[tool]), 7)
    assert called.tool_calls == ((schema["title"], value),)


def test_the_brain_says_what_the_input_holds() -> None:
    extraction: Any = performed(EVERY[3])
    assert [found.statement for found in extraction.findings] == sentences_of(TEXT)[:2]
    assert [(found.source, found.lines) for found in extraction.findings] == [
        ("T1", (1,)),
        ("T1", (2,)),
    ]
    hypotheses: Any = performed(EVERY[4])
    # F1 stands already.
    assert [proposed.findings for proposed in hypotheses.hypotheses] == [
        ("F2",),
        ("F3",),
    ]
    judged: Any = performed(EVERY[5])
    assert [(item.hypothesis, item.finding, item.stance.value) for item in judged.judgements] == [
        ("H1", f"F{number}", "supports") for number in range(1, 6)
    ], "what is about another matter is left out"
    doubted: Any = performed(EVERY[5].model_copy(update={"findings": FINDINGS[:1]}))
    assert [item.stance.value for item in doubted.judgements] == ["refutes"], "it stands alone"
    repaired: Any = performed(EVERY[10])
    assert repaired.repairs[0].text == "Count 1 was made."


def test_the_brain_writes_a_report_at_once() -> None:
    report: Any = performed(EVERY[7])
    title, heading, lead, section, points = report.markdown.split("\n\n")
    assert (title, heading) == ("# Count 1 was made", "## Bottom line")
    assert lead == "- Count 1 was made. {F1}\n- Count 2 was made. {F2}"
    assert section == "## What the records say"
    assert points.startswith(lead)
    assert len(points.split("\n")) == 5


def test_the_brain_writes_a_report_in_three_steps() -> None:
    outline: Any = performed(EVERY[8])
    assert outline.title == "Count 1 was made"
    assert [section.cites for section in outline.sections] == [("F1", "F2", "F3", "F4", "F5")]
    sections: Any = performed(EVERY[-2])
    assert sections.markdown.split("\n") == [
        "## The third",
        "",
        "- Count 3 was made. {F3}",
        "",
        "## The last",
        "",
        "- Count 5 was made. {F5}",
        "- Count 4 was made. {F4}",
    ]
    top: Any = performed(EVERY[-1])
    assert (top.title, top.missing) == ("Count 3 was made", ())
    assert top.bottom_line == "- Count 3 was made. {F3}\n- Count 5 was made. {F5}"


def test_the_brain_looks_back() -> None:
    reflected: Any = performed(EVERY[11])
    assert (reflected.sufficient, len(reflected.missing), len(reflected.queries)) == (False, 1, 2)
    again: Any = performed(EVERY[11].model_copy(update={"tried": reflected.queries}))
    assert again.queries
    assert not set(again.queries) & set(reflected.queries)
    later: Any = performed(EVERY[11].model_copy(update={"iteration": 2}))
    assert (later.sufficient, later.missing) == (True, ())


def test_the_brain_repeats_no_query_and_finishes_when_told() -> None:
    first: Any = performed(EVERY[1])
    assert len(first.queries) == 2
    second: Any = performed(
        WriteQueries(question="q", problem="What is recorded about crates?", tried=first.queries)
    )
    assert second.queries
    assert not set(second.queries) & set(first.queries)
    decision = EVERY[6]
    assert isinstance(decision, Decide)
    assert json.loads(popper_brain(rounds=2)(body_of(decision), 0).text)["decision"] == "continue"
    later = decision.model_copy(update={"iteration": 2})
    assert json.loads(popper_brain(rounds=2)(body_of(later), 0).text)["decision"] == "finish"


def test_the_brain_refuses_what_is_no_task() -> None:
    said = popper_brain()({"messages": [{"role": "user", "content": "hello"}]}, 0)
    assert said.status == 400


def test_no_two_sentences_of_the_made_web_are_alike() -> None:
    search = made_search(results=4)
    found = [
        document for query in range(40) for document in search(f"query number {query}", 0).documents
    ]
    sentences = [sentence for document in found for sentence in sentences_of(document.text)]
    assert len(sentences) == 40 * 4 * 6
    assert len(set(sentences)) == len(sentences)
    assert len({document.url for document in found}) == 160
    assert search("query number 3", 0) == search("query number 3", 9)


# The server


def test_what_is_not_scripted_is_not_there(client: httpx.Client) -> None:
    with ScriptedServer() as server:
        assert client.post(f"{server.openai}/chat/completions", json={}).status_code == 404
        assert (
            client.get(f"{server.url}/search", params={"q": "x", "format": "json"}).status_code
            == 404
        )
        assert client.get(f"{server.url}/page/x").status_code == 404


def test_both_searches_and_the_pages_they_find(client: httpx.Client) -> None:
    with ScriptedServer(search=made_search(local=True), page=made_page()) as server:
        asked = {"query": "svedjan ost", "max_results": 2, "include_raw_content": True}
        tavily = client.post(f"{server.url}/search", json=asked).json()["results"]
        assert [result["raw_content"] for result in tavily] == [
            made(f"svedjan-ost-{n}", "").text for n in (1, 2)
        ]
        found = client.get(
            f"{server.url}/search", params={"q": "svedjan ost", "format": "json"}
        ).json()["results"]
        assert [result["url"] for result in found][:2] == [result["url"] for result in tavily]
        page = client.get(found[0]["url"])
        assert page.headers["content-type"].startswith("text/html")
        assert sentences_of(made("svedjan-ost-1", "").text)[0] in page.text
        assert client.get(f"{server.url}/search", params={"q": "x"}).status_code == 403
        assert [entry.path for entry in server.searches] == ["/search"] * 3
        assert len(server.log) == 4


def test_streams_say_the_same_as_whole_answers(client: httpx.Client) -> None:
    text = "A text that is longer than a single piece of a stream, with ünïcode."
    with ScriptedServer(lambda body, n: Answer(text=text)) as server:
        url = f"{server.openai}/chat/completions"
        whole = client.post(url, json={"model": "m", "messages": []}).json()["choices"][0][
            "message"
        ]["content"]
        events = client.post(url, json={"model": "m", "messages": [], "stream": True}).text.split(
            "\n\n"
        )
        assert events[-2:] == ["data: [DONE]", ""]
        pieces = [
            json.loads(event.removeprefix("data: "))["choices"][0]["delta"] for event in events[:-2]
        ]
        assert len(pieces) > 3
        assert "".join(piece.get("content") or "" for piece in pieces) == whole == text
        lines = client.post(
            f"{server.url}/api/chat", json={"model": "m", "messages": []}
        ).text.splitlines()
        assert "".join(json.loads(line)["message"]["content"] for line in lines) == text
        assert [json.loads(line)["done"] for line in lines] == [False] * (len(lines) - 1) + [True]
        single = client.post(
            f"{server.url}/api/chat", json={"model": "m", "messages": [], "stream": False}
        ).json()
        assert single["message"]["content"] == text


def test_the_log_knows_what_came_when_and_with_which_key(client: httpx.Client) -> None:
    with ScriptedServer(lambda body, n: Answer(text=str(n), delay=0.1)) as server:
        url = f"{server.openai}/chat/completions"
        before = time.monotonic()
        client.post(url, json={"model": "a"}, headers={"Authorization": "Bearer x"})
        client.post(url, json={"model": "b"})
        first, second = server.models
        assert (first.body["model"], first.authorised, first.status) == ("a", True, 200)
        assert (second.body["model"], second.authorised) == ("b", False)
        assert (
            before < first.started < first.ended < second.started < second.ended < time.monotonic()
        )
        assert first.ended - first.started >= 0.1
        assert "Bearer" not in client.get(f"{server.url}/log").text


def test_a_server_in_a_process_of_its_own(client: httpx.Client) -> None:
    with ServerApart(rounds=1) as server:
        reply = client.post(f"{server.openai}/chat/completions", json=body_of(EVERY[6])).json()
        assert json.loads(reply["choices"][0]["message"]["content"])["decision"] == "finish"
        assert client.post(f"{server.url}/search", json={"query": "x"}).json()["results"]
        assert [entry["path"] for entry in server.log()] == ["/v1/chat/completions", "/search"]
    with pytest.raises(httpx.ConnectError):
        client.get(f"{server.url}/log")
