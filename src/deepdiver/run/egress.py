"""The egress receipt: what a run sent out, to whom, and which passages of which sources were in it.

It is made from the journal, which holds every call that left the process. Its seal is a hash over
the receipt, the journal and the report, so whoever has the run can make it again and see that
nothing was added or left out. It says nothing about who made it.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from deepdiver.core.identity import canonical, digest
from deepdiver.core.numbering import units_of
from deepdiver.core.record import Report, Run, Source, SourceKind
from deepdiver.core.settings import EMBEDDED, Settings, from_public
from deepdiver.core.shown_text import one_line
from deepdiver.core.text import shingles
from deepdiver.errors import LostTextError
from deepdiver.reason.models import MODEL_URLS
from deepdiver.report.figures.svg import escape_said, escape_text
from deepdiver.report.html import page_head
from deepdiver.report.sentence_trail import strings_of
from deepdiver.store import JournalRow, Store
from deepdiver.tools.address import host_of
from deepdiver.tools.registry import address_of, providers

RUN = 5
"""Words of a run by which sentences are recognised in what was sent. A sentence was sent if all its
runs were; a shorter one may stand in any text."""
HERE = "this machine"
"""The host of what does not leave."""
_LOOPBACK = frozenset(("localhost", "127.0.0.1", "::1"))
_LOCAL = frozenset(("library", EMBEDDED))
_LOCAL_KINDS = frozenset(("human", "steer", "tool"))


def make_receipt(run: Run, store: Store, settings: Settings) -> dict[str, Any]:
    """Return the receipt of a run, as values of JSON.

    Args:
        run: The run.
        store: Its store.
        settings: The settings of this machine; addresses are those of the run.
    """
    rows = store.journal.rows(run.id)
    mine = from_public(run.settings, settings)
    text = store.records.report(run.id)
    each = {(row.kind, row.provider): row for row in rows}
    known = {name: host_for(row, mine) for name, row in each.items()}
    calls = [_call(row, known[row.kind, row.provider]) for row in rows]
    ledger = [
        Source.model_validate_json(held)
        for kind, _, held in store.records.ledger(run.id)
        if kind == "source"
    ]
    left = [(call, row) for call, row in zip(calls, rows, strict=True) if _has_left(call)]
    passages = list(_passages(left, ledger, store))
    documents = {item.url for item in ledger if item.kind is SourceKind.DOCUMENT}
    receipt: dict[str, Any] = {
        "run": run.id,
        "report_hash": Report.model_validate_json(text).hash if text else "",
        "journal_hash": digest(canonical([[row.key, row.state.value, row.sends] for row in rows])),
        "hosts": _hosts(calls),
        "calls": calls,
        "documents": len(documents),
        "passages": passages,
    }
    return receipt | {"seal": seal_of(receipt)}


def seal_of(receipt: Mapping[str, Any]) -> str:
    """Return the hash over a receipt, which names the hashes of its report and its journal."""
    return digest(canonical({key: value for key, value in receipt.items() if key != "seal"}))


def _call(row: JournalRow, host: str) -> dict[str, Any]:
    return {
        "call": row.key[:16],
        "kind": row.kind,
        "provider": row.provider,
        "host": host,
        "what": one_line(row.what, 300),
        "state": row.state.value,
        "sends": row.sends,
        # The content as the journal has it: headers, keys and the schema of an answer come on top.
        "bytes": row.sends * len(row.request.encode()),
    }


def _has_left(call: Mapping[str, Any]) -> bool:
    return bool(call["sends"]) and call["host"] != HERE


def host_for(row: JournalRow, settings: Settings) -> str:
    """Return the host that a call went to; its provider's name if nobody knows the host."""
    name = row.provider.partition(":")[0]
    if row.kind in _LOCAL_KINDS or row.provider in _LOCAL:
        return HERE
    if row.kind == "fetch" and name == "fetch":
        return row.provider.partition(":")[2]
    if row.kind == "mcp":
        server = settings.mcp.servers.get(row.provider.partition(":")[2])
        address = server.url if server else ""
        return _host(address) or (HERE if server else row.provider)
    if row.kind == "model":
        return _host(settings.urls.get(name) or MODEL_URLS.get(name, "")) or row.provider
    found = providers().get(row.provider) if row.kind == "search" else None
    address = address_of(found, settings) if found else settings.urls.get(row.provider, "")
    return _host(address) or row.provider


def _host(address: str) -> str:
    if not address:
        return ""
    host = host_of(address) or urlsplit(address).hostname or ""
    return HERE if host in _LOOPBACK else host


