"""How often the audit of a stranger's report is wrong, as `bench/outside_audit.py` measured it.

The rules were chosen on other sentences than these: on the half `dev` of the drafts, and on the
questions of ExpertQA that the bench calls `dev`. docs/AUDIT.md says what the figures mean.
"""

from __future__ import annotations

CARRIED = 119
"""Drafted sentences that their sources carry."""
CARRIED_ALARMS = 7
"""Those of them that were called anything but supported."""
CHANGED = 214
"""Sentences that their sources do not carry; in all but ten of them one thing was changed."""
CHANGED_MISSED = 109
"""Those of them that were called supported."""
COMPLETE = 226
"""Claims of real systems that an expert calls completely supported by their evidence."""
COMPLETE_ALARMS = 39
"""Those of them that were called anything but supported."""
INCOMPLETE = 75
"""Claims of real systems that an expert calls supported in part or not at all."""
INCOMPLETE_MISSED = 58
"""Those of them that were called supported."""


def tell_error_rates(judged_by: str) -> str:
    """Return how often the audit is wrong, in words.

    Args:
        judged_by: Who judged the sense; the figures are those of the reader.
    """
    rest = (
        ""
        if judged_by == "the reader"
        else f" {judged_by} decided about the sense here; the figures are those without it."
    )
    return (
        f"How often this audit is wrong: of {CARRIED} sentences that their sources carry it "
        f"doubted {CARRIED_ALARMS} ({_percent(CARRIED_ALARMS, CARRIED)}), and of {CHANGED} that "
        f"they do not, most with one thing changed, it missed {CHANGED_MISSED} "
        f"({_percent(CHANGED_MISSED, CHANGED)}). Of {COMPLETE} claims of real systems that "
        f"experts found supported it doubted {COMPLETE_ALARMS} "
        f"({_percent(COMPLETE_ALARMS, COMPLETE)}), and of {INCOMPLETE} that they did not it "
        f"missed {INCOMPLETE_MISSED} ({_percent(INCOMPLETE_MISSED, INCOMPLETE)}).{rest}"
    )


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "not measured"
