"""Walls are recognised, and what merely speaks of them passes."""

from __future__ import annotations

import pytest

from deepdiver.errors import UnreadableError
from deepdiver.tools.extract import Extractor
from deepdiver.tools.extract.workers.pool import shared_extractor
from deepdiver.tools.fetch.access_walls import LOOKED_AT, RawPage, find_wall
from tests.patience import in_proportion
from tests.tools.fetch.rig import STORY, html

SHELL = "<html><head><title>{title}</title>{head}</head><body>{body}</body></html>"


def page(body: str, title: str = "", head: str = "") -> str:
    return SHELL.format(title=title, head=head, body=body)


FILL = " ".join(
    f"Paragraph {n} says how the matter went on, who was there, and what came of it in the end."
    for n in range(40)
)

# name: (status, headers, host, html, what it is)
WALLS: dict[str, tuple[int, dict[str, str], str, str, str]] = {
    "cloudflare by header": (
        403,
        {"cf-mitigated": "challenge"},
        "a.example",
        "",
        "bot challenge (Cloudflare)",
    ),
    "cloudflare, old": (
        503,
        {"server": "cloudflare"},
        "a.example",
        page(
            "<h1>Checking your browser before accessing a.example.</h1><div "
            "class='cf-browser-verification'>",
            "Just a moment...",
        ),
        "Cloudflare",
    ),
    "cloudflare, new": (
        403,
        {"server": "cloudflare"},
        "a.example",
        page(
            "<noscript>Enable JavaScript and cookies to "
            "continue</noscript><script>window._cf_chl_opt={cvId:'3'}</script>",
            "Just a moment...",
        ),
        "Cloudflare",
    ),
    "cloudflare, blocked": (
        403,
        {},
        "a.example",
        page(
            "<h1>Sorry, you have been blocked</h1><p>You are unable to access a.example</p>"
            + "<p>Why have I been blocked? This website is using a security service.</p>",
            "Attention Required! | Cloudflare",
        ),
        "bot challenge",
    ),
    "cloudflare with 200": (
        200,
        {},
        "a.example",
        page(
            "<h1>a.example</h1><p>Verify you are human by completing the action "
            "below.</p><p>a.example needs to review the security of your connection before "
            "proceeding.</p>",
            "Just a moment...",
        ),
        "bot challenge",
    ),
    "datadome by header": (
        403,
        {"x-datadome": "protected"},
        "a.example",
        page("<p>no"),
        "DataDome",
    ),
    "datadome": (
        403,
        {},
        "a.example",
        page(
            "<p id='cmsg'>Please enable JS and disable any ad blocker</p><script "
            "src='https://ct.captcha-delivery.com/c.js'></script>",
            "a.example",
        ),
        "DataDome",
    ),
    "perimeterx": (
        403,
        {},
        "a.example",
        page(
            "<div id='px-captcha'></div><p>Press & Hold to confirm you are a human (and not a "
            "bot).</p>",
            "Access to this page has been denied",
        ),
        "PerimeterX",
    ),
    "akamai": (
        403,
        {"server": "AkamaiGHost"},
        "a.example",
        page(
            '<h1>Access Denied</h1>You don\'t have permission to access "http://a.example/" on '
            "this "
            "server.<p>Reference #18.2 https://errors.edgesuite.net/18.2",
            "Access Denied",
        ),
        "Akamai",
    ),
    "akamai with 200": (
        200,
        {},
        "a.example",
        page("<div id='sec-if-cpt-container'></div><script src='/x.js'></script>"),
        "Akamai",
    ),
    "imperva": (
        200,
        {},
        "a.example",
        page(
            "<iframe src='/_Incapsula_Resource?CWUDNSAI=9'></iframe>Request unsuccessful. "
            "Incapsula incident ID: 1"
        ),
        "Imperva",
    ),
    "distil": (
        200,
        {},
        "a.example",
        page(
            "<h1>Pardon Our Interruption</h1><p>As you were browsing something about your browser "
            "made us think you were a bot.</p>",
            "Pardon Our Interruption",
        ),
        "bot challenge",
    ),
    "aws waf": (202, {"x-amzn-waf-action": "challenge"}, "a.example", "", "AWS WAF"),
    "kasada": (429, {"x-kpsdk-ct": "1"}, "a.example", "", "Kasada"),
    "hcaptcha": (
        200,
        {},
        "a.example",
        page(
            "<p>Please confirm that you are human.</p><div class='h-captcha' "
            "data-sitekey='x'></div>",
            "a.example",
        ),
        "captcha",
    ),
    "recaptcha": (
        429,
        {},
        "www.google.com",
        page(
            "<div class='g-recaptcha'></div><p>Our systems have detected unusual traffic from your "
            "computer network.</p>"
        ),
        "captcha",
    ),
    "turnstile": (
        403,
        {},
        "a.example",
        page("<p>Security check: are you a robot?</p><div class='cf-turnstile'></div>"),
        "captcha",
    ),
    "amazon": (
        503,
        {},
        "www.amazon.com",
        page("<p>To discuss automated access to Amazon data please contact us.</p>", "Robot Check"),
        "bot challenge",
    ),
    "bloomberg": (
        403,
        {},
        "www.bloomberg.com",
        page(
            "<h2>We've detected unusual activity from your computer network</h2>",
            "Bloomberg - Are you a robot?",
        ),
        "bot challenge",
    ),
    "ddos-guard": (
        403,
        {},
        "a.example",
        page("<script src='/.well-known/ddos-guard/js'></script>", "DDOS-GUARD"),
        "DDoS-Guard",
    ),
    "linkedin": (999, {}, "www.linkedin.com", "", "LinkedIn"),
    "login by status": (401, {}, "a.example", "", "login wall"),
    "login": (
        200,
        {},
        "a.example",
        page(
            "<form><label>E-mail</label><input name=u><label>Password</label><input "
            "type='password'><a>Forgot your password?</a></form>",
            "Sign in | Example",
        ),
        "login wall",
    ),
    "login, german": (
        200,
        {},
        "a.example",
        page("<p>Bitte melden Sie sich an</p><input type=password>", "Anmelden - Beispiel"),
        "login wall",
    ),
    "login by a sentence": (
        200,
        {},
        "a.example",
        page("<p>You must be logged in to view this.</p>", "Log in"),
        "login wall",
    ),
    "single sign-on": (
        200,
        {},
        "sso.example",
        page('<input type = "password"><p>Sign in to continue', "Login"),
        "login wall",
    ),
    "consent by host": (
        200,
        {},
        "consent.yahoo.com",
        page("<p>Yahoo is part of a family of brands"),
        "consent wall",
    ),
    "consent of google": (
        200,
        {},
        "www.google.com",
        page(
            "<h1>Before you continue to Google</h1><p>We use cookies and data to deliver "
            "services</p><button>Reject all</button><button>Accept all</button>",
            "Before you continue",
        ),
        "consent wall",
    ),
    "consent, german": (
        200,
        {},
        "zeitung.example",
        page(
            "<h2>Mit Werbung weiterlesen</h2><p>Wir verwenden Cookies. Zustimmung jederzeit "
            "widerrufbar.</p><button>Alle akzeptieren</button>",
            "Zustimmung",
        ),
        "consent wall",
    ),
    "consent, french": (
        200,
        {},
        "journal.example",
        page(
            "<p>Nous utilisons des cookies pour le contenu.</p><button>Tout "
            "accepter</button><button>Tout refuser</button>"
        ),
        "consent wall",
    ),
    "paywall by status": (402, {}, "a.example", "", "paywall"),
    "paywall": (
        200,
        {},
        "times.example",
        page(
            "<article><h1>The mayor resigns</h1><p>The mayor of Holm said on Monday that she would "
            "go.</p>"
            "<p>Subscribe to continue reading. Already a subscriber? Log in.</p></article>",
            "The mayor resigns",
        ),
        "paywall",
    ),
    "paywall with a teaser": (
        200,
        {},
        "times.example",
        page(
            f"<article><h1>The mayor resigns</h1><p>{STORY[:480]}</p><p>{STORY[100:480]}</p>"
            "<p>This article is for subscribers. Subscribe now to read the rest of "
            "it.</p></article>",
            "The mayor resigns",
            '<script type="application/ld+json">{"isAccessibleForFree": false}</script>',
        ),
        "paywall",
    ),
    "limit of free articles": (
        200,
        {},
        "times.example",
        page(
            "<p>You have reached your monthly limit of free articles. Create a free account to "
            "continue.</p>"
        ),
        "paywall",
    ),
    "script": (
        200,
        {},
        "app.example",
        page(
            "<noscript>You need to enable JavaScript to run this app.</noscript><div "
            "id='root'></div><script src='/m.js'></script>",
            "App",
        ),
        "JavaScript",
    ),
    "script, mute": (
        200,
        {},
        "app.example",
        page('<div id="__next"></div><script>1</script>', "App"),
        "JavaScript",
    ),
    "script, in words": (
        200,
        {},
        "app.example",
        page("<p>JavaScript is disabled in your browser.</p><script>1</script>", "App"),
        "JavaScript",
    ),
    "not found": (
        200,
        {},
        "a.example",
        page("<h1>404</h1><p>Nothing here.</p>", "404 Not Found"),
        "there is none",
    ),
    "not found, by name": (
        200,
        {},
        "a.example",
        page(
            "<p>The page you are looking for has moved or never was.</p>",
            "Page not found | Example",
        ),
        "there is none",
    ),
    "not found, german": (
        200,
        {},
        "a.example",
        page("<p>Leider.</p>", "Seite nicht gefunden – Beispiel"),
        "there is none",
    ),
    "not found, politely": (
        200,
        {},
        "a.example",
        page("<p>Try the search.</p>", "Sorry, this page isn't available"),
        "there is none",
    ),
    "legal": (451, {}, "a.example", "", "legal"),
}

