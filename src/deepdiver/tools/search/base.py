"""The base of providers that ask a service over HTTP.

A provider states what it sends (`query`, `request`), the form of the answer (`response`) and how a
result becomes a hit (`hits`). Journal, price, address, refusals and limits of length are the same
for all of them and are here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from datetime import date
from decimal import Decimal
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel

from deepdiver.core.settings import Limit, Settings
from deepdiver.gateway import Gateway, Reply, Request
from deepdiver.gateway.prices import own_price
from deepdiver.tools.hit import Hit
from deepdiver.tools.http import (
    Form,
    HttpRequest,
    advised,
    key_advice,
    send_for_json,
    send_for_text,
    shaped,
)


class SearchQuery(BaseModel):
    """What a service is asked, by its own names.

    The journal finds an answer by these fields, so a change of a name or a default makes old runs
    unable to find theirs.
    """

    unsent: ClassVar[frozenset[str]] = frozenset()
    """Fields that the journal holds and the service does not get."""

    def fields(self) -> dict[str, Any]:
        """Return the fields that are set, as JSON under the service's names."""
        return self.model_dump(
            mode="json", by_alias=True, exclude_none=True, exclude=set(self.unsent)
        )

    def params(self) -> dict[str, str]:
        """Return the fields that are set, as the query of an address."""
        return {
            name: str(value).lower() if isinstance(value, bool) else str(value)
            for name, value in self.fields().items()
        }


class DatedQuery(SearchQuery):
    """A query to a service that wants a range of days with both ends.

    The journal holds the days as the user gave them. The service gets `dates.day_range`, which may
    end today, and tomorrow the same search must still be found.
    """

    unsent = frozenset({"since", "until"})

    since: date | None = None
    until: date | None = None


QueryT = TypeVar("QueryT", bound=SearchQuery)
ResponseT = TypeVar("ResponseT", bound=BaseModel)


class HttpService(ABC):
    """A service: its name, its address, its key and its price."""

    name: str
    """The name of the provider in settings and on the command line."""
    about: str
    """What it searches, in a few words."""
    group: str = "web"
    """The group of providers that it belongs to: see `registry.GROUPS`."""
    default_url: str
    """Its address, unless the settings name another."""
    key_variable: str = ""
    """The vendor's environment variable for its key; `DEEPDIVER_NAME_KEY` works for all of them."""
    keyless: bool = False
    """Whether it can be used without a key, and free of charge."""
    list_price: Decimal | None = None
    """US dollars for one search at the pay-as-you-go rate; None if that is not known."""
    pace: Limit | None = None
    """How fast it may be called, if that is slower than usual."""

    @property
    def service(self) -> str:
        """The name of the service in the journal and under keys, urls and limits in the settings.

        It differs from the name of the provider only if several services sell the same results.
        """
        return self.name

    def missing(self, settings: Settings) -> str | None:
        """Return that a key must be set, unless there is one, or an address of the user's own."""
        if self.keyless or settings.key(self.service) or settings.urls.get(self.service):
            return None
        return f"set {self.key_variable or f'DEEPDIVER_{self.service.upper()}_KEY'}"

    def address(self, settings: Settings) -> str:
        """Return the address of the service.

        The journal holds it (`registry.reached`): whether a slash at its end stays must not change.
        """
        address = settings.urls.get(self.service, self.default_url)
        return address.rstrip("/") if self.keyless else address

    def url(self, path: str, settings: Settings) -> str:
        """Return the address of one of its paths, which begins with a slash."""
        return self.address(settings).rstrip("/") + path

    def advice(self, settings: Settings) -> str:
        """Return what helps against a refusal; empty for the usual advice to check the key."""
        if self.keyless and self.key_variable:
            return key_advice(settings, self.service, self.key_variable)
        return ""

    def limit(self, settings: Settings) -> Limit | None:
        """Return how fast the service may be called; None for the usual limit."""
        return self.pace

    @property
    def free(self) -> bool:
        """Whether a search costs nothing."""
        return self.keyless or self.list_price == 0

    def price(self, settings: Settings, results: int = 0) -> Decimal | None:
        """Return what a search costs at most, in US dollars; None if that is not known.

        Args:
            settings: The user's own prices, which go before the list price.
            results: How many results are asked for; 0 for as many as the settings say.
        """
        own = own_price(settings, self.name, self.service)
        return own if own is not None else Decimal(0) if self.free else self.list_price

    def reserved(self, settings: Settings, results: int = 0) -> Decimal:
        """Return what is reserved before a search is sent: its price, if it has one."""
        return Decimal(0) if self.free else self.price(settings, results) or Decimal(0)

    async def fetch_json(self, request: HttpRequest, settings: Settings) -> Any:
        """Send a request and return the JSON of the answer.

        Raises:
            CallError: If there is no such answer.
        """
        with self._advised(settings):
            return await send_for_json(self.service, request)

    async def fetch_text(self, request: HttpRequest, settings: Settings) -> str:
        """Send a request and return the text of the answer.

        Raises:
            CallError: If there is no such answer.
        """
        with self._advised(settings):
            return await send_for_text(self.service, request)

    def _advised(self, settings: Settings) -> AbstractContextManager[None]:
        advice = self.advice(settings)
        return advised(advice) if advice else nullcontext()


