"""A model and a web that are always the same.

What they say follows from what they are asked, and from nothing else.

`popper_brain` knows deepdiver's own tasks by their prompts and answers each from its input,
sensibly enough that a whole run succeeds: quotes are copied from the texts, hypotheses are made of
findings, reports repeat what findings state. `made_search` finds a few small documents for every
query, no two sentences of which are alike.
"""

from __future__ import annotations

import functools
import hashlib
import json
import random
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from deepdiver.tasks import TASKS, load_prompt
from tests.servers.scripted import Answer, Document, ModelScript, PageScript, SearchScript

PLACES = (
    "Lund",
    "Porto",
    "Galway",
    "Trieste",
    "Tampere",
    "Leiden",
    "Bergen",
    "Graz",
    "Utrecht",
    "Aarhus",
)
KEEPERS = (
    "harbour office",
    "county archive",
    "water board",
    "parish register",
    "tax office",
    "field station",
)
ACTS = ("recorded", "measured", "reported", "counted", "confirmed", "estimated")
THINGS = (
    "crates",
    "permits",
    "vessels",
    "samples",
    "visitors",
    "complaints",
    "hectares",
    "deliveries",
)
EMPTY_WORDS = frozenset(
    "about after also been could does from have into many more that their them then there these "
    "they this those what "
    "when where which while whom whose will with would".split()
)

WAYS = (
    "ledger",
    "harbour book",
    "census",
    "inventory",
    "minutes",
    "logbook",
    "accounts",
    "diary",
    "charter",
    "map",
)

Fields = dict[str, Any]


Direction = Fields | Answer | Callable[[Fields, Fields], Fields]
"""What to answer instead of the usual: fields that differ, a whole answer of the server (an error,
say), or a function of the task's fields and of the usual answer that returns the fields that
differ."""
Directions = Mapping[str, Sequence[Direction]]
"""What to answer to each task, by its name: to the first visit, to the second, and so on; then the
last again for ever. A task that several branches perform side by side, or that is asked again after
a bad answer, counts each time."""


def popper_brain(
    *,
    delay: float = 0.0,
    spread: float = 0.0,
    rounds: int = 2,
    directions: Directions | None = None,
) -> ModelScript:
    """Return a model that performs deepdiver's tasks.

    Args:
        delay: Seconds before each answer.
        spread: Up to as many seconds more, by chance.
        rounds: In which round it decides to finish, or finds that enough is known.
        directions: What to answer otherwise than usual.

    Raises:
        KeyError: If a direction is for no task.
    """
    directed = dict(directions or {})
    if unknown := directed.keys() - ANSWERS.keys():
        raise KeyError(f"no such task: {sorted(unknown)}")
    visits = Counter[str]()

    def pause() -> float:
        return delay + spread * random.random()  # noqa: S311  no secret

    def answer(body: dict[str, Any], number: int) -> Answer:
        task, fields = understand(body)
        if task not in ANSWERS:
            return Answer(
                status=400,
                text=f"this brain knows no such task: {task or 'no prompt of ours was found'}",
            )
        direction: Direction = {}
        if listed := directed.get(task):
            direction = listed[min(visits[task], len(listed) - 1)]
            visits[task] += 1
        if isinstance(direction, Answer):
            return direction
        by_round = {
            "decide": decide,
            "reflect": reflect,
            "decide_action": decide_action,
            "plan_searches": plan_searches,
        }
        value = by_round[task](fields, rounds) if task in by_round else ANSWERS[task](fields)
        value |= direction(fields, value) if callable(direction) else direction
        if tools := body.get("tools"):
            return Answer(tool_calls=((tools[0]["function"]["name"], value),), delay=pause())
        return Answer(text=json.dumps(value, ensure_ascii=False), delay=pause())

    return answer


