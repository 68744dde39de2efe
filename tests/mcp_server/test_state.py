"""The state: what a request may reach, and where a run stands."""

from __future__ import annotations

import os
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from pydantic import SecretStr

from deepdiver.core.record import RunStatus
from deepdiver.core.settings import Settings
from deepdiver.errors import MissingKeyError, StoreAccessError, UnknownNameError, UsageError
from deepdiver.mcp_server.schemas import ResearchArguments
from deepdiver.mcp_server.state import ServerState, open_state
from deepdiver.run import research
from deepdiver.run.begin import new_run
from tests.mcp_server.tides import FEED, KEY

pytestmark = pytest.mark.usefixtures("read_once")

TONNES = "How many tonnes of cheese did Svedjan Ost AB make in 2025?"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of documents with a link that leads out of it, beside something private."""
    docs = tmp_path / "docs"
    (docs / "sub").mkdir(parents=True)
    (docs / "a.md").write_text("A")
    (docs / "sub" / "b.md").write_text("B")
    (tmp_path / "private.md").write_text("secret")
    (tmp_path / "docs-private").mkdir()
    (tmp_path / "docs-private" / "c.md").write_text("C")
    (docs / "link.md").symlink_to(tmp_path / "private.md")
    (docs / "out").symlink_to(tmp_path)
    (docs / "loop").symlink_to("loop")
    return docs


@pytest.fixture
def near(state: ServerState, folder: Path, tmp_path: Path) -> ServerState:
    one = tmp_path / "one.md"
    one.write_text("1")
    return ServerState(state.settings.model_copy(update={"documents": (folder, one)}), state.store)


@pytest.mark.parametrize(
    "name",
    [
        "../private.md",
        "sub/../../private.md",
        "link.md",
        "out",
        "out/private.md",
        "loop",
        "loop/a.md",
        "../docs-private/c.md",
        "/etc/passwd",
        "/",
        "..",
        "~",
        "~/x",
        "missing.md",
        "a.md/b",
        "a\0b",
        "x" * 900,
        "/".join(["x"] * 400),
        "two.md",
    ],
)
def test_no_name_leads_out_of_the_folders(near: ServerState, name: str) -> None:
    with pytest.raises(
        UsageError, match="is not among the documents that this server was started with"
    ):
        near.document_path(name)


def test_whether_a_file_outside_exists_is_not_told(near: ServerState, tmp_path: Path) -> None:
    said = set()
    for name in ("private.md", "nothing.md"):
        with pytest.raises(UsageError) as caught:
            near.document_path(str(tmp_path / name))
        said.add(str(caught.value).partition("' is ")[2])  # behind the name, which a long path cuts
    assert len(said) == 1
    assert said != {""}


def test_names_within_are_found_from_any_of_the_folders(
    near: ServerState, folder: Path, tmp_path: Path
) -> None:
    assert near.document_path("a.md") == (folder / "a.md").resolve()
    assert near.document_path("sub") == (folder / "sub").resolve()
    assert near.document_path("sub/../a.md") == (folder / "a.md").resolve()
    assert near.document_path(".") == folder.resolve()
    assert near.document_path(str(folder / "sub" / "b.md")) == (folder / "sub" / "b.md").resolve()
    assert near.document_path("one.md") == (tmp_path / "one.md").resolve()


def test_without_folders_nothing_can_be_named(state: ServerState) -> None:
    bare = ServerState(state.settings.model_copy(update={"documents": ()}), state.store)
    for name in (".", "/", "a.md", os.getcwd()):
        with pytest.raises(UsageError):
            bare.document_path(name)


@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.sampled_from(["..", ".", "sub", "out", "a.md", "link.md", "loop", "/", "\0", "~"]),
        min_size=1,
        max_size=8,
    )
)
def test_whatever_is_found_lies_within(near: ServerState, parts: list[str]) -> None:
    roots = [path.resolve() for path in near.settings.documents]
    try:
        found = near.document_path("/".join(parts))
    except UsageError:
        return
    assert any(found == root or root in found.parents for root in roots)


def test_a_request_changes_only_what_it_may(near: ServerState, folder: Path) -> None:
    asked = ResearchArguments(
        question="x",
        strategy="iterative",
        documents=("a.md", "a.md"),
        budget=Decimal("0.1"),
        max_iterations=2,
    )
    made = near.run_settings(asked)
    assert made.strategy == "iterative"
    assert made.documents == ((folder / "a.md").resolve(),)
    assert made.documents_within == near.settings.documents
    same = {"strategy", "documents", "documents_within", "budget", "max_iterations"}
    assert made.model_dump(exclude=same) == near.settings.model_dump(exclude=same)
    assert near.run_settings(ResearchArguments(question="x")) == near.settings


@pytest.mark.parametrize(
    ("allowed", "asked", "made"), [("1", "5", "1"), ("5", "1", "1"), (None, "5", "5")]
)
def test_a_budget_can_be_made_smaller_never_larger(
    state: ServerState, allowed: str | None, asked: str, made: str
) -> None:
    most = Decimal(allowed) if allowed else None
    held = ServerState(state.settings.model_copy(update={"budget": most}), state.store)
    assert held.run_settings(
        ResearchArguments(question="x", budget=Decimal(asked))
    ).budget == Decimal(made)
    assert held.run_settings(ResearchArguments(question="x")).budget == most


async def test_a_desk_that_cannot_be_opened(tmp_path: Path, settings: Settings) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreAccessError):
        async with open_state(settings.model_copy(update={"home": tmp_path / "file" / "x"})):
            raise AssertionError("it was open_state")
    with pytest.raises(UnknownNameError, match="watch_tides"):
        async with open_state(settings.model_copy(update={"feeds": ("watch_tide",)})):
            raise AssertionError("it was open_state")
    with pytest.raises(MissingKeyError, match="DEEPDIVER_TIDES_KEY"):
        async with open_state(settings.model_copy(update={"feeds": (FEED.name,), "keys": {}})):
            raise AssertionError("it was open_state")


async def test_which_feeds_may_be_asked(settings: Settings) -> None:
    for changes, names in (({}, [FEED.name]), ({"feeds": ("none",)}, []), ({"keys": {}}, [])):
        async with open_state(settings.model_copy(update=changes)) as state:
            assert [feed.name for feed in state.feeds.feeds] == names


async def test_where_a_run_stands(state: ServerState) -> None:
    began = new_run("Who?", state.settings, state.store)
    summary = state.summarise(began)
    assert (summary.status, summary.finished, summary.sources) == (RunStatus.RUNNING, False, 0)
    outcome = await research(
        "How many tonnes of cheese did Svedjan Ost AB make in 2025?",
        state.settings,
        store=state.store,
    )
    summary = state.summarise(state.store.runs.get(outcome.run.id))
    assert (summary.status, summary.finished, summary.phase) == (
        RunStatus.ANSWERED,
        True,
        "final answer",
    )
    assert summary.sources > 5
    assert summary.findings > 3
    assert summary.confidence > 0.7
    assert "38 tonnes" in summary.answer
    assert summary.cost == "0"


def test_no_secret_passes(state: ServerState) -> None:
    assert state.scrub(f"a {KEY} b") == "a [secret] b"
    token = ServerState(
        state.settings.model_copy(update={"keys": {"mcp_server": SecretStr("token-0123456789")}}),
        state.store,
    )
    assert token.scrub("token-0123456789") == "[secret]"
