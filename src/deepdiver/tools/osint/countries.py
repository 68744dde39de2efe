"""Countries by ISO 3166-1, and the names by which people speak of them.

A name that means two countries (Korean, Congolese, Dominican) stands for neither, and is not
listed.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from dataclasses import dataclass

from deepdiver.tools.search.gdelt import COUNTRIES as _FIPS

_TABLE = """
AD AND Andorra/Andorran
AE ARE United Arab Emirates/UAE/Emirati/Emirates
AF AFG Afghanistan/Afghan
AG ATG Antigua and Barbuda/Antiguan
AI AIA Anguilla/Anguillan
AL ALB Albania/Albanian
AM ARM Armenia/Armenian
AO AGO Angola/Angolan
AQ ATA Antarctica/Antarctic
AR ARG Argentina/Argentine/Argentinian
AS ASM American Samoa
AT AUT Austria/Austrian
AU AUS Australia/Australian
AW ABW Aruba/Aruban
AX ALA Åland Islands/Åland
AZ AZE Azerbaijan/Azerbaijani/Azeri
BA BIH Bosnia and Herzegovina/Bosnia-Herzegovina/Bosnia/Bosnian
BB BRB Barbados/Barbadian
BD BGD Bangladesh/Bangladeshi
BE BEL Belgium/Belgian
BF BFA Burkina Faso/Burkinabe
BG BGR Bulgaria/Bulgarian
BH BHR Bahrain/Bahraini
BI BDI Burundi/Burundian
BJ BEN Benin/Beninese
BL BLM Saint Barthélemy/St Barthélemy/St Barts
BM BMU Bermuda/Bermudian
BN BRN Brunei/Brunei Darussalam/Bruneian
BO BOL Bolivia/Plurinational State of Bolivia/Bolivian
BQ BES Caribbean Netherlands/Bonaire, Sint Eustatius and Saba/Bonaire
BR BRA Brazil/Brazilian
BS BHS Bahamas/The Bahamas/Bahamian
BT BTN Bhutan/Bhutanese
BV BVT Bouvet Island
BW BWA Botswana/Botswanan
BY BLR Belarus/Belarusian/Byelorussia
BZ BLZ Belize/Belizean
CA CAN Canada/Canadian
CC CCK Cocos (Keeling) Islands/Cocos Islands/Keeling Islands
CD COD Democratic Republic of the Congo/Democratic Republic of Congo/Congo-Kinshasa/DR Congo/DRC/Zaire
CF CAF Central African Republic
CG COG Republic of the Congo/Congo/Congo-Brazzaville/Republic of Congo
CH CHE Switzerland/Swiss
CI CIV Côte d'Ivoire/Ivory Coast/Ivorian
CK COK Cook Islands
CL CHL Chile/Chilean
CM CMR Cameroon/Cameroonian
CN CHN China/People's Republic of China/Chinese/PRC
CO COL Colombia/Colombian
CR CRI Costa Rica/Costa Rican
CU CUB Cuba/Cuban
CV CPV Cape Verde/Cabo Verde/Cape Verdean
CW CUW Curaçao
CX CXR Christmas Island
CY CYP Cyprus/Cypriot
CZ CZE Czechia/Czech Republic/Czech
DE DEU Germany/German
DJ DJI Djibouti/Djiboutian
DK DNK Denmark/Danish
DM DMA Dominica
DO DOM Dominican Republic
DZ DZA Algeria/Algerian
EC ECU Ecuador/Ecuadorian
EE EST Estonia/Estonian
EG EGY Egypt/Egyptian
EH ESH Western Sahara/Sahrawi
ER ERI Eritrea/Eritrean
ES ESP Spain/Spanish
ET ETH Ethiopia/Ethiopian
FI FIN Finland/Finnish
FJ FJI Fiji/Fijian
FK FLK Falkland Islands/Falklands/Malvinas
FM FSM Micronesia/Federated States of Micronesia/Micronesian
FO FRO Faroe Islands/Faroes/Faroese
FR FRA France/French
GA GAB Gabon/Gabonese
GB GBR United Kingdom/UK/U.K./Britain/Great Britain/British/England/English/Northern Ireland/Scotland/Scottish/Wales
GD GRD Grenada/Grenadian
GE GEO Georgia/Georgian
GF GUF French Guiana
GG GGY Guernsey
GH GHA Ghana/Ghanaian
GI GIB Gibraltar/Gibraltarian
GL GRL Greenland/Greenlandic
GM GMB Gambia/The Gambia/Gambian
GN GIN Guinea/Guinea-Conakry/Guinean
GP GLP Guadeloupe
GQ GNQ Equatorial Guinea/Equatoguinean/Equatorial Guinean
GR GRC Greece/Greek/Hellenic Republic
GS SGS South Georgia and the South Sandwich Islands/South Georgia/South Sandwich Islands
GT GTM Guatemala/Guatemalan
GU GUM Guam/Guamanian
GW GNB Guinea-Bissau/Guinea Bissau/Bissau-Guinean
GY GUY Guyana/Guyanese
HK HKG Hong Kong/Hongkong
HM HMD Heard Island and McDonald Islands/Heard Island
HN HND Honduras/Honduran
HR HRV Croatia/Croatian
HT HTI Haiti/Haitian
HU HUN Hungary/Hungarian
ID IDN Indonesia/Indonesian
IE IRL Ireland/Irish
IL ISR Israel/Israeli
IM IMN Isle of Man/Manx
IN IND India/Indian
IO IOT British Indian Ocean Territory/Diego Garcia/Chagos Islands
IQ IRQ Iraq/Iraqi
IR IRN Iran/Islamic Republic of Iran/Iranian
IS ISL Iceland/Icelandic
IT ITA Italy/Italian
JE JEY Jersey
JM JAM Jamaica/Jamaican
JO JOR Jordan/Jordanian
JP JPN Japan/Japanese
KE KEN Kenya/Kenyan
KG KGZ Kyrgyzstan/Kyrgyz Republic/Kyrgyz
KH KHM Cambodia/Cambodian/Khmer
KI KIR Kiribati
KM COM Comoros/Comorian
KN KNA Saint Kitts and Nevis/St Kitts and Nevis/St. Kitts and Nevis
KP PRK North Korea/Democratic People's Republic of Korea/DPRK/North Korean
KR KOR South Korea/Republic of Korea/South Korean
KW KWT Kuwait/Kuwaiti
KY CYM Cayman Islands/Caymans
KZ KAZ Kazakhstan/Kazakhstani/Kazakh
LA LAO Laos/Lao People's Democratic Republic/Lao PDR/Laotian
LB LBN Lebanon/Lebanese
LC LCA Saint Lucia/St Lucia/St. Lucia
LI LIE Liechtenstein
LK LKA Sri Lanka/Sri Lankan
LR LBR Liberia/Liberian
LS LSO Lesotho/Basotho
LT LTU Lithuania/Lithuanian
LU LUX Luxembourg/Luxembourgish
LV LVA Latvia/Latvian
LY LBY Libya/Libyan
MA MAR Morocco/Moroccan
MC MCO Monaco/Monegasque
MD MDA Moldova/Republic of Moldova/Moldovan
ME MNE Montenegro/Montenegrin
MF MAF Saint Martin/Saint-Martin/St Martin
MG MDG Madagascar/Malagasy
MH MHL Marshall Islands/Marshallese
MK MKD North Macedonia/Macedonia/Macedonian
ML MLI Mali/Malian
MM MMR Myanmar/Burma/Burmese
MN MNG Mongolia/Mongolian
MO MAC Macao/Macau
MP MNP Northern Mariana Islands
MQ MTQ Martinique
MR MRT Mauritania/Mauritanian
MS MSR Montserrat
MT MLT Malta/Maltese
MU MUS Mauritius/Mauritian
MV MDV Maldives/Maldivian
MW MWI Malawi/Malawian
MX MEX Mexico/Mexican
MY MYS Malaysia/Malaysian
MZ MOZ Mozambique/Mozambican
NA NAM Namibia/Namibian
NC NCL New Caledonia/New Caledonian
NE NER Niger/Nigerien
NF NFK Norfolk Island
NG NGA Nigeria/Nigerian
NI NIC Nicaragua/Nicaraguan
NL NLD Netherlands/The Netherlands/Holland/Dutch
NO NOR Norway/Norwegian
NP NPL Nepal/Nepalese/Nepali
NR NRU Nauru/Nauruan
NU NIU Niue/Niuean
NZ NZL New Zealand/New Zealander
OM OMN Oman/Omani
PA PAN Panama/Panamanian
PE PER Peru/Peruvian
PF PYF French Polynesia/Tahiti
PG PNG Papua New Guinea/Papua New Guinean
PH PHL Philippines/The Philippines/Philippine/Filipino
PK PAK Pakistan/Pakistani
PL POL Poland/Polish
PM SPM Saint Pierre and Miquelon/St Pierre and Miquelon/Saint-Pierre and Miquelon
PN PCN Pitcairn/Pitcairn Islands
PR PRI Puerto Rico/Puerto Rican
PS PSE Palestine/State of Palestine/Palestinian/Palestinian Territories/Gaza/Gaza Strip/West Bank
PT PRT Portugal/Portuguese
PW PLW Palau/Palauan
PY PRY Paraguay/Paraguayan
QA QAT Qatar/Qatari
RE REU Réunion
RO ROU Romania/Romanian
RS SRB Serbia/Serbian
RU RUS Russia/Russian Federation/Russian
RW RWA Rwanda/Rwandan
SA SAU Saudi Arabia/Saudi/Saudi Arabian
SB SLB Solomon Islands
SC SYC Seychelles/Seychellois
SD SDN Sudan/Sudanese
SE SWE Sweden/Swedish
SG SGP Singapore/Singaporean
SH SHN Saint Helena, Ascension and Tristan da Cunha/Saint Helena/St Helena/Ascension Island/Tristan da Cunha
SI SVN Slovenia/Slovenian/Slovene
SJ SJM Svalbard and Jan Mayen/Svalbard/Jan Mayen
SK SVK Slovakia/Slovak Republic/Slovak/Slovakian
SL SLE Sierra Leone/Sierra Leonean
SM SMR San Marino/Sammarinese
SN SEN Senegal/Senegalese
SO SOM Somalia/Somali/Somaliland
SR SUR Suriname/Surinamese
SS SSD South Sudan/South Sudanese
ST STP São Tomé and Príncipe/São Tomé
SV SLV El Salvador/Salvadoran/Salvadorean
SX SXM Sint Maarten
SY SYR Syria/Syrian Arab Republic/Syrian
SZ SWZ Eswatini/Swaziland/Swazi
TC TCA Turks and Caicos Islands/Turks and Caicos
TD TCD Chad/Chadian
TF ATF French Southern Territories/French Southern and Antarctic Lands
TG TGO Togo/Togolese
TH THA Thailand/Thai
TJ TJK Tajikistan/Tajik/Tajikistani
TK TKL Tokelau/Tokelauan
TL TLS Timor-Leste/East Timor/East Timorese/Timorese
TM TKM Turkmenistan/Turkmen
TN TUN Tunisia/Tunisian
TO TON Tonga/Tongan
TR TUR Türkiye/Turkey/Turkish
TT TTO Trinidad and Tobago/Trinidad/Trinidadian
TV TUV Tuvalu/Tuvaluan
TW TWN Taiwan/Taiwanese
TZ TZA Tanzania/United Republic of Tanzania/Tanzanian
UA UKR Ukraine/Ukrainian
UG UGA Uganda/Ugandan
UM UMI United States Minor Outlying Islands
US USA United States/United States of America/USA/US/U.S./U.S.A./America/American
UY URY Uruguay/Uruguayan
UZ UZB Uzbekistan/Uzbek/Uzbekistani
VA VAT Vatican City/Holy See/Vatican
VC VCT Saint Vincent and the Grenadines/St Vincent and the Grenadines/St. Vincent and the Grenadines
VE VEN Venezuela/Bolivarian Republic of Venezuela/Venezuelan
VG VGB British Virgin Islands
VI VIR United States Virgin Islands/US Virgin Islands/U.S. Virgin Islands
VN VNM Vietnam/Viet Nam/Vietnamese
VU VUT Vanuatu/Ni-Vanuatu
WF WLF Wallis and Futuna
WS WSM Samoa/Samoan
YE YEM Yemen/Yemeni
YT MYT Mayotte
ZA ZAF South Africa/South African
ZM ZMB Zambia/Zambian
ZW ZWE Zimbabwe/Zimbabwean
"""
"""Code, code of three letters, usual name, other names and the adjective."""
OTHERWISE = {"UK": "GB", "EL": "GR"}
"""Codes that stand in no table and that everybody, or the European Union, uses all the same."""
_NO_COUNTRY = (
    "Central American/Gulf of Guinea/Gulf of Mexico/Gulf of Oman/Gulf of Thailand/Indian "
    "Ocean/Latin America/"
    "Latin American/Native American/New England/New Jersey/New Mexico/New South Wales/North "
    "America/North American/"
    "Sea of Japan/South America/South American/South China Sea/East China Sea/West Indian/Central "
    "America"
)
"""Names that hold the name of a country and mean something else."""
_CAPITALISED = frozenset(
    {"chad", "china", "guinea", "jersey", "polish", "reunion", "turkey", "us", "wales"}
)
"""Names that are words of their own, or slips, where they are written small."""


@dataclass(frozen=True, slots=True)
class Country:
    """A country or territory with a code of its own."""

    code: str
    """ISO 3166-1 alpha-2."""
    alpha3: str
    """ISO 3166-1 alpha-3."""
    name: str
    """In English, as it is usually called."""
    others: tuple[str, ...]
    """What else it is called, and its adjective."""
    fips: str
    """FIPS 10-4, as GDELT has it; empty where GDELT has none."""


def _country(row: str) -> Country:
    code, alpha3, names = row.split(" ", 2)
    name, *others = names.split("/")
    return Country(code, alpha3, name, tuple(others), _FIPS.get(code, ""))


COUNTRIES = {row[:2]: _country(row) for row in _TABLE.strip().splitlines()}
"""All of them by code."""


def _plain(text: str) -> str:
    """Return a text without accents, in one line, and with `&` written out."""
    bare = "".join(
        char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char)
    )
    return " ".join(bare.replace("’", "'").replace("&", " and ").split())


@functools.cache
def _by_name() -> dict[str, str]:
    """Return the code to each name in small letters; empty for what means no country."""
    told = {name.lower(): "" for name in _NO_COUNTRY.split("/")}
    for country in COUNTRIES.values():
        told |= {_plain(name).lower(): country.code for name in (country.name, *country.others)}
    return told


@functools.cache
def _pattern() -> re.Pattern[str]:
    """Find names in a text, the longest first: Guinea-Bissau is not Guinea."""
    names = sorted(_by_name(), key=lambda name: (-len(name), name))
    return re.compile(
        rf"(?<!\w)({'|'.join(map(re.escape, names))})(?-i:s)?(?!\w)", re.IGNORECASE
    )  # Ukrainians


def code_of(text: str) -> str | None:
    """Return the code of a country that is given by its code, in two letters or three, or by one of its names."""
    text = _plain(text)
    capitals = text.upper()
    if capitals in COUNTRIES or capitals in OTHERWISE:
        return OTHERWISE.get(capitals, capitals)
    if len(text) == 3 and (
        found := next((c.code for c in COUNTRIES.values() if c.alpha3 == capitals), None)
    ):
        return found
    return _by_name().get(text.lower()) or None


def countries_named(text: str) -> tuple[str, ...]:
    """Return the codes of the countries that a text speaks of, in its order.

    Cities and rivers name none.
    """
    found: dict[str, None] = {}
    for match in _pattern().finditer(_plain(text)):
        name = match[1]
        small = (
            not name.isupper() if name.lower() == "us" else name.islower()
        )  # Us opens a sentence
        if (code := _by_name()[name.lower()]) and not (small and name.lower() in _CAPITALISED):
            found.setdefault(code)
    return tuple(found)


def country_named(text: str) -> str | None:
    """Return the code of the first country that a text speaks of.

    Ukraine and Ukrainian give UA, and so does UA.
    """
    return next(iter(countries_named(text)), None) or (code_of(text) if text.isupper() else None)
