"""An invented week near Kharkiv for tests of the pictures.

30 findings of six types, correlations, three hypotheses.
"""

from __future__ import annotations

from deepdiver.core.identity import content_id
from deepdiver.core.ledger import Ledger
from deepdiver.core.record import (
    Assessment,
    Correlation,
    CorrelationKind,
    Credibility,
    Evidence,
    Finding,
    Hypothesis,
    HypothesisStatus,
    Passage,
    Quote,
    Report,
    Section,
    Sentence,
    SentenceKind,
    Source,
    SourceKind,
    Stance,
)
from deepdiver.report.compose import compose

QUESTION = "Have strikes near Kharkiv increased this week?"
ROWS = {
    "search_news": (
        "A blast was heard in the north of Kharkiv on 2026-11-09 at 06:20 UTC.",
        "On 2026-11-11 at 14:00 UTC a strike on a depot at 49.9935 N, 36.2304 E was reported.",
        "Residents of Saltivka reported explosions on 2026-11-11 at 14:12 UTC at 50.0310 N, "
        "36.3390 E.",
        "The mayor said on 2026-11-12 that two people were hurt.",
        "On 2026-11-12 at 21:40 UTC a drone fell near 50.0712 N, 36.1250 E.",
        "Trains to Kharkiv were late on 2026-11-13.",
        "On 2026-11-13 at 03:15 UTC a warehouse burned at 49.9470 N, 36.3901 E.",
        "A school was closed on 2026-11-14 at 07:00 UTC.",
        "On 2026-11-14 at 19:30 UTC air defence was active over Chuhuiv at 49.8353 N, 36.6880 E.",
        "The governor counted nine strikes by 2026-11-15 at 08:00 UTC.",
    ),
    "detect_thermal_anomalies": (
        "VIIRS saw a thermal anomaly at 2026-11-11 14:05 UTC, at 49.9941 N, 36.2312 E, brightness "
        "341.2 K.",
        "VIIRS saw a thermal anomaly at 2026-11-11 14:05 UTC, at 50.0302 N, 36.3401 E, brightness "
        "329.8 K.",
        "VIIRS saw a thermal anomaly at 2026-11-12 01:31 UTC, at 50.2891 N, 36.9412 E, brightness "
        "318.4 K.",
        "MODIS saw a thermal anomaly at 2026-11-12 10:50 UTC, at 49.7065 N, 37.6170 E, brightness "
        "322.0 K.",
        "VIIRS saw a thermal anomaly at 2026-11-13 03:20 UTC, at 49.9465 N, 36.3890 E, brightness "
        "345.1 K.",
        "VIIRS saw a thermal anomaly at 2026-11-13 12:41 UTC, at 49.9938 N, 36.2309 E, brightness "
        "311.7 K.",
        "MODIS saw a thermal anomaly at 2026-11-14 19:35 UTC, at 49.8360 N, 36.6871 E, brightness "
        "333.9 K.",
        "VIIRS saw a thermal anomaly at 2026-11-15 00:12 UTC, at 50.1177 N, 36.0544 E, brightness "
        "315.3 K.",
    ),
    "check_connectivity": (
        "IODA saw the BGP reachability of AS6877 fall by 34 percent at 2026-11-11 14:20 UTC.",
        "IODA saw the active probing of Kharkiv fall by 12 percent at 2026-11-13 03:30 UTC.",
        "IODA saw the BGP reachability of AS6877 back at its level at 2026-11-11 17:45 UTC.",
    ),
    "search_cyber": (
        "CVE-2026-21001 was added to the catalogue of exploited vulnerabilities on 2026-11-10.",
        "CVE-2026-21044 was added to the catalogue of exploited vulnerabilities on 2026-11-13.",
    ),
    "lookup_sanctions": ('"Example Rail LLC" is listed since 2026-11-10.',),
    "search_events": (
        "ReliefWeb reported on 2026-11-12 that 300 people left their homes near 50.2860 N, "
        "36.9390 E.",
        "USGS recorded an earthquake of magnitude 2.9 at 2026-11-10 05:02 UTC, at 48.6010 N, "
        "38.0020 E.",
    ),
    "library": (
        "The yearbook says that the depot was opened on 1987-05-02.",
        "In the week before, from 2026-11-02 on, four strikes were counted.",
        "The plan of 2026-11-10 calls the depot empty.",
        "No one was working in the depot.",
    ),
}
TYPES = {
    "search_news": "news",
    "detect_thermal_anomalies": "satellite",
    "check_connectivity": "connectivity",
    "search_cyber": "cyber",
    "lookup_sanctions": "sanctions",
    "search_events": "event",
}
SERVICES = {
    "search_cyber": "CISA KEV",
    "detect_thermal_anomalies": "NASA FIRMS",
    "check_connectivity": "IODA",
}


