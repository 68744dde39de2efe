from __future__ import annotations

import contextlib
import os
import re
import resource
import subprocess
import sys
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.cli.args import COMMANDS, OPTIONS, VALUED, parse, parser_of, settings_of
from deepdiver.cli.commands import DO
from deepdiver.core.settings import Filters
from deepdiver.errors import SettingsError, UnknownNameError, UsageError
from deepdiver.sample import LIBRARY


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "required: QUESTION"),
        (["show"], "required: RUN"),
        (["--stratgy", "popper", "q"], "unknown option --stratgy; did you mean --strategy?"),
        (["q", "--xyzzy"], "unknown option --xyzzy; known are --strategy"),
        (["q", "--strat", "popper"], "unknown option --strat; did you mean --strategy?"),
        (["who", "runs", "it"], "must be one argument, put it in quotes ('runs it' is left over)"),
        (["runs", "now"], "'now' is left over: `deepdiver runs` takes no argument"),
        (["show", "a", "b"], "'b' is left over: `deepdiver show` takes RUN"),
        (["runs", "--sample"], "unknown option --sample; known are --json, --home"),
        (["q", "--budget"], "--budget: expected one argument"),
        (["q", "--budget", "lots"], "such as 0.50, not 'lots'"),
        (["q", "--budget", "-1"], "such as 0.50, not '-1'"),
        (["q", "--budget", "nan"], "such as 0.50, not 'nan'"),
        (["q", "--budget", "inf"], "such as 0.50, not 'inf'"),
        (["q", "--max-iterations", "0"], "from 1 to 100, not '0'"),
        (["q", "--max-iterations", "101"], "from 1 to 100, not '101'"),
        (["q", "--max-iterations", "-3"], "from 1 to 100, not '-3'"),
        (["q", "--max-iterations", "three"], "from 1 to 100, not 'three'"),
        (["q", "--in", ""], "--in: give the name of a file or folder"),
        (["q", "--home", " "], "--home: give the name of a file or folder"),
        (["q", "--out", "a\0b"], "--out: give the name of a file or folder"),
        (["q", "--quiet", "--verbose"], "exclude each other"),
        (["deepen", "a"], "required: N"),
        (["deepen", "a", "two"], "N: give the number of a section, from 1, not 'two'"),
        (["deepen", "a", "0"], "from 1, not '0'"),
        (["deepen", "a", "1", "b"], "'b' is left over: `deepdiver deepen` takes RUN N"),
        (["deepen", "a", "1", "--sample"], "unknown option --sample"),
        (["rnus"], "unknown command 'rnus'; did you mean runs?"),
        (["strategy"], "did you mean strategies? To ask it as a question: deepdiver ask strategy"),
        (["help"], "did you mean --help?"),
    ],
)
def test_what_makes_no_sense_is_one_line(words: list[str], says: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(words)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("words", "name", "told"),
    [
        (["Who runs it?"], "ask", "Who runs it?"),
        (["ask", "Who runs it?"], "ask", "Who runs it?"),
        (["ask", "runs"], "ask", "runs"),
        (["--", "runs"], "ask", "runs"),
        (["--", "-5 degrees?"], "ask", "-5 degrees?"),
        (["-5 degrees or more?"], "ask", "-5 degrees or more?"),
        (["-"], "ask", "-"),
        (["--sample", "Who runs it?"], "ask", "Who runs it?"),
        (["Who runs it?", "--sample"], "ask", "Who runs it?"),
        (["--search", "runs", "Who?"], "ask", "Who?"),
        (["show", "20261115"], "show", "20261115"),
        (["--home", "somewhere", "show", "20261115"], "show", "20261115"),
        (["--home=somewhere", "show", "20261115"], "show", "20261115"),
        (["show", "--home", "somewhere", "20261115"], "show", "20261115"),
    ],
)
def test_the_command_is_found(words: list[str], name: str, told: str) -> None:
    found, args = parse(words)
    assert found == name
    assert getattr(args, COMMANDS[name].takes.lower()) == told


@given(
    st.lists(
        st.one_of(st.text(max_size=20), st.sampled_from([*COMMANDS, *OPTIONS, "--", "-"])),
        max_size=6,
    )
)
def test_no_words_make_it_stumble(words: list[str]) -> None:
    with contextlib.suppress(UsageError, SystemExit):  # anything else is a fault
        name, args = parse(words)
        assert name in COMMANDS
        assert set(vars(args)) >= {"json", "home"}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_its_help_and_its_deed(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as left:
        parser_of(name).parse_args(["--help"])
    told = capsys.readouterr().out
    assert left.value.code == 0
    assert all(option in told for option in COMMANDS[name].options.split())
    assert all(f"\n  {code} " in told for code in (0, 1, 2, 3, 4, 130))
    assert max(map(len, told.splitlines())) <= 80
    assert name in DO


def test_commands_deeds_and_options_are_the_same_set() -> None:
    assert list(DO) == list(COMMANDS)
    assert {option for command in COMMANDS.values() for option in command.options.split()} == set(
        OPTIONS
    )
    assert "--home" in VALUED
    assert "--sample" not in VALUED


def test_help_is_fast_and_imports_nothing_heavy() -> None:
    code = (
        "import sys; from deepdiver.cli import main; main(['--help'])\n"
        "heavy = ('pydantic', 'rich', 'langgraph', 'langchain_core', 'asyncio', 'httpx')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert told.splitlines()[-1] == "[]"
    fastest = 9.0
    for _ in range(3):  # time of the processor: this machine may be at other things too
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, "-m", "deepdiver", "--help"], capture_output=True, check=True
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        fastest = min(fastest, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert 0.01 < fastest < 0.3, f"{fastest:.2f} s"


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
        (["--search", " , "], UsageError, "--search names no provider"),
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
        (["--since", "2026-13-01"], "is not a day"),
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
