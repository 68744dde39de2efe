"""OpenSanctions' match API.

It compares the names itself; why a name is alike is said here, from the names it gives.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from deepdiver.core.settings import Settings
from deepdiver.errors import CallError, CallFault
from deepdiver.gateway import Gateway, Reply, Request
from deepdiver.tools.http import ask_json, shaped
from deepdiver.tools.osint.feed import Answer
from deepdiver.tools.osint.sanctions.asked import Asked
from deepdiver.tools.osint.sanctions.entity import LONGEST_NAME, MOST_VALUES, PERSON, Entity
from deepdiver.tools.osint.sanctions.hit import KEPT, Found, Hit, answer

SERVICE = "opensanctions"
DEFAULT_URL = "https://api.opensanctions.org"
DATASET = "default"
"""All that OpenSanctions has: sanctions, wanted and politically exposed persons, and what belongs
to them."""
LIMIT = 20
"""Results asked for; by itself it gives five."""
SCHEMAS = {"": "LegalEntity", "person": PERSON, "organisation": "Organization", "vessel": "Vessel"}
"""What is asked for. A LegalEntity is a person or an organisation; a ship must be asked for as a
vessel."""
NAMES = ("name", "alias", "previousName", "weakAlias")
COUNTRIES = ("country", "nationality", "citizenship", "jurisdiction", "mainCountry", "flag")
MOST_NAMES = 200
"""Names of one entity that are compared; a few entities have more."""


class Scored(BaseModel):
    """A result, by the API's own names."""

    model_config = ConfigDict(extra="ignore")

    id: Annotated[str, Field(min_length=1)]
    caption: str
    schema_name: Annotated[str, Field(alias="schema")]
    properties: dict[str, list[Any]]
    datasets: list[str] = []
    first_seen: str | None = None
    last_seen: str | None = None
    last_change: str | None = None
    score: Annotated[float, Field(ge=0, le=1)]
    match: bool

    def values(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return the values of some properties; entities that stand in for a value are left out."""
        found = [
            value
            for name in names
            for value in self.properties.get(name, [])
            if isinstance(value, str)
        ]
        return tuple(
            dict.fromkeys(
                clean[:LONGEST_NAME] for value in found if (clean := " ".join(value.split()))
            )
        )


class Matches(BaseModel):
    """The answer to one query."""

    model_config = ConfigDict(extra="ignore")

    status: int = 200
    results: list[Scored]


class Response(BaseModel):
    """The answer to all queries."""

    model_config = ConfigDict(extra="ignore")

    responses: dict[str, Matches]


def address(settings: Settings) -> str:
    """Return where the API is."""
    return settings.urls.get(SERVICE, DEFAULT_URL).rstrip("/")


async def matched(asked: Asked, gateway: Gateway) -> Answer:
    """Ask the API who is like somebody.

    Raises:
        GatewayError: If there is no answer.
    """
    settings = gateway.settings
    url = f"{address(settings)}/match/{DATASET}"
    query = {"schema": SCHEMAS[asked.kind], "properties": _properties(asked)}

    async def do() -> Reply:
        headers = {"Authorization": f"ApiKey {settings.key(SERVICE) or ''}"}
        body = {"queries": {"q": query}}
        raw = await ask_json(SERVICE, url, params={"limit": str(LIMIT)}, body=body, headers=headers)
        return Reply(_found(shaped(SERVICE, Response, raw), asked, url).model_dump(mode="json"))

    payload = {"dataset": DATASET, "query": query, "limit": LIMIT}
    reply = await gateway.call(
        Request("feed", SERVICE, f"who is like {asked.name[:80]}", payload), do
    )
    return answer(Found.model_validate(reply.value), asked)


def _properties(asked: Asked) -> dict[str, list[str]]:
    known = {"name": asked.name, "birthDate": asked.birth_date, "country": asked.country}
    return {name: [value] for name, value in known.items() if value}


def _found(response: Response, asked: Asked, url: str) -> Found:
    told = response.responses.get("q")
    if told is None:
        raise CallError(f"{SERVICE} answered in a form that is not its own", CallFault.MALFORMED)
    if told.status != 200:
        raise CallError(f"{SERVICE} answered {told.status} to the query", CallFault.REQUEST)
    hits = sorted(
        (_hit(result, asked) for result in told.results),
        key=lambda hit: (-hit.score, hit.entity.id),
    )
    matches = sum(hit.verdict == "match" for hit in hits)
    what = {
        "": "persons and organisations",
        "person": "persons",
        "organisation": "organisations",
        "vessel": "vessels",
    }
    return Found(
        url=url,
        where=f"the {what[asked.kind]} of OpenSanctions' collection {DATASET}",
        hits=tuple(hits[:KEPT]),
        matches=matches,
        possible=len(hits) - matches,
    )


def _hit(result: Scored, asked: Asked) -> Hit:
    from deepdiver.tools.osint.sanctions.matching import judged, likest

    entity = Entity(
        id=result.id,
        schema_name=result.schema_name,
        name=" ".join(result.caption.split())[:LONGEST_NAME] or result.id,
        birth_date=result.values(("birthDate",))[:MOST_VALUES],
        countries=tuple(dict.fromkeys(code.lower() for code in result.values(COUNTRIES)))[
            :MOST_VALUES
        ],
        datasets=tuple(result.datasets[:MOST_VALUES]),
        first_seen=result.first_seen or "",
        last_seen=result.last_seen or "",
        last_change=result.last_change or "",
    )
    names = dict.fromkeys((entity.name, *result.values(NAMES)[:MOST_NAMES]))
    likeness = judged(asked, entity, likest(asked, names, entity.person))
    return Hit(
        entity=entity,
        score=round(result.score, 2),
        verdict="match" if result.match else "possible",
        reasons=likeness.reasons,
        name=likeness.name,
    )