READER = "type='password'"
GOOD: dict[str, str] = {
    "an article about captchas": html(
        "A captcha asks you to verify you are human. “Checking your browser before accessing” is "
        "what Cloudflare writes, "
        "and “Press & Hold” is what PerimeterX writes. Researchers at the university of Lund have "
        "measured how long "
        f"people need for them.\n{FILL}",
        "Are you a robot? How captchas changed the web",
    ),
    "a short piece about captchas": html(
        "The bank of Holm has taken the captcha off its pages. Customers had been asked to “verify "
        "you are human” up to "
        "nine times a day, and the complaints filled two folders. The director says that a simple "
        "limit on tries does "
        "the same work, and that nobody has missed the pictures of traffic lights. Other banks of "
        "the region have said "
        "that they will look at the numbers in the spring and decide then what they do with "
        "theirs, she adds, and the "
        "union of the blind has thanked the bank in an open letter that was printed on Saturday in "
        "the local paper.",
        "A bank without captchas",
    ),
    "an article about paywalls": html(
        "“Subscribe to continue reading” is the sentence that readers hate most. Publishers say "
        "that "
        f"it works.\n{FILL}",
        "Why paywalls work",
    ),
    "an article about cookie walls": html(
        "The court found that a button “Accept all” without “Reject all” breaks the law. We use "
        f"cookies, the site had written.\n{FILL}",
        "Court forbids cookie walls",
    ),
    "a short article under a cookie banner": html(STORY, "The dairy of Holm").replace(
        "</body>",
        "<div class='banner'>We use cookies. <button>Accept all</button><button>Reject "
        "all</button> "
        "Cookie settings</div></body>",
    ),
    "a short article with a login in its head": html(STORY, "The dairy of Holm").replace(
        "<body>", f"<body><form>Log in <input name=u><input {READER}>Forgot your password?</form>"
    ),
    "an article behind Cloudflare": html(STORY + "\n" + FILL, "The dairy").replace(
        "</body>",
        "<script src='/cdn-cgi/challenge-platform/h/b/scripts/jsd/main.js'></script></body>",
    ),
    "an article behind Imperva": html(STORY, "The dairy").replace(
        "</body>", "<script src='/_Incapsula_Resource?SWJIYLWA=5'></script></body>"
    ),
    "a page with a captcha in its form": html(STORY, "Contact the dairy").replace(
        "</article>", "<form><textarea></textarea><div class='g-recaptcha'></div></form></article>"
    ),
    "a page that asks for scripts in vain": html(STORY, "The dairy").replace(
        "<body>",
        "<body><noscript>Please enable JavaScript for the map.</noscript><script>1</script>",
    ),
    "an article about error pages": html(
        f"The status 404 means that a page could not be found. It was defined in 1992.\n{FILL}",
        "404: the history of an error",
    ),
    "404 Media": html(STORY, "404 Media raises money for its reporters"),
    "a plane that was not found": html(STORY, "The plane was not found, searchers say"),
    "nothing was found in the lake": html(STORY, "Not found: the lost bell of Holm"),
    "an article about logging in": html(
        "To sign in to the tax office you need a card and a reader. Please log in before noon, the "
        f"office says.\n{FILL}",
        "How to sign in to the tax office",
    ),
    "a manual for a login page": html(
        "Set the type of the field to password. If you forgot your password, ask the "
        f"clerk.\n{FILL}",
        "Login",
    ),
    "a report on a data protection office": html(
        "Our 412 partners, the firm wrote, store and/or access information on a device. We value "
        f"your privacy.\n{FILL}",
        "What consent means",
    ),
    "a free article that says so": html(
        STORY + "\nThis article is free to read. Support our work if you can.",
        "The dairy",
        '<script type="application/ld+json">{"isAccessibleForFree": true}</script>',
    ),
    "a short notice": html(
        "The library is closed on Monday. On Tuesday it opens at ten, and there is coffee for "
        "everybody who helps to carry books.",
        "Notice",
    ),
    "a short definition": html(
        "A moment is a very short time. In physics it is a product of a distance and another "
        "quantity.",
        "Moment",
    ),
    "just a moment, an essay": html(
        f"There is a moment before the curtain rises.\n{FILL}", "Just a moment"
    ),
    "access denied, a report": html(f"The town had to open its files.\n{FILL}", "Access denied"),
    "a text in Japanese": html(
        "東京の図書館は月曜日に休館します。火曜日は午前十時に開館し、本を運ぶのを手伝う人にはコーヒーが出ます。"
        * 4,
        "お知らせ",
    ),
    "a text in Arabic": html(
        "تغلق المكتبة أبوابها يوم الاثنين وتفتح يوم الثلاثاء في الساعة العاشرة صباحا. " * 4, "إعلان"
    ),
    "a subscription to cheese": html(
        f"You can subscribe to a box of cheese. Members only pay for the post.\n{STORY}\n{STORY}",
        "The box of the month",
    ),
    "a page about robots": html(
        f"The robot of Lund carries trays. An automated arm washes them. {STORY}",
        "Robots in the kitchen",
    ),
    "a page that blocks nobody": html(
        f"{STORY}\nThe road is closed: drivers who have been blocked may turn in the yard.", "Roads"
    ),
}


