"""Languages as services name them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Language:
    """One language."""

    code: str
    """Two letters, ISO 639-1, as in settings and hits."""
    name: str
    """The English name in lower case, as in GDELT."""
    marc: str
    """Three letters of the MARC list, as in PubMed."""


LANGUAGES = {
    code: Language(code, name, marc)
    for code, name, marc in (
        row.split()
        for row in (
            "af afrikaans afr/ar arabic ara/az azerbaijani aze/bg bulgarian bul/bn bengali ben/"
            "bs bosnian bos/ca catalan cat/cs czech cze/da danish dan/de german ger/el greek gre/"
            "en english eng/es spanish spa/et estonian est/fa persian per/fi finnish fin/"
            "fr french fre/gl galician glg/gu gujarati guj/he hebrew heb/hi hindi hin/"
            "hr croatian hrv/hu hungarian hun/hy armenian arm/id indonesian ind/is icelandic ice/"
            "it italian ita/ja japanese jpn/ka georgian geo/kk kazakh kaz/kn kannada kan/"
            "ko korean kor/lt lithuanian lit/lv latvian lav/mk macedonian mac/ml malayalam mal/"
            "mn mongolian mon/mr marathi mar/ms malay may/ne nepali nep/nl dutch dut/"
            "no norwegian nor/pa punjabi pan/pl polish pol/pt portuguese por/ro romanian rum/"
            "ru russian rus/si sinhalese sin/sk slovak slo/sl slovenian slv/so somali som/"
            "sq albanian alb/sr serbian srp/sv swedish swe/sw swahili swa/ta tamil tam/"
            "te telugu tel/th thai tha/tr turkish tur/uk ukrainian ukr/ur urdu urd/"
            "vi vietnamese vie/zh chinese chi"
        ).split("/")
    )
}
"""The languages that both GDELT and PubMed know, by code. A filter for another language does not
narrow their searches."""
_CODES = {
    spelt: language.code
    for language in LANGUAGES.values()
    for spelt in (language.name, language.marc)
}


def code_of(spelt: str | None) -> str:
    """Return the code of a language by its name or its MARC code; empty if it is not known."""
    return _CODES.get((spelt or "").strip().lower(), "")
