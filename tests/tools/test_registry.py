"""Providers by name: ours, other people's, and what is said when one cannot be used."""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path

import pytest
from pydantic import SecretStr

from deepdiver.core.settings import Settings
from deepdiver.errors import (
    CallError,
    CallFault,
    MissingKeyError,
    NoEvidenceError,
    UnknownNameError,
)
from deepdiver.gateway import Gateway, Mode
from deepdiver.tools import registry, search
from deepdiver.tools.hit import Hit
from deepdiver.tools.registry import (
    GROUP,
    MEMBERS,
    BrokenProvider,
    Choice,
    address_of,
    choose,
    nearest,
    prepare,
    price_of,
    providers,
    reached,
)
from tests.tools.conftest import Desk, Line

Install = Callable[..., None]
OURS = sorted(
    path.stem
    for path in Path(search.__path__[0]).glob("*.py")
    if f'    name = "{path.stem}"' in path.read_text(encoding="utf-8").splitlines()
)
"""Every module with the provider of its own name: those that the distribution must register."""
LIBRARY_EMPTY = (
    "no documents were given: add --in PATH, or --sample, or fill your library with deepdiver "
    "library add"
)
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
            text = f"A map of {query}."
            hit = {"url": "atlas:1", "title": "Map", "text": text, "provider": self.name}
            return Reply([hit])
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
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n", encoding="utf-8"
        )
        lines = [f"{name} = {value}" for name, value in points.items()]
        (info / "entry_points.txt").write_text(
            "\n".join([f"[{GROUP}]", *lines, ""]), encoding="utf-8"
        )
        providers.cache_clear()

    yield put
    for name in ("deepdiver_atlas", "deepdiver_wrong"):
        sys.modules.pop(name, None)
    providers.cache_clear()


def chosen(**settings: object) -> tuple[list[str], list[str]]:
    choice = choose(Settings(**settings))  # type: ignore[arg-type]
    return [provider.name for provider in choice.providers], list(choice.left_out)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("tavilly", "did you mean tavily?"),
        ("Tavily", "did you mean tavily?"),
        ("searx", "did you mean searxng?"),
        ("libary", "did you mean library?"),
        ("zzz", f"known are auto, scholar, news, mcp, {', '.join(OURS)}"),
        ("", f"known are auto, scholar, news, mcp, {', '.join(OURS)}"),
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
        ("library", LIBRARY_EMPTY),
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
    names, left_out = chosen(search=("auto",))
    assert "library" not in names
    assert "tavily" not in names
    assert {
        "searxng: set SEARXNG_URL to the address of your SearXNG",
        "tavily: set TAVILY_API_KEY",
    } <= set(left_out)
    assert "tavily" in chosen(search=("auto",), keys=TAVILY)[0]


def test_auto_takes_what_needs_no_key_but_not_the_slow_specialists() -> None:
    names = chosen(search=("auto",))[0]
    assert {"duckduckgo", "wikipedia"} <= set(names)
    assert not {"arxiv", "gdelt", "pubmed", "semantic_scholar"} & set(names)
    assert {"arxiv", "crossref", "openalex", "pubmed", "semantic_scholar"} == set(
        chosen(search=("scholar",))[0]
    )
    assert chosen(search=("news",))[0] == ["gdelt"]


def test_a_question_to_your_own_documents_asks_nobody_else(tmp_path: Path) -> None:
    assert chosen(documents=(tmp_path,), keys=TAVILY)[0] == ["library"]
    assert chosen(documents=(tmp_path,), search=("tavily",), keys=TAVILY) == (
        ["tavily", "library"],
        [],
    )
    assert set(chosen(documents=(tmp_path,), search=("auto",))[0]) >= {"library", "duckduckgo"}


def test_with_neither_documents_nor_a_name_the_web_is_searched(tmp_path: Path) -> None:
    assert chosen(home=tmp_path)[0] == chosen(home=tmp_path, search=("auto",))[0]


def test_a_name_with_a_question_mark_is_wanted_only_if_it_can_be_used() -> None:
    assert chosen(search=("tavily?", "wikipedia")) == (
        ["wikipedia"],
        ["tavily: set TAVILY_API_KEY"],
    )
    with pytest.raises(UnknownNameError, match="did you mean tavily"):
        chosen(search=("tavili?",))


def test_a_choice_is_written_so_that_it_stays_what_it_was() -> None:
    choice = choose(Settings(search=("auto", "wikipedia"), keys=TAVILY))
    assert "wikipedia" in choice.names  # named, so it must be there
    assert {"tavily?", "duckduckgo?"} <= set(choice.names)
    again = choose(Settings(search=choice.names, keys=TAVILY))
    assert (again.names, again.optional) == (choice.names, choice.optional)


def test_each_provider_is_chosen_once(tmp_path: Path) -> None:
    settings = {"keys": TAVILY, "documents": (tmp_path,)}
    names = chosen(search=("tavily", "tavily", "auto", "library"), **settings)[0]
    assert names[0] == "tavily"
    assert len(names) == len(set(names))


