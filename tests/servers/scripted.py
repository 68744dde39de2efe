"""One local server that speaks as models and searches do and says what a test tells it to.

    with ScriptedServer(lambda body, n: Answer(text='{"queries": ["a"]}')) as server:
        ...  # OPENAI_BASE_URL = server.openai, DEEPDIVER_TAVILY_URL = OLLAMA_HOST = server.url
        assert len(server.log) == 1

It speaks OpenAI's chat completions (whole, and streamed as server-sent events), Ollama's chat
(whole, and streamed as JSON lines), Anthropic's messages and Google's content generation (whole),
Tavily's search (POST /search), SearXNG's (GET /search?format=json), Serper's (POST /serper/search)
and DuckDuckGo's (POST /html/), and serves the pages that a search found (GET /page/NAME). `GET
/log?since=N` gives the log to other processes, without its first N entries. The real clients talk
to it over a real socket, so what a test sees is what the client does.
"""

from __future__ import annotations

import asyncio
import dataclasses
import html
import json
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any
from urllib.parse import parse_qs

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from tests.patience import PATIENCE
from tests.servers.prompt import PromptServer

CHUNK = 24
"""Characters of text in each piece of a stream."""
SEARCHES = ("/search", "/serper/search", "/html/")
"""Where searches are asked for."""


@dataclass(frozen=True, slots=True)
class Document:
    """A page that a search finds."""

    url: str
    """Where it is; an address that begins with a slash is on this server."""
    title: str
    text: str
    published: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server says to one request."""

    text: str = ""
    """What the model writes."""
    tool_calls: tuple[tuple[str, Any], ...] = ()
    """(name, arguments) of tools the model calls; arguments that are a string go out as they stand,
    broken or not."""
    thinking: str = ""
    """What the model thinks aloud, in the field that servers use for it."""
    refusal: str = ""
    """Why the model declines, in the field that OpenAI uses for it."""
    finish_reason: str = ""
    """Why the model stopped; empty: what fits."""
    usage: bool = True
    """Whether tokens are counted."""
    documents: tuple[Document, ...] = ()
    """What a search finds."""
    status: int = 200
    """HTTP status; from 400 on, `text` is the error's message."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Further HTTP headers."""
    delay: float = 0.0
    """Seconds before the answer begins."""
    raw: bytes | None = None
    """Instead of all this: the body as it goes out."""


ModelScript = Callable[[dict[str, Any], int], Answer]
"""Takes the request's JSON and how many requests to models came before it."""
SearchScript = Callable[[str, int], Answer]
"""Takes the query and how many searches came before it."""
PageScript = Callable[[str], Document]
"""Takes a page's name."""


@dataclass(slots=True)
class Logged:
    """One request that the server met."""

    path: str
    body: dict[str, Any]
    authorised: bool
    """Whether it came with an Authorization header."""
    started: float
    """When it came, by the monotonic clock, which all processes of one machine share."""
    ended: float = 0.0
    """When its answer was sent off; 0 while it is not."""
    status: int = 0


