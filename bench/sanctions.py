"""Measures 100,000 invented sanctions entities: indexing, look-ups, and how many planted are found.

This script makes the names with its own tables for writing other scripts in Latin letters, so that
the product's tables are tested and not repeated. Floors: index below 20 s, look-up p95 below 50 ms,
below 500 MB resident.

    python bench/sanctions.py [ENTITIES]
"""

from __future__ import annotations

import csv
import random
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from deepdiver.tools.osint.sanctions.entity import Entity
from deepdiver.tools.osint.sanctions.index import Index, build, opened
from deepdiver.tools.osint.sanctions.matching import Likeness, screen
from deepdiver.tools.osint.sanctions.query import SanctionsQuery

ENTITIES = 100_000
QUERIES = 200
"""Queries of each kind."""
STRANGERS = 1_000
MOST_INDEX_S, MOST_P95_MS, MOST_MB = 20.0, 50.0, 500.0
HEADER = (
    "id schema name aliases birth_date countries addresses identifiers sanctions phones emails "
    "program_ids dataset "
    "first_seen last_seen last_change"
).split()

# Cyrillic in Latin letters, as English, French, German and the scientific standard have it.
CYRILLIC = {
    letter: ways.split("/")
    for letter, ways in (
        pair.split(":")
        for pair in (
            "а:a/a/a/a б:b/b/b/b в:v/v/w/v г:g/g/g/g д:d/d/d/d е:e/e/e/e ж:zh/j/sch/z з:z/z/s/z "
            "и:i/i/i/i й:y/i/i/j "
            "к:k/k/k/k л:l/l/l/l м:m/m/m/m н:n/n/n/n о:o/o/o/o п:p/p/p/p р:r/r/r/r с:s/s/s/s "
            "т:t/t/t/t у:u/ou/u/u "
            "ф:f/f/f/f х:kh/kh/ch/h ц:ts/ts/z/c ч:ch/tch/tsch/c ш:sh/ch/sch/s "
            "щ:shch/chtch/schtsch/sc ы:y/y/y/y ь:/// "
            "э:e/e/e/e ю:yu/iou/ju/ju я:ya/ia/ja/ja ё:e/io/jo/e"
        ).split()
    )
}
RUSSIAN_GIVEN = (
    "Александр Сергей Владимир Дмитрий Андрей Алексей Николай Михаил Юрий Евгений Игорь Олег "
    "Виктор Павел Максим "
    "Константин Анатолий Григорий Фёдор Пётр Ирина Елена Наталья Светлана Ольга Татьяна Екатерина "
    "Галина Людмила"
).split()
SYLLABLES = [c + v for c in "бвгдзклмнпрстфхчш" for v in "аеиоуя"]
GREEK = dict(
    pair.split(":")
    for pair in (
        "α:a β:v γ:g δ:d ε:e ζ:z η:i θ:th ι:i κ:k λ:l μ:m ν:n ξ:x ο:o π:p ρ:r σ:s ς:s τ:t υ:y φ:f "
        "χ:ch ψ:ps ω:o"
    ).split()
)
GREEK_GIVEN = (
    "Γεώργιος:Georgios Νικόλαος:Nikolaos Δημήτριος:Dimitrios Ιωάννης:Ioannis Μαρία:Maria "
    "Ελένη:Eleni"
).split()
ARABIC = dict(
    pair.split(":")
    for pair in (
        "b:ب t:ت j:ج h:ح kh:خ d:د r:ر z:ز s:س sh:ش f:ف q:ق k:ك l:ل m:م n:ن w:و y:ي gh:غ"
    ).split()
)
ARABIC_GIVEN = (
    "Mohammed:محمد Ahmed:أحمد Ali:علي Hassan:حسن Hussein:حسين Ibrahim:إبراهيم Khalid:خالد Omar:عمر "
    "Mahmoud:محمود "
    "Mustafa:مصطفى Yusuf:يوسف Abdullah:عبدالله Fatima:فاطمة Walid:وليد Karim:كريم Nasser:ناصر"
).split()
CHINESE_FAMILY = (
    "Wang:王 Li:李 Zhang:张 Liu:刘 Chen:陈 Yang:杨 Zhao:赵 Huang:黄 Zhou:周 Wu:吴 Xu:徐 Sun:孙 "
    "Ma:马"
).split()
CHINESE_GIVEN = (
    "ming:明 hua:华 wei:伟 jun:军 guo:国 qiang:强 ping:平 dong:东 fang:芳 xin:新 "
    "hai:海 long:龙 jian:建 feng:峰 bo:波 hong:红 yong:勇 lei:磊 tao:涛 chao:超"
).split()
LATIN_GIVEN = (
    "José Carlos Juan Luis Miguel María Jorge Pedro Antonio Francisco Jean Pierre Michel Hans "
    "Peter Klaus Jürgen John "
    "James Robert William Giovanni Marco Paolo Sofia Anna Ewa Tomasz Piotr Zoltán István"
).split()
LATIN_SYLLABLES = [
    c + v
    for c in ("b", "c", "d", "f", "g", "l", "m", "n", "p", "r", "s", "t", "v", "br", "st", "qu")
    for v in "aeiou"
]
TRADES = (
    "Trading Shipping Holding Industries Bank Group Oil Engineering Logistics Investment "
    "Technologies"
).split()
FORMS = {
    "Company": "LLC:OOO JSC:AO Ltd:Limited GmbH:GmbH S.A.:SA Inc.:Incorporated Co.:Company".split()
}


