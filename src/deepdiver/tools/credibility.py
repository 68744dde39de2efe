"""How far a source is believed: a number with its reasons, by rules that anyone can read here."""

from __future__ import annotations

from deepdiver.core.record import Credibility, SourceKind
from deepdiver.tools.hit import Hit

KINDS = {
    "register": (0.95, "an official register"),
    "log": (0.9, "a log kept at the time"),
    "official": (0.9, "an authority on its own matter"),
    "minutes": (0.85, "minutes of a meeting"),
    "scientific": (0.85, "a scientific publication"),
    "wire": (0.7, "a news agency"),
    "newspaper": (0.7, "a newspaper with an editor"),
    "newsletter": (0.6, "a newsletter of those concerned"),
    "company": (0.6, "a company on its own matter"),
    "blog": (0.3, "a blog without an editor"),
    "forum": (0.2, "a forum where anyone may write"),
}
"""What each kind of publisher starts from."""
UNKNOWN = {
    SourceKind.DOCUMENT: (0.6, "a document of yours, publisher not stated"),
    SourceKind.PAGE: (0.5, "a web page, publisher not classified"),
    SourceKind.TOOL: (0.5, "the output of a tool"),
    SourceKind.FEED: (0.7, "a data feed"),
}
"""What a source starts from whose publisher's kind is not known."""
UNSIGNED = 0.05
"""What an undated text loses, and one without an author where its kind is usually signed."""
SIGNED_KINDS = frozenset({"newspaper", "scientific", "blog"})


def credibility(hit: Hit) -> Credibility:
    """Weigh a source by what is known of it before its content is judged."""
    kind = hit.publisher_kind.strip().lower()
    score, reason = KINDS.get(kind) or UNKNOWN[hit.kind]
    reasons = [reason]
    if not hit.published:
        score -= UNSIGNED
        reasons.append("no date")
    if not hit.author and kind in SIGNED_KINDS:
        score -= UNSIGNED
        reasons.append("no author")
    if hit.url.lower().startswith("http://"):
        score -= UNSIGNED
        reasons.append("not served over https")
    return Credibility(score=round(max(score, 0.05), 2), reasons=tuple(reasons))
