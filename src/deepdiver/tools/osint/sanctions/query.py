"""A query for somebody on sanctions lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from deepdiver.tools.osint.sanctions.names import Name, name_of

Kind = Literal["", "person", "organisation", "vessel"]


@dataclass(frozen=True, slots=True)
class SanctionsQuery:
    """A query for a person, an organisation or a vessel."""

    name: str
    """The name, in any script."""
    birth_date: str = ""
    """ISO, as precise as known: 1961, 1961-05, 1961-05-02."""
    country: str = ""
    """Two letters in lower case."""
    kind: Kind = ""
    """The kind of entity; empty if it is not known."""

    def readings(self) -> list[Name]:
        """Return the name as a person's and as an organisation's, if it may be either."""
        kinds = (False,) if self.kind == "vessel" else (True, False)  # a LegalEntity may be either
        return list(dict.fromkeys(name_of(self.name, person) for person in kinds))

    def payload(self) -> dict[str, str]:
        """Return the payload of a request."""
        fields = {
            "name": self.name,
            "birth_date": self.birth_date,
            "country": self.country,
            "kind": self.kind,
        }
        return {field: value for field, value in fields.items() if value}
