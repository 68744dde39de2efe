"""Walls: pages in front of a page, such as a login, a consent, a paywall or a bot challenge.

Every rule requires that there is little other text, so an article about captchas, paywalls or
cookies passes. Quotations are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

LOOKED_AT = 300_000
"""Characters of the HTML that are examined: a wall is small."""
LITTLE = 1_500
"""Characters of text. Walls have 50 to 900; an article of less than 1,500 is rare, and is taken for
a wall only with a second sign."""
HARDLY_ANY = 600
"""Characters of text below which a single sentence decides."""
NOTHING = 300
"""The most characters of text on a page that needs JavaScript."""

HEADERS = {
    "cf-mitigated": "a bot challenge (Cloudflare)",
    "x-amzn-waf-action": "a bot challenge (AWS WAF)",
}
"""Headers that are sent only with a challenge."""
HEADERS_OF_A_REFUSAL = {
    "x-datadome": "a bot challenge (DataDome)",
    "x-dd-b": "a bot challenge (DataDome)",
    "x-kpsdk-ct": "a bot challenge (Kasada)",
    "x-sucuri-block": "a bot challenge (Sucuri)",
}
"""Headers that come with every page of a protected site: after a refusal, they say who refused."""
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
"""Strings in the HTML of challenges. Some are also on protected pages, which have text."""
CAPTCHA = re.compile(
    r"h-captcha|hcaptcha\.com|g-recaptcha|recaptcha/api|cf-turnstile|funcaptcha|arkoselabs"
)
HUMAN = re.compile(r"\b(?:human|robot|bot|captcha|security check|unusual traffic|automated)\b")
CHALLENGE_TITLE = re.compile(
    r"just a moment\W*|attention required\W*|pardon our interruption\W*|robot check"
    r"|(?:bloomberg - )?are you a robot\W*|(?:human|bot|security) verification"
    r"|verify(?:ing)? (?:that )?you(?:'re| are) (?:a )?human\W*|security check\W*|one more step\W*"
    r"|checking your browser\W*|access denied|access to this page has been denied\W*"
    r"|request rejected|please wait\W*|ddos-guard|client challenge|human check|einen moment\W*"
    r"|un instant\W*|un momento\W*"
)
CHALLENGE = re.compile(
    r"checking (?:your browser|if the site connection is secure)"
    r"|verif(?:y|ying) (?:that )?you are (?:a )?human|enable javascript and cookies to continue"
    r"|enable js and disable any ad ?blocker|unusual traffic from your (?:computer )?network"
    r"|press (?:&|and) hold|complete the security check"
    r"|made us think (?:that )?you (?:were|are|might be) a (?:bot|robot)"
    r"|prove (?:that )?you(?:'re| are) (?:not a robot|human)|automated access to \w+ data"
    r"|you have been blocked|confirm (?:that )?you(?:'re| are) (?:not a (?:ro)?bot|human)"
    r"|don't have permission to access|performing security verification"
    r"|needs to review the security of your connection|i'm not a robot|detected unusual activity"
)
LOGIN_TITLE = re.compile(
    r"(?:please )?(?:log|sign)[ -]?(?:in|on)"
    r"(?: (?:to|required|with|page|or (?:sign up|register)).*)?|login(?: page)?|anmelden"
    r"|anmeldung|einloggen|connexion|se connecter|iniciar sesión|accedi|inloggen|logga in|войти"
    r"|ログイン|登录|authentication required|member login|single sign-on"
)
LOGIN = re.compile(
    r"(?:please|you must|you need to|you have to) (?:log|sign) ?in"
    r"|(?:log|sign) ?in to (?:continue|view|read|access|see)"
    r"|this page (?:requires|is for) (?:a login|registered)"
    r"|bitte (?:melden sie sich an|loggen sie sich ein)|forgot(?:ten)? (?:your )?password"
    r"|you must be logged in|connectez-vous pour|join \w+ to (?:see|view)"
)
PASSWORD = re.compile(r"type\s{0,5}=\s{0,5}[\"']?password", re.IGNORECASE)
BANNER = 200
"""Characters of a text that may be only a banner; then its buttons are examined as well."""
CONSENT_HOST = re.compile(r"(?:consent|guce|privacy-mgmt|cmp)\.")
CONSENT = re.compile(
    r"before you continue|we (?:and our \S+ )?value your privacy"
    r"|(?:accept|reject|agree to|allow) all|we use cookies"
    r"|(?:cookie|privacy) (?:settings|preferences|choices)"
    r"|manage (?:options|preferences|choices|cookies|settings)|our (?:\d+ )?partners|consent to"
    r"|your (?:data|privacy) choices|store and/or access information|accept cookies"
    r"|alle akzeptieren|alles ablehnen|wir verwenden cookies|datenschutzeinstellungen"
    r"|tout (?:accepter|refuser)|nous utilisons des cookies|aceptar todo|utilizamos cookies"
    r"|accetta tutt[oi]|utilizziamo (?:i )?cookie|with advertising|pur-abo|mit werbung"
    r"|we care about your privacy|personalised ad"
)
PAY = re.compile(
    r"subscri(?:be|ption)(?: now| today)?(?: is required)? to "
    r"(?:continue|read|keep|unlock|access|view)"
    r"|(?:this|the) (?:article|content|story|post|page) is "
    r"(?:exclusive to|reserved for|only for|for|only available to) "
    r"(?:our )?(?:paid |paying |premium )?(?:subscribers|members)"
    r"|(?:for )?(?:subscribers|members)[ -]only"
    r"|(?:reached|used|hit) (?:your|the) (?:monthly |free |article )*(?:limit|articles)"
    r"|already a (?:subscriber|member)\?|free articles? (?:left|remaining)"
    r"|to (?:continue|keep) reading,? (?:this|please|subscribe|sign|log|create|register|you)"
    r"|create (?:a |an )?(?:free )?account to (?:continue|keep|read)"
    r"|unlock (?:this|the full) (?:article|story)|réservé (?:aux|à nos) abonnés|suscríbete para"
    r"|nur für abonnenten|weiterlesen mit|jetzt weiterlesen|start your (?:free )?trial"
    r"|this post is for paid|riservato agli abbonati"
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
    r"(?:page|file|document|article|url|content|resource)"
    r"(?: you (?:requested|are looking for|were looking for))? "
    r"(?:(?:was |could |can)?(?:not|n't|n’t)(?: be)? found|cannot be found"
    r"|does(?: not|n't|n’t) exist|no longer exists"
    r"|is (?:not available|no longer available|missing)|has been removed|isn't available)\W*"
    r"|not found|oops\W*|seite nicht gefunden\W*"
    r"|page (?:introuvable|non trouvée)\W*|página no encontrada\W*|pagina non trovata\W*"
    r"|pagina niet gevonden\W*|страница не найдена\W*|ページが見つかりません\W*|页面不存在\W*"
)
QUOTED = re.compile(r"[“\"«„‚‘][^“”\"«»„\n]{1,200}[”\"»“’]")
SKIPPED = frozenset({"script", "style", "template", "svg", "noscript", "textarea"})
NAME = re.compile(r"/?[a-z][a-z0-9]*")


@dataclass(frozen=True, slots=True)
class RawPage:
    """A response before extraction: its status, headers, HTML, title and visible text."""

    status: int
    """The HTTP status."""
    headers: Mapping[str, str]
    """By lower-case name."""
    host: str
    """The host that responded."""
    html: str = ""
    """The beginning of the page, in lower case."""
    title: str = ""
    """Its title."""
    text: str = ""
    """Roughly the visible text, in lower case."""

    @staticmethod
    def from_response(status: int, headers: Mapping[str, str], host: str, body: bytes) -> RawPage:
        """Return the raw page of a response."""
        html = body[:LOOKED_AT].decode("utf-8", "replace").lower().replace("’", "'")
        title, text = _visible(html)
        return RawPage(status, headers, host, html, title, text)


def _visible(html: str) -> tuple[str, str]:
    """Return the title and the visible text of any HTML, in one pass."""
    found: list[str] = []
    title = ""
    for name, text, piece in _shown_tags(html):
        if name == "title" and not title:
            title = text
        else:
            found.append(text if name or not found else piece)
    return _plain(title), _plain(" ".join(found))


def _shown_tags(html: str) -> Iterator[tuple[str, str, str]]:
    """Yield each tag outside skipped elements: its name, the text after it, and both together."""
    skipping = ""
    for piece in html.split("<"):
        head, _, text = piece.partition(">")
        named = NAME.match(head)
        name = named[0] if named else ""
        if skipping and name != f"/{skipping}":
            continue
        if not skipping and name in SKIPPED:
            skipping = "" if head.endswith("/") else name
            continue
        skipping = ""
        yield name, text, piece


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


def find_wall(page: RawPage, text: str | None = None, title: str = "") -> str | None:
    """Return the wall in front of a page; None if there is none.

    Args:
        page: The response.
        text: The text that was extracted from it; None if extraction failed or was not tried.
        title: The title that was extracted from it.
    """
    if found := _wall_by_head(page):
        return found
    body = "" if text is None else " ".join(text.lower().replace("’", "'").split())
    if len(body) >= LITTLE or (text is None and len(page.text) >= 3 * LITTLE):
        return None
    length = len(body) or (len(page.text) if text is None else 0)
    sparse = _SparsePage(page, QUOTED.sub(" ", body), length, title.lower())
    return (
        sparse.challenge()
        or sparse.login()
        or sparse.consent()
        or sparse.pay()
        or sparse.script()
        or sparse.not_found()
    )


def _wall_by_head(page: RawPage) -> str | None:
    """Return the wall that the headers or the status of a page reveal."""
    known = {**HEADERS, **HEADERS_OF_A_REFUSAL} if page.status >= 400 else HEADERS
    found = (who for header, who in known.items() if header in page.headers)
    return next(found, None) or STATUSES.get(page.status)


class _SparsePage:
    """A page with little text, which is checked for each kind of wall."""

    def __init__(self, page: RawPage, body: str, length: int, title: str) -> None:
        self.page, self.body, self.length = page, body, length
        self.titles = {part for whole in (page.title, title) for part in _parts(whole)}
        # All that a reader sees counts only where there is not much of it: else it is menus around
        # a short page.
        self.all = f"{body} {QUOTED.sub(' ', page.text)}" if len(page.text) < LITTLE else body

    def _titled(self, pattern: re.Pattern[str]) -> bool:
        return any(pattern.fullmatch(part) for part in self.titles)

    def challenge(self) -> str | None:
        """A bot challenge, or a refusal of robots."""
        html, short = self.page.html, len(self.page.text) < LITTLE
        most = NOTHING if self.page.status == 200 else HARDLY_ANY
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
        """A login form."""
        # In a page's own words: many have a login above them.
        said = LOGIN.search(self.body or self.page.text)
        asks = bool(PASSWORD.search(self.page.html)) + self._titled(LOGIN_TITLE) + bool(said)
        return "a login wall" if asks >= 2 and self.length < HARDLY_ANY else None

    def consent(self) -> str | None:
        """A question about cookies without content."""
        if CONSENT_HOST.match(self.page.host):
            return "a consent wall"
        # Its buttons are no text.
        told = self.body if self.length > BANNER else f"{self.body}\n{self.page.text}"
        said = len(set(CONSENT.findall(told)))
        return "a consent wall" if said >= 2 and said * 300 > self.length else None

    def pay(self) -> str | None:
        """The beginning of an article that must be paid for."""
        asks = PAY.search(self.all)
        return (
            "a paywall"
            if asks and (NOT_FREE.search(self.page.html) or len(self.body) < LITTLE // 2)
            else None
        )

    def script(self) -> str | None:
        """An empty page that a script would fill."""
        html = self.page.html
        if self.length >= NOTHING or len(self.page.text) >= NOTHING or "<script" not in html:
            return None
        noscript = html.partition("<noscript")[2][:2_000] + self.page.text
        empty = MOUNT.search(html) and len(self.page.text) < 50
        return "nothing without JavaScript" if SCRIPT.search(noscript) or empty else None

    def not_found(self) -> str | None:
        """A page with status 200 that says that it does not exist."""
        gone = (
            self._titled(NOT_FOUND)
            and len(self.page.text) < 2 * LITTLE
            and self.length < LITTLE // 2
        )
        return "a page that says that there is none" if gone else None


def _parts(title: str) -> list[str]:
    """Return a title, and its parts before and after the name of the site."""
    return [
        part.strip()
        for part in [title, *re.split(r"\s[|–—·:»-]\s|\s?\|\s?", title)]
        if part.strip()
    ]
