"""A person, an organisation or a thing on a list, as both the API and the bulk file describe it."""

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
"""The schemas in words; another schema keeps its own name."""
LONGEST_NAME, MOST_VALUES = 1_000, 100
"""Characters of a name and values of a field that are kept: anything longer is not a name."""
SOUGHT = {
    "person": frozenset({"Person", "LegalEntity"}),
    "organisation": frozenset({"Organization", "Company", "PublicBody", "LegalEntity"}),
    "vessel": frozenset({"Vessel"}),
}
"""The schemas for each kind in a query. A LegalEntity may be a person or an organisation."""


class Entity(BaseModel):
    """One entry, in the names of the bulk file."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    id: str
    """OpenSanctions' own id: Q123, NK-…"""
    schema_name: str
    """Its schema: Person, Company, Vessel."""
    name: str
    """Its main name."""
    birth_date: tuple[str, ...] = ()
    """ISO, as precise as known; several where lists disagree."""
    countries: tuple[str, ...] = ()
    """Codes in lower case; states that no longer exist have four letters."""
    datasets: tuple[str, ...] = ()
    """The lists that it is on."""
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
        """Whether its names are names of a person."""
        return self.schema_name == PERSON

    @property
    def kind(self) -> str:
        """Its schema in words."""
        return KINDS.get(self.schema_name, self.schema_name.lower())