def test_a_replay_needs_nothing() -> None:
    assert [
        p.name for p in choose(Settings(search=("tavily", "exa?")), usable=False).providers
    ] == ["tavily", "exa"]


# -- who can be reached


class At:
    """A provider at an address."""

    about = "a place"

    def __init__(self, name: str, address: str) -> None:
        self.name, self._address = name, address

    def missing(self, settings: Settings) -> str | None:
        return None

    def address(self, settings: Settings) -> str:
        return settings.urls.get(self.name, self._address)

    async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
        return []


def closed_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return int(held.getsockname()[1])


@pytest.fixture
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "getproxies", dict)


@pytest.mark.usefixtures("no_proxy")
async def test_an_optional_provider_that_does_not_answer_is_left_out_and_named(
    desk: Desk, line: Line
) -> None:
    there, gone = At("there", line.url), At("gone", f"http://127.0.0.1:{closed_port()}")
    choice = Choice((there, gone), frozenset({"there", "gone"}))
    kept, told = await reached(choice, desk.gateway())
    assert kept == [there]
    assert len(told) == 1
    assert told[0].startswith("gone was not searched: 127.0.0.1:")


@pytest.mark.usefixtures("no_proxy")
async def test_one_that_was_named_is_not_left_out_and_not_tried(desk: Desk) -> None:
    gone = At("gone", f"http://127.0.0.1:{closed_port()}")
    assert await reached(Choice((gone,)), desk.gateway()) == ([gone], [])
    assert desk.store.journal.rows(desk.run) == []


@pytest.mark.usefixtures("no_proxy")
async def test_a_replay_leaves_out_the_same_and_tries_nobody(desk: Desk, line: Line) -> None:
    port = closed_port()
    choice = Choice(
        (At("there", line.url), At("gone", f"http://127.0.0.1:{port}")),
        frozenset({"there", "gone"}),
    )
    live = await reached(choice, desk.gateway())
    with socket.socket() as opened:  # now it is there
        opened.bind(("127.0.0.1", port))
        opened.listen()
        assert await reached(choice, desk.gateway(Mode.REPLAY)) == live
        # A resumed run goes on with those it began with.
        assert await reached(choice, desk.gateway()) == live


async def test_behind_a_proxy_nobody_is_left_out(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "getproxies", lambda: {"https": "http://proxy.example:3128"})
    gone = At("gone", f"http://127.0.0.1:{closed_port()}")
    assert await reached(Choice((gone,), frozenset({"gone"})), desk.gateway()) == ([gone], [])


def test_a_provider_without_an_address_is_found_by_its_setting() -> None:
    class Silent(At):
        address = None  # type: ignore[assignment]

    assert address_of(Silent("x", ""), Settings(urls={"x": "http://here"})) == "http://here"
    assert address_of(Silent("x", ""), Settings()) == ""


def test_ours_are_found_by_their_entry_points() -> None:
    found = providers()
    assert {*OURS} <= found.keys()
    assert list(found) == sorted(found)
    for name, provider in found.items():
        assert provider.name == name
        assert provider.about


async def test_a_third_partys_provider_works_like_ours(install: Install, desk: Desk) -> None:
    install("deepdiver-atlas", "deepdiver_atlas", ATLAS, atlas="deepdiver_atlas:PROVIDER")
    assert "atlas: set DEEPDIVER_ATLAS_KEY" in chosen(search=("auto",))[1]
    with pytest.raises(MissingKeyError, match="atlas cannot be used: set DEEPDIVER_ATLAS_KEY"):
        chosen(search=("atlas",))
    with pytest.raises(UnknownNameError, match="did you mean atlas"):
        chosen(search=("atlass",))
    (provider,) = choose(
        Settings(search=("atlas",), keys={"atlas": SecretStr("key-of-atlas")})
    ).providers
    (hit,) = await provider.search("Vantskär", 6, desk.gateway())
    assert (hit.text, hit.provider) == ("A map of Vantskär.", "atlas")
    assert [row.provider for row in desk.store.journal.rows(desk.run)] == ["atlas"]


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (
            "deepdiver_nowhere:PROVIDER",
            "cannot be loaded from deepdiver_nowhere:PROVIDER: No module named",
        ),
        (
            "deepdiver_atlas:ABSENT",
            "cannot be loaded from deepdiver_atlas:ABSENT: module 'deepdiver_atlas' has no",
        ),
        ("deepdiver_wrong:PROVIDER", "cannot be loaded from deepdiver_wrong:PROVIDER: no backend"),
        (
            "deepdiver_atlas:NOT_ONE",
            "is not a provider: deepdiver_atlas:NOT_ONE has no name, about, missing, search",
        ),
    ],
)
async def test_a_broken_one_costs_itself_alone(
    install: Install, desk: Desk, value: str, why: str
) -> None:
    install("deepdiver-atlas", "deepdiver_atlas", ATLAS, broken=value)
    install("deepdiver-wrong", "deepdiver_wrong", "raise ImportError('no backend')")
    names, left_out = chosen(search=("tavily", "broken?"), keys=TAVILY)
    assert names == ["tavily"]
    assert any(line.startswith(f"broken: {why}") for line in left_out)
    with pytest.raises(MissingKeyError, match="search provider broken cannot be used"):
        chosen(search=("broken",))
    with pytest.raises(CallError) as caught:
        await providers()["broken"].search("anything", 6, desk.gateway())
    assert caught.value.fault is CallFault.REQUEST


