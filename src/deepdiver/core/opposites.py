"""Words that say the opposite of each other, in English.

The audit uses them to find a sentence that turns round what its quotes say. The list is of common
English words, by meaning; the prefixes that turn a word round (un-, dis-, non-) are a rule.
"""

from __future__ import annotations

import functools
import re

from deepdiver.core.text import stem, words

_AXES = """
rise rose risen raise increase grow grew grown growth climb surge soar jump expand expansion boost
    escalate swell mount upturn uptick upward up higher
  / fall fell fallen decline decrease drop shrink shrank shrunk shrinkage reduce reduction lower cut
    slump plunge plummet dip contract contraction diminish dwindle lessen slide sink tumble downturn
    downward down
more greater larger bigger higher exceed above over beyond surpass upwards
  / less fewer lower smaller below under beneath
high / low
large big huge great / small little tiny
long longer longest / short shorter shortest
tall / short
highest largest biggest greatest / lowest smallest
most / least fewest
maximum max / minimum min
majority / minority
many numerous / few
often frequently usually / rarely seldom hardly
frequent / rare infrequent
always / never
everyone everybody / nobody
everything / nothing
first / last
top / bottom
upper / lower
before prior earlier previously precede preceded ahead
  / after afterwards later following subsequently behind since
early earlier earliest / late later latest
sooner / later
old older oldest / new newer newest young younger youngest
past / future
previous preceding / next following
former / latter
begin began begun start commence launch open opening
  / end finish cease stop conclude terminate close closing closure
continue keep maintain retain preserve / stop discontinue abandon discard drop halt
open / close shut
accelerate hasten quicken speed faster / slow decelerate delay slower
fast quick rapid / slow gradual
advance / retreat postpone
win won victory / lose lost
gain gained / lose lost loss
profit profitable / loss unprofitable
surplus excess / deficit shortfall shortage
abundant plentiful plenty / scarce scarcity shortage
support supported back favour favor endorse advocate / oppose opposed resist object
supporter proponent advocate / opponent critic
approve approval accept acceptance adopt / reject rejection refuse refusal decline veto
agree agreement / disagree disagreement
allow permit enable let / prevent forbid forbade forbidden ban prohibit block bar
allowed permitted legal / forbidden prohibited banned illegal
confirm affirm admit / deny denied refute contradict
prove proven / disprove
true / false
right correct / wrong mistaken
praise laud commend / criticise criticize condemn blame
like love enjoy / dislike hate
encourage promote foster / discourage deter hinder impede
help assist / hinder harm hurt
benefit advantage strength / harm disadvantage drawback weakness
protect defend / attack threaten endanger
safe secure / dangerous unsafe risky hazardous
improve improvement enhance better best
  / worsen deteriorate deterioration degrade worse worst
good / bad poor
strengthen reinforce / weaken undermine erode
strong stronger strongest / weak weaker weakest
succeed success successful / fail failure unsuccessful
pass / fail
positive / negative
optimistic / pessimistic
favourable favorable / unfavourable unfavorable adverse
include inclusion including / exclude exclusion excluding except
add addition / remove removal subtract
insert / delete
attract / repel deter
join enter / leave left exit quit
arrive arrival / depart departure
inflow inbound / outflow outbound
import imported importer / export exported exporter
buy bought purchase acquire buyer purchaser / sell sold sale divest seller
hire recruit / fire dismiss
lend lent lender / borrow borrowed borrower
employer / employee
customer client / supplier vendor
landlord / tenant
plaintiff / defendant
upstream / downstream
supply / demand
income revenue / expense expenditure cost
asset / liability
credit / debit
encrypt / decrypt
upgrade promote / downgrade demote
upload / download
outperform / underperform lag
overestimate overstate / underestimate understate
overvalue / undervalue
cheap cheaper inexpensive affordable / expensive dear costly
rich wealthy / poor
easy easier easily simple / difficult hard harder complex complicated
narrow narrower / wide wider broad broader
narrow / widen broaden
shallow / deep
thick thicker / thin thinner
heavy heavier / light lighter
hot hotter warm / cold colder cool cooler
heat warm / cool
dry / wet humid
bright / dark dim
full / empty
near close / far distant
inside internal inner indoor within / outside external outer outdoor beyond
domestic / foreign
national / international
local / global remote
public / private
open / closed confidential
direct directly / indirect indirectly
active / passive inactive
permanent permanently / temporary temporarily interim
mandatory compulsory required obligatory / optional voluntary
formal / informal
major main primary / minor secondary
common / rare uncommon
strict stringent tight / lax loose lenient
tighten / loosen ease relax
centralise centralize centralised centralized
  / decentralise decentralize decentralised decentralized
manual manually / automatic automatically automated
together jointly collectively / separately individually alone
same identical equal equally alike similar / different differ unequal dissimilar
stable steady constant / volatile fluctuate unstable
present presence exist / absent absence lack missing
with / without
guilty convict / innocent acquit
male men man boy / female women woman girl
urban / rural
north northern / south southern
east eastern / west western
left / right
day daytime / night nighttime
morning / evening
summer / winter
weekday / weekend
minimise minimize / maximise maximize
ascend / descend
converge / diverge
unite merge combine / divide split separate
build built construct create / destroy demolish dismantle
reveal disclose expose / hide conceal
remember / forget forgot
trust / suspect doubt
certain sure / doubtful
transparent / opaque
theory theoretical / practice practical
exact exactly precise precisely / approximate approximately roughly about
online / offline
credit / blame
peak / trough
ceiling cap / floor
lead / trail lag
reward / penalise penalize punish penalty
inflate inflation / deflate deflation
appreciate appreciation / depreciate depreciation
overweight / underweight
simplify / complicate
attach / detach
lock / unlock
none no never nobody / few rarely seldom hardly scarcely / some sometimes occasionally occasional
  / several many often frequently numerous multiple frequent
  / most mostly usually typically generally
  / all every always everyone whole entire
may might could can potentially possibly perhaps / will would / must
plan planned propose proposed consider considered / complete completed implement implemented adopted
estimate estimated about around roughly approximately nearly almost / exactly precisely
suggest indicate imply / prove guarantee confirm
minor slight small mild / severe serious major huge
partly partially / fully entirely wholly completely
one single sole / several many multiple various
millisecond / second / minute / hour / day / week / month / quarter / year / decade / century
quarter / half
hourly / daily / weekly / monthly / quarterly / yearly annually annual
morning / afternoon / evening / night
spring / summer / autumn fall / winter
hundred / thousand / million / billion / trillion
kilowatt kw / megawatt mw / gigawatt gw
kilobyte kb / megabyte mb / gigabyte gb / terabyte tb
metre meter / kilometre kilometer km / mile / foot feet
gram / kilogram kg / tonne ton
dollar usd / euro eur / pound gbp / yen jpy
percent percentage / times
expose / protect shield
still / already / longer
reactive / proactive
"""
"""One line for each axis, its poles between slashes, the words of each from common to rare."""
_SIDES = words("buy lend import")
"""A word of each axis whose poles are the two sides of one event: what one buys, another sells."""
_PREFIXES = ("un", "in", "im", "il", "ir", "dis", "non-", "non", "de", "mis", "anti-", "anti")
_SHORTEST = 4
"""Letters of a word that a prefix may turn round: in-to is not the opposite of to."""
_NO_OPPOSITE = frozenset(
    words(
        "income indeed inform information informed instance instead institute institution intend "
        "intent intense interest internal international into invest investment involve insight "
        "increase include industry imply import important impress improve dispatch display "
        "dispose distract district distribute discover discuss discount disclose decline decrease "
        "deliver demand depart department deposit design detail determine develop device devote "
        "depend describe deserve desire until under union unit unite uniform universal united "
        "university misses mission mister impact impart implant imprint inset input install "
        "inspect instruct intake integral intern interval invert invoice inside invent impose "
        "debate debut decide defeat defend define degree delay deal dear dean invite inquire "
        "incline inhabit inhale inscribe inspire instill insure intrust inland inward index "
        "inflame infer illustrate irrigate infant infection infrastructure disease discipline "
        "dismiss dispute distance distant distinct distinguish misuse detract detain despite "
        "dense despatch decode derive deride derail depress depict depose decade december inflow"
    )
)
"""Words that only look like another one with a prefix."""


