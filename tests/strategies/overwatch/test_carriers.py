"""Insights without findings: what carries them is found by words and by the reader, or nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deepdiver.errors import StoreError
from deepdiver.strategies.overwatch.carriers import find_carriers
from deepdiver.strategies.overwatch.execute import make_searches
from deepdiver.strategies.overwatch.gather import take_turn
from deepdiver.strategies.shared.base import Deps
from tests.strategies.overwatch.test_gather import STATE
from tests.strategies.rig import CorpusProvider, Rig

CORPUS = {
    "doc:a": ("Log", "log", "The own depot burned on 8 February 2026."),
    "doc:b": ("Paper", "newspaper", "No crack was found in the own wall of the depot."),
    "doc:c": ("Mail", "blog", "Thanks for your own update on the depot."),
}
BURNED, CRACK, THANKS = (text for _, _, text in CORPUS.values())


async def gathered(tmp_path: Path) -> tuple[Deps, dict[str, str]]:
    deps = Rig(tmp_path, provider=CorpusProvider(CORPUS)).session().deps
    update = await take_turn(STATE, deps, make_searches(["depot"], "x", "y"))
    return deps, {item["quote"]: item["id"] for item in update["findings"]}


@pytest.mark.parametrize(
    "statement",
    [
        "",
        "Prices rose in the north.",
        "The depot burned on 9 March 2025.",
        "Eva Flod burned the depot.",
        "A crack was found in the wall of the depot.",
    ],
)
async def test_what_no_finding_says_has_no_carrier(tmp_path: Path, statement: str) -> None:
    deps, ids = await gathered(tmp_path)
    assert len(ids) == 3
    assert await find_carriers(deps, statement, ids.values()) == ()


async def test_a_finding_with_its_words_carries_an_insight(tmp_path: Path) -> None:
    deps, ids = await gathered(tmp_path)
    assert await find_carriers(deps, "No crack was found in the wall.", ids.values()) == (
        ids[CRACK],
    )
    assert await find_carriers(deps, "No crack was found in the wall.", ()) == ()


async def test_what_it_says_in_other_words_the_reader_sees(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deps, ids = await gathered(tmp_path)
    statement = "The depot was destroyed by fire on 8 February 2026."
    assert await find_carriers(deps, statement, ids.values()) == (ids[BURNED],)

    def broken() -> Any:
        raise StoreError("its files are missing")

    monkeypatch.setattr("deepdiver.strategies.overwatch.carriers.load_reader", broken)
    assert await find_carriers(deps, statement, ids.values()) == (), "without it, words alone count"
    assert await find_carriers(deps, BURNED, ids.values()) == (ids[BURNED],)