class ScriptedServer:
    """The server, on a free port and in a thread of its own, until the `with` block ends."""

    def __init__(
        self,
        model: ModelScript | None = None,
        search: SearchScript | None = None,
        page: PageScript | None = None,
        *,
        port: int = 0,
    ) -> None:
        """Take the scripts; without one, that kind of request is answered 404."""
        self._model, self._search, self._page = model, search, page
        self._counts = {"model": 0, "search": 0}
        self._lock = threading.Lock()
        self.log: list[Logged] = []
        # With its protocol named, asyncio lets no answer wait for the client to confirm its head.
        self._socket = socket.socket(proto=socket.IPPROTO_TCP)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.bind(("127.0.0.1", port))
        self.port: int = self._socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.openai = f"{self.url}/v1"
        config = uvicorn.Config(
            self.app(), log_level="critical", lifespan="off", ws="none", timeout_graceful_shutdown=1
        )
        self._server = PromptServer(config)
        self._thread = threading.Thread(
            target=self._server.run, args=([self._socket],), daemon=True
        )

    def __enter__(self) -> ScriptedServer:
        self._thread.start()
        ends = time.monotonic() + PATIENCE
        while not self._server.started:
            if time.monotonic() > ends or not self._thread.is_alive():
                raise RuntimeError("the scripted server did not start")
            time.sleep(0.005)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.end()
        self._thread.join(10)
        self._socket.close()

    @property
    def models(self) -> list[Logged]:
        """The requests to models, in the order in which they came."""
        return [
            entry
            for entry in self.log
            if entry.path not in SEARCHES and not entry.path.startswith("/page/")
        ]

    @property
    def searches(self) -> list[Logged]:
        """The searches, in the order in which they came."""
        return [entry for entry in self.log if entry.path in SEARCHES]

    def app(self) -> Starlette:
        """Return the application."""
        return Starlette(
            routes=[
                Route("/v1/chat/completions", self._openai, methods=["POST"]),
                Route("/api/chat", self._ollama, methods=["POST"]),
                Route("/v1/messages", self._anthropic, methods=["POST"]),
                Route("/v1beta/models/{call}", self._google, methods=["POST"]),
                Route("/search", self._tavily, methods=["POST"]),
                Route("/search", self._searxng, methods=["GET"]),
                Route("/serper/search", self._serper, methods=["POST"]),
                Route("/html/", self._duckduckgo, methods=["POST"]),
                Route("/page/{name}", self._read_page, methods=["GET"]),
                Route("/log", self._show_log, methods=["GET"]),
            ]
        )

    async def _openai(self, request: Request) -> Response:
        body = await request.json()
        entry, answer = await self._ask(request, body, "model", body)
        if answer.raw is not None or answer.status >= 400:
            error = {"error": {"message": answer.text, "type": "scripted", "code": None}}
            return self._failed(entry, answer, error)
        if body.get("stream"):
            return self._streamed(entry, answer, openai_events(answer, body), "text/event-stream")
        return self._sent(entry, answer, openai_completion(answer, body))

    async def _ollama(self, request: Request) -> Response:
        body = await request.json()
        entry, answer = await self._ask(request, body, "model", body)
        if answer.raw is not None or answer.status >= 400:
            return self._failed(entry, answer, {"error": answer.text})
        if body.get("stream", True):
            return self._streamed(entry, answer, ollama_lines(answer, body), "application/x-ndjson")
        return self._sent(entry, answer, ollama_message(answer, body))

    async def _anthropic(self, request: Request) -> Response:
        body = await request.json()
        entry, answer = await self._ask(request, body, "model", body)
        if answer.raw is not None or answer.status >= 400:
            return self._failed(
                entry,
                answer,
                {"type": "error", "error": {"type": "scripted", "message": answer.text}},
            )
        return self._sent(entry, answer, anthropic_message(answer, body))

    async def _google(self, request: Request) -> Response:
        body = await request.json()
        entry, answer = await self._ask(request, body, "model", body)
        if answer.raw is not None or answer.status >= 400:
            error = {"code": answer.status, "message": answer.text, "status": "SCRIPTED"}
            return self._failed(entry, answer, {"error": error})
        return self._sent(entry, answer, google_content(answer, body))

    async def _tavily(self, request: Request) -> Response:
        body = await request.json()
        entry, answer = await self._ask(request, body, "search", str(body.get("query", "")))
        if answer.raw is not None or answer.status >= 400:
            return self._failed(entry, answer, {"detail": {"error": answer.text}})
        found = answer.documents[: int(body.get("max_results", 5))]
        whole = bool(body.get("include_raw_content"))
        results = [
            {
                "url": self._at(document),
                "title": document.title,
                "content": document.text[:200],
                "score": round(0.9 - 0.05 * place, 2),
                "raw_content": document.text if whole else None,
                "published_date": document.published or None,
            }
            for place, document in enumerate(found)
        ]
        return self._sent(
            entry, answer, {"query": body.get("query"), "results": results, "response_time": 0.01}
        )

    async def _searxng(self, request: Request) -> Response:
        asked = dict(request.query_params)
        entry, answer = await self._ask(request, asked, "search", asked.get("q", ""))
        if answer.raw is not None or answer.status >= 400:
            return self._failed(entry, answer, {"error": answer.text})
        if asked.get("format") != "json":
            return self._failed(entry, Answer(status=403), {"error": "format"})
        results = [
            {
                "url": self._at(document),
                "title": document.title,
                "content": document.text[:200],
                "publishedDate": document.published or None,
                "engine": "scripted",
            }
            for document in answer.documents
        ]
        return self._sent(entry, answer, {"query": asked.get("q"), "results": results})

    async def _serper(self, request: Request) -> Response:
        body = await request.json()
        entry, answer = await self._ask(request, body, "search", str(body.get("q", "")))
        if answer.raw is not None or answer.status >= 400:
            return self._failed(entry, answer, {"message": answer.text})
        results = [
            {"title": document.title, "link": self._at(document), "snippet": document.text[:200]}
            for document in answer.documents[: int(body.get("num", 10))]
        ]
        return self._sent(
            entry, answer, {"searchParameters": body, "organic": results, "credits": 1}
        )

    async def _duckduckgo(self, request: Request) -> Response:
        asked = {
            name: values[0] for name, values in parse_qs((await request.body()).decode()).items()
        }
        entry, answer = await self._ask(request, asked, "search", asked.get("q", ""))
        if answer.raw is not None or answer.status >= 400:
            return self._failed(entry, answer, {"error": answer.text})
        entry.ended, entry.status = time.monotonic(), answer.status
        found = "".join(
            duckduckgo_result(self._at(document), document) for document in answer.documents
        )
        return HTMLResponse(
            '<!doctype html><html><body><div id="links" '
            f'class="results">{found}</div></body></html>'
        )

    async def _read_page(self, request: Request) -> Response:
        entry = Logged(request.url.path, {}, "authorization" in request.headers, time.monotonic())
        with self._lock:
            self.log.append(entry)
        if self._page is None:
            return self._failed(entry, Answer(status=404), {"error": "no page is scripted here"})
        document = self._page(request.path_params["name"])
        paragraphs = "".join(f"<p>{html.escape(part)}</p>" for part in document.text.split("\n\n"))
        title = html.escape(document.title)
        entry.ended, entry.status = time.monotonic(), 200
        return HTMLResponse(
            f"<!doctype html><html><head><title>{title}</title></head>"
            f"<body><article><h1>{title}</h1>{paragraphs}</article></body></html>"
        )

    def _at(self, document: Document) -> str:
        return self.url + document.url if document.url.startswith("/") else document.url

    async def _show_log(self, request: Request) -> Response:
        since = int(request.query_params.get("since", 0))
        with self._lock:
            return JSONResponse([dataclasses.asdict(entry) for entry in self.log[since:]])

    async def _ask(
        self, request: Request, body: dict[str, Any], kind: str, asked: Any
    ) -> tuple[Logged, Answer]:
        entry = Logged(request.url.path, body, "authorization" in request.headers, time.monotonic())
        with self._lock:
            number = self._counts[kind]
            self._counts[kind] += 1
            self.log.append(entry)
        script: Callable[[Any, int], Answer] | None = (
            self._model if kind == "model" else self._search
        )
        answer = (
            script(asked, number) if script else Answer(status=404, text="nothing is scripted here")
        )
        await asyncio.sleep(answer.delay)
        return entry, answer

    def _sent(self, entry: Logged, answer: Answer, content: Any) -> Response:
        entry.ended, entry.status = time.monotonic(), answer.status
        return JSONResponse(content, answer.status, dict(answer.headers))

    def _failed(self, entry: Logged, answer: Answer, content: Any) -> Response:
        if answer.raw is None:
            return self._sent(entry, answer, content)
        entry.ended, entry.status = time.monotonic(), answer.status
        return Response(
            answer.raw, answer.status, dict(answer.headers), media_type="application/json"
        )

    def _streamed(
        self, entry: Logged, answer: Answer, pieces: Iterator[str], media: str
    ) -> Response:
        async def body() -> AsyncIterator[str]:
            for piece in pieces:
                yield piece
            entry.ended, entry.status = time.monotonic(), answer.status

        return StreamingResponse(body(), answer.status, dict(answer.headers), media_type=media)