def _load() -> dict[str, frozenset[tuple[int, int]]]:
    """Return the poles of each stem: the number of the axis, and that of the pole."""
    found: dict[str, set[tuple[int, int]]] = {}
    for axis, line in enumerate(re.sub(r"\n +", " ", _AXES.strip()).splitlines()):
        for pole, listed in enumerate(line.split("/")):
            for word in words(listed):
                found.setdefault(stem(word), set()).add((axis, pole))
    return {word: frozenset(poles) for word, poles in found.items()}


_POLES = _load()
_EVENTS = {axis for word in _SIDES for axis, _ in _POLES[stem(word)]}


def poles(word: str) -> frozenset[tuple[int, int]]:
    """Return the poles on which a word stands, each with its axis; none for most words."""
    return _POLES.get(stem(word), frozenset())


@functools.lru_cache(maxsize=1 << 14)
def are_opposite(one: str, other: str) -> bool:
    """Return whether two words say the opposite of each other: rise and fell, legal and illegal."""
    if stem(one) == stem(other):
        return False
    mine, theirs = poles(one), poles(other)
    if mine & theirs:
        return False
    if {axis for axis, _ in mine} & {axis for axis, _ in theirs}:
        return True
    return _turned(one, other) or _turned(other, one)


def are_two_sides(one: str, other: str) -> bool:
    """Return whether two opposites are the two sides of one event: buy and sell.

    They contradict each other only where the same one does both.
    """
    axes = {axis for axis, _ in poles(one)} & {axis for axis, _ in poles(other)}
    return are_opposite(one, other) and bool(axes & _EVENTS)


def _turned(one: str, other: str) -> bool:
    """Whether a prefix or an ending makes one word of the other: unsafe, careless for careful."""
    if one.endswith("less") and other == f"{one.removesuffix('less')}ful":
        return True
    if one in _NO_OPPOSITE or stem(one) in _NO_OPPOSITE:
        return False
    return any(
        stem(rest) == stem(other)
        for prefix in _PREFIXES
        if one.startswith(prefix) and len(rest := one.removeprefix(prefix)) >= _SHORTEST
    )
