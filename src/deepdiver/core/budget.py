"""What a run may cost, in US dollars, exact to the last digit.

A call reserves its worst case before it is sent and is charged what it cost when it settles. The
sum of what is spent and what is reserved never passes the limit, whatever calls run side by side.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field, replace
from decimal import Context, Decimal

ZERO = Decimal(0)
EXACT = Context(prec=100)
"""The default context keeps 28 digits: a divided price fills them, and adding one dollar would
round the last digit away."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The state of a budget; each step returns a new one."""

    limit: Decimal | None = None
    """What may be spent at most; None: no limit was set."""
    spent: Decimal = ZERO
    """What settled calls have cost."""
    held: dict[str, Decimal] = field(default_factory=dict)
    """What calls in flight have reserved, by call."""

    @property
    def reserved(self) -> Decimal:
        """The sum of all reservations."""
        return functools.reduce(EXACT.add, self.held.values(), ZERO)

    @property
    def left(self) -> Decimal | None:
        """What can still be reserved; None: no limit."""
        return (
            None
            if self.limit is None
            else EXACT.subtract(EXACT.subtract(self.limit, self.spent), self.reserved)
        )

    def fits(self, worst: Decimal) -> bool:
        """Whether a call of this worst case may be sent. A call that costs nothing always may."""
        return worst <= ZERO or self.left is None or worst <= self.left

    def reserve(self, call: str, worst: Decimal) -> Budget:
        """Hold the worst case of a call.

        Raises:
            ValueError: If it does not fit, or the call holds a reservation already.
        """
        if call in self.held:
            raise ValueError(f"call {call} has reserved already")
        if not self.fits(worst):
            raise ValueError(f"{worst} does not fit, {self.left} is left")
        return replace(self, held={**self.held, call: max(worst, ZERO)})

    def charge(self, call: str, cost: Decimal) -> Budget:
        """Turn a reservation into what the call cost; 0 releases it."""
        held = {key: value for key, value in self.held.items() if key != call}
        return replace(self, spent=EXACT.add(self.spent, max(cost, ZERO)), held=held)