def duckduckgo_result(url: str, document: Document) -> str:
    """Return a result as it stands in DuckDuckGo's page without scripts."""
    place, title, text = (html.escape(part) for part in (url, document.title, document.text[:200]))
    return (
        f'<div class="result results_links web-result"><div class="links_main result__body">'
        f'<h2 class="result__title"><a class="result__a" href="{place}">{title}</a></h2>'
        f'<a class="result__snippet" href="{place}">{text}</a></div></div>'
    )


def tokens(body: dict[str, Any], answer: Answer) -> tuple[int, int]:
    """Count tokens as a tokenizer of four characters to the token would, in and out."""
    read = json.dumps(body.get("messages", []))
    written = answer.text + answer.thinking + json.dumps(answer.tool_calls)
    return len(read) // 4 + 1, len(written) // 4 + 1


def openai_completion(answer: Answer, body: dict[str, Any]) -> dict[str, Any]:
    """Return a whole chat completion."""
    message: dict[str, Any] = {
        "role": "assistant",
        "content": answer.text or None,
        "refusal": answer.refusal or None,
    }
    if answer.thinking:
        message["reasoning_content"] = answer.thinking
    if answer.tool_calls:
        message["tool_calls"] = _openai_tools(answer)
    reason = answer.finish_reason or ("tool_calls" if answer.tool_calls else "stop")
    choice = {"index": 0, "message": message, "finish_reason": reason}
    return {
        **_openai_head(body, "chat.completion"),
        "choices": [choice],
        **_openai_usage(answer, body),
    }


