from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deepdiver.core.record import Credibility, Finding, Mark, Source, SourceKind
from deepdiver.core.text import Span, sentences
from deepdiver.strategies.shared import room
from deepdiver.strategies.shared.findings import (
    BETWEEN,
    SNIPPET,
    ReadSource,
    add_sources,
    find_label,
    fit_findings,
    is_label,
    make_finding,
    resolve_labels,
    show_findings,
    source_of,
)
from deepdiver.strategies.shared.look import look_into
from tests.strategies.rig import CORPUS, QUESTION, CorpusProvider, Rig

MOST = 20


def raising(error: Exception) -> Any:
    def rule(task: Any) -> Any:
        raise error

    return rule


def test_labels_that_are_not_known_are_left_out() -> None:
    labels = {"F1": "f_a", "F2": "f_b"}
    assert resolve_labels([" F2 ", "F9", "", "F1", "F2"], labels) == ["f_b", "f_a", "f_b"]
    assert resolve_labels([], labels) == []


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("F2", "F2"),
        ("f2", "F2"),
        ("[F2]", "F2"),
        ("2", "F2"),
        ("#2.", "F2"),
        ("Finding 2", "F2"),
        ("finding_2", "F2"),
        ("F02", "F2"),
        ("F3", ""),
        ("H2", ""),
        ("Hypothesis 2", ""),
        ("source 2", ""),
        ("F1 and F2", ""),
        ("two", ""),
        ("", ""),
        ("1" * 5_000, ""),
    ],
)
def test_a_label_is_known_however_it_is_spelled(said: str, meant: str) -> None:
    assert find_label(said, {"F1": "a", "F2": "b"}) == meant


@pytest.mark.parametrize(
    ("said", "form"),
    [("T7", True), (" 7 ", True), ("[Text 7]", True), ("Register", False), ("", False)],
)
def test_a_label_is_known_by_its_form(said: str, form: bool) -> None:
    assert is_label(said) is form


def test_a_bare_number_that_could_be_two_labels_is_neither() -> None:
    assert find_label("1", ["F1", "E1"]) == ""
    assert find_label("E 1", ["F1", "E1"]) == "E1"
    assert find_label("subtask 1", ["subtask_1"]) == "subtask_1"


async def test_a_finding_quotes_its_span_and_is_found_with_its_source(tmp_path: Path) -> None:
    deps = Rig(tmp_path, provider=CorpusProvider(CORPUS)).session().deps
    looked = await look_into(deps, QUESTION, QUESTION, [QUESTION])
    source = deps.ledger.get(Source, looked.sources[0])
    text = deps.store.texts.get(source.snapshot)
    made = make_finding(source, text, [Span(0, 9)], "A statement.", "A part?")
    (quote,) = made.quotes
    assert (made.statement, made.about, quote.text) == ("A statement.", "A part?", text[:9])
    assert (quote.passage.snapshot, quote.passage.start, quote.passage.end) == (
        source.snapshot,
        0,
        9,
    )
    deps.add(made)
    assert source_of(deps, made.id) == source
    with pytest.raises(KeyError):
        source_of(deps, "f_unknown")


async def test_findings_are_shown_under_labels_and_the_weakest_sources_give_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "FREE", replace(room.FREE, most_findings=MOST))
    corpus = {
        f"doc:{n:02}": (
            f"D{n}",
            "register" if n < 10 else "forum",
            f"Holm Works is owned by number {n} and its heirs.",
        )
        for n in range(MOST + 20)
    }
    rig = Rig(tmp_path, provider=CorpusProvider(corpus))
    deps = rig.session().deps
    keys: list[str] = []
    for n in range(MOST + 20):
        keys += (
            await look_into(deps, QUESTION, QUESTION, [f"Holm Works number {n} heirs owned {n}"])
        ).findings
    labels, shown = show_findings(deps, keys)
    assert len(shown) == MOST
    assert list(labels) == [item.id for item in shown]
    used = dict.fromkeys(keys)
    strong = {
        key
        for key in used
        if deps.ledger.get(Source, deps.ledger.get(Finding, key).quotes[0].source).credibility.score
        > 0.5
    }
    assert len(strong & set(labels.values())) == min(len(strong), MOST)


def test_no_source_silences_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "FREE", replace(room.FREE, most_findings=4))
    deps = Rig(tmp_path).session().deps
    keys: dict[str, list[str]] = {}
    for name, score, many in (("register", 0.9, 6), ("blog", 0.2, 2), ("paper", 0.7, 1)):
        text = " ".join(f"Holm Works has {number} {name}s." for number in range(many))
        source = Source(
            id=f"s_{name}",
            kind=SourceKind.DOCUMENT,
            url=f"doc:{name}",
            title=name,
            snapshot=deps.store.texts.put(deps.run.id, text),
            credibility=Credibility(score=score),
        )
        made = [make_finding(source, text, [span], "x", QUESTION) for span in sentences(text)]
        made = [item.model_copy(update={"id": f"f_{name}_{n}"}) for n, item in enumerate(made)]
        deps.add(source, *made)
        keys[name] = [item.id for item in made]
    kept = fit_findings(deps, [*keys["register"], *keys["blog"], *keys["paper"]])
    assert kept == ["f_register_0", "f_register_1", "f_blog_0", "f_paper_0"]


async def test_sources_are_listed_once_with_a_snippet_and_what_they_brought(
    tmp_path: Path,
) -> None:
    silent = "Holm Works makes\n  boats. " + "It is near the sea. " * 40
    corpus = {**CORPUS, "doc:silent": ("Silent", "blog", silent)}
    deps = Rig(tmp_path, provider=CorpusProvider(corpus)).session().deps
    looked = await look_into(deps, QUESTION, QUESTION, [QUESTION])
    listed = add_sources(deps, [], looked.sources, looked.findings)
    assert {item["url"]: item["findings"] for item in listed} == {
        **dict.fromkeys(CORPUS, 1),
        "doc:silent": 0,
    }
    assert all(0 < len(item["snippet"]) <= SNIPPET for item in listed)
    snippets = {item["url"]: item["snippet"] for item in listed}
    assert snippets["doc:silent"].startswith("Holm Works makes boats. It is near")
    assert snippets["doc:notice"] == "The authority confirms that Anna Holm owns Holm Works."
    assert add_sources(deps, listed, looked.sources, looked.findings) == listed
    (first, *_) = listed
    later = add_sources(deps, listed[1:], [first["id"]], looked.findings)
    assert later == [*listed[1:], first]
    assert [item["findings"] for item in add_sources(deps, listed, (), ())] == [0] * len(listed)


def test_the_headings_above_are_known_by_their_place_in_what_is_shown() -> None:
    text = "NAME\ncurl\n\nOPTIONS\n-L\nFollow.\n\nEXIT CODES\n47\nToo many."
    marks = tuple(
        Mark(start=text.index(label), kind="heading", label=label)
        for label in ("NAME", "OPTIONS", "EXIT CODES")
    )
    source = Source(
        id="s_c", kind=SourceKind.PAGE, url="curl.1", title="curl(1)", snapshot="h", marks=marks
    )
    follow, last = text.index("Follow"), text.index("47")
    parts = (Span(follow, follow + 7), Span(last, len(text)))
    read = ReadSource(source, text, parts)
    second = 7 + len(BETWEEN)
    assert list(read.headings) == [(0, "OPTIONS"), (second, "EXIT CODES")]
    assert read.shown[second:].startswith("47")
    assert list(ReadSource(source, text).headings) == []
