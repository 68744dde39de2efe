"""Walls: pages that stand before a page.

A login, a consent, a payment, a test for humans is nobody's content.

Every rule asks for little text besides: an article about captchas, paywalls or cookies has much,
and passes. What it quotes is not looked at.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

LOOKED_AT = 300_000
"""Characters of the HTML that are looked at: a wall is small."""
LITTLE = 1_500
"""Characters of text. Walls have 50 to 900; an article of less than 1,500 is rare, and needs a
second sign."""
HARDLY_ANY = 600
"""Characters of text where a sentence alone decides."""
NOTHING = 300
"""Characters of text that a shell without its script has at most."""

HEADERS = {
    "cf-mitigated": "a bot challenge (Cloudflare)",
    "x-amzn-waf-action": "a bot challenge (AWS WAF)",
}
"""Headers that are sent with a challenge alone."""
HEADERS_OF_A_REFUSAL = {
    "x-datadome": "a bot challenge (DataDome)",
    "x-dd-b": "a bot challenge (DataDome)",
    "x-kpsdk-ct": "a bot challenge (Kasada)",
    "x-sucuri-block": "a bot challenge (Sucuri)",
}
"""Headers that come with every page of a guarded site: they tell who refused, where one did."""
STATUSES = {
    401: "a login wall",
    402: "a paywall",
    407: "a login wall",
    451: "withheld for legal reasons",
    999: "a bot challenge (LinkedIn)",
}
MARKS = {
    "_cf_chl_opt": "a bot challenge (Cloudflare)",
    "cf-challenge-running": "a bot challenge (Cloudflare)",
    "cf-browser-verification": "a bot challenge (Cloudflare)",
    "cf-error-details": "a bot challenge (Cloudflare)",
    "captcha-delivery.com": "a bot challenge (DataDome)",
    "px-captcha": "a bot challenge (PerimeterX)",
    "sec-if-cpt-container": "a bot challenge (Akamai)",
    "errors.edgesuite.net": "a bot challenge (Akamai)",
    "_incapsula_resource": "a bot challenge (Imperva)",
    "distil_ident_block": "a bot challenge (Imperva)",
    "ddos-guard": "a bot challenge (DDoS-Guard)",
    "/_sec/cp_challenge": "a bot challenge (Akamai)",
    "awswafintegration": "a bot challenge (AWS WAF)",
    "sucuri_cloudproxy": "a bot challenge (Sucuri)",
    "kpsdk": "a bot challenge (Kasada)",
    "/cdn-cgi/challenge-platform/h/": "a bot challenge (Cloudflare)",
}
"""Stand in the HTML of challenges; some also on guarded pages, which have text."""
CAPTCHA = re.compile(
    r"h-captcha|hcaptcha\.com|g-recaptcha|recaptcha/api|cf-turnstile|funcaptcha|arkoselabs"
)
HUMAN = re.compile(r"\b(?:human|robot|bot|captcha|security check|unusual traffic|automated)\b")
CHALLENGE_TITLE = re.compile(
    r"just a moment\W*|attention required\W*|pardon our interruption\W*|robot check|(?:bloomberg - "
    r")?are you a robot\W*"
    r"|(?:human|bot|security) verification|verify(?:ing)? (?:that )?you(?:'re| are) (?:a )?human\W*"
    r"|security check\W*"
    r"|one more step\W*|checking your browser\W*|access denied|access to this page has been "
    r"denied\W*|request rejected"
    r"|please wait\W*|ddos-guard|client challenge|human check|einen moment\W*|un instant\W*|un "
    r"momento\W*"
)
CHALLENGE = re.compile(
    r"checking (?:your browser|if the site connection is secure)|verif(?:y|ying) (?:that )?you are "
    r"(?:a )?human"
    r"|enable javascript and cookies to continue|enable js and disable any ad ?blocker"
    r"|unusual traffic from your (?:computer )?network|press (?:&|and) hold|complete the security "
    r"check"
    r"|made us think (?:that )?you (?:were|are|might be) a (?:bot|robot)"
    r"|prove (?:that )?you(?:'re| are) (?:not a robot|human)"
    r"|automated access to \w+ data|you have been blocked|confirm (?:that )?you(?:'re| are) (?:not "
    r"a (?:ro)?bot|human)"
    r"|don't have permission to access|performing security verification|needs to review the "
    r"security of your connection"
    r"|i'm not a robot|detected unusual activity"
)
LOGIN_TITLE = re.compile(
    r"(?:please )?(?:log|sign)[ -]?(?:in|on)(?: (?:to|required|with|page|or (?:sign up"
    r"|register)).*)?|login(?: page)?"
    r"|anmelden|anmeldung|einloggen|connexion|se connecter|iniciar sesión|accedi|inloggen|logga in"
    r"|войти|ログイン|登录"
    r"|authentication required|member login|single sign-on"
)
LOGIN = re.compile(
    r"(?:please|you must|you need to|you have to) (?:log|sign) ?in"
    r"|(?:log|sign) ?in to (?:continue|view|read|access|see)"
    r"|this page (?:requires|is for) (?:a login|registered)|bitte (?:melden sie sich an|loggen sie "
    r"sich ein)"
    r"|forgot(?:ten)? (?:your )?password|you must be logged in|connectez-vous pour|join \w+ to "
    r"(?:see|view)"
)
PASSWORD = re.compile(r"type\s{0,5}=\s{0,5}[\"']?password", re.IGNORECASE)
BANNER = 200
"""Characters of a text that may be all of a banner; then its buttons are looked at too."""
CONSENT_HOST = re.compile(r"(?:consent|guce|privacy-mgmt|cmp)\.")
CONSENT = re.compile(
    r"before you continue|we (?:and our \S+ )?value your privacy|(?:accept|reject|agree to|allow) "
    r"all|we use cookies"
    r"|(?:cookie|privacy) (?:settings|preferences|choices)|manage (?:options|preferences|choices"
    r"|cookies|settings)"
    r"|our (?:\d+ )?partners|consent to|your (?:data|privacy) choices|store and/or access "
    r"information|accept cookies"
    r"|alle akzeptieren|alles ablehnen|wir verwenden cookies|datenschutzeinstellungen|tout "
    r"(?:accepter|refuser)"
    r"|nous utilisons des cookies|aceptar todo|utilizamos cookies|accetta tutt[oi]|utilizziamo "
    r"(?:i )?cookie"
    r"|with advertising|pur-abo|mit werbung|we care about your privacy|personalised ad"
)
PAY = re.compile(
    r"subscri(?:be|ption)(?: now| today)?(?: is required)? to (?:continue|read|keep|unlock|access"
    r"|view)"
    r"|(?:this|the) (?:article|content|story|post|page) is (?:exclusive to|reserved for|only for"
    r"|for|only available to)"
    r" (?:our )?(?:paid |paying |premium )?(?:subscribers|members)|(?:for )?(?:subscribers"
    r"|members)[ -]only"
    r"|(?:reached|used|hit) (?:your|the) (?:monthly |free |article )*(?:limit|articles)"
    r"|already a (?:subscriber|member)\?|free articles? (?:left|remaining)"
    r"|to (?:continue|keep) reading,? (?:this|please|subscribe|sign|log|create|register|you)"
    r"|create (?:a |an )?(?:free )?account to (?:continue|keep|read)|unlock (?:this|the full) "
    r"(?:article|story)"
    r"|réservé (?:aux|à nos) abonnés|suscríbete para|nur für abonnenten|weiterlesen mit|jetzt "
    r"weiterlesen"
    r"|start your (?:free )?trial|this post is for paid|riservato agli abbonati"
)
NOT_FREE = re.compile(r"\"isaccessibleforfree\"\s{0,5}:\s{0,5}\"?false")
SCRIPT = re.compile(
    r"(?:enable|activate|turn on|need|requires?|without) javascript"
    r"|javascript (?:is |to be )?(?:disabled|required|enabled|turned off|not enabled)"
    r"|activez? javascript|javascript (?:aktivieren|ist deaktiviert)|active javascript"
    r"|enable it to continue"
)
MOUNT = re.compile(
    r"id\s{0,5}=\s{0,5}[\"']?(?:root|app|__next|__nuxt|app-root|react-root|main-app)[\"'\s>]"
)
NOT_FOUND = re.compile(
    r"(?:error:? )?404(?:[ :.]+(?:error|(?:page |file )?not found|not found!))?(?: error)?"
    r"|(?:oops\W+)?(?:sorry\W+)?(?:the |this |that |your )?(?:requested )?"
    r"(?:page|file|document|article|url|content|resource)(?: you (?:requested|are looking for|were "
    r"looking for))?"
    r" (?:(?:was |could |can)?(?:not|n't|n’t)(?: be)? found|cannot be found|does(?: not|n't|n’t) "
    r"exist|no longer exists"
    r"|is (?:not available|no longer available|missing)|has been removed|isn't available)\W*"
    r"|not found|oops\W*|seite nicht gefunden\W*|page (?:introuvable|non trouvée)\W*|página no "
    r"encontrada\W*"
    r"|pagina non trovata\W*|pagina niet gevonden\W*|страница не найдена\W*|ページが見つかりません\W*|页面不存在\W*"
)
QUOTED = re.compile(r"[“\"«„‚‘][^“”\"«»„\n]{1,200}[”\"»“’]")
SKIPPED = frozenset({"script", "style", "template", "svg", "noscript", "textarea"})
NAME = re.compile(r"/?[a-z][a-z0-9]*")


@dataclass(frozen=True, slots=True)
class RawPage:
    """What can be seen of an answer without understanding it."""

    status: int
    """The HTTP status."""
    headers: Mapping[str, str]
    """By lower-case name."""
    host: str
    """Who answered."""
    html: str = ""
    """The beginning of the page, in lower case."""
    title: str = ""
    """What stands in its title."""
    text: str = ""
    """What a reader would see, roughly, in lower case."""

    @staticmethod
    def from_response(status: int, headers: Mapping[str, str], host: str, body: bytes) -> RawPage:
        """Look at an answer."""
        html = body[:LOOKED_AT].decode("utf-8", "replace").lower().replace("’", "'")
        title, text = _visible(html)
        return RawPage(status, headers, host, html, title, text)


def _visible(html: str) -> tuple[str, str]:
    """Return title and visible text, in one pass and whatever the HTML is."""
    found: list[str] = []
    title, skipping = "", ""
    for piece in html.split("<"):
        head, _, text = piece.partition(">")
        named = NAME.match(head)
        name = named[0] if named else ""
        if skipping:
            skipping = "" if name == f"/{skipping}" else skipping
            if skipping:
                continue
        elif name in SKIPPED:
            skipping = "" if head.endswith("/") else name
            continue
        if name == "title" and not title:
            title = text
        else:
            found.append(text if named or not found else piece)
    return _plain(title), _plain(" ".join(found))


def _plain(text: str) -> str:
    for entity, character in (
        ("&nbsp;", " "),
        ("&#39;", "'"),
        ("&amp;", "&"),
        ("&#x27;", "'"),
        ("&quot;", '"'),
    ):
        text = text.replace(entity, character)
    return " ".join(text.split())


def find_wall(sight: RawPage, text: str | None = None, title: str = "") -> str | None:
    """Return what stands before the page, or None where nothing does.

    Args:
        sight: What came back.
        text: What was taken out of it as the page's own; None: nothing could be, or nothing was
            tried.
        title: The title that was taken out of it.
    """
    for header, who in HEADERS.items():
        if header in sight.headers:
            return who
    if sight.status >= 400:
        for header, who in HEADERS_OF_A_REFUSAL.items():
            if header in sight.headers:
                return who
    if found := STATUSES.get(sight.status):
        return found
    body = "" if text is None else " ".join(text.lower().replace("’", "'").split())
    if len(body) >= LITTLE or (text is None and len(sight.text) >= 3 * LITTLE):
        return None
    seen = _SparsePage(
        sight,
        QUOTED.sub(" ", body),
        len(body) or (len(sight.text) if text is None else 0),
        title.lower(),
    )
    return (
        seen.challenge()
        or seen.login()
        or seen.consent()
        or seen.pay()
        or seen.script()
        or seen.not_found()
    )


class _SparsePage:
    """A page with little text, looked at for each kind of wall."""

    def __init__(self, sight: RawPage, body: str, length: int, title: str) -> None:
        self.sight, self.body, self.length = sight, body, length
        self.titles = {part for whole in (sight.title, title) for part in _parts(whole)}
        # All that a reader sees counts only where there is not much of it: else it is menus around
        # a short page.
        self.all = f"{body} {QUOTED.sub(' ', sight.text)}" if len(sight.text) < LITTLE else body

    def _titled(self, pattern: re.Pattern[str]) -> bool:
        return any(pattern.fullmatch(part) for part in self.titles)

    def challenge(self) -> str | None:
        """A test for humans, or a refusal of robots."""
        html, short = self.sight.html, len(self.sight.text) < LITTLE
        most = NOTHING if self.sight.status == 200 else HARDLY_ANY
        for mark, who in MARKS.items():
            if mark in html and short and self.length < most:
                return who
        if CAPTCHA.search(html) and HUMAN.search(self.all) and self.length < HARDLY_ANY and short:
            return "a bot challenge (captcha)"
        if self._titled(CHALLENGE_TITLE) and (
            self.length < HARDLY_ANY or CHALLENGE.search(self.all)
        ):
            return "a bot challenge"
        return (
            "a bot challenge"
            if self.length < HARDLY_ANY and short and CHALLENGE.search(self.all)
            else None
        )

    def login(self) -> str | None:
        """A form that wants to know who reads."""
        said = LOGIN.search(
            self.body or self.sight.text
        )  # in a page's own words: many have a login above them
        asks = bool(PASSWORD.search(self.sight.html)) + self._titled(LOGIN_TITLE) + bool(said)
        return "a login wall" if asks >= 2 and self.length < HARDLY_ANY else None

    def consent(self) -> str | None:
        """A question about cookies, and nothing behind it."""
        if CONSENT_HOST.match(self.sight.host):
            return "a consent wall"
        told = (
            self.body if self.length > BANNER else f"{self.body}\n{self.sight.text}"
        )  # its buttons are no text
        said = len(set(CONSENT.findall(told)))
        return "a consent wall" if said >= 2 and said * 300 > self.length else None

    def pay(self) -> str | None:
        """The beginning of an article that has to be paid for."""
        asks = PAY.search(self.all)
        return (
            "a paywall"
            if asks and (NOT_FREE.search(self.sight.html) or len(self.body) < LITTLE // 2)
            else None
        )

    def script(self) -> str | None:
        """A shell that a script would fill."""
        html = self.sight.html
        if self.length >= NOTHING or len(self.sight.text) >= NOTHING or "<script" not in html:
            return None
        noscript = html.partition("<noscript")[2][:2_000] + self.sight.text
        empty = MOUNT.search(html) and len(self.sight.text) < 50
        return "nothing without JavaScript" if SCRIPT.search(noscript) or empty else None

    def not_found(self) -> str | None:
        """A page that says with status 200 that there is none."""
        gone = (
            self._titled(NOT_FOUND)
            and len(self.sight.text) < 2 * LITTLE
            and self.length < LITTLE // 2
        )
        return "a page that says that there is none" if gone else None


def _parts(title: str) -> list[str]:
    """Return a title and what stands in it before and behind the site's name."""
    return [
        part.strip()
        for part in [title, *re.split(r"\s[|–—·:»-]\s|\s?\|\s?", title)]
        if part.strip()
    ]
