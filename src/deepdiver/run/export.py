"""A run as a file for others: what goes into it, by the table of formats (`report.exports`)."""

from __future__ import annotations

from deepdiver.report.exports.formats import FORMATS, Made
from deepdiver.report.exports.package import Saved
from deepdiver.report.exports.pdf import Tell, say_nothing
from deepdiver.run.transfer import take_out
from deepdiver.run.verify import repeat_audit
from deepdiver.store import Store


def make_export(
    run_id: str, store: Store, format_: str, style: str, tell: Tell = say_nothing
) -> Made:
    """Return a run in a format.

    Args:
        run_id: The run.
        store: Where it is kept.
        format_: A name of `FORMATS`.
        style: The citation style of a list of references.
        tell: Receives a line about what the export lacks.

    Raises:
        UnknownNameError: If there is no such run or style.
        UsageError: If the run is not finished, or a package that the format needs is missing.
    """
    chosen, saved = FORMATS[format_], take_out(run_id, store)
    shown = with_evidence(saved) if chosen.carries == "evidence" else saved
    return chosen.make(shown, style, tell)


def with_evidence(saved: Saved) -> Saved:
    """Return a run with the texts that checking its report needs.

    These are the cited ones. To check that the sources do not say something, or that a judgement
    names nothing that none of them names, all of them are needed.
    """
    cited = saved.cited_alone()
    if not (faults := repeat_audit(cited)[1]):
        return cited
    whole = saved.without_journal()
    return cited if repeat_audit(whole)[1] == faults else whole
