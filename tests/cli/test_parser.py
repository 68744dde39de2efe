"""What can be said on the command line, and one line for what cannot."""

from __future__ import annotations

import contextlib
import re
import resource
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.cli.commands import COMMANDS
from deepdiver.cli.parser import WITH_VALUE, parse, parser_of
from deepdiver.errors import UsageError

OPTIONS = sorted({option.name for command in COMMANDS.values() for option in command.options})


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "required: QUESTION"),
        (["show"], "required: RUN"),
        (["--stratgy", "popper", "q"], "unknown option --stratgy; did you mean --strategy?"),
        (["q", "--xyzzy"], "unknown option --xyzzy; known are --strategy"),
        (["q", "--strat", "popper"], "unknown option --strat; did you mean --strategy?"),
        (
            ["who", "runs", "it"],
            "unexpected 'runs it': the question must be one argument, put it in quotes",
        ),
        (["runs", "now"], "unexpected argument 'now': `deepdiver runs` takes no argument"),
        (["show", "a", "b"], "unexpected argument 'b': `deepdiver show` takes RUN"),
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
        (["q", "--in", ""], "--in: expected a file or folder"),
        (["q", "--home", " "], "--home: expected a file or folder"),
        (["q", "--out", "a\0b"], "--out: expected a file or folder"),
        (["q", "--quiet", "--verbose"], "exclude each other"),
        (["deepen", "a"], "required: N"),
        (["deepen", "a", "two"], "N: expected the number of a section, from 1, not 'two'"),
        (["deepen", "a", "0"], "from 1, not '0'"),
        (["deepen", "a", "1", "b"], "unexpected argument 'b': `deepdiver deepen` takes RUN N"),
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
    command, args = parse(words)
    assert command is COMMANDS[name]
    assert getattr(args, command.arguments[0].name) == told


@given(
    st.lists(
        st.one_of(st.text(max_size=20), st.sampled_from([*COMMANDS, *OPTIONS, "--", "-"])),
        max_size=6,
    )
)
def test_no_words_make_it_stumble(words: list[str]) -> None:
    with contextlib.suppress(UsageError, SystemExit):  # anything else is a fault
        command, args = parse(words)
        assert command.name in COMMANDS
        assert set(vars(args)) >= {"json", "home"}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_help_that_fits_80_columns(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as left:
        parser_of(COMMANDS[name]).parse_args(["--help"])
    told = capsys.readouterr().out
    assert left.value.code == 0
    assert all(option.name in told for option in COMMANDS[name].options)
    assert all(f"\n  {code} " in told for code in (0, 1, 2, 3, 4, 130))
    assert max(map(len, told.splitlines())) <= 80


def test_every_command_is_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse(["--help"])
    told = capsys.readouterr().out
    for name, command in COMMANDS.items():
        assert name == command.name
        assert re.search(
            rf"(?m)^  {re.escape(f'{name} {command.takes}'.strip())} +{re.escape(command.about)}$",
            told,
        )


def test_an_option_means_the_same_in_every_command() -> None:
    for name in OPTIONS:
        specs = [option for command in COMMANDS.values() for option in command.options]
        same = [spec for spec in specs if spec.name == name]
        assert len({spec.takes_value for spec in same}) == 1, name
        assert len({str(spec.settings.get("type")) for spec in same}) == 1, name
    assert "--home" in WITH_VALUE
    assert "--sample" not in WITH_VALUE


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
