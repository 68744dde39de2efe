"""Settings from the command line, over those of files and the environment."""

from __future__ import annotations

import os
import re
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from deepdiver.cli import options
from deepdiver.cli.parser import parse
from deepdiver.cli.settings import settings_of
from deepdiver.core.settings import Deadlines, Filters
from deepdiver.errors import SettingsError, UnknownNameError, UsageError
from deepdiver.sample import LIBRARY


def settings_from(*words: str) -> object:
    return settings_of(parse(["q", *words])[1])


@pytest.mark.parametrize(
    ("words", "kind", "says"),
    [
        (
            ["--strategy", "poper"],
            UnknownNameError,
            "unknown strategy 'poper'; did you mean popper?",
        ),
        (
            ["--strategy", "zzz"],
            UnknownNameError,
            "known are popper, iterative, overwatch, orchestrated, navigator",
        ),
        (["--search", " , "], UsageError, "--search names nothing: `deepdiver providers` lists"),
    ],
)
def test_names_that_are_not_known(words: list[str], kind: type[UsageError], says: str) -> None:
    with pytest.raises(kind) as caught:
        settings_from(*words)
    assert says in str(caught.value)


def test_a_settings_file_with_an_unknown_key_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "deepdiver.toml").write_text('modle = "embedded"\n')
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        SettingsError, match=r"deepdiver.toml: unknown key modle; did you mean model\?"
    ):
        settings_from()


def test_flags_win_over_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DEEPDIVER_MODEL", "openai:one")
    monkeypatch.setenv("DEEPDIVER_FAST_MODEL", "openai:two")
    monkeypatch.setenv("DEEPDIVER_BUDGET", "9")
    words = [
        "--model",
        "openai:three",
        "--budget",
        "$0.25",
        "--max-iterations",
        "7",
        "--search",
        "tavily, searxng",
    ]
    words += [
        "--search",
        "library",
        "--hold-uncertain",
        "--verbose",
        "--strategy",
        "popper",
        "--home",
        str(tmp_path),
    ]
    settings = settings_of(parse(["q", *words])[1])
    assert (settings.model, settings.fast_model, settings.budget) == (
        "openai:three",
        "openai:two",
        Decimal("0.25"),
    )
    assert settings.max_iterations == 7
    assert settings.search == ("tavily", "searxng", "library")
    assert settings.hold_uncertain
    assert settings.verbose
    assert settings.strategy == "popper"
    assert settings.home == tmp_path


def test_past_runs_are_built_on_only_where_that_is_said() -> None:
    assert settings_of(parse(["q", "--past"])[1]).past is True
    assert settings_of(parse(["q"])[1]).past is False
    with pytest.raises(UsageError, match="--past"):
        parse(["resume", "r1", "--past"])  # a run keeps the wish with which it began


def test_nothing_said_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEEPDIVER_VERBOSE", "true")
    monkeypatch.setenv("DEEPDIVER_BUDGET", "2")
    settings = settings_of(parse(["q"])[1])
    assert settings.verbose
    assert settings.budget == 2
    assert settings.documents == ()
    assert settings.search == ()
    assert settings.filters == Filters()
    assert settings.read_pages
    assert settings.home == Path(os.environ["DEEPDIVER_HOME"])


def test_documents_are_remembered_by_where_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DEEPDIVER_DOCUMENTS", "notes")
    settings = settings_of(
        parse(["q", "--in", "a", "--in", str(tmp_path / "b"), "--in", "a", "--sample"])[1]
    )
    assert settings.documents == (tmp_path / "notes", tmp_path / "a", tmp_path / "b", LIBRARY)


def test_the_sample_is_searched_only_when_asked_for() -> None:
    assert LIBRARY not in settings_of(parse(["q"])[1]).documents
    assert settings_of(parse(["q", "--sample"])[1]).documents == (LIBRARY,)


# Narrowing a search


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        (["--results", "0"], "from 1 to 50"),
        (["--results", "51"], "from 1 to 50"),
        (["--results", "some"], "from 1 to 50"),
        (["--since", "2026-13-01"], "expected a date such as 2026-11-15"),
        (["--safe", "very"], "invalid choice"),
        (["--include", "a b"], "a domain must look like example.org"),
        (["--language", "english"], "filters.language"),
        (["--region", "Sweden"], "filters.region"),
        (["--since", "2026-02-01", "--until", "2026-01-01"], "since is later than until"),
    ],
)
def test_what_cannot_narrow_a_search(said: list[str], complaint: str) -> None:
    with pytest.raises(UsageError, match=re.escape(complaint)):
        settings_of(parse(["q", *said])[1])


def test_a_search_is_narrowed_as_people_write_it() -> None:
    said = [
        "--include",
        "https://www.Example.org/",
        "--include",
        "b.org",
        "--exclude",
        "c.net",
        "--language",
        "SV",
    ]
    said += [
        "--region",
        "se",
        "--since",
        "2026-01-01",
        "--until",
        "2026-02-01",
        "--safe",
        "off",
        "--results",
        "12",
    ]
    settings = settings_of(parse(["q", *said, "--no-pages"])[1])
    assert settings.filters == Filters(
        include_domains=("example.org", "b.org"),
        exclude_domains=("c.net",),
        language="sv",
        region="SE",
        since=date(2026, 1, 1),
        until=date(2026, 2, 1),
        safe="off",
        results=12,
    )
    assert not settings.read_pages


def test_the_question_may_choose_the_strategy() -> None:
    assert settings_of(parse(["q", "--strategy", "auto"])[1]).strategy == "auto"
    with pytest.raises(UnknownNameError, match="did you mean auto"):
        settings_of(parse(["q", "--strategy", "autto"])[1])


def test_a_deadline_is_a_flag_and_may_be_repeated() -> None:
    made = settings_of(parse(["q", "--deadline", "model=3600", "--deadline", "fetch=0.5"])[1])
    assert (made.deadlines.model, made.deadlines.fetch) == (3600.0, 0.5)


@pytest.mark.parametrize("text", ["3600", "model", "model=", "model=soon", "modle=3", "model=-1"])
def test_a_deadline_that_is_none(text: str) -> None:
    with pytest.raises(UsageError, match="such as model=3600") as caught:
        parse(["q", "--deadline", text])
    assert "kinds are model, search, fetch, feed, tool, mcp" in str(caught.value)


def test_every_kind_of_call_has_a_deadline_to_set() -> None:
    assert set(options.DEADLINES) == Deadlines.model_fields.keys()


def test_the_address_is_that_of_the_models_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://old:1/v1")
    args = parse(["q", "--model-url", "http://new:1/v1"])[1]
    assert settings_of(args).urls == {"openai": "http://old:1/v1"}, "until the model is known"
    assert settings_of(args, served="openai:m").urls == {"openai": "http://new:1/v1"}
    both = {"openai": "http://old:1/v1", "ollama": "http://new:1/v1"}
    assert settings_of(args, served="ollama:m").urls == both


def test_without_a_model_there_is_no_address() -> None:
    args = parse(["q", "--model-url", "http://new:1/v1"])[1]
    with pytest.raises(UsageError, match="and embedded has none"):
        settings_of(args, served="embedded")
    secret = parse(["q", "--model-url", "http://me:word@new:1/v1"])[1]
    with pytest.raises(SettingsError, match="no password"):
        settings_of(secret, served="openai:m")
