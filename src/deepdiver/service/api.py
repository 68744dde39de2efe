"""The REST API under /api/v1. FastAPI makes the OpenAPI document from the functions here."""

from __future__ import annotations

import asyncio
import io
import zipfile
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Path, Query, Request, UploadFile
from fastapi.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from fastapi.sse import format_sse_event
from pydantic import Field

from deepdiver.core.record import FINISHED
from deepdiver.errors import UnknownNameError, UsageError
from deepdiver.report.exports.formats import FORMATS
from deepdiver.report.markdown import render_markdown
from deepdiver.run.clarify import clarify
from deepdiver.run.export import make_export
from deepdiver.service import library, runs, watches
from deepdiver.service.accounts import Account
from deepdiver.service.feed import ACTIVE
from deepdiver.service.schemas import (
    Answer,
    AskedBack,
    Ceiling,
    Choices,
    Failure,
    FollowUp,
    FollowUpAnswer,
    FoundPassages,
    LibraryFiles,
    NewRun,
    RunList,
    RunState,
    SharedLink,
    Steer,
    Vague,
    WatchPeriod,
    WatchState,
    WatchStates,
)
from deepdiver.service.state import ServiceState

STYLE = "apa"
"""The citation style of a list of references, where nobody says."""
KEEP_ALIVE = 15.0
"""Seconds after which a silent stream sends a comment, so that no proxy takes it for dead."""
MEDIA = {
    "pdf": "application/pdf",
    "html": "text/html; charset=utf-8",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "md": "text/markdown; charset=utf-8",
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
    "csl": "application/json",
}
"""Media types of exports; plain text otherwise."""
FAILURES: dict[int | str, dict[str, Any]] = {
    401: {"model": Failure, "description": "A bearer token is required"},
    404: {"model": Failure, "description": "There is no such thing of yours"},
    409: {"model": Failure, "description": "A process is working on it"},
    413: {"model": Failure, "description": "The request is too large"},
    422: {"model": Failure, "description": "The request cannot be done"},
    429: {"model": Failure, "description": "A limit of yours is reached"},
    503: {"model": Failure, "description": "The database did not answer"},
}
router = APIRouter(prefix="/api/v1", responses=FAILURES)


# Not plain functions, for each of which FastAPI would wait for a thread.
async def service_of(request: Request) -> ServiceState:
    """Return the state of the service."""
    state: ServiceState = request.app.state.service
    return state


async def account_of(request: Request) -> Account:
    """Return who asks; the gate has let nobody else through."""
    account: Account = request.state.account
    return account


Service = Annotated[ServiceState, Depends(service_of)]
Who = Annotated[Account, Depends(account_of)]
RUN_NAME = r"^[A-Za-z0-9-]+$"
RunId = Annotated[str, Path(min_length=1, max_length=100, pattern=RUN_NAME)]
RunName = Annotated[str, Field(min_length=1, max_length=100, pattern=RUN_NAME)]
Cursor = Annotated[str, Query(max_length=160, pattern=r"^([0-9T:.Z+-]+~[A-Za-z0-9-]+)?$")]
"""Where a page of a list ended: when its last run was created, and its id."""
FileName = Annotated[str, Path(min_length=1, max_length=255)]
IdempotencyKey = Annotated[
    str | None, Header(min_length=1, max_length=200, pattern=r"^[\x21-\x7e]+$")
]


@router.get("/choices")
def get_choices(state: Service, who: Who) -> Choices:
    """What a question can be asked with: strategies, models, sources, formats of an export."""
    return runs.choices(state, who)


@router.post("/clarify")
def ask_back(asked: Vague) -> AskedBack:
    """What to ask back about a question that does not say what it is about."""
    return AskedBack(question=clarify(asked.question))


@router.post("/ceiling")
def get_ceiling(state: Service, who: Who, asked: NewRun) -> Ceiling:
    """What a run can cost at most; nothing is begun."""
    return Ceiling(usd=runs.ceiling(state, who, asked))


@router.post("/runs", status_code=201, responses={200: {"model": RunState}})
def create_run(
    state: Service,
    who: Who,
    asked: NewRun,
    response: Response,
    idempotency_key: IdempotencyKey = None,
) -> RunState:
    """Begin researching a question; returns at once.

    The same Idempotency-Key twice is one run: the second time, it is returned with 200.
    """
    run, new = runs.create_run(state, who, asked, idempotency_key)
    response.status_code = 201 if new else 200
    response.headers["Location"] = f"/api/v1/runs/{run.id}"
    return runs.show_run(state, run)


