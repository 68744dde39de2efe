"""Resources: addresses that lead nowhere first, then runs, reports, records and sources."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deepdiver.errors import UnknownNameError, UsageError
from deepdiver.mcp_server.resources import MOST_RUNS, PARTS, RUNS, list_resources, read_resource
from deepdiver.mcp_server.state import ServerState
from deepdiver.report.markdown import render_markdown
from deepdiver.run import research
from deepdiver.run.begin import new_run
from tests.mcp_server.tides import KEY

TONNES = "How many tonnes of cheese did Svedjan Ost AB make in 2025?"


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "deepdiver://",
        "deepdiver://run",
        f"{RUNS}/",
        f"{RUNS}/20261115-x",
        f"{RUNS}/20261115-x/report.html",
        f"{RUNS}/../report.md",
        f"{RUNS}/20261115-x/../report.md",
        f"{RUNS}/20261115-x/report.md/",
        f"{RUNS}/20261115-x/report.md\n",
        "file:///etc/passwd",
        "https://example.org/",
        f"{RUNS}/{'x' * 10_000}/report.md",
    ],
)
def test_an_address_that_leads_nowhere(state: ServerState, uri: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        read_resource(state, uri)
    assert len(str(caught.value)) < 250


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=60).map(lambda tail: RUNS + tail).filter(lambda uri: uri != RUNS))
def test_no_address_makes_it_stumble(state: ServerState, uri: str) -> None:
    with pytest.raises(UnknownNameError):
        read_resource(state, uri)


def test_a_run_without_a_report(state: ServerState) -> None:
    run = new_run("Who?", state.settings, state.store)
    with pytest.raises(UsageError, match="has no report yet"):
        read_resource(state, f"{RUNS}/{run.id}/report.md")
    assert list_resources(state) == [(RUNS, "All runs, the newest first")]
    mime, text = read_resource(state, RUNS)
    assert mime == "application/json"
    assert [item["status"] for item in json.loads(text)["runs"]] == ["running"]


def test_what_cannot_be_seen_is_escaped(state: ServerState) -> None:
    new_run("Who\u202e owns\u200b it?", state.settings, state.store)
    _, text = read_resource(state, RUNS)
    assert "Who\\u202e owns\\u200b it?" in text
    assert json.loads(text)["runs"][0]["question"] == "Who\u202e owns\u200b it?"


def test_the_list_has_its_bounds(state: ServerState) -> None:
    for _ in range(MOST_RUNS + 5):
        new_run("Who?", state.settings, state.store)
    assert len(json.loads(read_resource(state, RUNS)[1])["runs"]) == MOST_RUNS


async def test_what_can_be_read_of_a_run(state: ServerState) -> None:
    outcome = await research(
        "How many tonnes of cheese did Svedjan Ost AB make in 2025?",
        state.settings,
        store=state.store,
    )
    run, report = outcome.run, outcome.report
    assert report is not None
    assert list_resources(state)[1] == (f"{RUNS}/{run.id}/report.md", run.question)
    (entry,) = json.loads(read_resource(state, RUNS)[1])["runs"]
    assert entry == {
        "id": run.id,
        "question": run.question,
        "strategy": "popper",
        "status": "answered",
        "created": run.created,
    }
    found = {part.name: read_resource(state, f"{RUNS}/{run.id}/{part.name}") for part in PARTS}
    assert {name: mime for name, (mime, _) in found.items()} == {
        part.name: part.mime for part in PARTS
    }
    assert found["report.md"][1] == render_markdown(report)
    record = json.loads(found["report.json"][1])
    assert record["report_hash"] == report.hash
    assert {item["record"] for item in record["ledger"]} >= {"Source", "Finding"}
    sources = json.loads(found["sources"][1])["sources"]
    assert {number["number"] for source in sources for number in source["cited"]} == {
        citation.number for citation in report.citations
    }
    assert not any(KEY in text for _, text in found.values())
    assert read_resource(state, f"{RUNS}/{run.id[:-3]}/report.md") == found["report.md"], (
        "the beginning of an id will do"
    )
