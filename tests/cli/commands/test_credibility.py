"""No list is hidden: the whole table is printed, and how one domain is rated."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deepdiver.cli import main
from deepdiver.cli.commands.credibility import (
    rating_of_domain,
    rating_table,
    rating_text,
    table_text,
)
from deepdiver.core.settings import Settings, load
from deepdiver.errors import SettingsError, UsageError
from deepdiver.tools.credibility import table


def rated(**ratings: object) -> Settings:
    return load({"ratings": {name.replace("_", "."): rating for name, rating in ratings.items()}})


@pytest.mark.parametrize(
    "asked", ["not a domain", "ftp://example.org", "https://", "//", " ", "https://[::1"]
)
def test_what_is_no_domain_is_said_in_one_line(asked: str) -> None:
    with pytest.raises(UsageError, match=r"is not a domain; write example\.org") as caught:
        rating_of_domain(Settings(), asked)
    assert "\n" not in str(caught.value)


def test_a_rating_of_no_kind_is_refused() -> None:
    settings = rated(example_org={"kind": "blogg"})
    with pytest.raises(SettingsError, match="did you mean blog"):
        rating_table(settings)
    with pytest.raises(SettingsError, match="did you mean blog"):
        rating_of_domain(settings, "example.org")


def test_the_whole_table_is_told() -> None:
    told = rating_table(Settings())
    text = table_text(told)
    assert {name: kind["score"] for name, kind in told["kinds"].items()} == {
        name: kind.score for name, kind in table().kinds.items()
    }
    domains = [domain for kind in told["kinds"].values() for domain in kind["domains"]]
    assert sorted(domains) == sorted(table().domains)
    for word in (*domains, *told["kinds"], *told["rules"]):
        assert word in text
    for kind in (*told["kinds"].values(), *told["unknown"].values()):
        assert f"{kind['score']:.2f}  " in text
        assert kind["says"] in text
    assert max(map(len, text.splitlines())) <= 120
    assert "You have not rated any domain" in text


def test_your_ratings_are_told_with_it() -> None:
    settings = rated(
        a_org={"score": 0.15, "reason": "wrong before"},
        b_org={"kind": "newspaper"},
        c_org={"reason": "to look at"},
    )
    text = table_text(rating_table(settings))
    assert (
        "  a.org: 0.15 (wrong before)\n  b.org: newspaper (rated by you)\n  c.org: as in the "
        "table" in text
    )
    assert rating_table(settings)["ratings"]["a.org"] == {
        "score": 0.15,
        "kind": "",
        "reason": "wrong before",
    }


@pytest.mark.parametrize(
    ("asked", "host", "rule", "score"),
    [
        ("reuters.com", "reuters.com", "reuters.com is listed as wire", 0.7),
        (
            "https://www.Reuters.com/world/x?y=1",
            "reuters.com",
            "reuters.com is listed as wire",
            0.7,
        ),
        ("ox.ac.uk", "ox.ac.uk", "ac.* is listed as university", 0.7),
        (
            "plato.stanford.edu",
            "plato.stanford.edu",
            "plato.stanford.edu is listed as encyclopedia",
            0.65,
        ),
        ("nowhere.example", "nowhere.example", "not listed, and you have not rated it", 0.5),
        (
            "http://nowhere.example",
            "nowhere.example",
            "not listed, and you have not rated it",
            0.45,
        ),
    ],
)
def test_how_one_is_rated(asked: str, host: str, rule: str, score: float) -> None:
    told = rating_of_domain(Settings(), asked)
    assert (told["host"], told["rule"], told["score"]) == (host, rule, score)
    assert f"{host}: {score:.2f} ({', '.join(told['reasons'])})\n  by: {rule}\n" in rating_text(
        told
    )


def test_your_word_wins_and_is_named() -> None:
    settings = rated(reuters_com={"score": 0.95, "reason": "our partner"})
    assert rating_of_domain(settings, "uk.reuters.com") == {
        "host": "uk.reuters.com",
        "rule": "reuters.com in your [ratings]",
        "score": 0.95,
        "reasons": ["our partner"],
    }


# -- the command


def test_the_command_prints_it(own_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own_file = own_home / ".config" / "deepdiver" / "deepdiver.toml"
    own_file.parent.mkdir(parents=True)
    own_file.write_text('[ratings."example.org"]\nscore = 0.25\n', encoding="utf-8")
    assert main(["credibility", "https://example.org/x"]) == 0
    assert capsys.readouterr().out.startswith(
        "example.org: 0.25 (rated by you)\n  by: example.org in your [ratings]"
    )
    assert main(["credibility", "--json", "example.org"]) == 0
    assert json.loads(capsys.readouterr().out)["score"] == 0.25
    assert main(["credibility"]) == 0
    assert "0.95  register: an official register, primary\n" in capsys.readouterr().out


def test_the_command_refuses_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["credibility", "what is it"]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert main(["credibility", "a.org", "b.org"]) == 2
    assert (
        "unexpected argument 'b.org': `deepdiver credibility` takes [DOMAIN]"
        in capsys.readouterr().err
    )