@dataclass(slots=True)
class InventedEntity:
    """An invented entity."""

    schema: str
    name: str
    native: str = ""
    """Its name in its own script, if that is not Latin."""
    variants: list[str] = field(default_factory=list)
    """Other spellings of the name."""
    aliases: list[str] = field(default_factory=list)
    """Other names on the list."""
    born: str = ""
    country: str = ""


class Inventor:
    """Makes names; the same seed makes the same names."""

    def __init__(self, seed: int) -> None:
        """Start with a seed."""
        self.dice = random.Random(seed)  # noqa: S311

    def person(self) -> InventedEntity:
        """Make a person."""
        make = self.dice.choices(
            [self.russian, self.arabic, self.chinese, self.greek, self.latin], [35, 25, 10, 5, 25]
        )
        made = make[0]()
        year, month, day = (self.dice.randint(*span) for span in ((1935, 2000), (1, 12), (1, 28)))
        made.born = f"{year}-{month:02d}-{day:02d}"
        return made

    def russian(self) -> InventedEntity:
        """Make a Russian name, written by four standards."""
        stem = "".join(self.dice.choices(SYLLABLES, k=self.dice.randint(2, 4))).capitalize()
        family = stem[:-1] + self.dice.choice(["ов", "ев", "ин", "ский", "енко", "ович"])
        given, father = self.dice.choices(RUSSIAN_GIVEN, k=2)
        words = [given, father + "ович", family] if self.dice.random() < 0.5 else [given, family]
        ways = [" ".join(romanised(word, way) for word in words) for way in range(4)]
        return InventedEntity("Person", ways[0], " ".join(words), ways[1:], country="ru")

    def arabic(self) -> InventedEntity:
        """Make an Arabic name; its own script leaves the vowels out."""
        given, father = (pair.split(":") for pair in self.dice.sample(ARABIC_GIVEN, 2))
        roots = self.dice.choices(list(ARABIC), k=self.dice.randint(3, 4))
        vowels = self.dice.choices("aiu", k=len(roots) - 1)
        family = "".join(a + b for a, b in zip(roots, [*vowels, ""], strict=True)).capitalize()
        native = "".join(ARABIC[root] for root in roots)
        other = family.replace("q", "k").replace("i", "e").replace("u", "ou")
        article = self.dice.random() < 0.5
        name = f"{given[0]} {father[0]} {'al-' if article else ''}{family}"
        changed = f"{given[0]} {father[0]} {'Al ' if article else ''}{other.capitalize()}"
        return InventedEntity(
            "Person",
            name,
            f"{given[1]} {father[1]} {'ال' if article else ''}{native}",
            [changed],
            country="sy",
        )

    def chinese(self) -> InventedEntity:
        """Make a Chinese name."""
        family = self.dice.choice(CHINESE_FAMILY).split(":")
        one, two = (pair.split(":") for pair in self.dice.choices(CHINESE_GIVEN, k=2))
        ways = [
            f"{one[0].title()}{two[0]} {family[0]}",
            f"{family[0]} {one[0].title()} {two[0].title()}",
        ]
        return InventedEntity(
            "Person",
            f"{family[0]} {one[0].title()}{two[0]}",
            family[1] + one[1] + two[1],
            ways,
            country="cn",
        )

    def greek(self) -> InventedEntity:
        """Make a Greek name."""
        given = self.dice.choice(GREEK_GIVEN).split(":")
        stem = "".join(
            self.dice.choices([c + v for c in "βδζκλμνπρστφ" for v in "αειο"], k=3)
        ) + self.dice.choice(["ίδης", "άκης", "όπουλος"])
        plain = stem.replace("ί", "ι").replace("ά", "α").replace("ό", "ο").replace("ου", "ου")
        family = "".join(GREEK[letter] for letter in plain).replace("oy", "ou").capitalize()
        return InventedEntity(
            "Person", f"{given[1]} {family}", f"{given[0]} {stem.capitalize()}", country="gr"
        )

    def latin(self) -> InventedEntity:
        """Make a European or American name."""
        given = self.dice.sample(LATIN_GIVEN, self.dice.choice([1, 2]))
        family = [
            "".join(self.dice.choices(LATIN_SYLLABLES, k=self.dice.randint(2, 4))).capitalize()
            for _ in given
        ]
        name = " ".join([*given, *family])
        return InventedEntity(
            "Person", name, "", [f"{' '.join(family).upper()}, {' '.join(given)}"], country="co"
        )

    def company(self) -> InventedEntity:
        """Make a company."""
        stem = "".join(self.dice.choices(SYLLABLES, k=self.dice.randint(3, 4))).capitalize()
        trade = self.dice.choice(TRADES)
        form, other = self.dice.choice(FORMS["Company"]).split(":")
        core = f"{romanised(stem, 0)} {trade}"
        return InventedEntity(
            "Company", f"{core} {form}", "", [f"{other} {core}", core], country="ru"
        )

    def vessel(self) -> InventedEntity:
        """Make a ship."""
        name = " ".join(
            "".join(self.dice.choices(LATIN_SYLLABLES, k=3)).upper()
            for _ in range(self.dice.choice([1, 2]))
        )
        return InventedEntity("Vessel", name, country="pa")

    def any(self) -> InventedEntity:
        """Make an entity of a random kind, with the frequencies of real lists."""
        return self.dice.choices([self.person, self.company, self.vessel], [70, 25, 5])[0]()


