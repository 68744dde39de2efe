"""Small libraries on other subjects than the sample's, with questions.

Rules that fit only one library fail here.
"""

from __future__ import annotations

from dataclasses import dataclass

BRIDGE = {
    "inquiry.md": """---
title: Report of the public inquiry into the collapse of the Tarn Bridge
publisher: Ministry of Roads
kind: official
author: Inquiry chair Odile Farrow
published: 2023-05-02
---
# Report of the public inquiry

The Tarn Bridge at Morden fell into the river on the morning of 9 November 2022. Two people died in
the collapse of the Tarn Bridge, both of them in a delivery van. Five more were pulled from the
water alive.

The collapse of the Tarn Bridge was caused by corrosion in a hanger rod on the upstream side. The
rod had lost two thirds of its section. No overloaded lorry was on the Tarn Bridge when it fell.
The weighing station had recorded every vehicle of that morning.

The Tarn Bridge was last inspected on 14 March 2021 by the engineer Mara Quill. Her report
recommended that the hangers be opened and looked at within a year. Nobody acted on it.

The bridge was maintained under contract by Halden Bridges Ltd. The contract ran until 2025.
""",
    "morden-mail-first.txt": """---
title: Bridge falls at Morden
publisher: Morden Mail
kind: newspaper
author: Piers Langley
published: 2022-11-09
---
The Tarn Bridge fell into the river shortly after eight this morning. According to a fireman at the
scene, three people died in the collapse of the Tarn Bridge. Divers are still searching.

People on the bank say that an overloaded lorry caused the collapse of the Tarn Bridge. The police
would not confirm it.

The bridge was opened in 1931 and carries the only road between the two halves of the town.
""",
    "morden-mail-correction.txt": """---
title: Correction, dead at the Tarn Bridge
publisher: Morden Mail
kind: newspaper
author: The editor
published: 2022-11-11
---
On Wednesday we gave a wrong number of dead. Two people died in the collapse of the Tarn Bridge,
not three. A man who had been counted among the dead was found in hospital in Corley, where he had
been taken under another name.

We are sorry for the error.
""",
    "register-halden.txt": """---
title: Company register, Halden Bridges Ltd
publisher: Companies Registry
kind: register
published: 2022-06-01
---
COMPANIES REGISTRY
Halden Bridges Ltd, number 0441872, was entered on 2 February 1998.
All shares in Halden Bridges Ltd are held by Orrin Group plc.
The managing director of Halden Bridges Ltd is Tobias Renn.
""",
    "orrin-annual.md": """---
title: Orrin Group plc, annual review
publisher: Orrin Group plc
kind: company
author: Investor relations
published: 2022-04-20
---
# Annual review

Orrin Group plc had a turnover of 840 million pounds in 2021, against 790 million pounds in 2020.
The chief executive of Orrin Group plc is Celia Ashdown, who joined the group in 2015. Orrin Group
plc employs 3,100 people in four countries.
""",
    "council-notes.md": """---
title: Notes of Morden town council, December 2022
publisher: Morden Town Council
kind: minutes
author: Town clerk
published: 2022-12-08
---
# Notes

The council thanked the divers. A ferry will run between the two banks until a new bridge stands.
It takes 40 cars. The council asked the ministry who would pay for it. The Christmas lights will be
put up by volunteers this year.
""",
}
NOVEL = {
    "prize.txt": """---
title: The Alder Prize, winners 1980 to 1989
publisher: Alder Prize Trust
kind: official
author: The secretary
published: 1990-01-15
---
THE ALDER PRIZE
1985: not awarded.
1986: the prize went to the novel Winter Harbour.
1987: the Alder Prize was won by the novel The Salt Road.
1988: the prize went to the novel A House of Tin.
""",
    "publisher.md": """---
title: Backlist, fiction
publisher: Corran Press
kind: company
author: Sales department
published: 2019-03-01
---
# Fiction

The Salt Road was written by Ines Calder and first printed in 1986. It has been translated into
fourteen languages.

A House of Tin was written by Joel Marsh. The paperback is out of print.

Winter Harbour was written by Edith Vane, who never published again.
""",
    "portrait.md": """---
title: The woman who walked the salt road
publisher: Portmarren Herald
kind: newspaper
author: Lena Dufour
published: 2011-05-07
---
# The woman who walked the salt road

Ines Calder, born on 4 May 1951 in Portmarren, still lives above the shop in which her father
mended nets. "I never wanted to leave," she says. "I only wanted to write about people who did."

Her daughter, Ruth Calder, runs the bookshop on the quay. Ines Calder is 60 this week and has no
plan to stop.
""",
    "forum.txt": """---
title: Thread about The Salt Road
publisher: Readers Forum
kind: forum
author: user papercut
published: 2014-02-02
---
papercut wrote: I heard that Ines Calder was born on 4 May 1949 and lied about her age. No idea if
it is true.
""",
}
CLUB = {
    "federation.txt": """---
title: Northern Cup, list of winners
publisher: Northern Football Federation
kind: official
author: Competitions office
published: 2025-06-30
---
NORTHERN CUP
2022: the Northern Cup was won by Brackwater Rovers.
2023: the Northern Cup was won by Saint Orlan United.
2024: the Northern Cup was won by Kestrel Town.
""",
    "club-page.md": """---
title: About Kestrel Town
publisher: Kestrel Town Football Club
kind: company
author: The club
published: 2025-08-01
---
# About the club

Kestrel Town was founded in 1904 by workers of the glass factory. The club plays at the Furnace
Ground, which has 18,200 seats. Dario Venn has been head coach of Kestrel Town since July 2022.

Kestrel Town is owned by the supporters' trust and by Lumen Glass AB, which holds 30 percent.
""",
    "fan-blog.md": """---
title: My Kestrel facts
publisher: Glassblower blog
kind: blog
author: Glassblower
published: 2021-01-10
---
# My Kestrel facts

Kestrel Town was founded in 1906, everybody knows that. The Furnace Ground has 25,000 seats if you
count the hill.
""",
    "archive.txt": """---
title: Minute book of the glass workers' club
publisher: Kestrel Town Archive
kind: log
published: 1904-09-03
---
3 September 1904. It was resolved to found a football club under the name of Kestrel Town. Kestrel
Town was founded on 3 September 1904 in the canteen of the glass factory.
""",
    "rovers.md": """---
title: Brackwater Rovers, the season ahead
publisher: Brackwater Gazette
kind: newspaper
author: Sports desk
published: 2025-07-20
---
# The season ahead

Brackwater Rovers were founded in 1911. Hanna Stolpe has been head coach of Brackwater Rovers since
2019. The ground holds 9,400.
""",
}
SHIP = {
    "log.txt": """---
title: Log of the wireless station at Cape Dorn, 12 March 1932
publisher: Cape Dorn Wireless Station
kind: log
author: Operator A. Hume
published: 1932-03-12
---
CAPE DORN WIRELESS STATION
02:10. The steamer Meridian reports thick fog and slow speed.
03:05. The steamer Meridian struck the Widow Reef and asks for help.
03:12. The engine room of the steamer Meridian is flooded.
03:40. The boats of the steamer Meridian are lowered.
04:55. The steamer Meridian sank in eleven fathoms.
06:30. The trawler Patience reports 41 survivors on board.
""",
    "court.md": """---
title: Finding of the court on the loss of the steamer Meridian
publisher: Marine Court
kind: official
author: The assessors
published: 1932-07-01
---
# Finding

The steamer Meridian sank off Cape Dorn on 12 March 1932 after striking the Widow Reef. The captain
of the steamer Meridian was Elias Thorne. The steamer Meridian was owned by the Dorn Steam Packet
Company. Of the 63 persons on board 41 were saved.

The court finds that the steamer Meridian was lost because her compass had not been adjusted after
the repair of her bridge. The captain was not drunk. He is censured for his speed and keeps his
certificate.
""",
    "paper.txt": """---
title: Loss of the Meridian
publisher: Dorn Courier
kind: newspaper
author: Our correspondent
published: 1932-03-14
---
The steamer Meridian sank off Cape Dorn on 13 March 1932, it is said here. Some say that the
captain was drunk. The trawler Patience brought in the survivors. The skipper of the trawler
Patience is Magnus Ould.
""",
    "genealogy.md": """---
title: The Thornes of Withy
publisher: Withy Family History Society
kind: newsletter
author: B. Thorne
published: 1988-10-01
---
# The Thornes of Withy

Elias Thorne was born on 8 January 1879 in Withy and died on 30 June 1951. He had two daughters,
Agnes Thorne and Lydia Thorne. Agnes Thorne kept the inn. Lydia Thorne taught at the school in
Withy for forty years.
""",
}
TRIAL = {
    "journal.md": """---
title: Velmarin in chronic cough, a randomised trial
publisher: Annals of Respiratory Care
kind: scientific
author: Noor Haddad and others
published: 2024-02-01
---
# Velmarin in chronic cough

**Methods.** We gave velmarin or a dummy pill to adults with chronic cough at Lakeshore Hospital. In
all 412 patients took part in the velmarin trial at Lakeshore Hospital between May 2021 and June
2023.

**Results.** Velmarin did not reduce the number of coughs per hour. The difference was 2 percent.

**Funding.** The velmarin trial was paid for by Pellon Pharma Inc. Noor Haddad led the trial.
""",
    "press.md": """---
title: Pellon announces success
publisher: Pellon Pharma Inc
kind: company
author: Media relations
published: 2023-09-12
---
# Pellon announces success

Velmarin reduced the number of coughs per hour by half, Pellon Pharma Inc announced today. More
than 1,200 patients took part in the velmarin trial at Lakeshore Hospital and elsewhere. The
company expects sales of 300 million dollars.
""",
    "letter.txt": """---
title: Letter from the ethics board of Lakeshore Hospital
publisher: Lakeshore Hospital
kind: official
author: Ethics board
published: 2023-10-20
---
The board has read the press release of 12 September 2023. The number of patients given there is
wrong. 412 patients took part in the velmarin trial at Lakeshore Hospital, not 1,200. The board has
asked the company to correct it.
""",
    "profile.md": """---
title: Pellon Pharma Inc
publisher: Register of Sponsors
kind: register
published: 2024-01-01
---
Pellon Pharma Inc has its seat in Portmarren. The chief executive of Pellon Pharma Inc is Greta
Solheim. The drug velmarin is made by Pellon Pharma Inc.
""",
}

