"""What the sections of a report say, as whoever checks its bottom line is shown it."""

from __future__ import annotations

from deepdiver.strategies.shared.told_sections import ToldSection, tell_sections

SAID = ["Testing should get more hours."]
PLAN = ToldSection("Plan", ("It is late.", "1. Give testing hours.\n2. Wait.", "Ask again."))
VOTE = ToldSection("Vote", ("It was put off.", "Nobody came."))


def test_where_there_is_nothing_to_show_nothing_is_said() -> None:
    assert tell_sections([], SAID) == ""
    assert tell_sections([ToldSection("Empty", ())], SAID) == ""
    assert tell_sections([VOTE], []) == "Vote:\nIt was put off.\nNobody came."


def test_what_has_no_room_is_marked_as_left_out() -> None:
    assert tell_sections([VOTE, PLAN], SAID, 0) == "Vote:\n[…]\n\nPlan:\n[…]"
    opened = "Vote:\n[…]\n\nPlan:\nIt is late.\n[…]"
    assert tell_sections([VOTE, PLAN], SAID, 11) == opened, "the nearest section comes first"


def test_openings_stand_before_the_rest_of_the_nearest_section() -> None:
    room = len("It is late." + PLAN.parts[1] + "It was put off.")
    assert tell_sections([VOTE, PLAN], SAID, room) == (
        "Vote:\nIt was put off.\n[…]\n\nPlan:\nIt is late.\n1. Give testing hours.\n2. Wait.\n[…]"
    )


def test_a_part_in_the_middle_is_left_out_in_its_place() -> None:
    room = len("It is late." + "Ask again.")
    assert tell_sections([PLAN], SAID, room) == "Plan:\nIt is late.\n[…]\nAsk again."


def test_all_is_shown_in_the_order_of_the_report_where_there_is_room() -> None:
    assert tell_sections([VOTE, PLAN], SAID) == "\n\n".join(
        "\n".join((f"{section.heading}:", *section.parts)) for section in (VOTE, PLAN)
    )