def openai_events(answer: Answer, body: dict[str, Any]) -> Iterator[str]:
    """Walk the events of a streamed chat completion."""
    head = _openai_head(body, "chat.completion.chunk")

    def event(delta: dict[str, Any], reason: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return f"data: {json.dumps({**head, 'choices': [choice]})}\n\n"

    yield event({"role": "assistant", "content": ""})
    for piece in _pieces(answer.text):
        yield event({"content": piece})
    if answer.refusal:
        yield event({"refusal": answer.refusal})
    for place, call in enumerate(_openai_tools(answer)):
        arguments = call["function"].pop("arguments")
        yield event(
            {
                "tool_calls": [
                    {"index": place, **call, "function": {**call["function"], "arguments": ""}}
                ]
            }
        )
        for piece in _pieces(arguments):
            yield event({"tool_calls": [{"index": place, "function": {"arguments": piece}}]})
    yield event({}, answer.finish_reason or ("tool_calls" if answer.tool_calls else "stop"))
    if (body.get("stream_options") or {}).get("include_usage"):
        yield f"data: {json.dumps({**head, 'choices': [], **_openai_usage(answer, body)})}\n\n"
    yield "data: [DONE]\n\n"


def ollama_message(answer: Answer, body: dict[str, Any]) -> dict[str, Any]:
    """Return a whole message of Ollama's."""
    return {
        **_ollama_head(body),
        "message": _ollama_words(answer, answer.text),
        **_ollama_end(answer, body),
    }


def ollama_lines(answer: Answer, body: dict[str, Any]) -> Iterator[str]:
    """Walk the lines of a streamed message of Ollama's."""
    head = _ollama_head(body)
    if answer.tool_calls or answer.thinking:
        yield json.dumps({**head, "message": _ollama_words(answer, ""), "done": False}) + "\n"
    for piece in _pieces(answer.text):
        words = {"role": "assistant", "content": piece}
        yield json.dumps({**head, "message": words, "done": False}) + "\n"
    yield (
        json.dumps(
            {**head, "message": {"role": "assistant", "content": ""}, **_ollama_end(answer, body)}
        )
        + "\n"
    )


def anthropic_message(answer: Answer, body: dict[str, Any]) -> dict[str, Any]:
    """Return a message of Anthropic's."""
    blocks: list[dict[str, Any]] = []
    if answer.thinking:
        blocks.append({"type": "thinking", "thinking": answer.thinking, "signature": "made"})
    if answer.text:
        blocks.append({"type": "text", "text": answer.text})
    blocks += [
        {"type": "tool_use", "id": "toolu_1", "name": name, "input": held}
        for name, held in answer.tool_calls
    ]
    read, written = tokens(body, answer)
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", ""),
        "content": blocks,
        "stop_reason": answer.finish_reason or ("tool_use" if answer.tool_calls else "end_turn"),
        "stop_sequence": None,
        "usage": {"input_tokens": read, "output_tokens": written},
    }


