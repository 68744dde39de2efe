"""Picking a strategy by the words of the question: rules, so that a choice is predictable.

The first rule that fits wins. A question that fits none has an answer that could be wrong, which is
what `popper` is for.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from deepdiver.core.text import words

BROAD_WORDS = 28
"""A question of this many words asks for more than one thing."""


@dataclass(frozen=True, slots=True)
class StrategyPick:
    """A strategy, and why it was picked."""

    strategy: str
    """Its name."""
    because: str
    """What in the question speaks for it, for the user."""


def _any(*ways: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(ways)})\b", re.IGNORECASE)


_LATELY = _any(
    r"(?:this|last|past) (?:\d+ )?(?:hours?|days?|weeks?|weekend|months?)",
    r"(?:in|over|within) the (?:last|past) \w+ ?(?:hours?|days?|weeks?|months?)?",
    r"since (?:yesterday|monday|tuesday|wednesday|thursday|friday|saturday|sunday)",
    "right now|currently|ongoing|escalat\\w+|today",
)
_SITUATION = _any(
    r"air ?strikes?|strikes?|shelling|attacks?|explosions?|troops?|military|front ?line|missiles?"
    r"|drones?|ceasefire",
    r"outages?|blackouts?|connectivity|cyber\w*|exploited|vulnerabilit(?:y|ies)|ransomware"
    r"|sanction(?:s|ed)",
    r"wild ?fires?|earthquakes?|floods?|hurricanes?|evacuat\w+|protests?|unrest|coup|border",
)
_HUNT = _any(
    r"find (?:out )?(?:the|a|me|who|where|whether|which)|track down|look up|locate|get me|dig up",
    r"(?:phone number|e-?mail address|home page|website|postal address) of",
)
_HOW = re.compile(r"\bhow (?:to|do|does|did|can|could|should|might|would)\b[^.?!]*$", re.IGNORECASE)
"""Somebody who asks how to find a thing wants a way to do it, and not the thing itself."""
_OUR_WAY = _any(r"how (?:should|can|could|might|do|would) (?:we|i)")
"""Somebody who asks how to do a thing wants a way; what has happened says why he asks."""
_OVERVIEW = _any(
    r"overview|survey of|introduction to|state of the art|state of|landscape|trends?|background "
    r"(?:on|of)|history of",
    r"explain|describe|summari[sz]e|tell me about|what is known about|how does .{3,60} work|pros "
    r"and cons|guide to",
    r"what are the (?:[\w-]+ ){0,3}(?:aspects|components|considerations|drivers|elements|factors"
    r"|features|requirements)",
)
_DECISION = _any(
    r"should (?:we|i|our|my)|(?:can|could|must|may) (?:we|i)|how (?:can|could|should|might)",
    r"what to do|is it worth|recommend\w*",
)
_SIDES = _any(
    r"compar\w+|versus|vs|impacts?|implications?|effects?|consequences?|advantages|challenges"
    r"|options|policy"
)
_QUESTION = re.compile(r"\?")


def pick_strategy(question: str) -> StrategyPick:
    """Return the strategy that suits a question."""
    event, when = _SITUATION.search(question), _LATELY.search(question)
    if event and when and not _OUR_WAY.search(question):
        told = f"“{event[0]}” and “{when[0]}”: a situation that is still moving"
        return StrategyPick("overwatch", told)
    for hunt in _HUNT.finditer(question):
        if not _HOW.search(question[: hunt.start()]):
            return StrategyPick("navigator", f"“{hunt[0]}”: a hunt for one thing")
    if overview := _OVERVIEW.search(question):
        return StrategyPick("iterative", f"“{overview[0]}”: an account of a topic")
    if decision := _DECISION.search(question):
        return StrategyPick("iterative", f"“{decision[0]}”: a decision to prepare")
    if len(_QUESTION.findall(question)) > 1:
        return StrategyPick("orchestrated", "several questions in one")
    if (side := _SIDES.search(question)) or len(words(question)) >= BROAD_WORDS:
        told = (
            f"“{side[0]}”: a question with several sides"
            if side
            else "a long question with several sides"
        )
        return StrategyPick("orchestrated", told)
    return StrategyPick("popper", "a question with an answer that could be wrong")
