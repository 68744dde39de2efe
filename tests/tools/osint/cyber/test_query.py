"""A query for vulnerabilities, in words and as a payload."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from deepdiver.core.settings import Settings
from deepdiver.tools.osint.arguments import Period
from deepdiver.tools.osint.cyber.query import VulnerabilityQuery


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "of any kind"),
        ({"vendor": "Microsoft"}, 'of "Microsoft"'),
        ({"vendor": "Microsoft", "product": "Exchange"}, 'of "Microsoft" in "Exchange"'),
        (
            {"keyword": "remote code", "cve": "CVE-2024-3094"},
            'about "remote code" with the number "CVE-2024-3094"',
        ),
        ({"vendor": 'A "quoted"\nname'}, "of \"A 'quoted' name\""),
    ],
)
def test_a_query_in_words(given: dict[str, Any], told: str) -> None:
    assert VulnerabilityQuery(Period(), **given).text == told


def test_a_payload_does_not_depend_on_today() -> None:
    query = VulnerabilityQuery(Period(days=7), vendor="Microsoft")
    assert query.payload(Settings()) == {"vendor": "Microsoft", "days": 7}
    then = query.payload(Settings(as_of=date(2026, 11, 11)))
    assert then == {"vendor": "Microsoft", "days": 7, "as_of": "2026-11-11"}
    assert VulnerabilityQuery(Period()).payload(Settings()) == {}
