"""OpenTelemetry spans, by the GenAI conventions. Off unless the settings ask for them.

With `trace = "otel"` spans go to the tracer that the process has set up; the command line sets up
an OTLP exporter, which reads the standard OTEL_* variables. Spans hold the provider, the duration,
tokens, cost and the kind of failure: no text, and so no secret.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from deepdiver.core.settings import Settings
from deepdiver.errors import SettingsError
from deepdiver.gateway.request import Reply, Request

NEEDS_OTEL = "trace = otel needs OpenTelemetry: install deepdiver-research[otel]"
OPERATIONS = {"model": "chat", "tool": "execute_tool", "mcp": "execute_tool"}
"""Names of operations by the conventions; the other kinds of call keep their own names."""


class Span(Protocol):
    """The span of one call."""

    def settle(self, reply: Reply) -> None:
        """Note the cost and the tokens of the reply."""


class _NoSpan:
    def settle(self, reply: Reply) -> None:
        """Note nothing."""


class _OtelSpan:
    def __init__(self, span: Any) -> None:
        self._span = span

    def settle(self, reply: Reply) -> None:
        self._span.set_attribute("deepdiver.cost_usd", float(reply.cost))
        for name, count in reply.usage.items():
            self._span.set_attribute(f"gen_ai.usage.{name}", count)


class Tracer:
    """Makes a span for each call, if the settings ask for spans."""

    def __init__(self, settings: Settings, run: str) -> None:
        """Take a tracer from OpenTelemetry if the settings ask for one.

        Raises:
            SettingsError: If they ask for one and the package is not installed.
        """
        self._run = run
        self._tracer: Any = None
        self._failure: Any = None
        if settings.trace == "otel":
            try:
                from opentelemetry import trace
            except ImportError:
                raise SettingsError(NEEDS_OTEL) from None
            self._tracer, self._failure = trace.get_tracer("deepdiver"), trace.StatusCode.ERROR

    @contextmanager
    def span(self, request: Request) -> Iterator[Span]:
        """Make the span of one call, which ends with the block."""
        if self._tracer is None:
            yield _NoSpan()
            return
        operation = OPERATIONS.get(request.kind, request.kind)
        provider, _, model = request.provider.partition(":")
        attributes = {
            "gen_ai.operation.name": operation,
            "gen_ai.provider.name": provider,
            "deepdiver.run": self._run,
            "deepdiver.call": request.key,
        }
        if request.kind == "model":
            attributes["gen_ai.request.model"] = model or request.provider
        with self._tracer.start_as_current_span(
            f"{operation} {request.provider}",
            attributes=attributes,
            record_exception=False,  # would keep its text and its traceback
            set_status_on_exception=False,
        ) as span:
            try:
                yield _OtelSpan(span)
            except BaseException as error:
                fault = getattr(error, "fault", "") or type(error).__name__
                span.set_attribute("error.type", str(fault))
                span.set_status(self._failure)
                raise


@contextmanager
def export_spans(settings: Settings) -> Iterator[None]:
    """Send spans to an OTLP collector, as the OTEL_* variables describe it, until the block ends.

    Does nothing if the settings do not ask for spans, or if the process has set up its own tracing.

    Raises:
        SettingsError: If the settings ask for spans and the packages are not installed.
    """
    if settings.trace != "otel":
        yield
        return
    try:
        from opentelemetry import trace
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        raise SettingsError(NEEDS_OTEL) from None
    if isinstance(trace.get_tracer_provider(), TracerProvider):
        yield
        return
    provider = TracerProvider(resource=Resource.create({"service.name": "deepdiver"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    try:
        yield
    finally:
        provider.shutdown()  # sends the remaining spans
