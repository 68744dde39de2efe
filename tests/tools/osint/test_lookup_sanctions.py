"""The feed of sanctions lists: its arguments, and whether the file or the API is asked."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from deepdiver.core.settings import Settings
from deepdiver.tools.osint.feed import IntelligenceType, arguments_of, shown_arguments
from deepdiver.tools.osint.lookup_sanctions import FEED, SanctionsArguments
from deepdiver.tools.osint.sanctions.query import SanctionsQuery
from tests.tools.conftest import Desk
from tests.tools.osint.faults import FeedCase, FeedFaults
from tests.tools.osint.sanctions.targets import bulk_file
from tests.tools.osint.sanctions.test_match_api import RESULT, WEAK, body
from tests.tools.search.conftest import Service

WRONG: tuple[Any, ...] = (
    [],
    {},
    7,
    {"responses": []},
    {"responses": {}},
    {"responses": {"q": {"results": 7}}},
    {"responses": {"q": {"status": 200}}},
    *(
        {"responses": {"q": {"results": [{**RESULT, name: value}]}}}
        for name, value in (
            ("id", ""),
            ("id", 7),
            ("caption", None),
            ("schema", None),
            ("properties", []),
            ("properties", {"name": "Ivan"}),
            ("score", "much"),
            ("score", 1.5),
            ("match", None),
            ("datasets", "eu_fsf"),
            ("first_seen", 7),
        )
    ),
)


class TestFaults(FeedFaults):
    case = FeedCase(
        FEED,
        service="opensanctions",
        args={"name": "Ivan Petrov"},
        good=body(RESULT, WEAK),
        empty=body(),
        wrong=tuple(json.dumps(wrong).encode() for wrong in WRONG),
        key="opensanctions",
        vary=lambda number: {"name": f"Ivan Petrov {number}"},
    )


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({}, "it needs the argument 'name'"),
        ({"name": ""}, "a name has two letters at least"),
        ({"name": " ! "}, "a name has two letters at least"),
        ({"name": "I"}, "a name has two letters at least"),
        ({"name": "x" * 300}, "at most 200 characters"),
        ({"name": 7}, "valid string"),
        ({"name": "Ivan", "country": "XX"}, "there is no country XX"),
        ({"name": "Ivan", "country": "Atlantis"}, "there is no country Atlantis"),
        ({"name": "Ivan", "birth_date": "02.05.1961"}, "a birth date is written as 1961"),
        ({"name": "Ivan", "birth_date": "1961-13"}, "a birth date is written as 1961"),
        ({"name": "Ivan", "birth_date": "1961-02-30"}, "a birth date is written as 1961"),
        ({"name": "Ivan", "birth_date": "0001"}, "a birth date is written as 1961"),
        ({"name": "Ivan", "birth_date": "61"}, "a birth date is written as 1961"),
        ({"name": "Ivan", "kind": "planet"}, "'person', 'organisation' or 'vessel'"),
        (
            {"name": "Ivan", "kind": "vessel", "birth_date": "1961"},
            "only a person has a birth date",
        ),
        ({"name": "Ivan", "passport": "1"}, "it takes no argument 'passport'"),
    ],
)
async def test_bad_arguments_are_refused_before_any_call(
    service: Service, given: dict[str, Any], why: str
) -> None:
    with pytest.raises(ValueError, match=why) as caught:
        arguments_of(FEED, given)
    assert "\n" not in str(caught.value)
    assert service.heard == []


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ({"name": "  Ivan \n Petrov "}, SanctionsQuery("Ivan Petrov")),
        ({"name": "Ivan", "birth_date": 1961}, SanctionsQuery("Ivan", "1961", "", "person")),
        (
            {"name": "Ivan", "birth_date": "1961-05", "country": ""},
            SanctionsQuery("Ivan", "1961-05", "", "person"),
        ),
        ({"name": "Ivan", "country": "Russia", "birth_date": ""}, SanctionsQuery("Ivan", "", "ru")),
        ({"name": "Star", "kind": "Ship"}, SanctionsQuery("Star", kind="vessel")),
        ({"name": "Star", "kind": "company"}, SanctionsQuery("Star", kind="organisation")),
        ({"name": "Star", "kind": ""}, SanctionsQuery("Star")),
        ({"name": "习近平"}, SanctionsQuery("习近平")),
    ],
)
def test_arguments_as_reasoners_give_them(given: dict[str, Any], asked: SanctionsQuery) -> None:
    args = arguments_of(FEED, given)
    assert isinstance(args, SanctionsArguments)
    assert args.query == asked


def test_nothing_is_asked_unless_a_key_or_a_file_is_set(tmp_path: Path) -> None:
    told = FEED.missing(Settings())
    assert told is not None
    assert "OPENSANCTIONS_API_KEY" in told
    assert "sanctions_file" in told
    assert "opensanctions_bulk" in told
    assert FEED.missing(Settings(keys={"opensanctions": SecretStr("a-key")})) is None
    assert (
        FEED.missing(
            Settings(urls={"opensanctions_bulk": "https://example.org/targets.simple.csv"})
        )
        is None
    )
    assert FEED.missing(Settings(sanctions_file=bulk_file(tmp_path))) is None
    absent = FEED.missing(Settings(sanctions_file=tmp_path / "absent.csv"))
    assert absent == "sanctions_file names absent.csv, and there is no such file"


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert (
        FEED.missing(Settings(keys={"opensanctions": SecretStr("a-key")}))
        == "pip install 'deepdiver-research[osint]'"
    )


async def test_with_a_file_the_api_is_not_asked(
    desk: Desk, service: Service, tmp_path: Path
) -> None:
    settings: dict[str, Any] = {
        "sanctions_file": bulk_file(tmp_path),
        "home": tmp_path / "home",
        "keys": {"opensanctions": SecretStr("a-key-of-mine")},
        "urls": {"opensanctions": service.url},
    }
    told = await FEED.ask(SanctionsArguments(name="Иван Петров"), desk.gateway(**settings))
    assert [row.data["id"] for row in told.answers[0].rows] == ["Q1"]
    assert told.failures == ()
    assert service.heard == []


def test_name_and_arguments() -> None:
    assert (FEED.name, FEED.kind) == ("lookup_sanctions", IntelligenceType.SANCTIONS)
    shown = shown_arguments(FEED)
    assert [line.partition(":")[0] for line in shown] == [
        "name",
        "birth_date (optional)",
        "country (optional)",
        "kind (optional)",
    ]
    assert all(line.partition(": ")[2] for line in shown)