def made_search(*, delay: float = 0.0, results: int = 3, local: bool = False) -> SearchScript:
    """Return a search that finds made documents.

    Args:
        delay: Seconds before each answer.
        results: Documents for each query.
        local: Whether the pages are on the server itself, to be fetched there (give it
            `made_page`), or elsewhere, where nobody ever goes because the search brings the whole
            text.
    """

    def search(query: str, number: int) -> Answer:
        base = "" if local else "https://made.example"
        names = [f"{slug(query)}-{place}" for place in range(1, results + 1)]
        return Answer(documents=tuple(made(name, base) for name in names), delay=delay)

    return search


def made_page() -> PageScript:
    """Return the pages that a local `made_search` finds."""
    return functools.partial(made, base="")


def made(name: str, base: str) -> Document:
    """Make the document of a name: six sentences that no other document has."""
    topic = " ".join(name.split("-")[:-1])
    sentences = [sentence(name, place, topic) for place in range(6)]
    year, month = 2010 + draw(name, "year", 15), 1 + draw(name, "month", 12)
    text = " ".join(sentences[:3]) + "\n\n" + " ".join(sentences[3:])
    return Document(
        f"{base}/page/{name}", f"Notes on {topic}, part {name[-1]}", text, f"{year}-{month:02d}-01"
    )


def sentence(name: str, place: int, topic: str) -> str:
    """Make a sentence with numbers of its own."""
    key = f"{name}/{place}"
    return (
        f"In {1950 + draw(key, 'year', 70)} the {pick(key, KEEPERS)} of {pick(key, PLACES)} "
        f"{pick(key, ACTS)} "
        f"{1000 + draw(key, 'count', 90_000)} {pick(key, THINGS)} in the matter of {topic}."
    )


def draw(key: str, what: str, below: int) -> int:
    """Draw a number that is always the same for a key."""
    return int.from_bytes(hashlib.sha256(f"{key}/{what}".encode()).digest()[:6]) % below


def pick(key: str, words: tuple[str, ...]) -> str:
    """Pick a word that is always the same for a key."""
    return words[draw(key, words[0], len(words))]


def slug(text: str) -> str:
    """Return a text's words as they stand in an address."""
    return "-".join(re.findall(r"[a-z0-9]+", text.lower())[:10]) or "nothing"


def understand(body: dict[str, Any]) -> tuple[str, Fields]:
    """Return which task a request asks for, by its prompt, and the fields in its marked blocks."""
    system = "\n".join(
        text_of(message)
        for message in body["messages"]
        if message["role"] in {"system", "developer"}
    )
    asked = next(
        (text_of(message) for message in body["messages"] if message["role"] == "user"), ""
    )
    # Of tasks that lead with their texts, the prompt comes behind these.
    said = f"{system}\n{asked}"
    task = next((task.name() for task in TASKS if _opening(task.name()) in said), "")
    blocks = re.findall(r"<<<(\w+)>>>\n(.*?)\n<<<end \1>>>", asked, re.DOTALL)
    fields = {name: value_of(text) for name, text in blocks}
    shown = fields.get("findings")
    for found in shown if isinstance(shown, list) else ():
        if found.keys() & {"quote", "cites"}:
            found.setdefault("statement", words_of(found, fields))
    return task, fields


def _opening(task: str) -> str:
    """Return the first paragraph of a prompt: others may be left out."""
    return load_prompt(task)[1].partition("\n\n")[0]


def words_of(found: Fields, fields: Fields) -> str:
    """Return what a finding says that is shown by its quote, or by where it stands."""
    if "quote" in found:
        return str(found["quote"])
    label, _, number = found["cites"].partition(":")
    (text,) = (text["text"] for text in fields["texts"] if text["id"] == label)
    return dict(numbered(text))[int(number.partition("-")[0].partition(",")[0])]


def text_of(message: dict[str, Any]) -> str:
    """Return a message's text, whichever way it is packed."""
    content = message.get("content") or ""
    return (
        content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
    )