@router.get("/runs")
def list_runs(
    state: Service,
    who: Who,
    q: Annotated[str, Query(max_length=200)] = "",
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: Cursor = "",
) -> RunList:
    """Your runs, the newest first; q: those alone whose question has these words."""
    return runs.list_runs(state, who, q, limit, cursor)


@router.get("/runs/{run}")
def get_run(state: Service, who: Who, run: RunId) -> RunState:
    """Where a run stands, and its answer once there is one."""
    return runs.show_run(state, runs.find_run(state, who, run))


@router.delete("/runs/{run}", status_code=204)
def delete_run(state: Service, who: Who, run: RunId) -> None:
    """Stop a run if need be, and delete its rows, its texts and its files."""
    runs.delete_run(state, who, run)


@router.post("/runs/{run}/stop")
def stop_run(state: Service, who: Who, run: RunId) -> RunState:
    """Stop a run, or take it out of the queue. It is saved, and can be resumed."""
    return runs.show_run(state, runs.stop_run(state, who, run))


@router.post("/runs/{run}/resume")
def resume_run(state: Service, who: Who, run: RunId) -> RunState:
    """Go on with a run that was stopped or failed; what it has paid for is not bought again."""
    return runs.show_run(state, runs.resume_run(state, who, run))


@router.post("/runs/{run}/answer")
def answer_run(state: Service, who: Who, run: RunId, said: Answer) -> RunState:
    """Answer a run that waits with a plan or an answer; it goes on by itself then."""
    return runs.show_run(state, runs.answer_run(state, who, run, said))


@router.post("/runs/{run}/steer")
def steer_run(state: Service, who: Who, run: RunId, said: Steer) -> RunState:
    """Say to a run under way what to look at too, or which source to leave out.

    It heeds that before one of its next steps.
    """
    return runs.show_run(state, runs.steer_run(state, who, run, said))


@router.post("/runs/{run}/share", status_code=201)
def share_run(state: Service, who: Who, run: RunId) -> SharedLink:
    """Make a link by which anybody may read the report; one that was made before ends."""
    return SharedLink(path=runs.share_run(state, who, run))


@router.delete("/runs/{run}/share", status_code=204)
def unshare_run(state: Service, who: Who, run: RunId) -> None:
    """End the link to a report."""
    runs.unshare_run(state, who, run)


@router.get("/runs/{run}/compare/{other}")
def compare_runs(state: Service, who: Who, run: RunId, other: RunId) -> dict[str, Any]:
    """Two runs side by side: what both say, where they part, and what only one of them says."""
    return watches.compare_as_json(state, who, run, other)


@router.put("/runs/{run}/watch")
def watch_run(state: Service, who: Who, run: RunId, asked: WatchPeriod) -> WatchState:
    """Look at a finished run's question again every so often; the watch list has what moved."""
    return watches.watch_run(state, who, run, asked.days * watches.DAY)


@router.delete("/runs/{run}/watch", status_code=204)
def unwatch_run(state: Service, who: Who, run: RunId) -> None:
    """Do not look at it again."""
    watches.unwatch_run(state, who, run)


@router.get("/watches")
def list_watches(state: Service, who: Who) -> WatchStates:
    """Your watched runs, and when their claims moved."""
    return WatchStates(watches=watches.list_watches(state, who))


@router.post("/runs/{run}/deepen/{section}", status_code=201)
def deepen_run(
    state: Service, who: Who, run: RunId, section: Annotated[int, Path(ge=1, le=999)]
) -> RunState:
    """Look deeper into a section of a report, in a new run."""
    return runs.show_run(state, runs.deepen_run(state, who, run, section))


@router.post("/runs/{run}/ask")
def ask_about_run(state: Service, who: Who, run: RunId, asked: FollowUp) -> FollowUpAnswer:
    """Answer a question from the findings of a finished run alone."""
    return runs.follow_up(state, who, run, asked.question)