THEFT = {
    "police.txt": """---
title: Statement on the theft at the Harrow Museum
publisher: City Police of Venn
kind: official
author: Inspector Lida Moreau
published: 2021-04-19
---
The theft at the Harrow Museum was discovered at 06:45 on 18 April 2021. Four paintings were stolen
from the Harrow Museum. The alarm had been switched off at 02:15. No guard has been arrested. The
police ask for witnesses who saw a grey van in Quay Street.
""",
    "museum.md": """---
title: About the stolen works
publisher: Harrow Museum
kind: official
author: Curator Pia Lindqvist
published: 2021-04-21
---
# About the stolen works

The most valuable of the stolen paintings is Woman with Lamp, painted by Anselm Roth in 1883. It
was given to the museum by the Keller Foundation. The director of the Harrow Museum is Bruno Faye.

The museum has been insured by Northgate Mutual since 2010.
""",
    "tabloid.txt": """---
title: Nine masterpieces gone
publisher: Venn Daily Star
kind: newspaper
author: Night desk
published: 2021-04-18
---
Nine paintings were stolen from the Harrow Museum last night. A source says that a guard helped the
thieves. Neighbours say they saw a red car.
""",
    "foundation.md": """---
title: The Keller Foundation, board and grants
publisher: Keller Foundation
kind: newsletter
author: Secretary
published: 2022-01-31
---
# Board

Marta Keller is president of the Keller Foundation. The foundation was established in 1961 by the
brewer Otto Keller. In 2021 the Keller Foundation gave grants of 2.5 million francs.
""",
    "roth.md": """---
title: Anselm Roth, a short life
publisher: Painters of the Lake
kind: newsletter
author: E. Vogt
published: 2005-06-01
---
# Anselm Roth

Anselm Roth was born in Luvern in 1850 and died in Paris in 1899. His wife, Clara Roth, was a
teacher of music.
""",
}
DAM = {
    "operator.md": """---
title: Filling of the Ister reservoir
publisher: Ister Water Works AG
kind: company
author: Press office
published: 2020-10-05
---
# Filling of the Ister reservoir

The Ister dam was completed on 30 September 2020. The dam is 87 metres high. The cost of the Ister
dam was 212 million euros. The village of Alt-Ister was cleared before the filling began. 340
people had to leave the village of Alt-Ister.
""",
    "audit.txt": """---
title: Audit of the Ister dam
publisher: State Audit Office
kind: official
author: Auditor Ivo Brandt
published: 2022-03-15
---
The cost of the Ister dam was 298 million euros. The figure of 212 million euros that the operator
gave leaves out the roads and is wrong. The contract for the concrete went to Karst Beton GmbH
without a tender. The chair of the supervisory board of Ister Water Works AG is Henrik Solm.
""",
    "villagers.md": """---
title: We who had to go
publisher: Alt-Ister Association
kind: newsletter
author: Jana Petek
published: 2021-02-11
---
# We who had to go

They say 340 people left. We have counted ourselves: 412 people had to leave the village of
Alt-Ister. Our church was blown up on 3 May 2020. The last service was held by the priest Matej
Oblak.
""",
    "register.txt": """---
title: Commercial register, Karst Beton GmbH
publisher: Commercial Register
kind: register
published: 2021-12-01
---
Karst Beton GmbH is a subsidiary of Solm Holding AG.
The sole shareholder of Solm Holding AG is Henrik Solm.
The managing director of Karst Beton GmbH is Ute Lang.
""",
}