def value_of(text: str) -> Any:
    """Return a block's value: JSON where it is, else the text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def keywords(text: str, most: int = 5) -> str:
    """Return the words that matter."""
    words = dict.fromkeys(re.findall(r"[\w-]{4,}", str(text).lower()))
    return " ".join([word for word in words if word not in EMPTY_WORDS][:most]) or "nothing"


def sentences_of(text: str) -> list[str]:
    """Return a text's sentences, each as it stands there."""
    return [found.strip() for found in re.findall(r"[^.!?\n]{10,}[.!?]", text)]


def numbered(text: str) -> list[tuple[int, str]]:
    """Return the sentences of a numbered text, each with its number."""
    return [
        (int(number), words.strip()) for number, words in re.findall(r"<(\d+)> ([^<\n]+)", text)
    ]


def number_of(label: str) -> int:
    """Return the number in a label."""
    return int("".join(re.findall(r"\d", label)) or 0)


def decompose(fields: Fields) -> Fields:
    """Take a question apart into two."""
    about = keywords(fields["question"])
    return {
        "problems": [
            {"question": f"What is recorded about {about}?", "needs": []},
            {"question": f"What was counted in the matter of {about}?", "needs": []},
        ]
    }


def queries(fields: Fields, subject: str, ways: tuple[str, ...]) -> Fields:
    """Write two queries that were not tried, if two are wanted."""
    tried = set(fields.get("tried", ()))
    written = [f"{keywords(subject)} {way}" for way in ways]
    return {
        "queries": [query for query in written if query not in tried][
            : min(2, int(fields.get("limit", 2)))
        ]
    }


def extract_findings(fields: Fields) -> Fields:
    """Copy out the first two sentences of each text.

    Of the open questions they answer the first.
    """
    found = [
        {"statement": words, "source": text["id"], "lines": [number]}
        for text in fields.get("texts", ())
        for number, words in numbered(text["text"])[:2]
    ]
    return {
        "findings": found[:40],
        "leads": [],
        "questions": list(fields.get("unanswered", ()))[1:],
    }


def hypothesise(fields: Fields) -> Fields:
    """Make two rivals of the first findings that no hypothesis stands on yet.

    Where tools test them, two in all.
    """
    standing = {held["statement"] for held in fields.get("standing", ())}
    free = [found for found in fields.get("findings", ()) if found["statement"] not in standing]
    if fields.get("tools") and standing:
        free = []
    proposed = [
        {
            "statement": found["statement"],
            "answer": found["statement"],
            "supports_if": "Another record gives the same count.",
            "refutes_if": "A record of the same year gives another count.",
            "prior": 0.5,
            "findings": [found["id"]],
            "test_queries": [],
        }
        for found in free[:2]
    ]
    return {
        "hypotheses": proposed[: int(fields.get("limit", 4))],
        "test_calls": [],
        "reasoning_chain": [],
    }


def judge(fields: Fields) -> Fields:
    """Judge by who else records the matter: each other record supports a claim.

    A record that stands alone is doubted, and what is about another matter is left out.
    """
    judged = []
    for rival in fields["rivals"]:
        about = matter_of(rival["hypothesis"])
        bearing = [found for found in fields["findings"] if matter_of(found["statement"]) == about]
        alone = all(found["statement"] == rival["hypothesis"] for found in bearing)
        told = ("refutes", 0.2, "Alone.") if alone else ("supports", 0.6, "Recorded together.")
        judged += [
            {
                "finding": found["id"],
                "hypothesis": rival["id"],
                **dict(zip(("stance", "strength", "reason"), told, strict=True)),
            }
            for found in bearing
        ]
    return {"judgements": judged}


def matter_of(statement: str) -> str:
    """Return the matter of which a made sentence tells."""
    return statement.partition("in the matter of ")[2]


