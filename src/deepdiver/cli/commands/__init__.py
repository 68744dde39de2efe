"""The commands, one module for each group of them. Nothing heavy is imported at the top of these.

A new command is declared in the module that does it and listed here, in the order of the help.
"""

from __future__ import annotations

from deepdiver.cli.commands import (
    audit,
    batch,
    compare,
    credibility,
    doctor,
    eval,
    export,
    feed,
    library,
    mcp,
    memory,
    providers,
    research,
    runs,
    serve,
    strategies,
    trust,
    update,
    watch,
    worker,
)

COMMANDS = {
    command.name: command
    for command in (
        research.ASK,
        research.RESUME,
        research.DEEPEN,
        update.UPDATE,
        watch.WATCH,
        research.REPLAY,
        batch.BATCH,
        worker.WORKER,
        audit.AUDIT,
        runs.RUNS,
        runs.SHOW,
        compare.COMPARE,
        export.EXPORT,
        export.VERIFY,
        export.IMPORT,
        runs.STOP,
        runs.DELETE,
        library.LIBRARY,
        memory.MEMORY,
        feed.FEED,
        strategies.STRATEGIES,
        providers.PROVIDERS,
        credibility.CREDIBILITY,
        serve.SERVE,
        mcp.MCP,
        trust.TRUST,
        eval.EVAL,
        doctor.DOCTOR,
    )
}
"""Every command by its name."""
