from __future__ import annotations

import argparse

from deepdiver.cli.command import Command, argument, flag


def test_a_flag_takes_no_value_and_an_option_does() -> None:
    assert not flag("--quiet", "show no progress").takes_value
    assert argument("--home", metavar="DIR").takes_value
    assert argument("--in", action="append").takes_value


def test_arguments_are_as_argparse_takes_them() -> None:
    parser = argparse.ArgumentParser()
    for each in (argument("run"), argument("--limit", type=int), flag("--yes", "do not ask")):
        parser.add_argument(each.name, **each.settings)
    args = parser.parse_args(["r1", "--limit", "3", "--yes"])
    assert vars(args) == {"run": "r1", "limit": 3, "yes": True}


def test_a_command_takes_nothing_unless_it_says_so() -> None:
    command = Command("runs", "list all runs", lambda args: 7)
    assert (command.takes, command.arguments, command.options) == ("", (), ())
    assert command.do(argparse.Namespace()) == 7
