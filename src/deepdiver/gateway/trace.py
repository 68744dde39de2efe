"""OpenTelemetry spans, by the GenAI conventions. Off unless the settings ask for them.

With `trace = "otel"` spans go to whatever tracer the process has set up; the command line sets up
an OTLP exporter, which reads the standard OTEL_* variables. Spans hold who was asked, how long it
took, tokens, cost and the kind of failure: no text, and so no secret.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from deepdiver.core.settings import Settings
from deepdiver.errors import SettingsError
from deepdiver.gateway.request import Reply, Request


class Span(Protocol):
    """What the gateway tells of a call."""

    def settle(self, reply: Reply) -> None:
        """Note what came back."""


class _Silent:
    def settle(self, reply: Reply) -> None:
        """Note nothing."""


class _Told:
    def __init__(self, span: Any) -> None:
        self._span = span

    def settle(self, reply: Reply) -> None:
        self._span.set_attribute("deepdiver.cost_usd", float(reply.cost))
        for name, count in reply.usage.items():
            self._span.set_attribute(f"gen_ai.usage.{name}", count)


class Tracer:
    """Makes a span for each call, or nothing."""

    def __init__(self, settings: Settings, run: str) -> None:
        """Take a tracer from OpenTelemetry if the settings ask for one.

        Raises:
            SettingsError: If they do and the package is not installed.
        """
        self._run = run
        self._tracer: Any = None
        self._failure: Any = None
        if settings.trace == "otel":
            try:
                from opentelemetry import trace
            except ImportError:
                raise SettingsError(
                    "trace = otel needs OpenTelemetry: install deepdiver-research[otel]"
                ) from None
            self._tracer, self._failure = trace.get_tracer("deepdiver"), trace.StatusCode.ERROR

    @contextmanager
    def span(self, request: Request) -> Iterator[Span]:
        """Wrap one call."""
        if self._tracer is None:
            yield _Silent()
            return
        operation = {"model": "chat", "tool": "execute_tool", "mcp": "execute_tool"}.get(
            request.kind, request.kind
        )
        attributes = {
            "gen_ai.operation.name": operation,
            "gen_ai.provider.name": request.provider.partition(":")[0],
            "deepdiver.run": self._run,
            "deepdiver.call": request.key,
        }
        if request.kind == "model":
            attributes["gen_ai.request.model"] = (
                request.provider.partition(":")[2] or request.provider
            )
        with self._tracer.start_as_current_span(
            f"{operation} {request.provider}",
            attributes=attributes,
            record_exception=False,  # would keep its text and its traceback
            set_status_on_exception=False,
        ) as span:
            try:
                yield _Told(span)
            except BaseException as error:
                span.set_attribute(
                    "error.type", str(getattr(error, "fault", "") or type(error).__name__)
                )
                span.set_status(self._failure)
                raise


@contextmanager
def exported(settings: Settings) -> Iterator[None]:
    """Send spans to an OTLP collector, as the OTEL_* variables describe it, until the block ends.

    Nothing is done where the settings do not ask for spans, or where the process has set up its own
    tracing.

    Raises:
        SettingsError: If they do ask and the packages are not installed.
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
        raise SettingsError(
            "trace = otel needs OpenTelemetry: install deepdiver-research[otel]"
        ) from None
    if isinstance(trace.get_tracer_provider(), TracerProvider):
        yield
        return
    provider = TracerProvider(resource=Resource.create({"service.name": "deepdiver"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    try:
        yield
    finally:
        provider.shutdown()  # sends what is left