def texts() -> dict[str, str]:
    """Return the saved texts of the week, by hash."""
    return {
        f"t_{provider}_{n}": row for provider, rows in ROWS.items() for n, row in enumerate(rows)
    }


def sources() -> list[Source]:
    """Return a source for each row."""
    kinds = {"search_news": SourceKind.PAGE, "library": SourceKind.DOCUMENT}
    return [
        Source(
            id=f"s_{provider}_{n}",
            kind=kinds.get(provider, SourceKind.FEED),
            url=f"https://example.org/{provider}/{n}",
            title=f"{SERVICES.get(provider, provider.replace('_', ' '))}, row {n + 1}",
            snapshot=f"t_{provider}_{n}",
            providers=(provider,),
            intelligence=TYPES.get(provider, ""),
            publisher=f"publisher {provider} {n}",
            credibility=Credibility(
                score=0.9 if provider != "search_news" else 0.7, reasons=("invented",)
            ),
        )
        for provider, rows in ROWS.items()
        for n in range(len(rows))
    ]


def findings() -> list[Finding]:
    """Return a finding for each row, which quotes all of it."""
    return [
        Finding(
            id=f"f_{provider}_{n}",
            statement=row,
            quotes=(
                Quote(
                    source=f"s_{provider}_{n}",
                    passage=Passage(snapshot=f"t_{provider}_{n}", start=0, end=len(row)),
                    text=row,
                ),
            ),
        )
        for provider, rows in ROWS.items()
        for n, row in enumerate(rows)
    ]


def correlations() -> list[Correlation]:
    """Return what was planted: the strike and the anomaly five minutes later, and what followed."""
    told = [
        (
            CorrelationKind.TEMPORAL,
            ("f_search_news_1", "f_detect_thermal_anomalies_0"),
            "5 minutes apart",
            0.8,
        ),
        (
            CorrelationKind.GEOSPATIAL,
            ("f_search_news_1", "f_detect_thermal_anomalies_0"),
            "0.09 km apart",
            0.9,
        ),
        (
            CorrelationKind.CAUSAL,
            ("f_detect_thermal_anomalies_0", "f_check_connectivity_0"),
            "15 minutes apart",
            0.4,
        ),
        (
            CorrelationKind.TEMPORAL,
            ("f_search_news_6", "f_detect_thermal_anomalies_4"),
            "5 minutes apart",
            0.8,
        ),
        (
            CorrelationKind.PATTERN,
            ("f_search_news_2", "f_search_news_6", "f_search_news_8"),
            "about 38 hours from one to the next",
            0.5,
        ),
    ]
    return [
        Correlation(
            id=content_id("k", kind, keys),
            kind=kind,
            findings=keys,
            description=what,
            confidence=sure,
        )
        for kind, keys, what, sure in told
    ]


