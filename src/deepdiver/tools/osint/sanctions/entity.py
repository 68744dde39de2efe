"""Someone or something on a list, as the API and the bulk file both tell of it."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

PERSON = "Person"
"""The schema whose names are read as persons' names."""
KINDS = {
    PERSON: "person",
    "Organization": "organisation",
    "Company": "company",
    "PublicBody": "public body",
    "LegalEntity": "person or organisation",
    "Vessel": "vessel",
    "Airplane": "aircraft",
    "CryptoWallet": "crypto wallet",
}
"""What its schemas are called in a sentence; another is called as it calls itself."""
LONGEST_NAME, MOST_VALUES = 1_000, 100
"""Characters of a name and values of a field that are kept: more is no name, and nobody reads it.
"""
SOUGHT = {
    "person": frozenset({"Person", "LegalEntity"}),
    "organisation": frozenset({"Organization", "Company", "PublicBody", "LegalEntity"}),
    "vessel": frozenset({"Vessel"}),
}
"""The schemas that each kind of search looks at. A LegalEntity may turn out to be either of two."""


class Entity(BaseModel):
    """One entry, in the names of the bulk file."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    id: str
    """OpenSanctions' own id: Q123, NK-…"""
    schema_name: str
    """What it is: Person, Company, Vessel."""
    name: str
    """What it is called first."""
    birth_date: tuple[str, ...] = ()
    """ISO, as precise as known; several where lists disagree."""
    countries: tuple[str, ...] = ()
    """Codes in lower case; of states that are gone, in four letters."""
    datasets: tuple[str, ...] = ()
    """Who lists it."""
    sanctions: str = ""
    """Programmes and dates, as the lists give them."""
    first_seen: str = ""
    """Since when OpenSanctions has it, ISO."""
    last_seen: str = ""
    """When it was last there."""
    last_change: str = ""
    """When its entry last changed."""

    @property
    def person(self) -> bool:
        """Whether its names are a person's."""
        return self.schema_name == PERSON

    @property
    def kind(self) -> str:
        """What it is, in words."""
        return KINDS.get(self.schema_name, self.schema_name.lower())
