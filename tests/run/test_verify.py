"""Verifying: what was altered is named, in each kind of file, and what was not altered passes.

A tampering of the first kind changes bytes. One of the second changes the record and makes every
hash and seal again, as somebody with deepdiver at hand would: only the audit can see it.
"""

from __future__ import annotations

import base64
import json
import random
import re
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deepdiver import sample
from deepdiver.core.identity import digest
from deepdiver.core.ledger import Ledger
from deepdiver.core.record import Block, Finding, Report, Section, Source
from deepdiver.core.settings import load
from deepdiver.errors import UsageError
from deepdiver.report.exports import package, page, pdf
from deepdiver.report.exports.package import Saved, from_archive, pack, seal, to_archive, unsealed
from deepdiver.report.exports.page import render_page
from deepdiver.report.exports.pdf import render_pdf
from deepdiver.run import research
from deepdiver.run import verify as module
from deepdiver.run.transfer import take_out
from deepdiver.run.verify import AROUND, kind_of, repeat_audit, verify
from deepdiver.store.sqlite import open_sqlite
from tests.report.exports.making import (
    GAZETTE_SOURCE,
    LEDGER,
    OWNER,
    REGISTER,
    REGISTER_SOURCE,
    TEXTS,
    fact,
    report,
    saved,
)
from tests.run.mutations import IN_WORDS, STRUCTURAL

QUESTION = "How old are the children of the parents who run Svedjan Ost AB?"
WHOLE = saved()
CITED = WHOLE.cited_alone()
MADE: dict[str, bytes] = {
    "pdf": render_pdf(CITED),
    "html": render_page(CITED),
    "bundle": to_archive(pack(WHOLE)),
}
MAKERS: dict[str, Callable[[Saved], bytes]] = {
    "pdf": render_pdf,
    "html": render_page,
    "bundle": lambda run: to_archive(pack(run)),
}


@pytest.mark.parametrize("data", [b"", b"plain text", b"<html>", b"\x89PNG", b"PK\x05\x06"])
def test_another_file_is_a_usage_error(data: bytes) -> None:
    with pytest.raises(UsageError, match="deepdiver export RUN"):
        verify(data)


@pytest.mark.parametrize("data", [b"%PDF-1.7", b"PK\x03\x04", b"<!doctype html><p>x</p>"])
def test_a_file_without_evidence_is_a_fault(data: bytes) -> None:
    found = verify(data)
    assert found.faults
    assert found.kind == kind_of(data)


@pytest.mark.parametrize("kind", MADE)
def test_what_was_not_altered_passes(kind: str) -> None:
    found = verify(MADE[kind])
    assert found.faults == ()
    assert found.notes == ()
    assert (found.kind, found.run) == (kind, WHOLE.run.id)
    assert found.report == WHOLE.report.hash
    assert found.citations == len(WHOLE.report.citations)
    assert found.sentences > 5
    assert found.texts == (3 if kind == "bundle" else 2)


@pytest.mark.parametrize("kind", MADE)
def test_a_flipped_byte_anywhere_is_a_fault_that_says_where(kind: str) -> None:
    data, chance = MADE[kind], random.Random(7)  # noqa: S311 - places, not secrets
    for at in sorted(chance.sample(range(len(data)), 25)):
        damaged = bytearray(data)
        damaged[at] ^= 1 << chance.randrange(8)
        try:
            found = verify(bytes(damaged))
        except UsageError:
            assert at < 20  # it does not even look like such a file any more
            continue
        assert found.faults, at
        assert re.search("altered|missing|no evidence|not listed|pages", found.faults[0])


def test_a_page_of_the_pdf_that_says_something_else_is_named() -> None:
    """Its evidence is that of the true report, and its seal fits."""
    lie = replace(CITED, report=CITED.report.model_copy(update={"title": "Emma Holm owns it"}))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pdf, "pack", lambda _: pack(CITED))
        forged = render_pdf(lie)
    (fault,) = verify(forged).faults
    assert fault.startswith("page 1 was altered")


def test_a_line_of_the_page_that_says_something_else_is_named() -> None:
    forged = seal(unsealed(MADE["html"].replace(b"Anna Holm owns", b"Emma Holm owns")))
    (fault,) = verify(forged).faults
    assert re.match(r"line \d+ of the page was altered; it has: .*", fault)
    longer = seal(unsealed(MADE["html"] + b"<p>more</p>"))
    assert "of the page was altered" in verify(longer).faults[0]


