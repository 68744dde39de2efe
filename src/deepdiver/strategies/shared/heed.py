"""Heeding a person while a run is under way: looking at something too, leaving a source out.

What a person wants to have looked at is looked at once, as a part of the question, and what is
found enters the state like everything else. A source that is left out is read no more, its findings
are shown to no task and stand in no report, and hypotheses are believed without them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from deepdiver.core.events import Steered
from deepdiver.core.steering import Steering, SteeringKind
from deepdiver.strategies.shared.base import Deps, LookResult, State, Update, unite
from deepdiver.strategies.shared.findings import list_statements
from deepdiver.strategies.shared.look import look_into
from deepdiver.strategies.shared.reading import read_together
from deepdiver.tools.address import canonical


@dataclass(frozen=True, slots=True)
class HeedByLooking:
    """Heeds a person by looking at once; see `base.Heed`."""

    nodes: frozenset[str]
    """The nodes before which a person is heard."""
    question: str
    """The key of the state that has the question."""
    problems: str
    """The key of the state that has the parts of the question."""
    findings: Callable[[State], Sequence[str]]
    """Returns the ids of the findings that a state carries."""
    enter: Callable[[State, Deps, Sequence[LookResult]], Update]
    """Returns the changes that enter what was found into a state."""
    leave_out: Callable[[State, Deps], Update]
    """Returns the changes to a state after a source is left out."""

    async def __call__(self, state: State, deps: Deps, said: Sequence[Steering]) -> Update:
        """Do what a person says, and return the changes to the state."""
        wanted = note_steering(deps, said)
        update = self.leave_out(state, deps) if deps.ignored else Update()
        if not wanted:
            return update
        state = {**state, **update}
        known, asked = list_statements(deps, self.findings(state)), state[self.question]
        looks = (look_into(deps, asked, text, [text], known, leads=False) for text in wanted)
        update |= self.enter(state, deps, await read_together(deps, *looks))
        return {**update, self.problems: unite(state[self.problems], wanted)}


def note_steering(deps: Deps, said: Sequence[Steering]) -> list[str]:
    """Announce what a person said, leave sources out, and return what to look at."""
    wanted: list[str] = []
    for item in said:
        deps.emit(Steered(action=item.kind.value, text=item.text))
        if item.kind is SteeringKind.LOOK:
            wanted.append(item.text)
            continue
        deps.ignored.add(canonical(item.text))
        deps.note_limit(f"left out, as you asked: {item.title or item.text}")
    return list(dict.fromkeys(wanted))
