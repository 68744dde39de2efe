"""The web app: pages that are made here and read without a script; live where there is one."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from datetime import datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, FastAPI, Form, Query, Request, UploadFile
from fastapi.responses import PlainTextResponse, RedirectResponse, Response, StreamingResponse
from fastapi.sse import format_sse_event
from fastapi.staticfiles import StaticFiles
from fastapi.templating import Jinja2Templates
from markupsafe import Markup
from pydantic import ValidationError
from starlette.datastructures import FormData

from deepdiver import sample
from deepdiver.core.events import EVENT
from deepdiver.core.record import FINISHED, Report, Run, RunStatus
from deepdiver.errors import DeepdiverError, StoreError, UnknownNameError, UsageError
from deepdiver.report.exports.formats import FORMATS
from deepdiver.report.exports.saved_pages import render_saved_pages, with_peeks
from deepdiver.report.figures import svg
from deepdiver.report.figures.pictures import draw_pictures
from deepdiver.report.html import render_body, small_marks
from deepdiver.report.markdown import made_line
from deepdiver.run.answers import open_question
from deepdiver.run.clarify import clarify, with_answer
from deepdiver.run.compare_runs import Relation, comparison_rows
from deepdiver.run.next_questions import next_questions
from deepdiver.run.transfer import take_out
from deepdiver.service import library, runs, watches
from deepdiver.service.accounts import SESSION_SECONDS, Account
from deepdiver.service.api import (
    KEEP_ALIVE,
    STYLE,
    Cursor,
    FileName,
    RunId,
    RunName,
    Service,
    Who,
    export,
)
from deepdiver.service.examination import Check, examine
from deepdiver.service.failures import explain, status_of
from deepdiver.service.feed import ACTIVE
from deepdiver.service.gate import COOKIE
from deepdiver.service.plan_draft import Draft, answer_of, draft_from, draft_of, edited
from deepdiver.service.progress import SHOWN, RunProgress, progress_of
from deepdiver.service.schemas import Answer, NewRun, Steer
from deepdiver.service.state import ServiceState

HERE = Path(__file__).parent
RECENT = 6
"""Runs that the first page shows."""
PAGE = 30
"""Runs that a page of the history shows."""
REDRAW = 0.4
"""Seconds between two pictures of a run in progress: more would be flicker."""
SAMPLES = 3
"""Questions about the sample library that a first visitor is offered."""
Text = Annotated[str, Form()]
router = APIRouter(include_in_schema=False)


def add_pages(app: FastAPI) -> None:
    """Add the web app, its style and its scripts to an app."""
    templates = Jinja2Templates(HERE / "templates")
    templates.env.trim_blocks = templates.env.lstrip_blocks = True
    templates.env.filters |= {
        "day": _day,
        "moment": _moment,
        "money": _money,
        "sentence": _sentence,
    }
    app.state.pages = templates
    app.include_router(router)
    app.mount("/static", StaticFiles(directory=HERE / "static"), name="static")


def _day(at: str) -> str:
    return f"{datetime.fromisoformat(at):%-d %b %Y}"


def _moment(at: str) -> str:
    return f"{datetime.fromisoformat(at):%-d %b, %H:%M}"


def _money(amount: Decimal) -> str:
    """Return an amount in dollars: cents, or what is needed to see anything of it."""
    return f"{amount:.2f}" if not amount or amount >= Decimal("0.1") else f"{amount:.4f}"


def _sentence(text: str) -> str:
    """Return a message, which is written to stand behind a colon, as a sentence of a page."""
    first = text.partition(" ")[0]
    # openai:gpt-5-mini and other names begin as they are written.
    told = text if set(first) & set(":_/.") else text[:1].upper() + text[1:]
    return told if not told or told.endswith((".", "!", "?", "…")) else f"{told}."


def page(request: Request, template: str, status: int = 200, **more: Any) -> Response:
    """Return a page."""
    own = {"account": request.state.account, "here": request.url.path, **more}
    made: Response = request.app.state.pages.TemplateResponse(request, template, own, status)
    return made


def _to(path: str) -> Response:
    return RedirectResponse(path, 303)


@router.get("/static/pictures.css")
def pictures_style() -> Response:
    """The style of the pictures of reports."""
    return Response(svg.STYLE, media_type="text/css")


# Signing in


@router.get("/signin")
def show_door(request: Request) -> Response:
    """The page to sign in."""
    return _to("/") if request.state.account else page(request, "signin.html")


@router.post("/signin")
def sign_in(request: Request, state: Service, token: Text) -> Response:
    """Sign a browser in."""
    session = state.accounts.sign_in(token.strip())
    if not session:
        state.log.add("", "signin.refused")
        return page(request, "signin.html", 401, trouble="Nobody has this token.")
    account = state.accounts.by_session(session)
    state.log.add(account.name if account else "", "signin")
    answer = _to("/")
    answer.set_cookie(
        COOKIE,
        session,
        max_age=int(SESSION_SECONDS),
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return answer


@router.post("/signout")
def sign_out(request: Request, state: Service, who: Who) -> Response:
    """Sign a browser out."""
    state.accounts.sign_out(request.cookies.get(COOKIE, ""))
    state.log.add(who.name, "signout")
    answer = _to("/signin")
    answer.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return answer


# Asking


@router.get("/")
def show_ask(request: Request, state: Service, who: Who) -> Response:
    """The first page: a question, and how to go about it."""
    return _ask_page(request, state, who)


def _ask_page(
    request: Request,
    state: ServiceState,
    who: Account,
    given: NewRun | None = None,
    trouble: str = "",
) -> Response:
    known = runs.choices(state, who)
    usual = NewRun.model_construct(
        question="", sources=known.usual_sources, model=known.models[0], strategy="auto"
    )
    shown = runs.list_runs(state, who, most=RECENT)
    return page(
        request,
        "ask.html",
        422 if trouble else 200,
        ceiling=_told_ceiling(state, who, given or usual),
        known=known,
        given=given or usual,
        opened=given is not None,
        most=state.settings.budget if who.money is None else who.money,
        recent=shown.runs,
        samples=_samples(),
        trouble=trouble,
    )


def _samples() -> list[str]:
    """Return some questions about the sample library, each of another kind."""
    first: dict[sample.QuestionKind, str] = {}
    for item in sample.questions():
        first.setdefault(item.kind, item.text)
    return list(first.values())[:SAMPLES]


def _told_ceiling(state: ServiceState, who: Account, asked: NewRun) -> str:
    """Return what a run can cost at most, in words; empty if that cannot be said yet."""
    try:
        most = runs.ceiling(state, who, asked)
    except DeepdiverError:
        return ""
    if most is None:
        return "What it can cost is not known: a price is missing."
    return f"It can cost at most ${_money(most)}." if most else "It costs nothing."


@router.post("/ask/ceiling")
async def show_ceiling(request: Request, state: Service, who: Who) -> Response:
    """What the question, as the form is filled in now, can cost at most."""
    form = await request.form(max_files=0, max_fields=100)
    given = {name: str(form[name]) for name in form if name not in OTHERS}
    try:
        asked = _asked(form, {**given, "question": given.get("question", "").strip() or "?"})
        told = await asyncio.to_thread(_told_ceiling, state, who, asked)
    except (ValidationError, UsageError):
        told = ""
    return PlainTextResponse(told)


OTHERS = ("sources", "approve", "budget", "answer", "anyway")
"""Fields of the form that are not taken as they are."""


def _asked(form: FormData, given: dict[str, str]) -> NewRun:
    """Return what a form asks for.

    Raises:
        UsageError: If the budget is no number.
        ValidationError: If anything else is not valid.
    """
    lists = {"sources": [str(one) for one in form.getlist("sources")], "approve": "approve" in form}
    return NewRun.model_validate({**given, **lists, "budget": _budget(form.get("budget"))})


@router.post("/ask")
async def ask(request: Request, state: Service, who: Who) -> Response:
    """Begin researching a question; ask back first if nobody could tell what it is about."""
    form = await request.form(max_files=0, max_fields=100)
    given = {name: str(form[name]) for name in form if name not in OTHERS}
    question, answer = given.get("question", "").strip(), str(form.get("answer", "")).strip()
    if question and not answer and "anyway" not in form and (back := clarify(question)):
        kept = [(name, str(text)) for name, text in form.multi_items() if name != "answer"]
        return page(request, "clarify.html", here="/", back=back, kept=kept, question=question)
    if answer:
        given["question"] = with_answer(question, answer)
    try:
        asked = _asked(form, given)
        run, _ = await asyncio.to_thread(runs.create_run, state, who, asked)
    except ValidationError as error:
        return await asyncio.to_thread(
            _ask_page, request, state, who, _kept(form, given), explain(error.errors())
        )
    except UsageError as error:
        return await asyncio.to_thread(
            _ask_page, request, state, who, _kept(form, given), state.scrub(str(error))
        )
    return _to(f"/runs/{run.id}")


def _budget(text: object) -> Decimal | None:
    said = str(text or "").strip().removeprefix("$")
    try:
        return Decimal(said) if said else None
    except InvalidOperation:
        raise UsageError("the budget must be a number of dollars, such as 0.50") from None


def _kept(form: FormData, given: dict[str, str]) -> NewRun:
    """Return what was typed and ticked, whether or not it can be asked, to be shown again."""
    known: dict[str, Any] = {
        name: text for name, text in given.items() if name in NewRun.model_fields
    }
    sources = tuple(name for name in runs.SOURCES if name in form.getlist("sources"))
    ticked = {"sources": sources, "approve": "approve" in form, "budget": form.get("budget")}
    return NewRun.model_construct(**{**known, **ticked})


# A run


@router.get("/runs/{run}")
def show_run(
    request: Request,
    state: Service,
    who: Who,
    run: RunId,
    view: Annotated[str, Query(max_length=20)] = "",
) -> Response:
    """A run: its report, what it waits with, or how far it is."""
    held = runs.find_run(state, who, run)
    if held.status in FINISHED and view != "steps":
        return _read_page(request, state, held)
    shown = open_question(held.id, state.store)
    if shown and shown.get("ask") == "approve_plan":
        return _plan_page(request, held, shown, draft_of(shown))
    if shown:
        return page(request, "review.html", run=held, shown=shown)
    progress = progress_of(state.store.records.events(held.id))
    return page(request, "watch.html", **_seen(state, held, progress))


def _seen(state: ServiceState, run: Run, progress: RunProgress) -> dict[str, Any]:
    active = run.status in ACTIVE
    shown = runs.show_run(state, run, brief=run.status is RunStatus.RUNNING)
    said = runs.said(state, run)
    own = {"run": shown, "progress": progress, "active": active, "shown": SHOWN, "said": said}
    return {**own, "left_out": {item.text for item in said if item.action == "ignore"}}


@router.get("/runs/{run}/stream")
async def stream_run(request: Request, state: Service, who: Who, run: RunId) -> Response:
    """How far a run is, as pieces of its page, as it changes."""
    held = await asyncio.to_thread(runs.find_run, state, who, run)
    return StreamingResponse(_pieces(request, state, held), media_type="text/event-stream")


async def _pieces(request: Request, state: ServiceState, run: Run) -> AsyncGenerator[bytes, None]:
    # Start from what the page already shows: otherwise a long run would replay from its beginning.
    progress = await asyncio.to_thread(lambda: progress_of(state.store.records.events(run.id)))
    clock, drawn, news = asyncio.get_running_loop().time, 0.0, True
    follow = state.feed.follow_by_batches(run.id, progress.last, REDRAW)
    async with aclosing(follow) as batches:
        async for batch in batches:
            for number, text in batch:
                progress.take(number, EVENT.validate_json(text))
            # While it waits in the queue, its place may change without an event.
            news = news or bool(batch) or not progress.last
            if clock() - drawn >= (REDRAW if news else KEEP_ALIVE):
                piece = await asyncio.to_thread(_piece, request, state, run.id, progress)
                yield format_sse_event(data_str=piece)
                drawn, news = clock(), False
    # Not where the service ends: the page waits for it to come back.
    if await asyncio.to_thread(_is_over, state, run.id):
        yield format_sse_event(event="ended", data_str="now")


def _is_over(state: ServiceState, run: str) -> bool:
    """Return whether a run has ended, or waits for somebody."""
    try:
        return state.store.runs.get(run).status not in ACTIVE
    except UnknownNameError:  # it was deleted
        return True
    except (StoreError, ValueError):  # ValueError: the store was closed
        return False


def _piece(request: Request, state: ServiceState, run: str, progress: RunProgress) -> str:
    own = _seen(state, state.store.runs.get(run), progress)
    template = request.app.state.pages.get_template("progress.html")
    text: str = template.render(**own)
    return state.scrub(text)


@router.post("/runs/{run}/stop")
def stop_run(state: Service, who: Who, run: RunId) -> Response:
    """Stop a run."""
    runs.stop_run(state, who, run)
    return _to(f"/runs/{run}")


@router.post("/runs/{run}/resume")
def resume_run(state: Service, who: Who, run: RunId) -> Response:
    """Go on with a run."""
    runs.resume_run(state, who, run)
    return _to(f"/runs/{run}")


@router.post("/runs/{run}/steer")
def steer_run(state: Service, who: Who, run: RunId, action: Text, text: Text) -> Response:
    """Say to a run under way what to look at too, or which source to leave out."""
    try:
        said = Steer.model_validate({"action": action, "text": text})
    except ValidationError as error:
        raise UsageError(explain(error.errors())) from None
    runs.steer_run(state, who, run, said)
    return _to(f"/runs/{run}")


@router.post("/runs/{run}/share")
def share_run(request: Request, state: Service, who: Who, run: RunId) -> Response:
    """Make a link to a report, and show it once."""
    held = runs.find_run(state, who, run)
    link = f"{str(request.base_url).rstrip('/')}{runs.share_run(state, who, run)}"
    return _read_page(request, state, held, link=link)


@router.post("/runs/{run}/unshare")
def unshare_run(state: Service, who: Who, run: RunId) -> Response:
    """End the link to a report."""
    runs.unshare_run(state, who, run)
    return _to(f"/runs/{run}#share")


@router.get("/shared/{token}")
def show_shared(request: Request, state: Service, token: str) -> Response:
    """A report that somebody shares, for anybody who has the link: to read, and nothing else."""
    run = runs.shared_run(state, token)
    body, beside, report = _report_parts(state, run)
    parts: dict[str, Any] = {"body": body, "saved": beside, "made": made_line(report)}
    made = page(request, "shared.html", run=run, report=report, **parts)
    made.headers["X-Robots-Tag"] = "noindex, nofollow"
    made.headers["Referrer-Policy"] = "no-referrer"
    return made


@router.post("/runs/{run}/watch")
def watch_run(state: Service, who: Who, run: RunId, every: Annotated[int, Form()]) -> Response:
    """Put a run on the watch list."""
    if every not in watches.PERIODS:
        raise UsageError("choose how often to look again")
    watches.watch_run(state, who, run, every)
    return _to("/watching")


@router.post("/runs/{run}/unwatch")
def unwatch_run(state: Service, who: Who, run: RunId) -> Response:
    """Take a run off the watch list."""
    watches.unwatch_run(state, who, run)
    return _to("/watching")


@router.get("/watching")
def show_watches(request: Request, state: Service, who: Who) -> Response:
    """The watched runs, and when their claims moved."""
    listed = watches.list_watches(state, who)
    periods = watches.PERIODS
    return page(request, "watching.html", here="/history", listed=listed, periods=periods)


@router.get("/compare")
def show_comparison(
    request: Request,
    state: Service,
    who: Who,
    run: Annotated[tuple[RunName, ...], Query(max_length=20)] = (),
) -> Response:
    """Two runs side by side."""
    if len(run) != 2:
        raise UsageError("choose two finished runs in the history to compare them")
    found = watches.compare(state, who, run[0], run[1])
    relations: tuple[Relation, ...] = ("contradicts", "changed", "same")
    pairs = {relation: found.related(relation) for relation in relations}
    rows = comparison_rows(found)[1:]
    return page(request, "compare.html", here="/history", found=found, pairs=pairs, rows=rows)


@router.post("/runs/{run}/delete")
def delete_run(state: Service, who: Who, run: RunId) -> Response:
    """Delete a run."""
    runs.delete_run(state, who, run)
    return _to("/history")


@router.post("/runs/{run}/deepen/{section}")
def deepen_run(state: Service, who: Who, run: RunId, section: int) -> Response:
    """Look deeper into a section, in a new run."""
    return _to(f"/runs/{runs.deepen_run(state, who, run, section).id}")


@router.get("/runs/{run}/exports/{format}")
def export_run(state: Service, who: Who, run: RunId, format: str) -> Response:
    """A file for others."""
    return export(state, who, run, format, STYLE)


# A plan, and an answer to review


def _plan_page(
    request: Request, run: Run, shown: dict[str, Any], draft: Draft, trouble: str = ""
) -> Response:
    ceiling = str(shown.get("ceiling") or "")
    return page(
        request,
        "plan.html",
        422 if trouble else 200,
        run=run,
        draft=draft,
        ceiling="nothing" if ceiling and not ceiling.strip("$0.") else ceiling,
        trouble=trouble,
    )


@router.post("/runs/{run}/plan")
async def edit_plan(request: Request, state: Service, who: Who, run: RunId) -> Response:
    """Change a plan, which shows it again, or start with it."""
    form = await request.form(max_files=0, max_fields=100)
    draft, act = draft_from(form), str(form.get("act", "start"))
    held = await asyncio.to_thread(runs.find_run, state, who, run)
    shown = await asyncio.to_thread(open_question, run, state.store)
    if shown is None:
        return _to(f"/runs/{run}")
    if act != "start":
        return _plan_page(request, held, shown, edited(draft, act))
    try:
        await asyncio.to_thread(runs.answer_run, state, who, run, answer_of(draft, shown))
    except (ValidationError, UsageError) as error:
        why = explain(error.errors()) if isinstance(error, ValidationError) else str(error)
        return _plan_page(request, held, shown, draft, why)
    return _to(f"/runs/{run}")


@router.post("/runs/{run}/answer")
def answer_run(
    request: Request,
    state: Service,
    who: Who,
    run: RunId,
    action: Text,
    reason: Text = "",
    constraints: Text = "",
) -> Response:
    """Answer a run that waits with a plan or an answer."""
    try:
        said = Answer.model_validate(
            {"action": action, "reason": reason, "constraints": constraints}
        )
    except ValidationError as error:
        raise UsageError(explain(error.errors())) from None
    runs.answer_run(state, who, run, said)
    return _to(f"/runs/{run}")


# Reading


def _report_parts(state: ServiceState, run: Run) -> tuple[Markup, Markup, Report]:
    """Return the report of a run and its saved sources as parts of a page."""
    saved = take_out(run.id, state.store)
    report = saved.report
    drawn = draw_pictures(
        report, saved.ledger, saved.text, scene=saved.scene, history=saved.history
    )
    # Both parts at once: the way back from a quote depends on which citations are links.
    mark = "<!-- beside -->"
    told = "".join(render_body(report, drawn, small_marks))
    both = f"{told}{mark}{render_saved_pages(saved)}"
    body, _, beside = state.scrub(with_peeks(both, report)).partition(mark)
    # Both are made from escaped texts alone (report/html.py).
    return Markup(body), Markup(beside), report  # noqa: S704


def _read_page(request: Request, state: ServiceState, run: Run, **more: Any) -> Response:
    body, beside, report = _report_parts(state, run)
    return page(
        request,
        "read.html",
        run=run,
        report=report,
        body=body,
        saved=beside,
        made=made_line(report),
        sections=_deeper(report),
        formats={name: made.about for name, made in FORMATS.items()},
        suggested=next_questions(report),
        shared=state.shares.since(run.id),
        watched=watches.is_watched(state, run.id),
        periods=watches.PERIODS,
        **more,
    )


def _deeper(report: Report) -> list[str]:
    return [section.heading for section in report.sections]


@router.post("/runs/{run}/ask")
def ask_about(request: Request, state: Service, who: Who, run: RunId, question: Text) -> Response:
    """Answer a question from what a run has read."""
    held = runs.find_run(state, who, run)
    told = runs.follow_up(state, who, run, question)
    return _read_page(request, state, held, asked=state.scrub(question.strip()), told=told)


# History, library, settings


@router.get("/history")
def show_history(
    request: Request,
    state: Service,
    who: Who,
    q: Annotated[str, Query(max_length=200)] = "",
    cursor: Cursor = "",
) -> Response:
    """All runs, the newest first."""
    found = runs.list_runs(state, who, q, PAGE, cursor)
    return page(request, "history.html", found=found, q=q, cursor=cursor)


@router.get("/library")
def show_library(
    request: Request, state: Service, who: Who, q: Annotated[str, Query(max_length=1_000)] = ""
) -> Response:
    """The user's own files."""
    return _library_page(request, state, who, q)


