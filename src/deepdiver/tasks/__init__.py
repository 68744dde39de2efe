"""Kinds of thinking: typed input, prompt file, typed answer; and the protocol of whoever performs them."""

from deepdiver.tasks.decide import Decide, Decision
from deepdiver.tasks.extract import Extracted, ExtractFindings, Extraction
from deepdiver.tasks.hypothesise import Hypothesise, HypothesisSet, Proposed
from deepdiver.tasks.judge import Judge, Judgement, Judgements
from deepdiver.tasks.plan import Decompose, Decomposition, Problem
from deepdiver.tasks.query import REMEMBERED, Queries, RefuteQueries, WriteQueries
from deepdiver.tasks.reflect import Note, Reflect, Reflection
from deepdiver.tasks.search_plan import Known, PlanSearches, SearchIntent, SearchPlan, SearchPlans, Seen
from deepdiver.tasks.summarise import Statement, Summarise, Summary, SummaryLine
from deepdiver.tasks.task import Answer, Prompt, Reasoner, Task, block, load_prompt, schema
from deepdiver.tasks.verify import Check, Checks, CheckSupport, Claim
from deepdiver.tasks.views import Recalled, Refuted, Shown, Standing, Text
from deepdiver.tasks.write import (
    Draft,
    DraftSection,
    DraftSentence,
    Faulty,
    Repaired,
    Repairs,
    RepairSentences,
    WriteReport,
)

TASKS: tuple[type[Task[Answer]], ...] = (
    Decompose,
    WriteQueries,
    RefuteQueries,
    ExtractFindings,
    Hypothesise,
    Judge,
    Decide,
    Summarise,
    Reflect,
    PlanSearches,
    WriteReport,
    CheckSupport,
    RepairSentences,
)
"""Every task there is."""

__all__ = [
    "REMEMBERED",
    "TASKS",
    "Answer",
    "Check",
    "CheckSupport",
    "Checks",
    "Claim",
    "Decide",
    "Decision",
    "Decompose",
    "Decomposition",
    "Draft",
    "DraftSection",
    "DraftSentence",
    "ExtractFindings",
    "Extracted",
    "Extraction",
    "Faulty",
    "HypothesisSet",
    "Hypothesise",
    "Judge",
    "Judgement",
    "Judgements",
    "Known",
    "Note",
    "PlanSearches",
    "Problem",
    "Prompt",
    "Proposed",
    "Queries",
    "Reasoner",
    "Recalled",
    "Reflect",
    "Reflection",
    "RefuteQueries",
    "Refuted",
    "RepairSentences",
    "Repaired",
    "Repairs",
    "SearchIntent",
    "SearchPlan",
    "SearchPlans",
    "Seen",
    "Shown",
    "Standing",
    "Statement",
    "Summarise",
    "Summary",
    "SummaryLine",
    "Task",
    "Text",
    "WriteQueries",
    "WriteReport",
    "block",
    "load_prompt",
    "schema",
]