@router.get(
    "/runs/{run}/events",
    response_class=StreamingResponse,
    responses={
        200: {"content": {"text/event-stream": {}}, "description": "The events, as they happen"},
        204: {"description": "There are no further events: do not connect again"},
    },
)
async def follow_run(
    state: Service,
    who: Who,
    run: RunId,
    last_event_id: Annotated[str | None, Header(max_length=40)] = None,
    after: Annotated[int, Query(ge=0, le=2**31)] = 0,
) -> Response:
    """The events of a run, as they happen.

    A client that connects again sends Last-Event-ID, or `after`, and gets each event once. The
    stream ends when the run does, or waits for a person.
    """
    held = await state.looks.look((who, run), lambda: runs.find_run(state, who, run))
    start = int(last_event_id) if last_event_id and last_event_id.isdecimal() else after
    # A run that goes on has more to tell: the feed reads its events once for all listeners.
    if held.status not in ACTIVE:
        missed = await asyncio.to_thread(state.store.records.events, run, start)
        if not missed:
            return Response(status_code=204)
    return StreamingResponse(_stream(state, run, start), media_type="text/event-stream")


async def _stream(state: ServiceState, run: str, after: int) -> AsyncIterator[bytes]:
    yield b"retry: 1000\n\n"
    async with aclosing(state.feed.follow_by_batches(run, after, KEEP_ALIVE)) as batches:
        async for batch in batches:
            events = (format_sse_event(data_str=text, id=str(number)) for number, text in batch)
            yield b"".join(events) or b": nothing new\n\n"


@router.get(
    "/runs/{run}/report",
    responses={200: {"content": {"text/markdown": {}, "application/json": {}}}},
)
def get_report(
    state: Service,
    who: Who,
    run: RunId,
    format: Annotated[str, Query(pattern="^(markdown|json)$")] = "markdown",
) -> Response:
    """The report of a finished run, as Markdown or as data."""
    report = runs.report_of(state, runs.find_run(state, who, run))
    if format == "json":
        return JSONResponse(report.model_dump(mode="json"))
    return PlainTextResponse(render_markdown(report), media_type="text/markdown")


@router.get("/runs/{run}/exports/{format}", responses={200: {"content": {"*/*": {}}}})
def export_run(
    state: Service,
    who: Who,
    run: RunId,
    format: Annotated[str, Path(json_schema_extra={"enum": list(FORMATS)})],
    style: Annotated[str, Query(pattern="^[a-z]+$", max_length=40)] = STYLE,
) -> Response:
    """A file for others; see `deepdiver export`. A folder comes as a zip archive."""
    return export(state, who, run, format, style)


def export(state: ServiceState, who: Account, run: str, name: str, style: str) -> Response:
    """Return a run as a file to keep.

    Raises:
        UnknownNameError: If there is no such run or format, or no report yet.
    """
    held = runs.find_run(state, who, run)
    if name not in FORMATS:
        raise UnknownNameError(f"there is no format {name[:40]!r}: use {', '.join(FORMATS)}")
    if held.status not in FINISHED:
        raise UnknownNameError(f"run {held.id} has no report yet: it is {held.status.value}")
    made = make_export(held.id, state.store, name, style)
    state.log.add(who.name, "run.export", f"{held.id} {name}")
    body, suffix = (_zipped(made), ".zip") if isinstance(made, Mapping) else (made, "")
    headers = {
        "Content-Disposition": f'attachment; filename="{held.id}{suffix or FORMATS[name].suffix}"',
        # Whatever a browser makes of strangers' texts, it has nothing to do with this site.
        "Content-Security-Policy": "sandbox; default-src 'none'",
    }
    media = "application/zip" if suffix else MEDIA.get(name, "text/plain; charset=utf-8")
    return Response(body, media_type=media, headers=headers)


def _zipped(folder: Mapping[str, str]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in folder.items():
            archive.writestr(name, text.encode("utf-8", "replace"))
    return made.getvalue()


@router.get("/library/files")
def list_files(state: Service, who: Who) -> LibraryFiles:
    """Your files: what was indexed, what could not be read and why."""
    return library.list_files(state, who)


@router.post("/library/files", status_code=201)
def add_files(state: Service, who: Who, files: list[UploadFile]) -> LibraryFiles:
    """Add files to your library; one of the same name is replaced."""
    for file in files:
        library.add_file(state, who, file.filename or "", file.file)
    return library.list_files(state, who)


@router.delete("/library/files/{name}", status_code=204)
def remove_file(state: Service, who: Who, name: FileName) -> None:
    """Remove a file from your library; what runs have read of it stays with them."""
    library.remove_file(state, who, name)


@router.get("/library/search")
def search_files(
    state: Service,
    who: Who,
    q: Annotated[str, Query(min_length=1, max_length=1_000)],
    limit: Annotated[int, Query(ge=1, le=50)] = 10,
) -> FoundPassages:
    """The best passages of your files for a question or words."""
    if not q.strip():
        raise UsageError("search for something")
    return FoundPassages(passages=library.search_files(state, who, q, limit))