def _hosts(calls: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = defaultdict(lambda: {"calls": 0, "sends": 0, "bytes": 0})
    for call in calls:
        held = found[call["host"]]
        held["calls"] += 1
        held["sends"] += call["sends"]
        held["bytes"] += call["bytes"]
    return dict(sorted(found.items()))


def _passages(
    left: Sequence[tuple[Mapping[str, Any], JournalRow]], sources: Iterable[Source], store: Store
) -> Iterator[dict[str, Any]]:
    """Yield which sources had sentences in what was sent, to whom, and how many of them."""
    sent = _by_host(left)
    for source in sorted(sources, key=lambda item: (item.url, item.id)) if sent else ():
        try:
            text = store.texts.get(source.snapshot)
        except LostTextError:
            yield _passage(source, "unknown", 0, "its saved text is lost")
            continue
        units = [shingles(span.of(text), RUN) for span in units_of(text)]
        for host, told in sent.items():
            if many := sum(unit <= told for unit in units):
                yield _passage(source, host, many, "")


def _passage(source: Source, host: str, many: int, note: str) -> dict[str, Any]:
    return {
        "source": source.url,
        "title": source.title,
        "private": source.kind is SourceKind.DOCUMENT,
        "host": host,
        "sentences": many,
        **({"note": note} if note else {}),
    }


def _by_host(left: Iterable[tuple[Mapping[str, Any], JournalRow]]) -> dict[str, set[str]]:
    """Return the runs of words that were sent to whom; the address of a page is no passage."""
    found: dict[str, set[str]] = defaultdict(set)
    for call, row in left:
        to = f"{call['provider']} at {call['host']}" if row.kind == "model" else call["host"]
        if row.kind != "fetch":
            for said in strings_of(json.loads(row.request)):
                found[to] |= _runs(said)
    return found


def _runs(text: str) -> frozenset[str]:
    """Return the whole runs of words of a text."""
    return frozenset(run for run in shingles(text, RUN) if run.count(" ") == RUN - 1)


def private_line(receipt: Mapping[str, Any]) -> str:
    """Return in one sentence whether anything of the user's documents left the machine."""
    private = [item for item in receipt["passages"] if item["private"] and "note" not in item]
    lost = sum(item["private"] and "note" in item for item in receipt["passages"])
    documents = receipt["documents"]
    if not documents:
        return "The run read no documents of yours."
    read = f"{documents} document{'s' if documents != 1 else ''} of yours"
    if lost and not private:
        return f"The run read {read}; the saved text of {lost} is lost, so nobody can tell."
    if not private:
        return f"The run read {read}, and no passage of them left this machine."
    sentences = sum(item["sentences"] for item in private)
    hosts = ", ".join(sorted({item["host"] for item in private}))
    named = len({item["source"] for item in private})
    return f"The run read {read}; {sentences} sentences of {named} of them went to {hosts}."


def egress_lines(receipt: Mapping[str, Any]) -> Iterator[str]:
    """Yield a receipt as lines."""
    yield f"What run {receipt['run']} sent out"
    yield private_line(receipt)
    yield ""
    out = {host: held for host, held in receipt["hosts"].items() if host != HERE}
    for host, held in out.items():
        yield f"{host}: {held['sends']} requests, {held['bytes']:,} bytes"
    if not out:
        yield "Nothing was sent to another machine."
    if here := receipt["hosts"].get(HERE):
        yield f"{HERE}: {here['calls']} calls, which did not leave it"
    sent = [call for call in receipt["calls"] if _has_left(call)]
    if sent:
        yield from ("", "Requests")
    for call in sent:
        yield f"   {call['kind']} {call['host']}, {call['bytes']:,} bytes: {call['what']}"
    if receipt["passages"]:
        yield from ("", "Passages in them")
    for item in receipt["passages"]:
        whose = "yours" if item["private"] else "public"
        told = item.get("note") or f"{item['sentences']} sentences to {item['host']}"
        yield f"   {one_line(item['title'], 80)} ({whose}, {one_line(item['source'], 120)}): {told}"
    yield ""
    yield f"seal {receipt['seal']} over this receipt, report {receipt['report_hash'][:12]} and " + (
        f"journal {receipt['journal_hash'][:12]}"
    )


def egress_page(receipt: Mapping[str, Any]) -> str:
    """Return a receipt as one self-contained page of HTML."""
    title = f"What run {receipt['run']} sent out"
    rows = "".join(
        f'<tr><th scope="row">{escape_said(host)}</th><td>{held["sends"]}</td>'
        f"<td>{held['bytes']:,}</td></tr>"
        for host, held in receipt["hosts"].items()
    )
    items = "".join(f'<li dir="auto">{escape_said(line)}</li>' for line in _page_lines(receipt))
    parts = [
        *page_head(title),
        f"<body><main><h1>{escape_text(title)}</h1>",
        f'<section class="lead"><p>{escape_said(private_line(receipt))}</p></section>',
        '<table class="compared"><thead><tr><th scope="col">host</th><th scope="col">requests</th>'
        f'<th scope="col">bytes</th></tr></thead><tbody>{rows}</tbody></table>',
        f"<section><h2>Requests and passages</h2><ul>{items}</ul></section></main>",
        f"<footer><hr><p>Seal {escape_text(receipt['seal'])} over this receipt, report "
        f"{escape_text(receipt['report_hash'])} and journal "
        f"{escape_text(receipt['journal_hash'])}.</p></footer></body></html>",
    ]
    return "\n".join(parts) + "\n"


def _page_lines(receipt: Mapping[str, Any]) -> Iterator[str]:
    return (line.strip() for line in egress_lines(receipt) if line.startswith("   "))