def romanised(word: str, way: int) -> str:
    """Write a Cyrillic word in Latin letters."""
    return "".join(CYRILLIC[letter][way] for letter in word.lower()).capitalize()


def misspelt(text: str, dice: random.Random) -> str:
    """Leave out, double, change or swap one letter, but not the first of a word."""
    places = [i for i in range(1, len(text) - 1) if text[i - 1 : i + 2].isalpha()]
    if not places:
        return text + "e"
    at = dice.choice(places)
    kind = dice.randrange(4)
    if kind == 0:
        return text[:at] + text[at + 1 :]
    if kind == 1:
        return text[:at] + dice.choice("aeiounrstl") + text[at:]
    if kind == 2:
        return text[:at] + dice.choice("aeiounrstlmk") + text[at + 1 :]
    return text[:at] + text[at + 1] + text[at] + text[at + 2 :]


def written(file: Path, count: int) -> list[InventedEntity]:
    """Write a bulk file; half of the names in other scripts are on it as aliases."""
    inventor = Inventor(1)
    members = [inventor.any() for _ in range(count)]
    with file.open("w", encoding="utf-8", newline="") as text:
        rows = csv.writer(text, dialect="unix")
        rows.writerow(HEADER)
        for number, made in enumerate(members):
            known = [misspelt(made.name, inventor.dice), f"{made.name} {number % 97}"][
                : inventor.dice.randint(0, 2)
            ]
            if made.native and inventor.dice.random() < 0.5:
                known.append(made.native)
            made.aliases = known
            last = "2026-11-14T00:00:00"
            who = [f"NK-{number}", made.schema, made.name, ";".join(known), made.born, made.country]
            besides = [
                "Example Street 1",
                "",
                "EX-1 - 2022-03-01",
                "",
                "",
                "EX-1",
                "Example List;Other List",
            ]
            rows.writerow([*who, *besides, "2022-03-02T00:00:00", last, last])
    return members


def planted(members: list[InventedEntity]) -> dict[str, list[tuple[SanctionsQuery, int]]]:
    """Return what is asked, by kind, and who should be found."""
    dice = random.Random(7)  # noqa: S311
    people = [number for number, made in enumerate(members) if made.schema == "Person"]
    foreign = [
        n for n in people if members[n].native and members[n].native not in members[n].aliases
    ]
    script = {
        way: [n for n in foreign if members[n].country == code]
        for way, code in (("Cyrillic", "ru"), ("Arabic", "sy"), ("Chinese", "cn"), ("Greek", "gr"))
    }
    others = [number for number, made in enumerate(members) if made.schema == "Company"]
    russian = [number for number in people if members[number].country == "ru"]

    def of(
        numbers: list[int], change: Callable[[InventedEntity], str]
    ) -> list[tuple[SanctionsQuery, int]]:
        picked = dice.sample(numbers, min(QUERIES, len(numbers)))
        return [(SanctionsQuery(change(members[number])), number) for number in picked]

    def initial(made: InventedEntity) -> str:
        words = made.name.split()
        return " ".join([words[0][0] + ".", *words[1:]])

    def reordered(made: InventedEntity) -> str:
        words = made.name.split()
        return " ".join([words[-1].upper(), *words[:-1]])

    return {
        "the very name": of(people, lambda made: made.name),
        "one letter misspelt": of(people, lambda made: misspelt(made.name, dice)),
        "two letters misspelt": of(people, lambda made: misspelt(misspelt(made.name, dice), dice)),
        "other word order": of(people, reordered),
        "first name as an initial": of(people, initial),
        "middle name left out": of(
            [n for n in russian if len(members[n].name.split()) == 3],
            lambda made: " ".join(made.name.split()[::2]),
        ),
        "French romanisation": of(russian, lambda made: made.variants[0]),
        "German romanisation": of(russian, lambda made: made.variants[1]),
        **{
            f"{way} against Latin": of(numbers, lambda made: made.native)
            for way, numbers in script.items()
        },
        "company, other legal form": of(others, lambda made: made.variants[0]),
        "company, misspelt": of(others, lambda made: misspelt(made.name, dice)),
        "name and birth date, misspelt": [
            (
                SanctionsQuery(
                    misspelt(members[n].name, dice), members[n].born, members[n].country, "person"
                ),
                n,
            )
            for n in dice.sample(people, QUERIES)
        ],
    }


