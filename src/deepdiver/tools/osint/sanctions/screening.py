"""Who on a list is like somebody.

Candidates from the index, compared by name, then judged by all that is known.
"""

from __future__ import annotations

from deepdiver.tools.osint.sanctions.asked import Asked
from deepdiver.tools.osint.sanctions.entity import PERSON, SOUGHT, Entity
from deepdiver.tools.osint.sanctions.index import Index
from deepdiver.tools.osint.sanctions.matching import POSSIBLE, Likeness, judged, likest


def screened(asked: Asked, index: Index) -> list[tuple[Entity, Likeness]]:
    """Return the entities that are a match or may be one, the likest first.

    Args:
        asked: Who is looked for.
        index: The list.
    """
    wanted = SOUGHT.get(asked.kind)
    found: list[tuple[Entity, Likeness]] = []
    for candidate in index.candidates(asked.readings()):
        if wanted is not None and candidate.schema_name not in wanted:
            continue
        laid = likest(asked, candidate.names, candidate.schema_name == PERSON)
        if laid.score >= POSSIBLE:
            entity = index.entity(candidate.number)
            likeness = judged(asked, entity, laid)
            if likeness.verdict:
                found.append((entity, likeness))
    return sorted(found, key=lambda pair: (-pair[1].score, pair[0].id))
