"""The standing queries of a run: what nobody answers first, then which they are and what stirs."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from deepdiver.core.identity import content_id
from deepdiver.core.record import HypothesisStatus
from deepdiver.core.settings import Settings, load
from deepdiver.errors import NoEvidenceError, UnreachableError
from deepdiver.run import research
from deepdiver.run import standing_queries as module
from deepdiver.run.compare_runs import load_side
from deepdiver.run.record import load_ledger
from deepdiver.run.standing_queries import MOST, Asked, ask_standing_queries, standing_queries
from deepdiver.run.update_run import FRESH
from deepdiver.store import Store, open_store
from deepdiver.tools.hit import Hit
from deepdiver.tools.search_all import SearchResults, search_all
from tests.memory.made import ANNA, BERTIL, OWNER, finish, keep, searched, trial_of

pytestmark = pytest.mark.usefixtures("read_once")

QUESTION = "How many passengers did the ferry of Vantskär carry in 2025?"
COUNT = "The ferry of Vantskär carried 1,200 passengers in 2025."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "papers"
    made.mkdir()
    (made / "count.md").write_text(f"# Count of the board\n\n{COUNT}\n", encoding="utf-8")
    (made / "bread.md").write_text("# Bread\n\nRye bread needs a day.\n", encoding="utf-8")
    return made


@pytest.fixture
def settings(tmp_path: Path, folder: Path) -> Settings:
    given = {"home": tmp_path / "home", "documents": (folder,), "search": ["library"]}
    given |= {"limits": {"fetch": {"rate": 1000, "concurrent": 8}}}
    return load({**given, "strategy": "iterative", "max_iterations": 2, "cache": FRESH})


@pytest.fixture
def store(settings: Settings) -> Iterator[Store]:
    with closing(open_store(settings)) as opened:
        yield opened


async def made(settings: Settings, store: Store) -> str:
    return (await research(QUESTION, settings, store=store)).run.id


async def asked(
    settings: Settings, store: Store, run: str, seen: dict[str, tuple[str, ...]] | None = None
) -> Asked:
    rows = store.journal.rows(run)
    report, ledger = load_side(run, store).report, load_ledger(store, run)
    return await ask_standing_queries(report, ledger, rows, seen or {}, settings, store)


def queries(store: Store, run: str) -> list[str]:
    rows = store.journal.rows(run)
    found = standing_queries(load_side(run, store).report, load_ledger(store, run), rows)
    return [query.text for query in found]


# -- which they are


def test_what_would_refute_a_hypothesis_comes_first(store: Store) -> None:
    finish(store, "r")
    anna = content_id("h", ANNA)
    keep(store, "r", trial_of(anna, "Holm Works sold", "Holm Works owner wrong"))
    searched(store, "r", "owner of Holm Works", [])
    searched(store, "r", "Holm Works sold", [])
    found = queries(store, "r")
    assert found == ["Holm Works owner wrong", "Holm Works sold", "owner of Holm Works"]


def test_a_hypothesis_that_was_not_tested_is_asked_for_in_its_own_words(store: Store) -> None:
    finish(store, "r", refuted={})
    rows = store.journal.rows("r")
    first, last = standing_queries(load_side("r", store).report, load_ledger(store, "r"), rows)
    assert (first.text, first.hypothesis, first.refutes_if) == (
        f"{ANNA} otherwise",
        ANNA,
        "otherwise",
    )
    assert (last.text, last.hypothesis) == (OWNER, "")


def test_a_refuted_hypothesis_is_not_asked_for(store: Store) -> None:
    finish(store, "r", accepted=())
    keep(store, "r", trial_of(content_id("h", BERTIL), "Bertil Ask"))
    searched(store, "r", "Bertil Ask", [])
    searched(store, "r", "Holm Works", [])
    assert queries(store, "r") == ["Holm Works"]


def test_a_failed_search_is_no_standing_query(store: Store) -> None:
    finish(store, "r", accepted=(), refuted={})
    searched(store, "r", "Holm Works", [], failed=True)
    assert queries(store, "r") == [OWNER]


def test_a_long_run_is_not_repeated(store: Store) -> None:
    finish(store, "r")
    for number in range(MOST + 5):
        searched(store, "r", f"Holm Works {number}", [])
    assert len(queries(store, "r")) == MOST


def test_all_statuses_but_refuted_are_watched(store: Store) -> None:
    finish(store, "r", refuted={})
    report = load_side("r", store).report
    for status in HypothesisStatus:
        item = report.hypotheses[0].model_copy(update={"status": status})
        changed = report.model_copy(update={"hypotheses": (item,)})
        found = standing_queries(changed, load_ledger(store, "r"), ())
        assert (len(found) == 2) == (status is not HypothesisStatus.REFUTED)


# -- what cannot be asked


async def test_nobody_answers(
    settings: Settings, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = await made(settings, store)

    async def fail(*_: object) -> SearchResults:
        return SearchResults((), answered=False, failures=("library could not search: no disk",))

    monkeypatch.setattr(module, "search_all", fail)
    with pytest.raises(UnreachableError, match=r"no standing query was answered: .*no disk"):
        await asked(settings, store, run)


async def test_no_document_is_left(settings: Settings, store: Store, folder: Path) -> None:
    run = await made(settings, store)
    for name in ("count.md", "bread.md"):
        (folder / name).unlink()
    with pytest.raises(NoEvidenceError):
        await asked(settings, store, run)


# -- what stirs


async def test_nothing_has_stirred(settings: Settings, store: Store) -> None:
    found = await asked(settings, store, await made(settings, store))
    assert found.stirred == ()
    assert found.queries > 0
    assert found.seen


async def test_a_document_has_come(settings: Settings, store: Store, folder: Path) -> None:
    run = await made(settings, store)
    text = "# Recount\n\nThe passengers of the ferry of Vantskär in 2025 were counted again.\n"
    (folder / "recount.md").write_text(text, encoding="utf-8")
    found = await asked(settings, store, run)
    assert [(one.kind, Path(one.url).name) for one in found.stirred] == [("new", "recount.md")]
    assert found.stirred[0].query in queries(store, run)
    assert (await asked(settings, store, run, found.seen)).stirred == ()


async def test_a_document_has_changed(settings: Settings, store: Store, folder: Path) -> None:
    run = await made(settings, store)
    (folder / "count.md").write_text(f"# Count\n\n{COUNT} Or so.\n", encoding="utf-8")
    found = await asked(settings, store, run)
    assert [(one.kind, Path(one.url).name) for one in found.stirred] == [("changed", "count.md")]
    assert (await asked(settings, store, run, found.seen)).stirred == ()


async def test_a_cited_document_is_gone_and_that_is_told_once(
    settings: Settings, store: Store, folder: Path
) -> None:
    run = await made(settings, store)
    (folder / "count.md").unlink()
    found = await asked(settings, store, run)
    assert [(one.kind, Path(one.url).name) for one in found.stirred] == [("gone", "count.md")]
    assert (await asked(settings, store, run, found.seen)).stirred == ()


async def test_a_cited_document_that_no_query_finds_any_more_is_looked_at(
    settings: Settings, store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = await made(settings, store)
    (folder / "count.md").write_text(f"# Count\n\n{COUNT} Or so.\n", encoding="utf-8")
    standing = set(queries(store, run))

    async def blind(query: str, *rest: object) -> SearchResults:
        found = await search_all(query, *rest)  # type: ignore[arg-type]
        hits = () if query in standing else found.hits
        return SearchResults(hits, found.answered, found.failures)

    monkeypatch.setattr(module, "search_all", blind)
    (stir,) = (await asked(settings, store, run)).stirred
    assert (stir.kind, Path(stir.url).name, stir.query) == ("changed", "count.md", "")


async def test_another_extract_of_a_page_is_no_change(
    settings: Settings, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a provider shows of a page depends on the query, where the page is not fetched."""
    run = await made(settings, store)
    shown = iter(range(1_000))

    async def show(*_: object) -> SearchResults:
        hit = Hit(url="https://e.org/a", title="A", text=f"an extract, number {next(shown)}")
        return SearchResults((hit,), answered=True, failures=())

    monkeypatch.setattr(module, "search_all", show)
    extracts = settings.model_copy(update={"read_pages": False})
    first = await asked(extracts, store, run)
    assert [(one.kind, one.url) for one in first.stirred] == [("new", "https://e.org/a")]
    assert (await asked(extracts, store, run, first.seen)).stirred == ()