class HttpProvider(HttpService, Generic[QueryT, ResponseT]):
    """A provider for which one search is one request."""

    response: type[ResponseT]
    """The form of the answer. Its JSON is what the journal holds."""

    @abstractmethod
    def query(self, text: str, limit: int, settings: Settings) -> QueryT:
        """Return what the service is asked for a query of the user.

        Raises:
            CallError: If the service cannot be asked for it.
        """

    @abstractmethod
    def request(self, query: QueryT, settings: Settings) -> HttpRequest:
        """Return the request that carries a query, with the key."""

    @abstractmethod
    def hits(self, response: ResponseT) -> Iterable[Hit | None]:
        """Return a hit for each result, the best first; None for one that cannot be used."""

    async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
        """Search.

        Raises:
            GatewayError: If there is no answer.
        """
        settings = gateway.settings
        asked, price = self.query(query, limit, settings), self.reserved(settings, limit)
        request = Request(
            "search",
            self.service,
            query,
            self.payload(asked),
            worst=price,
            limit=self.limit(settings),
        )
        response = await journalled(
            request,
            lambda: self.fetch(asked, settings),
            self.response,
            gateway,
            cost=lambda response: self.cost(response, price, settings),
        )
        return [hit for hit in self.hits(response) if hit][:limit]

    def payload(self, query: QueryT) -> dict[str, Any]:
        """Return the JSON by which the journal finds the answer.

        For a free service it holds unset fields too. Both ways must stay as they are: old runs
        are found by them.
        """
        return query.model_dump(mode="json", exclude_none=not self.keyless)

    async def fetch(self, query: QueryT, settings: Settings) -> ResponseT:
        """Send a query and return the answer.

        Raises:
            CallError: If there is no answer.
        """
        raw = await self.fetch_json(self.request(query, settings), settings)
        return shaped(self.service, self.response, raw)

    def cost(self, response: ResponseT, price: Decimal, settings: Settings) -> Decimal:
        """Return what a search has cost: its price, unless the service says otherwise."""
        return price


async def journalled(
    request: Request,
    fetch: Callable[[], Awaitable[Form]],
    form: type[Form],
    gateway: Gateway,
    *,
    cost: Callable[[Form], Decimal] = lambda _: Decimal(0),
) -> Form:
    """Return the answer to a request, from the journal if it was sent before.

    Args:
        request: The request as the journal knows it.
        fetch: Gets the answer.
        form: The form of the answer.
        gateway: The gateway of the run.
        cost: Says what an answer has cost; by default nothing.

    Raises:
        GatewayError: If there is no answer.
    """

    async def do() -> Reply:
        answer = await fetch()
        return Reply(answer.model_dump(mode="json"), cost(answer))

    return form.model_validate((await gateway.call(request, do)).value)


def without_empty(values: Mapping[str, str | None]) -> dict[str, str]:
    """Return the values that are set, as parameters or headers: a key, a contact."""
    return {name: value for name, value in values.items() if value}
