"""A look-up by OpenSanctions' match API.

The API compares the names itself; the reasons are found here, from the names that it returns.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from deepdiver.core.settings import Settings
from deepdiver.errors import CallError, CallFault
from deepdiver.gateway import Gateway, Reply, Request
from deepdiver.tools.http import ask_json, shaped
from deepdiver.tools.osint.feed import ServiceAnswer
from deepdiver.tools.osint.sanctions.entity import LONGEST_NAME, MOST_VALUES, PERSON, Entity
from deepdiver.tools.osint.sanctions.hits import KEPT, SanctionsHit, SanctionsHits, answer_of
from deepdiver.tools.osint.sanctions.query import SanctionsQuery
from deepdiver.tools.osint.services import ServiceModel

SERVICE = "opensanctions"
DEFAULT_URL = "https://api.opensanctions.org"
DATASET = "default"
"""The whole collection: sanctions, wanted and politically exposed persons, and related entities."""
LIMIT = 20
"""Results that are asked for; by default the API gives five."""
SCHEMAS = {"": "LegalEntity", "person": PERSON, "organisation": "Organization", "vessel": "Vessel"}
"""The schema for each kind. A LegalEntity is a person or an organisation; a ship must be asked for
as a vessel."""
NAME_PROPERTIES = ("name", "alias", "previousName", "weakAlias")
COUNTRY_PROPERTIES = (
    "country",
    "nationality",
    "citizenship",
    "jurisdiction",
    "mainCountry",
    "flag",
)
MOST_NAMES = 200
"""Names of one entity that are compared; a few entities have more."""


class MatchApiEntity(ServiceModel):
    """A result, by the API's own names."""

    id: Annotated[str, Field(min_length=1)]
    caption: str
    schema_name: Annotated[str, Field(alias="schema")]
    properties: dict[str, list[Any]]
    datasets: list[str] = Field(default_factory=list)
    first_seen: str | None = None
    last_seen: str | None = None
    last_change: str | None = None
    score: Annotated[float, Field(ge=0, le=1)]
    match: bool

    def values(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return the values of some properties that are text; a value may also be an entity."""
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


class MatchApiQueryResponse(ServiceModel):
    """The answer to one query."""

    status: int = 200
    results: list[MatchApiEntity]


class MatchApiResponse(ServiceModel):
    """The answer to all queries."""

    responses: dict[str, MatchApiQueryResponse]


def address(settings: Settings) -> str:
    """Return the address of the API."""
    return settings.urls.get(SERVICE, DEFAULT_URL).rstrip("/")


async def ask_match_api(query: SanctionsQuery, gateway: Gateway) -> ServiceAnswer:
    """Ask the API for entities that match a query.

    Raises:
        GatewayError: If there is no answer.
    """
    settings = gateway.settings
    url = f"{address(settings)}/match/{DATASET}"
    example = {"schema": SCHEMAS[query.kind], "properties": _properties(query)}

    async def do() -> Reply:
        headers = {"Authorization": f"ApiKey {settings.key(SERVICE) or ''}"}
        body = {"queries": {"q": example}}
        raw = await ask_json(SERVICE, url, params={"limit": str(LIMIT)}, body=body, headers=headers)
        response = shaped(SERVICE, MatchApiResponse, raw)
        return Reply(_hits(response, query, url).model_dump(mode="json"))

    payload = {"dataset": DATASET, "query": example, "limit": LIMIT}
    what = f"who is like {query.name[:80]}"
    reply = await gateway.call(Request("feed", SERVICE, what, payload), do)
    return answer_of(SanctionsHits.model_validate(reply.value), query)


def _properties(query: SanctionsQuery) -> dict[str, list[str]]:
    known = {"name": query.name, "birthDate": query.birth_date, "country": query.country}
    return {name: [value] for name, value in known.items() if value}


def _hits(response: MatchApiResponse, query: SanctionsQuery, url: str) -> SanctionsHits:
    answer = response.responses.get("q")
    if answer is None:
        raise CallError(f"{SERVICE} answered in a form that is not its own", CallFault.MALFORMED)
    if answer.status != 200:
        raise CallError(f"{SERVICE} answered {answer.status} to the query", CallFault.REQUEST)
    hits = sorted(
        (_hit(result, query) for result in answer.results),
        key=lambda hit: (-hit.score, hit.entity.id),
    )
    matches = sum(hit.verdict == "match" for hit in hits)
    what = {
        "": "persons and organisations",
        "person": "persons",
        "organisation": "organisations",
        "vessel": "vessels",
    }
    return SanctionsHits(
        url=url,
        where=f"the {what[query.kind]} of OpenSanctions' collection {DATASET}",
        hits=tuple(hits[:KEPT]),
        matches=matches,
        possible=len(hits) - matches,
    )


def _hit(result: MatchApiEntity, query: SanctionsQuery) -> SanctionsHit:
    from deepdiver.tools.osint.sanctions.matching import best_match, judge

    entity = Entity(
        id=result.id,
        schema_name=result.schema_name,
        name=" ".join(result.caption.split())[:LONGEST_NAME] or result.id,
        birth_date=result.values(("birthDate",))[:MOST_VALUES],
        countries=tuple(dict.fromkeys(code.lower() for code in result.values(COUNTRY_PROPERTIES)))[
            :MOST_VALUES
        ],
        datasets=tuple(result.datasets[:MOST_VALUES]),
        first_seen=result.first_seen or "",
        last_seen=result.last_seen or "",
        last_change=result.last_change or "",
    )
    names = dict.fromkeys((entity.name, *result.values(NAME_PROPERTIES)[:MOST_NAMES]))
    likeness = judge(query, entity, best_match(query, names, entity.person))
    return SanctionsHit(
        entity=entity,
        score=round(result.score, 2),
        verdict="match" if result.match else "possible",
        reasons=likeness.reasons,
        name=likeness.name,
    )