@pytest.mark.parametrize("kind", MADE)
def test_a_broken_seal_alone_is_named_by_what_is_around_the_evidence(kind: str) -> None:
    forged = unsealed(MADE[kind])
    assert verify(forged).faults == (AROUND[kind],)


def test_a_pdf_without_typst_passes_with_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_: Saved) -> bytes:
        raise UsageError("not installed")

    monkeypatch.setattr(module, "render_pdf", missing)
    found = verify(MADE["pdf"])
    assert found.faults == ()
    assert "Typst is not installed" in found.notes[0]


@pytest.mark.parametrize("kind", ["pdf", "html"])
def test_a_file_of_another_version_passes_with_a_note(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(package, "VERSION", "0.0.1")
    made = MAKERS[kind](CITED)
    found = verify(made)
    assert found.faults == ()
    assert found.notes[0].startswith("made with deepdiver 0.0.1")


# What was altered in the record, with every hash made again


def with_citation(number: int, **changes: Any) -> Report:
    return WHOLE.report.model_copy(
        update={
            "citations": tuple(
                item.model_copy(update=changes) if item.number == number else item
                for item in WHOLE.report.citations
            )
        }
    )


def with_answer(**changes: Any) -> Report:
    first, *others = WHOLE.report.answer
    return WHOLE.report.model_copy(update={"answer": (first.model_copy(update=changes), *others)})


FIRST = WHOLE.report.citations[0]
TAMPERED: dict[str, tuple[Saved, str]] = {
    "a digit": (
        saved(with_answer(text="Owner: Anna Holm owns 7 Holm Works AB.")),
        "7 is in none of its quotes",
    ),
    "a name": (
        saved(with_answer(text="Owner: Emma Holm owns Holm Works AB.")),
        "Emma Holm is in none of its quotes",
    ),
    "a moved offset": (
        saved(
            with_citation(
                1, passage=FIRST.passage.model_copy(update={"start": FIRST.passage.start + 1})
            )
        ),
        "does not stand in its source",
    ),
    "an invented quote": (
        saved(with_citation(1, quote="Emma Holm owns Holm Works AB.")),
        "does not stand in its source",
    ),
    "an invented address": (
        saved(with_citation(1, url="https://other.example/")),
        "its address is not that of the source on record",
    ),
    "another title": (
        saved(with_citation(1, title="The Law")),
        "its title is not that of the source on record",
    ),
    "another page": (
        saved(with_citation(1, where="page 9")),
        "its place is not that of the source on record",
    ),
    "a swapped source": (
        saved(with_citation(1, source=GAZETTE_SOURCE.id)),
        "its text is not that of the source on record",
    ),
    "a source that nobody read": (saved(with_citation(1, source="s_0")), "is not on record"),
    "a citation of another sentence": (
        saved(with_answer(citations=(WHOLE.report.citations[-1].number,))),
        "which is not of its findings",
    ),
    "a citation that leads nowhere": (
        saved(with_answer(citations=(99,))),
        "its citation is not in the list",
    ),
    "a sentence without citation": (
        saved(with_answer(citations=())),
        "its citation is not in the list",
    ),
    "a finding that is gone": (
        saved(ledger=Ledger(entry for entry in LEDGER if entry.id != OWNER.id)),
        "a finding that does not exist",
    ),
    "a sum": (
        saved(
            report(derivations=(WHOLE.report.derivations[0].model_copy(update={"result": "31"}),))
        ),
        "it does not give 31 but 30",
    ),
    "a number of a sum": (
        saved(
            report(
                derivations=(
                    WHOLE.report.derivations[0].model_copy(
                        update={"expression": "331 - 300", "result": "31"}
                    ),
                )
            )
        ),
        "331 is in none of its quotes",
    ),
    "a number of a sum that is said to be supposed": (
        saved(
            report(
                derivations=(
                    WHOLE.report.derivations[0].model_copy(
                        update={
                            "expression": "331 - 300",
                            "result": "31",
                            "supposed": ("331", "300"),
                        }
                    ),
                )
            )
        ),
        "which is supposed",
    ),
    "a cell": (
        saved(
            WHOLE.report.model_copy(
                update={
                    "sections": (
                        WHOLE.report.sections[0].model_copy(
                            update={
                                "blocks": (
                                    WHOLE.report.sections[0]
                                    .blocks[1]
                                    .model_copy(
                                        update={
                                            "rows": tuple(
                                                (
                                                    row[0],
                                                    row[1].model_copy(update={"text": "999"}),
                                                )
                                                for row in WHOLE.report.sections[0].blocks[1].rows
                                            )
                                        }
                                    ),
                                )
                            }
                        ),
                    )
                }
            )
        ),
        "999 is in none of its quotes",
    ),
    "a saved text": (
        saved(texts={**TEXTS, digest(REGISTER): REGISTER.replace("Anna", "Emma")}),
        "is not the text that its name is the hash of",
    ),
    "a text that is gone": (
        saved(texts={key: text for key, text in TEXTS.items() if key != digest(REGISTER)}),
        "text",
    ),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_every_tampering_with_the_record_is_named(name: str) -> None:
    forged, said = TAMPERED[name]
    found = verify(to_archive(pack(forged)))
    assert any(said in fault for fault in found.faults), found.faults


@pytest.mark.parametrize("kind", ["pdf", "html"])
def test_the_same_holds_for_documents(kind: str) -> None:
    for name in ("a digit", "an invented address", "a sum"):
        forged, said = TAMPERED[name]
        found = verify(MAKERS[kind](forged.cited_alone()))
        assert any(said in fault for fault in found.faults), (name, found.faults)


@pytest.mark.parametrize(
    "forged",
    [
        saved(with_citation(1, source=OWNER.id)),
        saved(with_answer(findings=(REGISTER_SOURCE.id,))),
        saved(ledger=Ledger(entry for entry in LEDGER if entry.id != REGISTER_SOURCE.id)),
        saved(report(sections=(Section(heading="x", blocks=(Block(kind="table", rows=((),)),)),))),
        saved(report(sections=(Section(heading="x", blocks=(Block(kind="code", rows=()),)),))),
    ],
)
@pytest.mark.parametrize("kind", ["pdf", "html"])
def test_a_record_that_deepdiver_cannot_have_written_is_a_fault(forged: Saved, kind: str) -> None:
    """It is inside a document that was made from the true one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr({"pdf": pdf, "html": page}[kind], "pack", lambda _: pack(forged))
        made = MAKERS[kind](CITED)
    assert verify(made).faults


def test_a_run_that_cannot_be_entered_is_a_fault() -> None:
    other = replace(WHOLE, run=WHOLE.run.model_copy(update={"id": "../x"}))
    checked, faults = repeat_audit(other)
    assert checked == 0
    assert "not the id of a run" in faults[0]


def test_an_archive_of_another_machine_inside_a_page_passes() -> None:
    """The files are the same, and only their compression differs."""
    found = re.search(rb'<template id="evidence">([^<]*)</template>', MADE["html"])
    assert found
    files = from_archive(base64.b64decode(found[1]))
    other = base64.encodebytes(package.zipped({name: files[name] for name in files})).strip()
    forged = seal(unsealed(MADE["html"]).replace(found[1], other))
    assert verify(forged).faults == ()
    assert page.evidence_in_page(forged) == files


def test_the_making_is_as_this_test_says() -> None:
    assert isinstance(LEDGER.get(Finding, OWNER.id), Finding)
    assert LEDGER.get(Source, REGISTER_SOURCE.id).snapshot == digest(REGISTER)
    assert fact("x", OWNER).findings == (OWNER.id,)


@pytest.mark.proof
@pytest.mark.usefixtures("read_once")
async def test_1000_mutations_of_a_real_report(tmp_path: Path) -> None:
    """Every structural one is found, and at least 97 % of the digits and names."""
    home = tmp_path / "home"
    settings = load({"home": home, "documents": (sample.LIBRARY,), "search": ["library"]})
    with closing(open_sqlite(home)) as store:
        outcome = await research(QUESTION, settings, store=store)
        run = take_out(outcome.run.id, store).cited_alone()
    assert repeat_audit(run)[1] == []
    chance = random.Random(11)  # noqa: S311 - places, not secrets
    tried, found = Counter[str](), Counter[str]()
    for number in range(1000):
        mutate = (*STRUCTURAL, *IN_WORDS)[number % 8]
        record = json.loads(run.report.model_dump_json())
        mutate(record, chance)
        changed = replace(run, report=Report.model_validate(record))
        assert changed.report != run.report
        tried[mutate.__name__] += 1
        found[mutate.__name__] += bool(repeat_audit(changed)[1])
    told = ", ".join(f"{name} {found[name]}/{many}" for name, many in tried.items())
    print(f"\nmutations found: {told}")  # noqa: T201
    assert all(found[item.__name__] == tried[item.__name__] for item in STRUCTURAL)
    worded = [item.__name__ for item in IN_WORDS]
    assert sum(found[name] for name in worded) >= 0.97 * sum(tried[name] for name in worded)
