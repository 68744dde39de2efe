"""The calculations that a report may show: code repeats each one."""

from __future__ import annotations

from datetime import date
from fractions import Fraction

from deepdiver.core.numbers import number
from deepdiver.core.record import Calculation


def is_correct(sum_: Calculation) -> bool:
    """Whether the result of a calculation follows from its inputs."""
    try:
        wanted = number(sum_.result)
        return wanted is not None and Fraction(wanted) == _compute(sum_)
    except ValueError:
        return False


def _compute(sum_: Calculation) -> Fraction:
    if sum_.kind in {"years", "days"}:
        began, ended = (date.fromisoformat(text) for text in sum_.inputs)
        if sum_.kind == "days":
            return Fraction(abs((ended - began).days))
        return Fraction(
            ended.year - began.year - ((ended.month, ended.day) < (began.month, began.day))
        )
    if not sum_.inputs:
        raise ValueError("a calculation needs inputs")
    if sum_.kind == "count":
        return Fraction(len(sum_.inputs))
    listed = [Fraction(value) for text in sum_.inputs if (value := number(text)) is not None]
    if len(listed) != len(sum_.inputs):
        raise ValueError("an input is not a number")
    if sum_.kind == "sum":
        return sum(listed, Fraction(0))
    first, second = listed
    return first - second
