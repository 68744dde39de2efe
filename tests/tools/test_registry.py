"""Providers by name: ours, other people's, and what is said when one cannot be used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from deepdiver.core.settings import Settings
from deepdiver.errors import CallError, CallFault, MissingKeyError, NoEvidenceError, UnknownNameError
from deepdiver.gateway import Gateway
from deepdiver.tools.hit import Hit
from deepdiver.tools.registry import GROUP, MEMBERS, Broken, choose, nearest, prepare, providers
from tests.tools.conftest import Desk

Install = Callable[..., None]
TAVILY = {"tavily": SecretStr("tvly-key")}

ATLAS = """
from deepdiver.errors import CallError, CallFault
from deepdiver.gateway import Reply, Request
from deepdiver.tools.hit import Hit

class Atlas:
    name = "atlas"
    about = "maps"

    def missing(self, settings):
        return None if settings.key("atlas") else "set DEEPDIVER_ATLAS_KEY"

    async def search(self, query, limit, gateway):
        async def do():
            return Reply([{"url": "atlas:1", "title": "Map", "text": f"A map of {query}.", "provider": self.name}])
        reply = await gateway.call(Request("search", self.name, query, {"query": query}), do)
        return [Hit(**item) for item in reply.value]

PROVIDER = Atlas()
NOT_ONE = object()
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Install a distribution as pip would: a module and its entry points, on the path."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(site)

    def put(distribution: str, module: str, source: str, **points: str) -> None:
        (site / f"{module}.py").write_text(source, encoding="utf-8")
        info = site / f"{module}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n", encoding="utf-8")
        lines = [f"{name} = {value}" for name, value in points.items()]
        (info / "entry_points.txt").write_text("\n".join([f"[{GROUP}]", *lines, ""]), encoding="utf-8")
        providers.cache_clear()

    yield put
    for name in ("deepdiver_atlas", "deepdiver_wrong"):
        sys.modules.pop(name, None)
    providers.cache_clear()


def chosen(**settings: object) -> tuple[list[str], list[str]]:
    found, left_out = choose(Settings(**settings))  # type: ignore[arg-type]
    return [provider.name for provider in found], left_out


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("tavilly", "did you mean tavily?"),
        ("Tavily", "did you mean tavily?"),
        ("searx", "did you mean searxng?"),
        ("libary", "did you mean library?"),
        ("zzz", "known are auto, library, searxng, tavily"),
        ("", "known are auto, library, searxng, tavily"),
    ],
)
def test_an_unknown_name_gets_the_nearest_one(name: str, hint: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        chosen(search=(name,), keys=TAVILY)
    assert str(caught.value) == f"unknown search provider {name!r}; {hint}"
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("tavily", "set TAVILY_API_KEY"),
        ("searxng", "set SEARXNG_URL to the address of your SearXNG"),
        ("library", "no documents were given: add --in PATH, or --sample"),
    ],
)
def test_a_provider_asked_for_by_name_must_be_usable(name: str, why: str) -> None:
    with pytest.raises(MissingKeyError) as caught:
        chosen(search=(name,))
    assert str(caught.value) == f"search provider {name} cannot be used: {why}"


def test_one_bad_name_among_good_ones_is_an_error() -> None:
    with pytest.raises(UnknownNameError):
        chosen(search=("tavily", "nope"), keys=TAVILY)


def test_auto_leaves_out_what_cannot_be_used_and_says_why() -> None:
    assert chosen() == (
        [],
        [
            "library: no documents were given: add --in PATH, or --sample",
            "searxng: set SEARXNG_URL to the address of your SearXNG",
            "tavily: set TAVILY_API_KEY",
        ],
    )
    names, left_out = chosen(keys=TAVILY)
    assert names == ["tavily"]
    assert len(left_out) == 2


def test_documents_imply_the_library(tmp_path: Path) -> None:
    assert chosen(documents=(tmp_path,))[0] == ["library"]
    assert chosen(documents=(tmp_path,), search=("tavily",), keys=TAVILY) == (["tavily", "library"], [])
    assert chosen(documents=(tmp_path,), search=()) == (["library"], [])
    assert chosen(search=()) == ([], [])


