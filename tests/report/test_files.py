"""The files that a run leaves.

Whole or not there, and nothing that was paid for in doubt goes untold.
"""

from __future__ import annotations

import errno
import json
import os
import subprocess
import unicodedata
from collections.abc import Iterator
from contextlib import closing, suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from deepdiver.core.events import CallStarted, Limited, PhaseStarted, RunEnded, RunStarted
from deepdiver.core.ledger import Ledger
from deepdiver.core.record import (
    Finding,
    HypothesisStatus,
    Mark,
    Passage,
    Quote,
    Report,
    Run,
    RunStatus,
    Section,
    Source,
)
from deepdiver.errors import LostTextError, StoreAccessError, StoreFullError
from deepdiver.report.compose import compose
from deepdiver.report.exports.package import Saved, journal_hash
from deepdiver.report.exports.page import evidence_in_page
from deepdiver.report.files import (
    cost_account,
    reasoning_lines,
    record_of,
    run_summary,
    source_lines,
    write_files,
)
from deepdiver.report.markdown import answer_text, render_markdown
from deepdiver.report.spending import Spending
from deepdiver.store import CallState, JournalRow
from deepdiver.store.sqlite import SqliteStore, open_sqlite
from tests.report.figures import week
from tests.report.making import RUN, assessment, finding, quote, sentence, source