def decide(fields: Fields, rounds: int) -> Fields:
    """Go on until the round in which to finish."""
    if int(fields["iteration"]) >= rounds:
        return {
            "decision": "finish",
            "reason": "Another round would bring nothing new.",
            "gaps": [],
        }
    gap = f"What else is recorded about {keywords(fields['question'])}?"
    return {"decision": "continue", "reason": "One thing is still open.", "gaps": [gap]}


def reflect(fields: Fields, rounds: int) -> Fields:
    """Miss one thing until the round in which enough is known."""
    if int(fields["iteration"]) >= rounds:
        return {
            "notes": [],
            "missing": [],
            "queries": [],
            "investigation_queries": [],
            "sufficient": True,
            "reason": "Every part is answered.",
        }
    about = keywords(fields["question"])
    note = {"category": "gap", "text": "One archive was not looked into.", "critical": False}
    tried = set(fields.get("tried", ()))
    wanted = [
        f"{about} {way}"
        for way in ("ledger", "harbour book", "census", "inventory", "minutes", "logbook")
    ]
    return {
        "notes": [note],
        "missing": [f"What else is recorded about {about}?"],
        "queries": [query for query in wanted if query not in tried][:2],
        "investigation_queries": [],
        "sufficient": False,
        "reason": "One thing is still open.",
    }


def decide_action(fields: Fields, rounds: int) -> Fields:
    """Search, each time in other words, until the step in which to hand over."""
    tools = [tool["name"] for tool in fields["tools"] if tool["name"].startswith("search_")]
    if int(fields.get("iteration", 0)) >= rounds:
        return {
            "next_action": "send_to_hitl",
            "query_or_url": None,
            "reasoning": "Every part is answered.",
        }
    tried = set(fields.get("tried", ()))
    wanted = [f"{keywords(fields['initial_query'])} {way}" for way in WAYS]
    query = next((query for query in wanted if query not in tried), wanted[0])
    return {"next_action": tools[0], "query_or_url": query, "reasoning": "One thing is still open."}


def analyse_output(fields: Fields) -> Fields:
    """Copy out the first two sentences of each text.

    The first answers the first part, the second the second.
    """
    labels = [part["id"] for part in fields.get("problems", ())]
    found = [
        {
            "statement": words,
            "source": text["id"],
            "lines": [number],
            "answers": label,
            "confirms": [],
            "contradicts": [],
        }
        for text in fields.get("texts", ())
        for (number, words), label in zip(
            numbered(text["text"]), [*labels, "", ""][:2], strict=False
        )
    ]
    return {
        "extracted_info": found[:40],
        "assessment": "Something was recorded.",
        "confidence_score": 0.5,
        "suggestions_for_next_step": [f"{keywords(fields['initial_query'])} in other archives"],
        "new_potential_urls": [link["id"] for link in fields.get("links", ())][:2],
        "inconsistencies_found": None,
    }


def plan_searches(fields: Fields, rounds: int) -> Fields:
    """Explore, dive, check the first finding, look beside.

    Write in the round in which enough is known.
    """
    made, about, tried = (
        int(fields["iteration"]),
        keywords(fields["question"]),
        set(fields.get("tried", ())),
    )
    if made >= rounds:
        return {
            "plans": [{"intent": "synthesis", "query": "", "reasoning": "Enough is known."}],
            "reason": "",
        }
    ways = [
        f"{about} {way}"
        for way in ("records", "figures", "archive", "survey", "ledger", "census", "minutes")
    ]
    queries = [query for query in ways if query not in tried][:2]
    intents = (
        ("deep_dive", "related_topics") if made else ("initial_exploration", "initial_exploration")
    )
    plans = [
        {"intent": intent, "query": query, "reasoning": "One archive was not looked into."}
        for intent, query in zip(intents, queries, strict=False)
    ]
    if made and (found := fields.get("findings")):
        check = {
            "intent": "fact_checking",
            "query": keywords(found[0]["statement"], 8),
            "reasoning": "One source.",
        }
        plans.insert(1, check)
    return {"plans": plans, "reason": "" if plans else "Every archive was looked into."}


