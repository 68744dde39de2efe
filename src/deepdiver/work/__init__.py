"""Queued runs: orders, the queue that they wait in, and the crew that works on them."""

from deepdiver.store import Store
from deepdiver.store.postgres import PostgresStore
from deepdiver.store.sqlite import SqliteStore
from deepdiver.work.crew import Crew
from deepdiver.work.local import LocalQueue
from deepdiver.work.order import Order, order_of
from deepdiver.work.queue import Load, Queue, Taken, Waiting

__all__ = ["Crew", "Load", "Order", "Queue", "Taken", "Waiting", "open_queue", "order_of"]


def open_queue(store: Store) -> Queue:
    """Return the queue of a store.

    Raises:
        StoreError: If its tables cannot be made.
        UsageError: If the package for the queue of a PostgreSQL store is not installed.
        ValueError: If the store is a view of another one, which has no queue.
    """
    if isinstance(store, SqliteStore):
        return LocalQueue(store)
    if isinstance(store, PostgresStore):
        from deepdiver.work.postgres import open_postgres_queue

        return open_postgres_queue(store)
    raise ValueError("only a store that is open in its own database has a queue")