def google_content(answer: Answer, body: dict[str, Any]) -> dict[str, Any]:
    """Return generated content of Google's."""
    parts: list[dict[str, Any]] = (
        [{"text": answer.thinking, "thought": True}] if answer.thinking else []
    )
    parts += [{"text": answer.text}] if answer.text else []
    parts += [{"functionCall": {"name": name, "args": held}} for name, held in answer.tool_calls]
    read, written = tokens(body, answer)
    counts = {
        "promptTokenCount": read,
        "candidatesTokenCount": written,
        "totalTokenCount": read + written,
    }
    reason = answer.finish_reason or "STOP"
    candidate = {"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": reason}
    return {"candidates": [candidate], "usageMetadata": counts, "modelVersion": "made"}


def _pieces(text: str) -> Iterator[str]:
    return (text[start : start + CHUNK] for start in range(0, len(text), CHUNK))


def _openai_head(body: dict[str, Any], kind: str) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": kind,
        "created": 1_700_000_000,
        "model": body.get("model", ""),
    }


def _openai_usage(answer: Answer, body: dict[str, Any]) -> dict[str, Any]:
    if not answer.usage:
        return {}
    read, written = tokens(body, answer)
    return {
        "usage": {
            "prompt_tokens": read,
            "completion_tokens": written,
            "total_tokens": read + written,
        }
    }


def _openai_tools(answer: Answer) -> list[dict[str, Any]]:
    return [
        {
            "id": f"call_{place}",
            "type": "function",
            "function": {
                "name": name,
                "arguments": held if isinstance(held, str) else json.dumps(held),
            },
        }
        for place, (name, held) in enumerate(answer.tool_calls)
    ]


def _ollama_head(body: dict[str, Any]) -> dict[str, Any]:
    return {"model": body.get("model", ""), "created_at": "2026-11-01T00:00:00Z"}


def _ollama_words(answer: Answer, text: str) -> dict[str, Any]:
    words: dict[str, Any] = {"role": "assistant", "content": text}
    if answer.thinking:
        words["thinking"] = answer.thinking
    if answer.tool_calls:
        words["tool_calls"] = [
            {"function": {"name": name, "arguments": held}} for name, held in answer.tool_calls
        ]
    return words


def _ollama_end(answer: Answer, body: dict[str, Any]) -> dict[str, Any]:
    end: dict[str, Any] = {
        "done": True,
        "done_reason": answer.finish_reason or "stop",
        "total_duration": 1_000_000,
    }
    if answer.usage:
        end["prompt_eval_count"], end["eval_count"] = tokens(body, answer)
    return end
