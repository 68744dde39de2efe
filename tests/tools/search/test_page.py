"""docs/SEARCH.md is true: each provider has its rows, and all numbers and names are real."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from deepdiver.core.settings import KEY_VARIABLES, URL_VARIABLES, Settings, load
from deepdiver.tools import registry, search
from deepdiver.tools.search import brave, duckduckgo, exa, google, serpapi, serper, tavily
from tests.tools.conftest import Desk
from tests.tools.search.conftest import Service, reply

PAGE = (Path(__file__).parents[3] / "docs" / "SEARCH.md").read_text(encoding="utf-8")


def is_provider(path: Path) -> bool:
    """Tell whether a module holds the provider of its own name.

    The ways to Google hold Google's.
    """
    return (
        re.search(rf'^    name = "{path.stem}"$', path.read_text(encoding="utf-8"), re.MULTILINE)
        is not None
    )


PROVIDERS = sorted(path.stem for path in Path(search.__path__[0]).glob("*.py") if is_provider(path))


def rows(section: str) -> dict[str, list[str]]:
    """Return the rows of a section's table by the name they begin with, as their cells."""
    text = PAGE.split(f"\n## {section}\n")[1].split("\n## ")[0]
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line[:3] == "| `"
    ]
    return {row[0]: row[1:] for row in cells}


def test_there_are_providers() -> None:
    assert {"brave", "duckduckgo", "exa", "google", "searxng", "tavily"} <= set(PROVIDERS)
    assert "http" not in PROVIDERS
    assert "serper" not in PROVIDERS


@pytest.mark.parametrize("name", PROVIDERS)
def test_every_provider_has_its_rows(name: str) -> None:
    assert f"`{name}`" in rows("The providers")
    assert any(row.startswith(f"`{name}`") for row in rows("Filters"))


def test_every_variable_is_read(tmp_path: Path) -> None:
    known = {variable for names in KEY_VARIABLES.values() for variable in names} | set(
        URL_VARIABLES.values()
    )
    named = set(re.findall(r"`([A-Z0-9_]+_(?:KEY|URL))`", PAGE))
    assert len(named) > 6
    for variable in named - known:
        settings = load(
            environ={variable: "http://127.0.0.1:9"},
            folder=tmp_path,
            user_file=tmp_path / "none.toml",
        )
        assert settings.keys or settings.urls, variable


def test_the_numbers_are_those_of_the_code() -> None:
    filters = rows("Filters")
    assert filters["`brave`"][1:3] == [
        f"{len({*brave.LANGUAGES.values()})} languages",
        f"{len(brave.COUNTRIES)} countries",
    ]
    assert filters["`brave`"][-1] == str(brave.MOST_RESULTS)
    assert filters["`duckduckgo`"][2] == f"{len(duckduckgo.REGIONS)} regions"
    assert filters["`google` (Serper)"][-1] == str(serper.MOST_RESULTS)
    assert filters["`tavily`"][2] == f"prefers {len(tavily.COUNTRIES)} countries"
    assert filters["`tavily`"][-1] == str(tavily.MOST_RESULTS)
    assert f"{exa.CHARACTERS:,} characters" in rows("The providers")["`exa`"][0]


def test_the_prices_are_those_of_the_code() -> None:
    prices = rows("What a search costs")
    for priced in (tavily.PROVIDER, brave.PROVIDER):
        assert prices[f"`{priced.name}`"][0].startswith(str(priced.list_price))
    for seller in (serper.PROVIDER, serpapi.PROVIDER, google.CUSTOM_SEARCH):
        assert str(seller.list_price) in prices["`google`"][0]
    assert prices["`exa`"][0].startswith("0.005 up to 25 results and 0.025 beyond, and 0.001")
    few, many = (exa.PROVIDER.price(Settings(), results) for results in (25, 26))
    assert (str(few), str(many)) == ("0.030", "0.051")


async def test_the_example_is_a_provider(
    desk: Desk, service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    example = PAGE.split("## A provider of your own\n")[1].split("```python\n")[1].split("```")[0]
    (tmp_path / "atlas_of_the_page.py").write_text(example, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    atlas = importlib.import_module("atlas_of_the_page").PROVIDER
    assert all(hasattr(atlas, member) for member in registry.MEMBERS)
    assert atlas.missing(Settings()) == "set DEEPDIVER_ATLAS_KEY"
    assert registry.price_of(atlas, Settings()) == atlas.list_price
    service.always = reply(b'{"results": [{"url": "https://a.example/1", "summary": "A map."}]}')
    gateway = desk.gateway(urls={"atlas": service.url}, keys={"atlas": "a-key"})
    (hit,) = await atlas.search("holm", 6, gateway)
    assert (hit.url, hit.text, hit.provider) == ("https://a.example/1", "A map.", "atlas")
    assert service.heard[0].startswith("GET /search?q=holm&count=6 ")
    assert "x-api-key: a-key" in service.heard[0].lower()