def calls(queries: list[str]) -> list[Fields]:
    """Ask the tool that searches everything."""
    return [
        {"tool": "search", "args": [{"name": "query", "value": query}], "reason": "to find out"}
        for query in queries
    ]


def plan_research(fields: Fields) -> Fields:
    """Plan two searches for one aim."""
    about = keywords(fields["question"])
    return {
        "objectives": [f"What is recorded about {about}?"],
        "regions_of_interest": [],
        "keywords": about.split(),
        "coordinates": [],
        "time_range": "",
        "priority_sources": [],
        "initial_queries": [],
        "searches": [f"{about} records", f"{about} figures"],
    }


def decompose_task(fields: Fields) -> Fields:
    """Take a task apart into two parts, the second of which needs the first."""
    about = keywords(fields["question"])
    whats = (f"What is recorded about {about}?", f"What was counted in the matter of {about}?")
    parts = [
        {
            "description": what,
            "focus_area": "thematic",
            "dependencies": ["1"] if number > 1 else [],
            "complexity": "simple",
        }
        for number, what in enumerate(whats, 1)
    ]
    return {
        "task_complexity": "moderate",
        "decomposition_reasoning": "First what, then how many.",
        "sub_tasks": parts,
    }


def analyse(fields: Fields) -> Fields:
    """Say what the first findings state; ask for one more archive while there are few insights."""
    found, about = fields.get("findings", ()), keywords(fields["question"])
    tried = set(fields.get("tried", ()))
    more = [f"{about} {way}" for way in ("archive", "survey") if f"{about} {way}" not in tried]
    return {
        "thinking": "Each record was read by itself.",
        "key_insights": [
            {"statement": item["statement"], "finding_ids": [item["id"]]} for item in found[:6]
        ],
        "hypothesis_implications": [],
        "correlations": [],
        "uncertainties": ["Each record stands alone."],
        "follow_up_queries": [],
        "searches": more[:1],
    }


def correlate(fields: Fields) -> Fields:
    """Keep every proposal, without a word."""
    return {
        "correlations": [
            {
                "finding_ids": item["finding_ids"],
                "correlation_type": item["correlation_type"],
                "description": "",
                "confidence": "medium",
                "implications": [],
                "proposal": item["id"],
            }
            for item in fields.get("proposals", ())
        ]
    }


def verify_conclusions(fields: Fields) -> Fields:
    """Pass every conclusion but each third, which is flagged."""
    checked = [
        {
            "id": item["id"],
            "verdict": "FLAG" if number_of(item["id"]) % 3 == 0 else "PASS",
            "reason": "It stands on one record."
            if number_of(item["id"]) % 3 == 0
            else "The record says so.",
            "adjusted_confidence": None,
        }
        for item in fields.get("conclusions", ())
    ]
    return {"verifications": checked, "ready_for_synthesis": True, "reason": ""}


def write_report(fields: Fields) -> Fields:
    """Say what the first ten findings state, or the texts themselves; the first two lead."""
    noted = [(item["statement"], item["id"]) for item in fields.get("findings", ())[:10]]
    told = (
        noted
        or [
            (" ".join(said.split()), f"{text['id']}:{number}")
            for text in fields.get("texts", ())
            for number, said in re.findall(r"<(\d+)> ([^<>\n]+?\.)(?=\s*(?:<|\n|$))", text["text"])[
                :2
            ]
        ][:10]
    )
    points = [f"- {said} {{{cite}}}" for said, cite in told]
    title = " ".join(said for said, _ in told[:1]).rstrip(".!?")
    top = [f"# {title or fields['question']}", "## Bottom line", "\n".join(points[:2])]
    body = ["## What the records say", "\n".join(points)] if points else []
    return {"markdown": "\n\n".join(filter(None, (*top, *body)))}