FILES = (
    "evidence.md",
    "reasoning.log",
    "report.html",
    "report.json",
    "report.md",
    "sources.jsonl",
)
PICTURES = ("map.svg", "matrix.svg", "timeline.svg")
LEDGER = Ledger(
    [
        source(
            "s_1",
            sketch=(1, 2, 3),
            title="Register\u2028of Holm",
            marks=(Mark(start=0, kind="page", label="1"),),
        ),
        source("s_2", url="sample:gazette.md"),
        finding("f_1", quote("Anna Holm owns it.")),
    ]
)
REPORT = compose(
    RUN.question,
    (sentence("Anna Holm owns Holm Works.", "f_1"),),
    (),
    (assessment(HypothesisStatus.SUPPORTED, 0.8),),
    LEDGER,
    limits=(),
    made_by="deepdiver, tested",
)
COST = Decimal("0.0320")
EVENTS = (
    RunStarted(
        at="2026-11-15T09:00:00.000+00:00",
        run=RUN.id,
        question=RUN.question,
        strategy="popper",
        reasoner="embedded",
        providers=("library",),
        ceiling=None,
    ),
    PhaseStarted(at="2026-11-15T09:00:00.100+00:00", phase="formulate", iteration=1),
    CallStarted(
        at="2026-11-15T09:00:00.200+00:00",
        call="c",
        kind="search",
        provider="library",
        what="Holm\nWorks",
    ),
    PhaseStarted(
        at="2026-11-15T09:00:00.300+00:00", phase="gather", iteration=1, detail="6 queries"
    ),
    Limited(at="2026-11-15T09:00:00.400+00:00", what="tavily could not search"),
    RunEnded(at="2026-11-15T09:00:01.000+00:00", run=RUN.id, status=RunStatus.ANSWERED, cost=COST),
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with closing(open_sqlite(tmp_path / "store")) as opened:
        opened.runs.create(RUN)
        opened.records.add_events(RUN.id, [event.model_dump_json() for event in EVENTS])
        yield opened


def call(
    store: SqliteStore, key: str, state: CallState, worst: str = "0.016", cost: str = "0"
) -> None:
    """Enter a call and take it as far as the state."""
    store.journal.reserve(
        RUN.id,
        key,
        kind="search",
        provider="tavily",
        what=f"query {key}",
        request="{}",
        worst=Decimal(worst),
        now=1.0,
    )
    if state is not CallState.RESERVED:
        store.journal.mark_sent(RUN.id, key, 2.0)
    if state is CallState.SETTLED:
        store.journal.settle(RUN.id, key, '{"value":[],"cost":"0","usage":{}}', Decimal(cost), 3.0)
    elif state is CallState.FAILED:
        store.journal.fail(
            RUN.id, key, '{"type":"call","fault":"server","message":"x"}', Decimal(cost), 3.0
        )


def save(
    folder: Path,
    run: Run,
    report: Report,
    ledger: Ledger,
    store: SqliteStore,
    *,
    scene: bool = False,
) -> None:
    rows = tuple(store.journal.rows(run.id))
    texts: dict[str, str] = {}
    for item in ledger.of(Source).values():
        with suppress(LostTextError):
            texts[item.snapshot] = store.texts.get(item.snapshot)
    events = tuple(text for _, text in store.records.events(run.id))
    saved = Saved(run, report, ledger, texts, journal_hash(rows), len(rows), scene, rows, events)
    write_files(folder, saved, saved.cited_alone())


def write(folder: Path, store: SqliteStore, report: Report = REPORT) -> None:
    save(folder, RUN, report, LEDGER, store)


def held(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


# -- disks that refuse


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
@pytest.mark.parametrize("function", ["replace", "fsync"])
def test_a_full_disk_leaves_what_was_there(
    tmp_path: Path, store: SqliteStore, monkeypatch: pytest.MonkeyPatch, function: str, code: int
) -> None:
    folder = tmp_path / "out"
    write(folder, store)
    before = held(folder)

    def refuse(*arguments: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, function, refuse)
    with pytest.raises(StoreFullError) as caught:
        write(folder, store, REPORT.model_copy(update={"question": "Another?"}))
    assert str(caught.value) == (
        f"{folder} is full: free space, then write the files again with: deepdiver show {RUN.id} "
        "--out DIR"
    )
    assert held(folder) == before  # and no half-written file beside them


def test_a_disk_that_fills_up_midway_leaves_none_of_the_new_files(
    tmp_path: Path, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "out"
    synced, sync = [], os.fsync

    def third_time(handle: int) -> None:
        synced.append(handle)
        if len(synced) == 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync(handle)

    monkeypatch.setattr(os, "fsync", third_time)
    with pytest.raises(StoreFullError):
        write(folder, store)
    assert held(folder) == {}


def test_a_disk_that_is_really_full(tmp_path: Path, store: SqliteStore) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(disk)],  # noqa: S607
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("only root may mount a small disk")
    try:
        with pytest.raises(StoreFullError):
            write(disk, store, REPORT.model_copy(update={"limits": ("x" * 50_000,)}))
        assert held(disk) == {}
    finally:
        subprocess.run(["umount", str(disk)], check=True)  # noqa: S607


def test_an_interruption_leaves_nothing_half_written(
    tmp_path: Path, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(handle: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path / "out", store)
    assert held(tmp_path / "out") == {}


@pytest.mark.parametrize("place", ["file", "file/below", "taken"])
def test_a_folder_that_cannot_be_written_to(tmp_path: Path, store: SqliteStore, place: str) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    (tmp_path / "taken" / "report.md").mkdir(parents=True)
    with pytest.raises(StoreAccessError) as caught:
        write(tmp_path / place, store)
    assert str(tmp_path / place) in str(caught.value)
    assert f"The run is saved; write them elsewhere with: deepdiver show {RUN.id} --out DIR" in str(
        caught.value
    )
    assert "\n" not in str(caught.value)
    assert (tmp_path / "file").read_text(encoding="utf-8") == "in the way"
    assert not [path for path in (tmp_path / "taken").iterdir() if path.name.startswith(".")]


def test_a_folder_that_may_not_be_written_to(
    tmp_path: Path, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object, **more: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(os, "open", refuse)  # root may write anywhere, so its refusal is played
    with pytest.raises(StoreAccessError, match="Permission denied"):
        write(tmp_path / "out", store)


# -- the files


def test_all_six_and_nothing_else(tmp_path: Path, store: SqliteStore) -> None:
    write(tmp_path / "a" / "b", store)
    files = held(tmp_path / "a" / "b")
    assert tuple(sorted(files)) == FILES
    # Nobody else's to read.
    assert all((tmp_path / "a" / "b" / name).stat().st_mode & 0o077 == 0 for name in FILES)
    for content in files.values():
        assert content.endswith(b"\n")
        assert b"\r" not in content
        content.decode("utf-8")
    assert files["report.md"].decode() == render_markdown(REPORT, evidence="evidence.md")
    assert evidence_in_page(files["report.html"])["report.json"]


def test_writing_again_gives_the_same_bytes(tmp_path: Path, store: SqliteStore) -> None:
    write(tmp_path, store)
    first = {name: (tmp_path / name).read_bytes() for name in FILES}
    write(tmp_path, store)
    assert {name: (tmp_path / name).read_bytes() for name in FILES} == first


def test_the_record_is_whole(tmp_path: Path, store: SqliteStore) -> None:
    write(tmp_path / "out", store)
    whole = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    assert whole == record_of(RUN, REPORT, LEDGER, store.journal.rows(RUN.id), Spending())
    assert set(whole) == {"run", "report", "report_hash", "ledger", "account"}
    assert Report.model_validate(whole["report"]) == REPORT
    assert whole["report_hash"] == REPORT.hash
    assert whole["run"]["id"] == RUN.id
    kinds: dict[str, type[Source] | type[Finding]] = {"Source": Source, "Finding": Finding}
    entries = [kinds[entry.pop("record")].model_validate(entry) for entry in whole["ledger"]]
    assert entries == list(LEDGER)


def test_sources_one_to_a_line(tmp_path: Path, store: SqliteStore) -> None:
    write(tmp_path / "out", store)
    lines = (
        (tmp_path / "out" / "sources.jsonl")
        .read_text(encoding="utf-8")
        .removesuffix("\n")
        .split("\n")
    )
    found = [json.loads(line) for line in lines]
    assert [item["id"] for item in found] == ["s_1", "s_2"]
    assert all("sketch" not in item for item in found)
    assert found[0]["title"] == "Register\u2028of Holm"
    assert {"kind", "url", "snapshot", "credibility", "published", "fetched"} <= found[0].keys()
    assert [(item["origin"], item["copies"], item["agreeing"]) for item in found] == [
        ("s_1", 1, 0),
        ("s_2", 1, 0),
    ]
    assert [item["cited"] for item in found] == [
        [{"number": 1, "mark": "1", "where": "page 1"}],
        [],
    ]


def test_copies_are_told_beside_every_source() -> None:
    copied = Ledger(
        [
            source("s_1", sketch=(1, 2, 3)),
            source("s_2", sketch=(1, 2, 3)),
            source("s_3", sketch=(4, 5, 6)),
        ]
    )
    empty = REPORT.model_copy(update={"citations": (), "hypotheses": ()})
    told = list(source_lines(empty, copied))
    assert [(item["origin"], item["copies"]) for item in told] == [
        ("s_1", 2),
        ("s_1", 2),
        ("s_3", 1),
    ]


def test_the_reasoning_log_one_step_to_a_line(tmp_path: Path, store: SqliteStore) -> None:
    write(tmp_path / "out", store)
    lines = (
        (tmp_path / "out" / "reasoning.log")
        .read_text(encoding="utf-8")
        .removesuffix("\n")
        .split("\n")
    )
    steps = [json.loads(line) for line in lines]
    assert all(list(step) == ["timestamp", "phase", "step", "action", "details"] for step in steps)
    assert [(step["step"], step["phase"], step["action"]) for step in steps] == [
        (1, "start", "run_started"),
        (2, "formulate", "phase_started"),
        (3, "formulate", "call_started"),
        (4, "gather", "phase_started"),
        (5, "gather", "limited"),
        (6, "gather", "run_ended"),
    ]
    assert steps[2]["details"] == {
        "call": "c",
        "kind": "search",
        "provider": "library",
        "what": "Holm\nWorks",
    }
    assert [step["timestamp"] for step in steps] == [event.at for event in EVENTS]


def test_no_file_holds_a_character_that_cannot_be_seen(tmp_path: Path, store: SqliteStore) -> None:
    hostile = "a\u202eb\u2066c\x9b31md\u200be\ufefff\u2028g\x7fh\x1b[2Ji\U000e0041j"
    ledger = Ledger([source(title=hostile, author=hostile), finding("f_1", quote(hostile))])
    said = sentence(hostile, "f_1", mark=hostile)
    report = compose(
        hostile,
        (said,),
        (Section(heading=hostile, sentences=(said,)),),
        (assessment(HypothesisStatus.SUPPORTED, 0.8, hostile),),
        ledger,
        limits=(hostile,),
        made_by=hostile,
    )
    told = Limited(at="2026-11-15T09:00:00.500+00:00", what=hostile)
    store.records.add_events(RUN.id, [told.model_dump_json()])
    save(tmp_path / "out", RUN, report, ledger, store)
    for name, content in held(tmp_path / "out").items():
        text = content.decode("utf-8")
        left = [c for c in text if c != "\n" and unicodedata.category(c) in {"Cc", "Cf", "Zl"}]
        assert not left, f"{name} holds {left}"
        assert "\\u202e" in text, f"{name} does not show what was there"
    record = json.loads(held(tmp_path / "out")["report.json"])
    assert record["report"]["citations"][0]["quote"] == hostile, "the record keeps every character"
    (line,) = held(tmp_path / "out")["sources.jsonl"].splitlines()
    assert json.loads(line)["title"] == hostile


def test_a_log_of_nothing_is_empty(tmp_path: Path) -> None:
    assert list(reasoning_lines([])) == []
    with closing(open_sqlite(tmp_path / "other")) as empty:
        empty.runs.create(RUN)
        save(tmp_path / "out", RUN, REPORT, Ledger(), empty)
    assert (tmp_path / "out" / "reasoning.log").read_bytes() == b""
    assert (tmp_path / "out" / "sources.jsonl").read_bytes() == b""


def test_a_step_of_a_trace_says_itself_in_which_phase_it_is_and_what_was_done() -> None:
    step = {
        "thought": "t",
        "observation": "o",
        "conclusion": "c",
        "confidence": 0.5,
        "step_number": 1,
        "thinking": "x",
    }
    events: list[dict[str, Any]] = [
        {
            "type": "phase_started",
            "at": "T0",
            "phase": "analyze_findings",
            "iteration": 1,
            "detail": "",
        },
        {
            "type": "reasoned",
            "at": "T1",
            "phase": "analyzing",
            "action": "Analysed 5 findings",
            **step,
        },
        {"type": "limited", "at": "T2", "what": "x"},
    ]
    first, second, third = reasoning_lines(events)
    wanted = {
        "timestamp": "T1",
        "phase": "analyzing",
        "step": 2,
        "action": "Analysed 5 findings",
        "details": step,
    }
    assert second == wanted
    assert (first["action"], third["phase"]) == ("phase_started", "analyze_findings")


def test_a_phase_has_one_name_throughout_the_log() -> None:
    node = {"type": "phase_started", "phase": "analyze_findings", "iteration": 1}
    events: list[dict[str, Any]] = [
        {**node, "at": "T0", "logged": "analyzing"},
        {"type": "limited", "at": "T1", "what": "x"},
        {**node, "at": "T2", "phase": "decide", "logged": ""},
    ]
    assert [line["phase"] for line in reasoning_lines(events)] == [
        "analyzing",
        "analyzing",
        "decide",
    ]


# -- pictures


@pytest.fixture
def watched(store: SqliteStore) -> Run:
    run = RUN.model_copy(update={"id": "20261115-week-0001", "strategy": "overwatch"})
    store.runs.create(run)
    return run


def watch(
    folder: Path, run: Run, store: SqliteStore, ledger: Ledger | None = None
) -> dict[str, bytes]:
    save(
        folder,
        run,
        week.report(),
        week.ledger() if ledger is None else ledger,
        store,
        scene=True,
    )
    return held(folder)


def test_a_strategy_with_a_scene_leaves_its_pictures_too(
    tmp_path: Path, store: SqliteStore, watched: Run
) -> None:
    files = watch(tmp_path / "out", watched, store)
    assert tuple(sorted(files)) == tuple(sorted((*FILES, *PICTURES)))
    for name in PICTURES:
        assert files[name].startswith(b'<?xml version="1.0" encoding="UTF-8"?>\n<svg ')
        assert b'href="report.html#c' in files[name]
        assert (tmp_path / "out" / name).stat().st_mode & 0o077 == 0
    assert files["report.html"].count(b"<svg ") == 3
    assert b"report.html#" not in files["report.html"], "the page may be renamed"
    assert watch(tmp_path / "again", watched, store) == files


def test_the_markdown_shows_the_pictures_that_lie_beside_it(
    tmp_path: Path, store: SqliteStore, watched: Run
) -> None:
    text = watch(tmp_path / "out", watched, store)["report.md"].decode()
    shown = (
        "## Pictures\n\n![Timeline of the findings](timeline.svg)\n\n![Map of the "
        "findings](map.svg)\n\n"
    )
    assert text.replace(shown, "") == render_markdown(week.report(), evidence="evidence.md")
    foot = (
        "*deepdiver. The evidence view, evidence.md, has the hypotheses tested, the cautions, how "
        "far the sources are believed and the limits of this report.*\n"
    )
    assert text.endswith(f"{shown}---\n{foot}")


def test_a_rule_in_a_hostile_text_does_not_move_the_pictures(
    tmp_path: Path, store: SqliteStore, watched: Run
) -> None:
    report = week.report().model_copy(update={"limits": ("a\n---\nb",), "made_by": "x\n---\ny"})
    save(tmp_path / "out", watched, report, week.ledger(), store, scene=True)
    text = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert text.index("## Sources") < text.index("## Pictures") < text.index("\n---\n*x --- y.")
    evidence = (tmp_path / "out" / "evidence.md").read_text(encoding="utf-8")
    assert evidence.index("- a --- b\n") < evidence.index("\n---\n*x --- y.*")
    assert evidence.index("- a --- b\n") < evidence.index("![Hypotheses and evidence](matrix.svg)")
    assert evidence.index("(matrix.svg)") < evidence.index("\n---\n*x --- y.*")


def test_pictures_are_in_no_hash(tmp_path: Path, store: SqliteStore, watched: Run) -> None:
    whole = json.loads(watch(tmp_path / "out", watched, store)["report.json"])
    assert whole["report_hash"] == week.report().hash
    assert "svg" not in json.dumps(whole)


def test_texts_that_are_kept_are_read(tmp_path: Path, store: SqliteStore, watched: Run) -> None:
    text = "All times in UTC.\n\n2026-11-11\n\n14:05 Smoke at the depot.\n"
    key = store.texts.put(watched.id, text)
    start = text.index("14:05")
    passage = Passage(snapshot=key, start=start, end=start + 25)
    told = Finding(
        id="f_1",
        statement="Smoke.",
        quotes=(Quote(source="s_1", passage=passage, text=text[start:][:25]),),
    )
    log = source("s_1").model_copy(update={"snapshot": key})
    files = watch(tmp_path / "out", watched, store, Ledger([*week.ledger(), log, told]))
    assert b"2026-11-11 14:05 UTC: Smoke." in files["timeline.svg"]


def test_nothing_empty_is_drawn(tmp_path: Path, store: SqliteStore, watched: Run) -> None:
    report = compose("Q", (), (), (), Ledger(), limits=(), made_by="deepdiver")
    save(tmp_path / "out", watched, report, Ledger(), store, scene=True)
    files = held(tmp_path / "out")
    assert tuple(sorted(files)) == FILES
    assert files["report.md"].decode() == render_markdown(report, evidence="evidence.md")
    assert "No finding has a place, so there is no map." in files["report.html"].decode()


def test_without_a_scene_the_matrix_is_in_the_page_alone(
    tmp_path: Path, store: SqliteStore
) -> None:
    save(tmp_path / "out", RUN, week.report(), week.ledger(), store)
    files = held(tmp_path / "out")
    assert tuple(sorted(files)) == FILES
    assert files["report.html"].count(b"<svg ") == 1
    assert files["report.md"].decode() == render_markdown(week.report(), evidence="evidence.md")


# -- the account


def test_an_account_of_nothing(store: SqliteStore) -> None:
    assert cost_account([], Spending()) == {"usd": "0", "calls": {}, "failed": 0, "uncertain": []}


def test_calls_whose_fate_was_never_learnt_are_listed(store: SqliteStore) -> None:
    call(store, "settled", CallState.SETTLED, cost="0.016")
    call(store, "failed", CallState.FAILED)
    call(store, "reserved", CallState.RESERVED)
    call(store, "lost", CallState.SENT)
    call(store, "again", CallState.SENT)  # killed …
    call(store, "again", CallState.SENT)  # … and killed once more …
    call(store, "again", CallState.SETTLED, cost="0.016")  # … and then answered
    got = cost_account(store.journal.rows(RUN.id), Spending(COST))
    assert got["usd"] == "0.032"
    assert got["calls"] == {"search": 2}
    assert got["failed"] == 1
    uncertain: dict[str, dict[str, Any]] = {item["call"]: item for item in got["uncertain"]}
    assert uncertain.keys() == {"lost", "again"}
    assert uncertain["lost"] == {
        "call": "lost",
        "kind": "search",
        "provider": "tavily",
        "what": "query lost",
        "times": 1,
        "may_have_cost_usd": "0.016",
    }
    assert (uncertain["again"]["times"], uncertain["again"]["may_have_cost_usd"]) == (2, "0.032")


@pytest.mark.parametrize(
    ("cost", "told"),
    [
        ("0", "0"),
        ("0.00", "0"),
        ("10", "10"),
        ("100.50", "100.5"),
        ("0.0000001", "0.0000001"),
        ("1E+3", "1000"),
    ],
)
def test_money_is_told_without_exponents(cost: str, told: str) -> None:
    assert cost_account([], Spending(Decimal(cost)))["usd"] == told


def test_kinds_are_counted_apart(store: SqliteStore) -> None:
    call(store, "a", CallState.SETTLED)
    rows = store.journal.rows(RUN.id)
    model = [
        JournalRow(**({name: getattr(row, name) for name in row.__slots__} | {"kind": "model"}))
        for row in rows
    ]
    assert cost_account([*rows, *model, *model], Spending(COST))["calls"] == {
        "model": 2,
        "search": 1,
    }


# -- the summary


def test_the_one_object_of_json(store: SqliteStore) -> None:
    got = run_summary(RUN, REPORT, store.journal.rows(RUN.id), Spending(COST))
    assert list(got) == [
        "id",
        "question",
        "status",
        "outcome",
        "answer",
        "confidence",
        "report",
        "citations",
        "hypotheses",
        "limits",
        "cost",
    ]
    assert (got["id"], got["status"], got["confidence"]) == (RUN.id, "answered", 0.8)
    assert (got["outcome"], got["limits"]) == ("Answered", list(REPORT.limits))
    assert got["answer"] == answer_text(REPORT) == "Anna Holm owns Holm Works [1]."
    assert got["report"] == render_markdown(REPORT)
    assert got["citations"][0]["quote"] == "Anna Holm owns it."
    assert got["hypotheses"][0]["hypothesis"]["statement"] == "Anna Holm owns it."
    assert json.loads(json.dumps(got)) == got


def test_a_run_without_a_report_has_a_summary_too() -> None:
    got = run_summary(RUN.model_copy(update={"status": RunStatus.STOPPED}), None, [], Spending())
    assert (got["status"], got["answer"], got["report"]) == ("stopped", "", "")
    assert (got["outcome"], got["limits"]) == ("", [])
    assert (got["citations"], got["hypotheses"], got["confidence"]) == ([], [], 0.0)