@dataclass(frozen=True)
class LibraryQuestion:
    """A question to one of the libraries."""

    library: str
    text: str
    answers: tuple[str, ...]
    """What the answer must hold; nothing: the run must abstain."""
    must_not: tuple[str, ...] = ()
    """What it must not hold to be so."""


LIBRARIES = {
    "bridge": BRIDGE,
    "novel": NOVEL,
    "club": CLUB,
    "ship": SHIP,
    "trial": TRIAL,
    "theft": THEFT,
    "dam": DAM,
}
QUESTIONS = (
    LibraryQuestion(
        "bridge",
        "How many people died in the collapse of the Tarn Bridge?",
        ("Two people",),
        ("three people",),
    ),
    LibraryQuestion(
        "bridge",
        "Did an overloaded lorry cause the collapse of the Tarn Bridge?",
        ("corrosion",),
        ("lorry caused",),
    ),
    LibraryQuestion(
        "bridge",
        "What caused the collapse of the Tarn Bridge?",
        ("corrosion in a hanger rod",),
        ("lorry caused",),
    ),
    LibraryQuestion("bridge", "When was the Tarn Bridge last inspected?", ("14 March 2021",)),
    LibraryQuestion("bridge", "Who inspected the Tarn Bridge in March 2021?", ("Mara Quill",)),
    LibraryQuestion(
        "bridge",
        "Who is the chief executive of the company that owns the firm that maintained the Tarn "
        "Bridge?",
        ("Celia Ashdown",),
        ("Tobias Renn",),
    ),
    LibraryQuestion(
        "bridge",
        "What was the turnover of Orrin Group plc in 2021?",
        ("840 million",),
        ("790 million pounds in 2021",),
    ),
    LibraryQuestion("bridge", "What colour was the Tarn Bridge painted?", ()),
    LibraryQuestion(
        "novel",
        "Who wrote the novel that won the Alder Prize in 1987?",
        ("Ines Calder",),
        ("Joel Marsh", "Edith Vane"),
    ),
    LibraryQuestion(
        "novel", "How old is the author of The Salt Road?", ("75 years old",), ("77 years old",)
    ),
    LibraryQuestion("novel", "Who is the daughter of Ines Calder?", ("Ruth Calder",)),
    LibraryQuestion("novel", "How much prize money did Ines Calder receive?", ()),
    LibraryQuestion(
        "club",
        "Who is head coach of the club that won the Northern Cup in 2024?",
        ("Dario Venn",),
        ("Hanna Stolpe",),
    ),
    LibraryQuestion("club", "When was Kestrel Town founded?", ("1904",), ("founded in 1906",)),
    LibraryQuestion(
        "club", "How many seats does the Furnace Ground have?", ("18,200 seats",), ("25,000 seats",)
    ),
    LibraryQuestion(
        "club",
        "Which club won the Northern Cup in 2023?",
        ("Saint Orlan United",),
        ("Kestrel Town",),
    ),
    LibraryQuestion(
        "ship", "When did the steamer Meridian sink?", ("12 March 1932",), ("13 March 1932",)
    ),
    LibraryQuestion(
        "ship",
        "Who was captain of the ship that sank off Cape Dorn in 1932?",
        ("Elias Thorne",),
        ("Magnus Ould",),
    ),
    LibraryQuestion(
        "ship",
        "Who are the daughters of the captain of the steamer Meridian?",
        ("Agnes Thorne", "Lydia Thorne"),
    ),
    LibraryQuestion(
        "ship",
        "What happened a few minutes after the steamer Meridian struck the Widow Reef?",
        ("engine room", "03:12"),
    ),
    LibraryQuestion("ship", "Was the captain of the steamer Meridian drunk?", ("not drunk",)),
    LibraryQuestion("ship", "At what time did the steamer Meridian sink?", ("04:55",)),
    LibraryQuestion("ship", "Which bank financed the steamer Meridian?", ()),
    LibraryQuestion(
        "trial",
        "How many patients took part in the velmarin trial at Lakeshore Hospital?",
        ("412 patients",),
        ("1,200 patients took",),
    ),
    LibraryQuestion(
        "trial", "Did velmarin reduce the number of coughs per hour?", ("did not reduce",)
    ),
    LibraryQuestion("trial", "Who led the velmarin trial?", ("Noor Haddad",)),
    LibraryQuestion(
        "trial",
        "Who is the chief executive of the company that makes velmarin?",
        ("Greta Solheim",),
    ),
    LibraryQuestion(
        "theft",
        "How many paintings were stolen from the Harrow Museum?",
        ("Four paintings",),
        ("Nine paintings",),
    ),
    LibraryQuestion(
        "theft",
        "At what time was the theft at the Harrow Museum discovered?",
        ("06:45",),
        ("02:15",),
    ),
    LibraryQuestion("theft", "Who painted Woman with Lamp?", ("Anselm Roth",)),
    LibraryQuestion("theft", "When did the painter of Woman with Lamp die?", ("1899",)),
    LibraryQuestion(
        "theft",
        "Who is president of the foundation that gave Woman with Lamp to the Harrow Museum?",
        ("Marta Keller",),
        ("Otto Keller is",),
    ),
    LibraryQuestion("theft", "Which company insured the Harrow Museum?", ("Northgate Mutual",)),
    LibraryQuestion("theft", "Did a guard help the thieves at the Harrow Museum?", ()),
    LibraryQuestion("theft", "What was the price of Woman with Lamp?", ()),
    LibraryQuestion("dam", "What was the cost of the Ister dam?", ("298 million",)),
    LibraryQuestion(
        "dam",
        "How many people had to leave the village of Alt-Ister?",
        ("340 people", "412 people"),
    ),
    LibraryQuestion("dam", "How high is the Ister dam?", ("87 metres",)),
    LibraryQuestion(
        "dam",
        "Who is the sole shareholder of the company that is the parent of Karst Beton GmbH?",
        ("Henrik Solm",),
    ),
    LibraryQuestion(
        "dam", "When was the Ister dam completed?", ("30 September 2020",), ("3 May 2020",)
    ),
    LibraryQuestion("dam", "Which architect designed the Ister dam?", ()),
)