# -- pages


PARAGRAPH = "<p>The ferry of Vantskar carried {} passengers in 2025, by the count of the board.</p>"


class Handler(BaseHTTPRequestHandler):
    """A page that a test changes or takes away."""

    status = 200
    count = "1,200"

    def do_GET(self) -> None:
        page = self.path == "/ferry"
        self.send_response(type(self).status if page else 404)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        text = PARAGRAPH.format(type(self).count) * 3
        self.wfile.write(f"<html><title>F</title><body><article>{text}".encode())

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def page() -> Iterator[str]:
    Handler.status, Handler.count = 200, "1,200"
    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/ferry"
    server.shutdown()
    server.server_close()


class Cited:
    """A run whose report cites a page that no query finds, and what its rounds have seen."""

    def __init__(self, settings: Settings, store: Store, run: str, url: str) -> None:
        more = {"allow_hosts": (url.split("/")[2],), "retries": 0}
        self.settings, self.store, self.run = settings.model_copy(update=more), store, run
        report = load_side(run, store).report
        cited = report.citations[0].model_copy(update={"url": url})
        self.report = report.model_copy(update={"citations": (cited,)})
        self.seen: dict[str, tuple[str, ...]] = {}

    async def stirs(self) -> list[str]:
        """Ask, and return what stirred."""
        rows, ledger = self.store.journal.rows(self.run), load_ledger(self.store, self.run)
        found = await ask_standing_queries(
            self.report, ledger, rows, self.seen, self.settings, self.store
        )
        self.seen |= found.seen
        return [one.kind for one in found.stirred]


async def test_a_cited_page_is_fetched_and_its_changes_are_seen(
    settings: Settings, store: Store, page: str
) -> None:
    cited = Cited(settings, store, await made(settings, store), page)
    assert await cited.stirs() == ["new"]
    assert await cited.stirs() == []
    Handler.count = "1,350"
    assert await cited.stirs() == ["changed"]
    assert await cited.stirs() == []
    Handler.count = "1,200"
    assert await cited.stirs() == ["changed"], "what has changed back has changed"


async def test_a_cited_page_that_is_denied_is_gone_and_one_that_fails_is_not(
    settings: Settings, store: Store, page: str
) -> None:
    cited = Cited(settings, store, await made(settings, store), page)
    assert await cited.stirs() == ["new"]
    Handler.status = 503
    assert await cited.stirs() == []
    Handler.status = 404
    assert await cited.stirs() == ["gone"]
    assert await cited.stirs() == []


async def test_no_page_is_fetched_where_none_may_be(
    settings: Settings, store: Store, page: str
) -> None:
    extracts = settings.model_copy(update={"read_pages": False})
    cited = Cited(extracts, store, await made(settings, store), page)
    assert await cited.stirs() == []