@pytest.fixture(scope="module")
def extractor() -> Extractor:
    return shared_extractor()


def judged(
    extractor: Extractor, status: int, headers: dict[str, str], host: str, body: str
) -> str | None:
    """Judge as `pages` does."""
    sight = RawPage.from_response(status, headers, host, body.encode())
    if status != 200:
        return find_wall(sight)
    try:
        document = extractor.extract(
            body.encode(), mime="text/html; charset=utf-8", url=f"http://{host}/"
        )
    except UnreadableError:
        return find_wall(sight)
    return find_wall(sight, document.text, document.title)


@pytest.mark.parametrize("name", WALLS)
def test_walls_are_recognised(extractor: Extractor, name: str) -> None:
    status, headers, host, body, what = WALLS[name]
    assert what in (judged(extractor, status, headers, host, body) or "nothing")


@pytest.mark.parametrize("name", GOOD)
def test_good_pages_pass(extractor: Extractor, name: str) -> None:
    assert judged(extractor, 200, {}, "a.example", GOOD[name]) is None


def test_there_are_enough_of_both() -> None:
    assert len(GOOD) >= 20
    assert len(WALLS) >= 40


def test_headers_of_a_guarded_site_do_not_make_a_wall() -> None:
    for header in ("x-datadome", "x-kpsdk-ct"):
        assert (
            find_wall(
                RawPage.from_response(200, {header: "x"}, "a.example", html(STORY).encode()),
                STORY,
                "The dairy",
            )
            is None
        )