def test_a_broken_one_has_all_that_a_provider_has() -> None:
    assert all(hasattr(BrokenProvider("x", "why"), member) for member in MEMBERS)


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


async def test_sources_that_cannot_be_searched_are_listed(desk: Desk) -> None:
    gateway = desk.gateway()
    chosen = [Ready("one", "a was not read"), providers()["tavily"], Ready("two", empty=True)]
    assert await prepare(chosen, gateway) == ["a was not read", "two holds nothing"]
    assert await prepare([providers()["tavily"]], gateway) == []


async def test_nothing_to_search_anywhere(desk: Desk) -> None:
    with pytest.raises(NoEvidenceError, match="one holds nothing; two holds nothing"):
        await prepare([Ready("one", empty=True), Ready("two", empty=True)], desk.gateway())


def test_the_hint_never_names_an_unknown_provider() -> None:
    assert nearest("tavily", {}) == "; known are auto, scholar, news, mcp"
    assert (
        nearest("x", {"atlas": BrokenProvider("atlas", "")})
        == "; known are auto, scholar, news, mcp, atlas"
    )


# -- tools of MCP servers

SERVERS = {"mcp": {"servers": {"wiki": {"command": ["wiki-server"]}}}}


@pytest.mark.parametrize(
    ("search", "wanted"),
    [
        (("library",), ()),
        (("mcp",), ("mcp",)),
        (("mcp:wiki", "mcp:wiki"), ("mcp:wiki",)),
        (("auto",), ("mcp",)),
        ((), ("mcp",)),
    ],
)
def test_tools_of_servers_are_asked_where_the_web_is_or_where_they_are_named(
    search: tuple[str, ...], wanted: tuple[str, ...]
) -> None:
    choice = choose(
        Settings.model_validate({"search": search, "documents": [], **SERVERS}), usable=False
    )
    assert choice.mcp == wanted
    assert choice.outside or not wanted
    assert set(wanted) <= set(choice.names), "a run keeps that they were wanted"


def test_without_servers_nobody_is_asked(tmp_path: Path) -> None:
    assert choose(Settings.model_validate({"search": ["auto"]})).mcp == ()
    (tmp_path / "a.txt").write_text("a", encoding="utf-8")
    own = Settings.model_validate({"documents": [tmp_path], **SERVERS})
    assert choose(own).mcp == (), "a question to documents asks nobody else"


@pytest.mark.parametrize(
    ("names", "tool", "taken"),
    [
        (("mcp",), "wiki.find", True),
        (("mcp:wiki",), "wiki.find", True),
        (("mcp:wiki.find",), "wiki.find", True),
        (("mcp:wiki.find",), "wiki.other", False),
        (("mcp:wik",), "wiki.find", False),
        ((), "wiki.find", False),
    ],
)
def test_which_tool_is_meant(names: tuple[str, ...], tool: str, taken: bool) -> None:
    assert Choice((), mcp=names).takes(tool) is taken


# -- what a search costs


class Priced(BrokenProvider):
    """A provider that states its list price."""

    list_price = Decimal("0.01")


def prices(**calls: str) -> Settings:
    return Settings.model_validate({"prices": {name: {"call": c} for name, c in calls.items()}})


def test_a_price_that_nobody_states_is_none_and_never_0() -> None:
    assert price_of(BrokenProvider("atlas", ""), Settings()) is None


def test_your_own_price_goes_before_the_stated_one() -> None:
    atlas = Priced("atlas", "")
    assert price_of(atlas, Settings()) == Decimal("0.01")
    assert price_of(atlas, prices(atlas="0")) == 0
    assert price_of(BrokenProvider("atlas", ""), prices(atlas="0.5")) == Decimal("0.5")
    assert price_of(providers()["searxng"], prices(searxng="0.5")) == Decimal("0.5")
    for name in ("tavily", "exa", "brave", "google"):
        assert price_of(providers()[name], prices(**{name: "0.25"})) == Decimal("0.25")


def test_every_provider_of_ours_states_its_price() -> None:
    free = {name for name in OURS if price_of(providers()[name], Settings()) == 0}
    assert set(OURS) - free == {"brave", "exa", "google", "tavily"}
    for name in set(OURS) - free:
        price = price_of(providers()[name], Settings())
        assert price is not None
        assert 0 < price < 1