def _library_page(
    request: Request,
    state: ServiceState,
    who: Any,
    q: str = "",
    trouble: DeepdiverError | None = None,
) -> Response:
    return page(
        request,
        "library.html",
        status_of(trouble) if trouble else 200,
        here="/library",
        listed=library.list_files(state, who),
        q=q.strip(),
        passages=library.search_files(state, who, q) if q.strip() else (),
        trouble=state.scrub(str(trouble)) if trouble else "",
    )


@router.post("/library/files")
def add_files(request: Request, state: Service, who: Who, files: list[UploadFile]) -> Response:
    """Add files to the library."""
    try:
        for file in files:
            library.add_file(state, who, file.filename or "", file.file)
    except UsageError as error:
        return _library_page(request, state, who, trouble=error)
    return _to("/library")


@router.post("/library/files/{name}/remove")
def remove_file(state: Service, who: Who, name: FileName) -> Response:
    """Remove a file."""
    library.remove_file(state, who, name)
    return _to("/library")


@router.get("/library/files/{name}")
def show_file(
    request: Request,
    state: Service,
    who: Who,
    name: FileName,
    start: Annotated[int, Query(ge=0)] = 0,
    end: Annotated[int, Query(ge=0)] = 0,
) -> Response:
    """A document as it was read."""
    entry, text = library.read_file(state, who, name)
    end = max(start, min(end, len(text)))
    parts: dict[str, Any] = {"before": text[:start], "hit": text[start:end], "after": text[end:]}
    return page(request, "document.html", here="/library", name=name, entry=entry, **parts)


@router.get("/settings")
def show_settings(request: Request, state: Service, who: Who) -> Response:
    """What is set up, and what is missing."""
    return _settings_page(request, state, who, offline=True)


@router.post("/settings/reach")
def try_to_reach(request: Request, state: Service, who: Who) -> Response:
    """What is set up, what is missing, and what of it can be reached; only because one asks."""
    return _settings_page(request, state, who, offline=False)


def _settings_page(
    request: Request, state: ServiceState, who: Account, *, offline: bool
) -> Response:
    # A run of the service can always search the sample, whatever else cannot be reached.
    documents = state.settings.documents or (sample.LIBRARY,)
    known = state.settings.model_copy(update={"documents": documents})
    found = examine(known, offline=offline)
    parts: dict[str, list[Check]] = defaultdict(list)
    for check in found.checks:
        if check.part not in ("settings", "home"):  # the places of this machine are not theirs
            parts[check.part].append(replace(check, says=state.scrub(check.says)))
    log = state.log.lines(who.name, 20)
    own: dict[str, Any] = {"found": found, "parts": parts, "log": log, "tried": not offline}
    return page(request, "settings.html", here="/settings", **own)