def test_each_provider_is_chosen_once(tmp_path: Path) -> None:
    settings = {"keys": TAVILY, "documents": (tmp_path,)}
    assert chosen(search=("tavily", "tavily", "auto", "library"), **settings)[0] == ["tavily", "library"]


def test_ours_are_found_by_their_entry_points() -> None:
    found = providers()
    assert {"library", "searxng", "tavily"} <= found.keys()
    assert list(found) == sorted(found)
    for name, provider in found.items():
        assert provider.name == name
        assert provider.about


async def test_a_third_partys_provider_works_like_ours(install: Install, desk: Desk) -> None:
    install("deepdiver-atlas", "deepdiver_atlas", ATLAS, atlas="deepdiver_atlas:PROVIDER")
    assert "atlas: set DEEPDIVER_ATLAS_KEY" in chosen()[1]
    with pytest.raises(MissingKeyError, match="atlas cannot be used: set DEEPDIVER_ATLAS_KEY"):
        chosen(search=("atlas",))
    with pytest.raises(UnknownNameError, match="did you mean atlas"):
        chosen(search=("atlass",))
    (provider,), _ = choose(Settings(search=("atlas",), keys={"atlas": SecretStr("key-of-atlas")}))
    (hit,) = await provider.search("Vantskär", 6, desk.gateway())
    assert (hit.text, hit.provider) == ("A map of Vantskär.", "atlas")
    assert [row.provider for row in desk.store.journal_list(desk.run)] == ["atlas"]


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("deepdiver_nowhere:PROVIDER", "cannot be loaded from deepdiver_nowhere:PROVIDER: No module named"),
        ("deepdiver_atlas:ABSENT", "cannot be loaded from deepdiver_atlas:ABSENT: module 'deepdiver_atlas' has no"),
        ("deepdiver_wrong:PROVIDER", "cannot be loaded from deepdiver_wrong:PROVIDER: no backend"),
        ("deepdiver_atlas:NOT_ONE", "is no provider: deepdiver_atlas:NOT_ONE has no name, about, missing, search"),
    ],
)
async def test_a_broken_one_costs_itself_alone(install: Install, desk: Desk, value: str, why: str) -> None:
    install("deepdiver-atlas", "deepdiver_atlas", ATLAS, broken=value)
    install("deepdiver-wrong", "deepdiver_wrong", "raise ImportError('no backend')")
    names, left_out = chosen(keys=TAVILY)
    assert names == ["tavily"]
    assert any(line.startswith(f"broken: {why}") for line in left_out)
    with pytest.raises(MissingKeyError, match="search provider broken cannot be used"):
        chosen(search=("broken",))
    with pytest.raises(CallError) as caught:
        await providers()["broken"].search("anything", 6, desk.gateway())
    assert caught.value.fault is CallFault.REQUEST


def test_a_broken_one_has_all_that_a_provider_has() -> None:
    assert all(hasattr(Broken("x", "why"), member) for member in MEMBERS)


# -- before the first search


class Ready:
    """A provider that looks at what it holds, or has no need to."""

    about = "ready"

    def __init__(self, name: str, *lines: str, empty: bool = False) -> None:
        self.name, self.lines, self.empty = name, lines, empty

    def missing(self, settings: Settings) -> str | None:
        return None

    async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
        return []

    async def prepare(self, gateway: Gateway) -> list[str]:
        if self.empty:
            raise NoEvidenceError(f"{self.name} holds nothing")
        return list(self.lines)


async def test_what_cannot_be_searched_is_told(desk: Desk) -> None:
    gateway = desk.gateway()
    chosen = [Ready("one", "a was not read"), providers()["tavily"], Ready("two", empty=True)]
    assert await prepare(chosen, gateway) == ["a was not read", "two holds nothing"]
    assert await prepare([providers()["tavily"]], gateway) == []


async def test_nothing_to_search_anywhere(desk: Desk) -> None:
    with pytest.raises(NoEvidenceError, match="one holds nothing; two holds nothing"):
        await prepare([Ready("one", empty=True), Ready("two", empty=True)], desk.gateway())


def test_the_hint_never_names_what_is_not_there() -> None:
    assert nearest("tavily", {}) == "; known are auto, "
    assert nearest("x", {"atlas": Broken("atlas", "")}) == "; known are auto, atlas"