def test_a_refusal_that_says_nothing_is_no_wall() -> None:
    for status in (400, 403, 404, 500, 503):
        assert (
            find_wall(
                RawPage.from_response(status, {}, "a.example", b"<p>Something went wrong.</p>")
            )
            is None
        )


@pytest.mark.parametrize(
    "body",
    [
        "<script" * 100_000,
        "<" * LOOKED_AT,
        ">" * LOOKED_AT,
        "<title>" * 50_000,
        "<noscript>" * 30_000,
        '"' * LOOKED_AT,
        "“" * (LOOKED_AT // 3),
        'type="' + " " * LOOKED_AT,
        "subscribe to " * 20_000,
        "we and our " * 20_000,
        "id =" * 60_000,
        "\x00" * LOOKED_AT,
        "<!--" * 60_000,
    ],
    ids=lambda body: body[:8].encode("ascii", "backslashreplace").decode(),
)
def test_looking_takes_little_time_whatever_the_page_is(body: str) -> None:
    with in_proportion():
        sight = RawPage.from_response(200, {}, "a.example", body.encode())
        find_wall(sight)
        find_wall(sight, body[:2_000], body[:200])


def test_bytes_that_are_no_text() -> None:
    assert (
        find_wall(RawPage.from_response(200, {}, "a.example", bytes(range(256)) * 10), "") is None
    )