HYPOTHESES = (
    Hypothesis(
        id="h_1",
        statement="Strikes near Kharkiv have increased in the week of 9 November 2026 compared "
        "with the week before.",
        supports_if="more strikes reported and seen",
        refutes_if="fewer or as many strikes as in the week before",
    ),
    Hypothesis(
        id="h_2",
        statement="The thermal anomalies come from industry that burns at the same places every "
        "week.",
        supports_if="the same places in the weeks before",
        refutes_if="anomalies that begin at the minute of a reported strike",
    ),
    Hypothesis(
        id="h_3",
        statement="The loss of connectivity on 11 November was brought about by the strike on the "
        "depot.",
        supports_if="a loss that begins behind the strike",
        refutes_if="a loss that begins before it",
    ),
)
JUDGED: dict[str, list[tuple[str, Stance, float]]] = {
    "h_1": [
        *((f"f_search_news_{n}", Stance.SUPPORTS, 0.3 + 0.07 * n) for n in range(1, 10)),
        *((f"f_detect_thermal_anomalies_{n}", Stance.SUPPORTS, 0.5) for n in range(8)),
        ("f_library_1", Stance.SUPPORTS, 0.8),
        ("f_search_news_0", Stance.NEUTRAL, 0.2),
        ("f_library_2", Stance.REFUTES, 0.2),
    ],
    "h_2": [
        ("f_detect_thermal_anomalies_0", Stance.REFUTES, 0.9),
        ("f_detect_thermal_anomalies_4", Stance.REFUTES, 0.8),
        ("f_detect_thermal_anomalies_5", Stance.SUPPORTS, 0.4),
        ("f_search_news_1", Stance.REFUTES, 0.7),
        ("f_search_cyber_0", Stance.NEUTRAL, 0.1),
    ],
    "h_3": [
        ("f_check_connectivity_0", Stance.SUPPORTS, 0.6),
        ("f_check_connectivity_2", Stance.SUPPORTS, 0.2),
        ("f_search_cyber_1", Stance.REFUTES, 0.3),
        ("f_search_events_1", Stance.NEUTRAL, 0.1),
    ],
}


def evidence() -> list[Evidence]:
    """Return how findings bear on the hypotheses."""
    return [
        Evidence(
            id=content_id("e", key, finding, stance, strength),
            hypothesis=key,
            finding=finding,
            stance=stance,
            strength=strength,
            reason="as judged",
        )
        for key, rows in JUDGED.items()
        for finding, stance, strength in rows
    ]


def assessments() -> list[Assessment]:
    """Return the hypotheses as they stand: one supported, one refuted, one undecided."""
    standing = [
        (HypothesisStatus.SUPPORTED, 0.97, 2),
        (HypothesisStatus.REFUTED, 0.08, 1),
        (HypothesisStatus.UNDECIDED, 0.62, 1),
    ]
    return [
        Assessment(
            hypothesis=item,
            posterior=belief,
            status=status,
            trials=trials,
            supporting=tuple(
                key for key, stance, _ in JUDGED[item.id] if stance is Stance.SUPPORTS
            ),
            refuting=tuple(key for key, stance, _ in JUDGED[item.id] if stance is Stance.REFUTES),
        )
        for item, (status, belief, trials) in zip(HYPOTHESES, standing, strict=True)
    ]


def ledger() -> Ledger:
    """Return the record of the week."""
    return Ledger([*sources(), *findings(), *correlations(), *HYPOTHESES, *evidence()])


def report() -> Report:
    """Return the report of the week."""
    news = [f"f_search_news_{n}" for n in range(1, 9)]
    heat = [f"f_detect_thermal_anomalies_{n}" for n in range(5)]
    lead = (
        Sentence(
            text="Strikes near Kharkiv have increased: nine were counted.",
            findings=("f_search_news_9",),
        ),
        Sentence(text="In the week before there were four.", findings=("f_library_1",)),
    )
    body = (
        Section(
            heading="Close in time",
            sentences=(
                Sentence(
                    text="A strike at 14:00 UTC was seen from space.", findings=(news[0], heat[0])
                ),
                Sentence(
                    text="Connectivity fell 15 minutes later.", findings=("f_check_connectivity_0",)
                ),
                Sentence(
                    text="A warehouse burned at 03:15 UTC.",
                    findings=(news[5], heat[4]),
                    mark="flagged: one source",
                ),
            ),
        ),
        Section(
            heading="What was seen",
            sentences=(
                Sentence(text="More was reported.", findings=(*news[1:5], news[7])),
                Sentence(text="More was seen from space.", findings=tuple(heat[1:4])),
                Sentence(
                    text="Two vulnerabilities were exploited.",
                    findings=("f_search_cyber_0", "f_search_cyber_1"),
                ),
                Sentence(
                    text="A depot was opened long ago.",
                    findings=("f_library_0", "f_search_events_0"),
                ),
            ),
        ),
        Section(
            heading="Method",
            sentences=(Sentence(text="Six feeds were asked.", kind=SentenceKind.FRAME),),
        ),
    )
    return compose(
        QUESTION,
        lead,
        body,
        assessments(),
        ledger(),
        limits=("Cloudflare Radar failed: it did not answer.",),
        made_by="deepdiver, overwatch, embedded reasoner",
    )
