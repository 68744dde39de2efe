"""The reasoner that needs no key and no network: a finder and weigher of quotes.

One route for all questions. What is asked is read first (`language`: form, topic, statement, kind
of answer). The question is searched for; the passages that were found are rated by the trained
reader and the embeddings (`rating`, the one place where passages are read), and the best become
findings (`find`). The rows of a table answer with a shown calculation (`cells`), a yes-or-no
question is tested both ways (`yes_no`), and other short answers are spans that the reader finds
(`answers`). They are put forward as rival hypotheses (`propose`) and judged (`weigh`): a denial
of the very value alone refutes, and a correction outranks what it corrects. The report
(`account`) states what is supported, and else shows the nearest passages, arranged by the form of
the question; it is never empty-handed where something bears on it. Questions that contain other
questions (`steps`) are followed from name to name by rules (`chain`, `hypothesise`, `judge`,
`steps_report`).
"""

from deepdiver.reason.embedded.reasoner import EmbeddedReasoner

__all__ = ["EmbeddedReasoner"]