def cite_report(fields: Fields) -> Fields:
    """Cite what stands word for word in the texts."""
    places = {
        " ".join(said.split()): f"{text['id']}:{number}"
        for text in fields.get("texts", ())
        for number, said in re.findall(r"<(\d+)> ([^<>\n]+?\.)(?=\s*(?:<|\n|$))", text["text"])
    }
    pieces = re.findall(r"\[(\d+)\] ([^\n]+?)(?=\s*(?:\[\d+\] |\n|$))", fields["report"])
    found = [(number, places.get(" ".join(said.split()))) for number, said in pieces]
    return {"lines": "\n".join(f"{number}: {{{place}}}" for number, place in found if place)}


def outline_report(fields: Fields) -> Fields:
    """Plan one section, on the first ten findings."""
    labels = [found["id"] for found in fields.get("findings", ())[:10]]
    told = [found["statement"] for found in fields.get("findings", ())[:2]]
    return {
        "analysis": "Each record was read by itself.",
        "title": " ".join(told[:1]).rstrip(".!?") or str(fields["question"]),
        "verdict": " ".join(told),
        "sections": [
            {
                "heading": "What the records say",
                "shows": "what each record counted",
                "shape": "list",
                "columns": [],
                "cites": labels,
                "words": 200,
            }
        ],
        "calculations": [],
        "conflicts": [],
        "unknown": [],
    }


def write_sections(fields: Fields) -> Fields:
    """Say under each heading what its findings state, in their own words, a point each."""
    told = {found["id"]: found["statement"] for found in fields.get("findings", ())}
    planned = {
        section["heading"]: section.get("cites", ()) for section in fields["outline"]["sections"]
    }
    parts = []
    for heading in fields.get("write", planned):
        points = [f"- {told[label]} {{{label}}}" for label in planned[heading] if label in told]
        parts.append("\n".join([f"## {heading}", "", *points]))
    return {"markdown": "\n\n".join(parts)}


def write_bottom_line(fields: Fields) -> Fields:
    """Repeat the first two sentences of the sections that cite something."""
    marked = re.findall(r"[^\s{}|#-][^{}|\n]* \{[^{}\n]+\}", str(fields.get("sections", "")))
    return {
        "title": fields["title"],
        "bottom_line": "\n".join(f"- {point}" for point in marked[:2]),
        "missing": [],
        "partly": [],
    }


def check_support(fields: Fields) -> Fields:
    """Find every sentence fully carried."""
    return {
        "checks": [
            {"id": claim["id"], "support": "full", "reason": ""}
            for claim in fields.get("claims", ())
        ]
    }


def repair_sentences(fields: Fields) -> Fields:
    """Put the first quote in place of each sentence."""
    held = fields.get("sentences", ())
    return {
        "repairs": [
            {"id": faulty["id"], "text": next(iter(faulty.get("quotes", ())), "")}
            for faulty in held
        ]
    }


ANSWERS: dict[str, Callable[[Fields], Fields]] = {
    "decompose": decompose,
    "write_queries": lambda fields: queries(
        fields, fields["problem"], ("records", "figures", "archive", "survey")
    ),
    "refute_queries": lambda fields: queries(
        fields, fields["hypothesis"], ("correction", "other count", "denied")
    ),
    "extract_findings": extract_findings,
    "hypothesise": hypothesise,
    "judge": judge,
    "decide": functools.partial(decide, rounds=2),
    "reflect": functools.partial(reflect, rounds=2),
    "decide_action": functools.partial(decide_action, rounds=2),
    "analyse_output": analyse_output,
    "plan_searches": functools.partial(plan_searches, rounds=2),
    "plan_research": plan_research,
    "decompose_task": decompose_task,
    "analyse": analyse,
    "correlate": correlate,
    "verify_conclusions": verify_conclusions,
    "write_report": write_report,
    "cite_report": cite_report,
    "outline_report": outline_report,
    "write_sections": write_sections,
    "write_bottom_line": write_bottom_line,
    "check_support": check_support,
    "repair_sentences": repair_sentences,
}
"""How each task is answered."""
