"""Finds the question in a message as people type it.

    Hi there, quick one for my talk: who chairs the group? Thanks!   →   who chairs the group?

Greetings, thanks and talk about the person who asks go. What is said about the subject before the
question stays, as background: it often has the names that the question leaves out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from deepdiver.core.text import sentences, terms

LONGEST = 2_000
"""Characters of a message that are analysed: a longer text is material, with the question at one
end of it."""
FEWEST_TERMS = 2
"""Telling words of a question that can be looked up by itself."""
INDIRECT = ("if", "whether")
"""Words that open an indirect yes-or-no question."""
ASKING = frozenset(
    "who whom whose what which when where why how whats whos hows what's who's where's how's "
    "when's why's".split()
)
"""Words that ask."""
AUXILIARIES = frozenset(
    "is are was were am do does did has have had can could will would shall should may might must "
    "isn't aren't wasn't weren't don't doesn't didn't hasn't haven't hadn't can't couldn't won't "
    "wouldn't shouldn't mustn't".split()
)
"""Verbs that carry another verb, and open a yes-or-no question."""
COMMANDS = frozenset(
    "brief calculate check collect compare compute contrast count create define describe discuss "
    "draft draw enumerate explain find get give guide identify list make name order outline "
    "prepare provide put recap reconstruct report say show sketch state sum summarise summarize "
    "tell trace walk write".split()
)
"""Verbs with which people order an answer."""

_OPENERS = ASKING | AUXILIARIES | COMMANDS | {*INDIRECT, "to", "in", "on", "at", "by", "from"}
_TALK = frozenset(
    "i i'm i'd i've me my we we're our us you your hi hello hey dear morning sorry please thanks "
    "thank quick question ok okay".split()
)
"""Words of a clause that is about the conversation rather than the subject."""
_GREETING = re.compile(
    r"^(?:(?:hi|hello|hey|hiya|greetings|good (?:morning|afternoon|evening|day)"
    r"|dear(?: \w+){1,2})(?: there| all| everyone| everybody| team| folks)?\s*[,!.:–-]+\s*"
    r"|(?:hi|hello|hey)(?: there)?\s+)",
    re.IGNORECASE,
)
_FILLER = re.compile(
    r"^(?:ok(?:ay)?|so|well|um+|hmm+|right|now|and|but|also|anyway|actually|please|pls|kindly|just"
    r"|sorry|excuse me|by the way|btw|fyi|(?:a )?quick (?:one|question|check)"
    r"|one (?:more )?question"
    r"|(?:my )?question)\b\s*[,:;!.–-]*\s*",
    re.IGNORECASE,
)
_PLEA = re.compile(
    r"^(?:(?:can|could|would|will) (?:you|u|someone|somebody|anyone|anybody)|i(?:'d"
    r"| would) like you"
    r" to|i (?:want|need) you to|would you mind|help me(?: to)?|try to)"
    r"\s+(?=(?:please |kindly |perhaps |maybe |quickly |briefly )*[a-z])",
    re.IGNORECASE,
)
_WISH = re.compile(
    r"^(?:tell me|let me know|remind me|show me|find out|look up|say|check|i(?:'d"
    r"| would) (?:like|love"
    r"|want) to (?:know|find out|understand|hear|see)|i (?:want|need|wish) to (?:know|find out"
    r"|understand)|i (?:wonder|was wondering|am wondering|don't know|do not know|can't find"
    r"|cannot find|forgot)|i'm (?:wondering|trying to (?:find out|understand|work out|see))"
    r"|(?:do|does|did|would) (?:you|anyone|anybody|somebody|someone) (?:happen to )?(?:know"
    r"|remember"
    r"|recall)|do we (?:happen to )?know|any(?:one|body) knows?|any idea|any clue|is it known|see"
    r"|(?:help me )?understand|clarify|verify|confirm)(?: exactly| please)?[,:]?\s+(?P<rest>.+)$",
    re.IGNORECASE | re.DOTALL,
)
_CLOSING = re.compile(
    r"[\s,.!?–-]*\b(?:please|pls|thanks?(?: you)?(?: (?:so|very) much| a lot"
    r"| a million)?(?: in advance"
    r"| for (?:your|the) help)?|many thanks|cheers|ta|regards|best(?: wishes| regards)?"
    r"|if you (?:know"
    r"|can)|asap|any ideas?)\s*[.!?,]*$",
    re.IGNORECASE,
)
_BREAK = re.compile(r"(?:\s*[,:;]\s*|\s+[–-]+\s+)(?:but\s+|so\s+|and\s+)?")
_POINTER = re.compile(
    r"\b(?:its?|they|them|theirs?|these|those|this|he|she|him|her|his|hers)\b|\bthat\W*$", re.I
)
"""Words for what has been named: "How do I get it to start unattended?"."""
_WORD = re.compile(r"\w+(?:[’'\-]\w+)*")


@dataclass(frozen=True, slots=True)
class Request:
    """What a message asks."""

    text: str
    """The question or order alone, ready to be read by a reader."""
    background: str = ""
    """What the message says about the subject before or after it."""
    indirect: bool = False
    """Whether the text is what follows "whether": a statement that is to be tested."""
    matter: str = ""
    """What is looked for: the question and its background; all that was said, if it points back."""


def find_request(message: str) -> Request:
    """Find the question in a message."""
    parts = [part for sentence in _sentences(message) if (part := _without_courtesy(sentence))]
    if not parts:
        whole = " ".join(message.split())[:LONGEST]
        return Request(whole, matter=whole)
    asking = [part for part in parts if part.endswith("?") and len(_words(part)) > 1]
    asking = asking or [part for part in parts if _opens(part)] or parts
    text, indirect = _direct(" ".join(asking))
    rest = [part for part in parts if part not in asking]
    background = " ".join(part for part in rest if not _is_talk(part))
    matter = " ".join([text, *rest] if _only_points(text) else filter(None, [text, background]))
    return Request(text, background, indirect, matter)


def _only_points(question: str) -> bool:
    """Return whether a question is not understood without what stands before it."""
    few = len(terms(question)) < FEWEST_TERMS or _POINTER.search(question) is not None
    return few and (_words(question) or [""])[0] in ASKING


def _sentences(message: str) -> list[str]:
    text = message.strip().replace("’", "'")
    if len(text) > LONGEST:
        half = LONGEST // 2
        text = text[:half] if "?" in text[:half] or "?" not in text[-half:] else text[-half:]
    found = [" ".join(span.of(text).split()) for span in sentences(text)]
    return found or [" ".join(text.split())]


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _opens(text: str) -> bool:
    """Return whether a text begins as a question or an order does."""
    first = _words(text[:40])[:2]
    return bool(first) and (
        first[0] in ASKING | AUXILIARIES | COMMANDS or (len(first) > 1 and first[1] in ASKING)
    )


def _is_talk(text: str) -> bool:
    """Return whether a sentence is about the person who asks: "I am new here"."""
    return not _TALK.isdisjoint(_words(text))


def _without_courtesy(sentence: str) -> str:
    """Return a sentence without greetings, pleas and thanks; empty if nothing else is in it."""
    text = sentence
    mark = "?" if text.rstrip().endswith("?") else ""
    for _ in range(8):
        shorter = _CLOSING.sub("", text).strip()
        for pattern in (_GREETING, _FILLER):
            shorter = pattern.sub("", shorter, count=1)
        shorter = _without_plea(_after_talk(shorter))
        if shorter == text:
            break
        text = shorter
    text = text.strip(" ,;:–-")
    return text if not text or text.endswith(("?", ".", "!")) else f"{text}{mark}"


def _without_plea(text: str) -> str:
    """Cut "could you please" before an order: "could you please list" becomes "list"."""
    match = _PLEA.match(text)
    rest = text[match.end() :] if match else ""
    rest = _FILLER.sub("", rest, count=1)
    opens = re.match(r"[A-Za-z]+", rest)
    if opens and opens[0].lower() in COMMANDS | {"help", "let", "look", "remind", "see"}:
        return rest
    return text


def _after_talk(text: str) -> str:
    """Cut a clause about the conversation before the question, up to a comma, colon or dash."""
    for stop in _BREAK.finditer(text):
        before, after = text[: stop.start()], text[stop.end() :]
        talk = _is_talk(before) and terms(after)
        if _opens_part(after) and not _opens(before) and (talk or len(before) < 3):
            return after
    return text


def _opens_part(text: str) -> bool:
    words = _words(text[:60])[:3]
    return bool(words) and (words[0] in _OPENERS or not ASKING.isdisjoint(words))


def _direct(text: str) -> tuple[str, bool]:
    """Turn an indirect question into a direct one: "I wonder who" becomes "who".

    Returns:
        The question, and whether it is the statement after "whether".
    """
    for rest in _unwished(text):
        text = rest
    first, _, behind = text.partition(" ")
    if first.lower() in INDIRECT and behind:
        return behind, True
    return text, False


def _unwished(text: str) -> Iterator[str]:
    while match := _WISH.match(text):
        text = match["rest"].strip()
        first = (_words(text[:40]) or [""])[0]
        if first not in ASKING | {*INDIRECT} and not re.match(
            r"(?:in|on|at|to|from|by|for|of|with|under) (?:what|which|whom|whose)\b", text, re.I
        ):
            return
        yield text
