"""Turns a yes-or-no question into the statement that is to be tested.

    Did Velby sign the contract?     Velby signed the contract.
    Is the pump approved?            The pump is approved.

The words are only put into another order, so that a reader can compare the statement with a text.
Where the end of the subject cannot be told from the form of the words, there is no statement.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from deepdiver.core.text import STOPWORDS

_DO = frozenset("do does did".split())
_HAVE = frozenset("has have had".split())
_BE = frozenset("is are was were am".split())
_MODALS = frozenset("can could will would shall should may might must".split())
_NEGATED = {"won't": "will", "can't": "can", "shan't": "shall"}
_PRONOUNS = frozenset(
    "i you he she it we they there this these those that anyone anybody everyone everybody someone "
    "somebody nobody nothing something everything all both".split()
)
_DETERMINERS = frozenset(
    "the a an this that these those my your his her its our their any some all both each every no "
    "another two three".split()
)
_PREPOSITIONS = frozenset(
    "of in on at by for from to with into onto near about against between during through within "
    "without under over after before since until behind beside along across around among as per "
    "via up down off out".split()
)
_ADVERBS = frozenset("again yet soon there here too once twice".split())
_BEFORE_VERBS = frozenset(
    "still already ever not now also really actually always never just only even often".split()
)
"""Adverbs that stand before the verb: what precedes them is the subject."""
_PAST = {
    base: past
    for pair in (
        "be was; become became; begin began; break broke; bring brought; build built; burn burned; "
        "buy bought; catch caught; choose chose; come came; cost cost; cut cut; deal dealt; "
        "do did; draw drew; drink drank; drive drove; eat ate; fall fell; feed fed; feel felt; "
        "fight fought; find found; fly flew; forget forgot; get got; give gave; go went; "
        "grind ground; grow grew; have had; hear heard; hide hid; hit hit; hold held; hurt hurt; "
        "keep kept; know knew; "
        "lay laid; lead led; leave left; let let; lie lay; lose lost; make made; mean meant; "
        "meet met; overcome overcame; pay paid; put put; read read; ride rode; ring rang; "
        "rise rose; run ran; say said; see saw; seek sought; sell sold; send sent; set set; "
        "shoot shot; show showed; shut shut; sing sang; sink sank; sit sat; sleep slept; "
        "speak spoke; spend spent; stand stood; steal stole; strike struck; swear swore; "
        "swim swam; take took; teach taught; tell told; think thought; throw threw; "
        "understand understood; undertake undertook; wear wore; win won; withdraw withdrew; "
        "write wrote"
    ).split("; ")
    for base, past in (pair.split(),)
}
"""The past forms of irregular verbs."""
_BASES = {past: base for base, past in _PAST.items() if past not in _PAST}
_PARTICIPLES = frozenset(_PAST.values()) | frozenset(
    "been become begun broken chosen done drawn driven eaten fallen flown forgotten given gone "
    "grown hidden known lain written risen run seen shown sung sunk sworn taken thrown torn worn "
    "withdrawn stolen spoken born".split()
)
_VERBS = frozenset(_PAST) | frozenset(
    "accept add agree allow answer appear apply approve arrive ask attend believe belong call "
    "cancel cause change charge claim close collect complain contain continue count cover create "
    "decide deliver deny depend die differ end enter exist expire explain fail finish follow "
    "happen help improve include increase invite issue join last like live look love move need "
    "object offer open order own pass play prove provide raise reach receive refuse reject release "
    "remain remove repair replace report request require resign return save serve sign start stay "
    "stop suffer supply support survive talk test travel try turn use visit vote want work".split()
)
"""Common verbs, for subjects whose end no other word marks."""
_ADJECTIVE = re.compile(
    r".+(?:able|ible|ous|ful|less|ive|ical|ic|ant|ent|ary|ish|ally|free|proof|size|wide)$"
)
_ADJECTIVES = frozenset(
    "open free ready due late safe true false right wrong legal illegal public private full empty "
    "new old big small large high low long short hard soft easy cheap dear good bad better worse "
    "best worst larger smaller higher lower longer shorter older younger cheaper faster slower "
    "more less sick ill dead alive well possible necessary valid sure same similar local clean "
    "dirty wet dry hot cold warm strong weak heavy light deep thick thin complete normal "
    "optional mandatory toxic active total final".split()
)
_PREFIX = re.compile(r"(?:mis|over|under|out|re|up|fore)(?=[a-z]{3})")
_WORD = re.compile(r"\S+")
_TRUE_THAT = re.compile(
    r"^(?:is|was|isn't) (?:it|this) (?:true|correct|right|the case|so|a fact|possible"
    r"|known)(?: to say)?"
    r" that (?P<rest>.+)$"
    r"|^am i (?:right|correct)(?: in (?:thinking|saying|assuming))? that (?P<also>.+)$",
    re.IGNORECASE,
)
_TAG = re.compile(
    r"^(?P<rest>.+?),\s+(?:right|correct|yes|no|or not|true"
    r"|(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should)(?:n't)?\s+(?:it"
    r"|he|she"
    r"|they|we|you|i|there|that|this))\s*\?$",
    re.IGNORECASE,
)


def statement_of(question: str) -> str:
    """Return a yes-or-no question as a statement; empty if it is none, or cannot be re-ordered."""
    text = " ".join(question.replace("’", "'").split())
    for pattern in (_TRUE_THAT, _TAG):
        if match := pattern.match(text):
            return _sentence(next(group for group in match.groups() if group))
    words = _WORD.findall(text.rstrip(" ?.!"))
    helper = _helper(words[0]) if words else ""
    rest = words[1:]
    if not helper or not rest:
        return ""
    end = _end_of_subject(helper, [_bare(word) for word in rest], rest)
    if not 0 < end <= len(rest):
        return ""
    return _sentence(" ".join(_ordered(helper, rest[:end], rest[end:])))


def as_statement(text: str) -> str:
    """Return a statement, such as what follows "whether" in a message, as a sentence."""
    return _sentence(text)


def opens_yes_no(text: str) -> bool:
    """Return whether a text begins with a helping verb, or ends as "…, isn't it?"."""
    first = text.split(" ", 1)[0]
    return bool(_helper(first)) or bool(_TAG.match(text))


def _sentence(text: str) -> str:
    kept = text.strip(" ?.!,")
    return f"{kept[:1].upper()}{kept[1:]}." if kept else ""


def _helper(word: str) -> str:
    """Return the helping verb that a word is, without its "n't"; empty if it is none."""
    word = word.lower()
    plain = _NEGATED.get(word, word.removesuffix("n't"))
    return plain if plain in _DO | _HAVE | _BE | _MODALS else ""


def _bare(word: str) -> str:
    return word.strip(',;:()"“”').lower()


def _ordered(helper: str, subject: Sequence[str], predicate: Sequence[str]) -> list[str]:
    plain = [word for word in predicate if _bare(word) != "ever"]
    if plain and _bare(plain[0]) == "any":
        plain = plain[1:]
    subject = [word for word in subject if _bare(word) != "any"]
    if helper not in _DO:
        return [*subject, helper, *plain]
    at = next((i for i, word in enumerate(plain) if not _is_adverb(_bare(word))), 0)
    if "not" in map(_bare, plain[:at]):
        return [*subject, helper, *plain]
    if not plain or _bare(plain[at]) in _PREPOSITIONS | _DETERMINERS:
        return []
    return [*subject, *plain[:at], _inflected(plain[at], helper), *plain[at + 1 :]]


def _inflected(verb: str, helper: str) -> str:
    """Return a verb in the form that its helping verb had: did sign becomes signed."""
    if helper == "do":
        return verb
    return past(verb) if helper == "did" else third_person(verb)


def past(verb: str) -> str:
    """Return the past form of a verb."""
    if verb in _PAST:
        return _PAST[verb]
    if (prefix := _PREFIX.match(verb)) and verb[prefix.end() :] in _PAST:
        return f"{prefix[0]}{_PAST[verb[prefix.end() :]]}"
    if verb.endswith("e"):
        return f"{verb}d"
    if re.search(r"[^aeiou]y$", verb):
        return f"{verb[:-1]}ied"
    if re.fullmatch(r"[^aeiou]*[aeiou][bdgklmnprt]|.*[^aeiou][aeiou]l", verb):
        return f"{verb}{verb[-1]}ed"
    return f"{verb}ed"


def base_form(word: str) -> str:
    """Return the verb of which a word is the irregular past form; the word itself otherwise."""
    return _BASES.get(word, word)


def is_past(word: str) -> bool:
    """Return whether a word looks like a past form: happened, became."""
    return word in _PARTICIPLES or (word.endswith("ed") and len(word) > 4)


def third_person(verb: str) -> str:
    """Return the form of a verb that goes with he, she and it."""
    if verb == "have":
        return "has"
    if re.search(r"(?:s|x|z|ch|sh|o)$", verb):
        return f"{verb}es"
    return f"{verb[:-1]}ies" if re.search(r"[^aeiou]y$", verb) else f"{verb}s"


# -- where the subject ends


def _end_of_subject(helper: str, words: Sequence[str], raw: Sequence[str]) -> int:
    """Return how many words the subject has; 0 if that cannot be told."""
    if words[0] in _PRONOUNS and not (
        words[0] in _DETERMINERS and len(words) > 1 and _is_noun_like(words[1])
    ):
        return _after_there(words) if words[0] == "there" else 1
    named = _end_of_name(words, raw)
    if named and (named == len(words) or not _runs_on(helper, words, named)):
        return named
    start = max(named, _first_noun(words) + 1)
    if helper in _DO | _MODALS:
        return _verb_at(words, raw, start)
    return _predicate_at(words, raw, start)


def _after_there(words: Sequence[str]) -> int:  # "is there a crack": there is a crack
    return 1 if len(words) > 1 else 0


def _is_noun_like(word: str) -> bool:
    return word not in STOPWORDS and not _is_adverb(word) and not _is_participle(word)


def _first_noun(words: Sequence[str]) -> int:
    """Return the place of the first word that is neither an article nor a number."""
    return next(
        (i for i, word in enumerate(words) if word not in _DETERMINERS and not word.isdigit()), 0
    )


def _end_of_name(words: Sequence[str], raw: Sequence[str]) -> int:
    """Return where the name ends with which a subject begins; 0 if it begins with none."""
    at = 1 if words[0] in _DETERMINERS else 0
    end = at
    while end < len(words):
        named = raw[end][:1].isupper() or (end > at and raw[end][:1].isdigit())
        joins = (
            end > at
            and words[end] in {"of", "and", "&", "de", "van", "von", "the", "for"}
            and any(word[:1].isupper() for word in raw[end + 1 : end + 3])
            and (words[end] != "the" or words[end - 1] in {"of", "and", "for"})
        )
        if not (named or joins):
            break
        end += 1
        if raw[end - 1].endswith((",", ";")):
            break
    return end if end > at else 0


def _runs_on(helper: str, words: Sequence[str], end: int) -> bool:
    """Return whether a subject goes on behind its name: "the Sentry pumps", "Ada's contract"."""
    if words[end - 1].endswith(("'s", "'")):
        return True
    word = words[end]
    if helper in _DO | _MODALS:
        return (_ends_in_s(word) or word in {"of"}) and word not in _VERBS
    after = words[end + 1] if end + 1 < len(words) else ""
    return _ends_in_s(word) and bool(after) and word not in _DETERMINERS


def _ends_in_s(word: str) -> bool:
    return word.endswith("s") and not word.endswith(("ss", "us", "is")) and word not in STOPWORDS


def _is_adverb(word: str) -> bool:
    return word in _ADVERBS | _BEFORE_VERBS or (word.endswith("ly") and len(word) > 4)


def _is_participle(word: str) -> bool:
    return is_past(word) or (word.endswith("ing") and len(word) > 4)


def _verb_at(words: Sequence[str], raw: Sequence[str], start: int) -> int:
    """Return the place of the verb behind "did" or "can": before an object, a phrase or the end."""
    for at in range(start, len(words)):
        word = words[at]
        if word in _BEFORE_VERBS and at + 1 < len(words):
            return at
        if word in _PREPOSITIONS | _DETERMINERS or words[at - 1] in _PREPOSITIONS | _DETERMINERS:
            continue
        if word in {"have", "be"} or (_may_be_verb(word) and _closes(words, raw, at)):
            return at
    return next((at for at in range(start, len(words)) if words[at] in _VERBS), 0)


def _may_be_verb(word: str) -> bool:
    return word.isalpha() and not _ends_in_s(word) and not word.endswith(("tion", "ment", "ing"))


def _closes(words: Sequence[str], raw: Sequence[str], at: int) -> bool:
    """Return whether what follows a word may follow a verb."""
    if at + 1 == len(words):
        return True
    after = words[at + 1]
    return (
        after in (_DETERMINERS | _PREPOSITIONS | _PRONOUNS) - {"of"}
        or (_is_adverb(after) and after not in _BEFORE_VERBS)
        or _is_participle(after)
        or after in {"more", "less", "me", "him", "them", "us", "what", "who", "how", "that", "if"}
        or raw[at + 1][:1].isupper()
        or raw[at + 1][:1].isdigit()
        or (words[at] in _VERBS)
    )


def _predicate_at(words: Sequence[str], raw: Sequence[str], start: int) -> int:
    """Return where the predicate begins behind "is" or "has".

    That is at an article, an adverb, a participle or an adjective; at a preposition only if the
    question does not end in a word that may be said of the subject: "is the match against Velby
    abandoned", "is the hut in the valley".
    """
    if "been" in words:
        at = words.index("been")
        return at - 1 if words[at - 1] in _BEFORE_VERBS else at
    phrase = 0
    for at in range(start, len(words)):
        inside = words[at - 1] in _PREPOSITIONS | _DETERMINERS
        if words[at] in _PREPOSITIONS:
            phrase = phrase or at
        elif not inside and words[at] in _DETERMINERS:
            return phrase or at
        elif not inside and _says_of(words[at]):
            return at
    return _before_phrase(words, phrase, start) if phrase else len(words) - 1


def _before_phrase(words: Sequence[str], phrase: int, start: int) -> int:
    """Return where a predicate begins that ends in a phrase: at its adjective, if it has one."""
    adjective = phrase > start and _is_adjective(words[phrase - 1])
    return phrase - 1 if adjective else phrase


def _says_of(word: str) -> bool:
    return _is_adverb(word) or _is_participle(word) or _is_adjective(word)


def _is_adjective(word: str) -> bool:
    return word in _ADJECTIVES or bool(_ADJECTIVE.match(word))
