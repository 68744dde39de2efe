"""An invented week, told by every feed.

What was planted is found, what is false refuted, what was down told.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from deepdiver.core.record import (
    Correlation,
    CorrelationKind,
    Finding,
    HypothesisStatus,
    Source,
    SourceKind,
)
from deepdiver.core.settings import Settings, load
from deepdiver.run import Outcome, replay, research
from deepdiver.run.detached import detached_gateway
from deepdiver.run.record import load_ledger
from deepdiver.store.sqlite import open_sqlite
from deepdiver.tools.osint.registry import call_feed
from tests.servers.brain import Directions, popper_brain
from tests.servers.scripted import ScriptedServer
from tests.servers.week import KEV, KEY, Week
from tests.strategies.shared.test_argument_tool import approve
from tests.warm import Warm

pytestmark = pytest.mark.usefixtures("read_once")

QUESTION = "Have strikes near Kharkiv increased this week?"
YES, NO = (
    "Strikes near Kharkiv have increased this week.",
    "Strikes near Kharkiv have not increased this week.",
)


@pytest.fixture
def week() -> Iterator[Week]:
    with Week() as started:
        yield started


def settings(week: Week, home: Path, **more: Any) -> Settings:
    return load(
        {"home": home, "strategy": "overwatch", "search": ("gdelt",), **week.settings, **more}
    )


async def researched(week: Week, home: Path, **more: Any) -> Outcome:
    return await research(QUESTION, settings(week, home, **more), out=home / "out")


def limits(outcome: Outcome) -> str:
    assert outcome.report is not None
    return "\n".join(outcome.report.limits)


def everything_in(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


async def test_what_was_planted_is_found_and_what_is_false_is_refuted(
    week: Week, tmp_path: Path
) -> None:
    outcome = await researched(week, tmp_path)
    report = outcome.report
    assert report is not None
    assert report.status.value == "answered", report.limits
    standing = {item.hypothesis.statement: item.status for item in report.hypotheses}
    assert standing[YES] is HypothesisStatus.SUPPORTED
    assert standing[NO] is HypothesisStatus.REFUTED
    ledger = load_ledger(open_sqlite(tmp_path), outcome.run.id)
    pairs = [
        {ledger.get(Finding, key).statement for key in item.findings}
        for item in ledger.of(Correlation).values()
        if item.kind is CorrelationKind.TEMPORAL
    ]
    news = (
        "A strike hit a fuel depot in Merefa at 14:00 UTC on 11 November 2026, the regional "
        "administration said."
    )
    (planted,) = [
        pair
        for pair in pairs
        if news in pair and any("2026-11-11 14:05 UTC" in text for text in pair)
    ]
    assert len(planted) == 2
    text = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert "5 minutes apart, 0.92 km apart" in text


async def test_a_feed_that_was_down_is_reported_as_down(week: Week, tmp_path: Path) -> None:
    week.down |= {"ioda", "firms"}
    outcome = await researched(week, tmp_path)
    told = limits(outcome)
    assert "check_connectivity failed" in told
    assert "Cloudflare Radar failed: cloudflare_radar answered 503" in told
    assert "detect_thermal_anomalies failed" in told
    text = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert "thermal anomal" not in text.partition("## Evidence")[0].partition("## Sources")[0], (
        "nothing is made up for it"
    )


async def test_every_number_of_a_row_stands_in_the_row_it_came_from(
    week: Week, tmp_path: Path
) -> None:
    outcome = await researched(week, tmp_path)
    store = open_sqlite(tmp_path)
    ledger = load_ledger(store, outcome.run.id)
    rows = 0
    for finding in ledger.of(Finding).values():
        quote = finding.quotes[0]
        source = ledger.get(Source, quote.source)
        text = store.texts.get(source.snapshot)
        assert text[quote.passage.start : quote.passage.end] == quote.text
        if source.kind is not SourceKind.FEED:
            continue
        assert finding.statement == quote.text
        behind = text[quote.passage.end :].split("\n")[1:2]
        if behind and behind[0].startswith("{"):
            data, rows = json.loads(behind[0]), rows + 1
            if "frp" in data:
                assert f"{data['frp']:g} MW" in finding.statement
    assert rows >= 14, "each fire has its row"


async def test_the_run_replays_offline_to_the_same_report_and_no_key_is_anywhere(
    week: Week, tmp_path: Path
) -> None:
    outcome = await researched(week, tmp_path)
    asked = len(week.log)
    week.down |= {"gdelt", "firms", "ioda", "rss", "page"}
    again = await replay(outcome.run.id, settings(week, tmp_path, keys={}))
    assert again.report == outcome.report
    assert len(week.log) == asked, "nobody was asked"
    assert KEY.encode() not in everything_in(tmp_path)


JUNK = {
    "an error page": b"<!DOCTYPE html><html><body><h1>503 Backend fetch failed</h1></body></html>",
    "cut in the middle": b'{"articles": [{"url": "http://a.example/1", "title": "Stri',
    "a table cut in the middle": b"latitude,longitude,bright_ti4,scan,track,acq_date,acq_time,sat",
    "wrong types": b'{"articles": 7, "data": {"x": []}, "error": [], "timeline": "no", "features": '
    b"null}",
    "no characters": bytes(range(128, 256)) * 8,
    "too much": b"[" * 10_000_000,
    "nothing": b" ",
}


@pytest.mark.parametrize("junk", JUNK.values(), ids=JUNK.keys())
async def test_junk_from_every_feed_is_told_and_the_run_goes_on(
    week: Week, tmp_path: Path, junk: bytes
) -> None:
    week.says = dict.fromkeys(("firms", "ioda", "cloudflare_radar", "rss"), junk)
    week.down = set()
    outcome = await researched(week, tmp_path)
    assert outcome.error is None
    assert outcome.report is not None
    told = limits(outcome)
    assert "detect_thermal_anomalies failed" in told
    assert "check_connectivity failed" in told
    assert "the news feed" in told
    text = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert "GDELT counts 71 articles" in text, "what the others said is there"


# -- every feed

ASKED: dict[str, dict[str, Any]] = {
    "check_connectivity": {"country_code": "UA", "days": 7},
    "detect_thermal_anomalies": {"latitude": 49.98, "longitude": 36.25, "radius_km": 50, "days": 7},
    "lookup_sanctions": {"name": "Viktor Petrov"},
    "search_cyber": {"cve": "CVE-2024-3400"},
    "search_events": {
        "latitude": 49.98,
        "longitude": 36.25,
        "country_code": "UA",
        "keywords": "blast",
        "days": 7,
    },
    "search_news": {"keywords": "Kharkiv, strikes", "days": 7},
}
SERVICES = {
    "check_connectivity": {"IODA", "Cloudflare Radar"},
    "detect_thermal_anomalies": {"NASA FIRMS"},
    "lookup_sanctions": {"OpenSanctions"},
    "search_cyber": {"CISA KEV", "NVD"},
    "search_events": {"USGS earthquake catalogue", "ReliefWeb"},
    "search_news": {"GDELT", "Border News"},
}
real_kev = pytest.mark.skipif(not KEV.exists(), reason=f"the catalogue of CISA is not at {KEV}")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=real_kev) if "cyber" in name else name for name in ASKED]
)
async def test_every_feed_is_answered_in_the_format_of_its_services(
    week: Week, tmp_path: Path, name: str
) -> None:
    week.down = set()
    keys = {**week.settings["keys"], "opensanctions": "a-key-for-sanctions"}
    async with detached_gateway(settings(week, tmp_path, keys=keys)) as gateway:
        told = await call_feed(name, ASKED[name], gateway)
    assert not told.failures
    assert {answer.service for answer in told.answers} == SERVICES[name]


@real_kev
async def test_a_question_on_a_vulnerability_is_answered_from_the_real_catalogue(
    week: Week, tmp_path: Path
) -> None:
    outcome = await research("Is CVE-2024-3400 exploited?", settings(week, tmp_path))
    assert outcome.report is not None
    assert outcome.report.status.value == "answered"
    ledger = load_ledger(open_sqlite(tmp_path), outcome.run.id)
    cited = {ledger.get(Source, citation.source).publisher for citation in outcome.report.citations}
    assert "CISA KEV" in cited
    rows = [
        finding.statement
        for finding in ledger.of(Finding).values()
        if "2024-04-12" in finding.statement
    ]
    assert any("Palo Alto Networks" in row for row in rows), "the row says since when"


# -- with a model


def asked(tool: str, **args: str) -> dict[str, Any]:
    listed = [{"name": name, "value": value} for name, value in args.items()]
    return {"tool": tool, "args": listed, "reason": "to find out"}


CALLS = [
    asked("search_news", keywords="Kharkiv, strikes", days="7"),
    asked(
        "detect_thermal_anomalies", latitude="49.98", longitude="36.25", radius_km="50", days="7"
    ),
    asked("check_connectivity", country_code="UA", days="7"),
    asked("detect_thermal_anomalies", latitude="91", longitude="36.25", radius_km="-1"),
    asked("launch_drones", target="anything"),
]
"""What a model plans: three good calls, one that no feed takes, and one of a tool that is not
there."""


def judged(fields: dict[str, Any], usual: dict[str, Any]) -> dict[str, Any]:
    """Judge as a reader would.

    Counts and councils speak for more strikes, the tabloid for fewer.
    """
    told = []
    for rival, found in itertools.product(fields["rivals"], fields["findings"]):
        denies = "not increased" in rival["hypothesis"]
        more = " against " in found["quote"] or "intensified" in found["quote"]
        fewer = "decreased" in found["quote"]
        stance = "neutral" if more == fewer else "supports" if more != denies else "refutes"
        told.append(
            {
                "hypothesis": rival["id"],
                "finding": found["id"],
                "stance": stance,
                "strength": 0.8 * (more != fewer),
                "reason": "reads so",
            }
        )
    return {"judgements": told}


def put_forward(fields: dict[str, Any], usual: dict[str, Any]) -> dict[str, Any]:
    if fields.get("standing"):
        return {"hypotheses": []}
    claims = [
        {
            "statement": text,
            "answer": answer,
            "supports_if": "a count",
            "refutes_if": "a count",
            "prior": 0.5,
        }
        for text, answer in ((YES, "yes"), (NO, "no"))
    ]
    return {"hypotheses": [{**claim, "findings": [], "test_queries": []} for claim in claims]}


MODEL: Directions = {
    "plan_research": [{"objectives": [QUESTION], "initial_queries": CALLS}],
    "hypothesise": [put_forward],
    "judge": [judged],
    "analyse": [{"follow_up_queries": []}],
    "reflect": [{"queries": [], "missing": [], "notes": [], "sufficient": True}],
}


async def test_a_model_finds_the_same(week: Week, tmp_path: Path) -> None:
    with ScriptedServer(popper_brain(directions=MODEL)) as server:
        model, own = "openai:gpt-5-mini", week.settings
        own["urls"] |= {"openai": f"{server.url}/v1"}
        own["keys"] |= {"openai": "sk-of-the-test"}
        own["limits"] |= {model: {"rate": 1000, "concurrent": 64}}
        settings = load(
            {"home": tmp_path, "strategy": "overwatch", "search": ("gdelt",), "model": model, **own}
        )
        outcome = await research(QUESTION, settings, out=tmp_path / "out")
    assert outcome.error is None
    assert outcome.report is not None
    standing = {item.hypothesis.statement: item.status for item in outcome.report.hypotheses}
    assert standing == {YES: HypothesisStatus.SUPPORTED, NO: HypothesisStatus.REFUTED}
    text = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert "5 minutes apart, 0.92 km apart" in text
    told = limits(outcome)
    assert "Cloudflare Radar failed: cloudflare_radar answered 503" in told
    assert "detect_thermal_anomalies was not called: its argument 'latitude'" in told
    assert "launch_drones was not called: there is no such tool" in told
    assert sum("/firms/" in path for path in week.log) == 16, (
        "the call that was refused was never sent"
    )


# -- over another process


@pytest.mark.slow
async def test_feeds_of_another_process_give_the_same_findings(
    week: Week, tmp_path: Path, warm: Warm
) -> None:
    week.down = set()
    env = {f"DEEPDIVER_{name.upper()}_URL": url for name, url in week.settings["urls"].items()}
    env |= {
        "DEEPDIVER_FIRMS_KEY": KEY,
        "DEEPDIVER_AS_OF": "2026-11-14",
        "DEEPDIVER_HOME": str(tmp_path / "far"),
    }
    limits_of = "\n".join(f"{name} = {{ rate = 1000 }}" for name in week.settings["limits"])
    (tmp_path / "deepdiver").mkdir()
    (tmp_path / "deepdiver" / "deepdiver.toml").write_text(
        f"[limits]\n{limits_of}\n", encoding="utf-8"
    )
    env["XDG_CONFIG_HOME"] = str(tmp_path)
    command = [*warm.command, "mcp", "--sample"]
    own = {
        **week.settings,
        "keys": {},
        "news_feeds": [],
        "mcp": {"servers": {"far": {"command": command, "env": env}}},
    }
    own["mcp"]["feeds"] = "far"
    settings = load({"home": tmp_path, "strategy": "overwatch", "search": ("gdelt",), **own})
    await approve(settings)
    outcome = await research(QUESTION, settings)
    assert outcome.error is None
    ledger = load_ledger(open_sqlite(tmp_path), outcome.run.id)
    services = {
        source.publisher for source in ledger.of(Source).values() if source.kind is SourceKind.FEED
    }
    assert {"NASA FIRMS", "GDELT", "IODA"} <= services, limits(outcome)
    assert outcome.report is not None
    standing = {item.hypothesis.statement: item.status for item in outcome.report.hypotheses}
    assert standing[YES] is HypothesisStatus.SUPPORTED
    again = await replay(outcome.run.id, load({"home": tmp_path}))
    assert again.report == outcome.report


async def test_a_question_to_documents_asks_no_feed(week: Week, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "log.txt").write_text(
        "Strikes near Kharkiv have increased this week.\n", encoding="utf-8"
    )
    own = {
        **week.settings,
        "home": tmp_path,
        "strategy": "overwatch",
        "documents": (tmp_path / "docs",),
    }
    outcome = await research(QUESTION, load(own))
    assert outcome.report is not None
    assert week.log == []