@dataclass(slots=True)
class Watch:
    """Measures look-ups."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def screen(self, asked: SanctionsQuery, index: Index) -> list[tuple[Entity, Likeness]]:
        """Look somebody up as the product does."""
        began, worked = time.perf_counter(), time.process_time()
        found = screen(asked, index)
        self.wall.append((time.perf_counter() - began) * 1000)
        self.cpu.append((time.process_time() - worked) * 1000)
        return found


def show_recall(index: Index, members: list[InventedEntity], watch: Watch) -> None:
    """Print how often the planted entity is listed, called a match, and listed first."""
    print(f"{'planted':32} {'asked':>6} {'listed':>8} {'match':>8} {'first':>8}")
    for kind, cases in planted(members).items():
        listed = match = first = 0
        for asked, number in cases:
            found = watch.screen(asked, index)
            mine = [likeness for one, likeness in found if one.id == f"NK-{number}"]
            listed += bool(mine)
            match += bool(mine) and mine[0].verdict == "match"
            first += bool(mine) and mine[0].score >= found[0][1].score
        total = max(1, len(cases))
        print(
            f"{kind:32} {len(cases):6} {listed / total:8.1%} {match / total:8.1%} "
            f"{first / total:8.1%}"
        )


def show_strangers(index: Index, members: list[InventedEntity], watch: Watch) -> None:
    """Print how often somebody who is not on the list is taken for somebody who is."""
    inventor, held = Inventor(2), {made.name.lower() for made in members}
    strangers = [
        made for made in (inventor.any() for _ in range(STRANGERS)) if made.name.lower() not in held
    ]
    plain = [SanctionsQuery(made.name) for made in strangers]
    known = [SanctionsQuery(made.name, made.born, made.country) for made in strangers]
    for label, asked in (("name alone", plain), ("with birth date and country", known)):
        best = [found[0][1].verdict if (found := watch.screen(one, index)) else "" for one in asked]
        match, possible = (best.count(verdict) / len(best) for verdict in ("match", "possible"))
        print(
            f"strangers, {label}: {len(best)} asked, {match:.1%} a match, {possible:.1%} a "
            "possible match at most"
        )


def main() -> int:
    """Measure, print, and return 1 if a floor is missed.

    Floors are in CPU time, which is what a look-up takes on an otherwise idle machine.
    """
    count = int(sys.argv[1]) if len(sys.argv) > 1 else ENTITIES
    watch = Watch()
    with tempfile.TemporaryDirectory() as folder:
        file, place = Path(folder) / "targets.simple.csv", Path(folder) / "sanctions.index"
        members = written(file, count)
        base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        began, worked = time.perf_counter(), time.process_time()
        build(file, place)
        took, work = time.perf_counter() - began, time.process_time() - worked
        print(
            f"{count:,} entities, {file.stat().st_size / 1e6:.1f} MB; index "
            f"{place.stat().st_size / 1e6:.1f} MB"
        )
        with opened(file, place) as index:
            show_recall(index, members, watch)
            show_strangers(index, members, watch)
        largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    p95 = statistics.quantiles(watch.cpu, n=20)[-1]
    print(f"index: {work:.1f} s of CPU time, {took:.1f} s of wall time")
    for label, times in (("of CPU time", watch.cpu), ("of wall time", watch.wall)):
        last = statistics.quantiles(times, n=20)[-1]
        print(
            f"look-up, ms {label}: median {statistics.median(times):.1f}, p95 {last:.1f}, most "
            f"{max(times):.1f}"
        )
    print(f"resident: {largest:.0f} MB at most, of which {base:.0f} MB are the invented entities")
    met = work < MOST_INDEX_S and p95 < MOST_P95_MS and largest < MOST_MB
    print("met" if met else "NOT MET")
    return 0 if met else 1


if __name__ == "__main__":
    raise SystemExit(main())
