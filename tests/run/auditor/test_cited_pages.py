"""The pages that a report cites: fetched, or found in a folder."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from deepdiver.core.settings import Settings
from deepdiver.errors import UsageError
from deepdiver.report.cited_text import Reference
from deepdiver.run.auditor.cited_pages import (
    A_FILE,
    NO_ADDRESS,
    NOT_THERE,
    ReadReference,
    fetch_cited,
    find_cited,
)
from deepdiver.run.detached import open_errand

PAGE = b"""<html><head><title>Harbour of Vantskar</title></head><body><article>
<p>The harbour of Vantskar froze on 3 March 2026, and all traffic stopped for a week.</p>
<p>The ferry stayed in port, and the icebreaker was called from the capital.</p>
</article></body></html>"""


class Handler(BaseHTTPRequestHandler):
    seen: list[str]

    def do_GET(self) -> None:
        type(self).seen.append(self.path)
        found = self.path == "/ice"
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(PAGE if found else b"<html><body>nothing</body></html>")

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[HTTPServer]:
    Handler.seen = []
    made = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=made.serve_forever, daemon=True)
    thread.start()
    yield made
    made.shutdown()
    made.server_close()


async def fetched(server: HTTPServer, tmp_path: Path, *urls: str) -> dict[str, ReadReference]:
    port = server.server_address[1]
    settings = Settings.model_validate(
        {
            "home": tmp_path / "home",
            "retries": 0,
            "allow_hosts": [f"127.0.0.1:{port}"],
            "limits": {"fetch": {"rate": 1000, "concurrent": 8}},
        }
    )
    references = [
        Reference(str(at), url.replace("HOST", f"http://127.0.0.1:{port}"))
        for at, url in enumerate(urls)
    ]
    async with open_errand(settings) as errand:
        return await fetch_cited(references, errand)


async def test_what_cannot_be_read_says_why(server: HTTPServer, tmp_path: Path) -> None:
    urls = ("HOST/gone", "", "files/a.pdf", "http://10.0.0.1/secret")
    found = await fetched(server, tmp_path, *urls)
    assert all(item.page is None for item in found.values())
    assert (found["0"].gone, "answered 404" in found["0"].reason) == (True, True)
    assert found["1"].reason == NO_ADDRESS
    assert found["2"].reason == A_FILE
    assert not found["3"].gone
    assert "refused" in found["3"].reason


async def test_a_page_is_fetched_once_and_by_the_products_own_way(
    server: HTTPServer, tmp_path: Path
) -> None:
    found = await fetched(server, tmp_path, "HOST/ice", "HOST/ice#part", "HOST/ice?utm_source=x")
    pages = [item.page for item in found.values()]
    assert all(page is not None and "froze on 3 March 2026" in page.text for page in pages)
    assert Handler.seen.count("/ice") + Handler.seen.count("/ice?utm_source=x") == 1
    assert "/robots.txt" in Handler.seen


def folder(tmp_path: Path, **texts: str) -> Path:
    made = tmp_path / "sources"
    made.mkdir()
    for name, text in texts.items():
        (made / name.replace("__", ".")).write_text(text, encoding="utf-8")
    return made


@pytest.mark.parametrize(
    "reference",
    [
        Reference("1", "https://e.org/news/ice-report"),
        Reference("1", "https://www.e.org/ice_report.md#top"),
        Reference("1", "docs/ice-report.md"),
        Reference("1", "", "Berg, ice-report.md, page 3"),
        Reference("1", "https://e.org/x", "Ports Board, Winter of the ice, 2026"),
    ],
    ids=["end of the address", "with its ending", "path", "name", "title"],
)
async def test_a_file_is_found(tmp_path: Path, reference: Reference) -> None:
    made = folder(
        tmp_path, **{"ice-report__md": "# Winter of the ice\n\nIt froze.", "b__md": "# B\n\nNo."}
    )
    (found,) = (await find_cited([reference], made)).values()
    assert found.page is not None
    assert "It froze." in found.page.text


async def test_the_index_of_the_folder_decides(tmp_path: Path) -> None:
    made = folder(tmp_path, a__md="It froze.", ice__md="It thawed.")
    (made / "sources.json").write_text(json.dumps({"https://e.org/ice?utm_source=x": "a.md"}))
    (found,) = (await find_cited([Reference("1", "https://e.org/ice")], made)).values()
    assert found.page is not None
    assert found.page.text == "It froze."


async def test_what_is_not_in_the_folder_is_not_fetched(tmp_path: Path) -> None:
    made = folder(tmp_path, a__md="It froze.")
    found = await find_cited([Reference("1", "https://e.org/other"), Reference("2", "")], made)
    assert [item.reason for item in found.values()] == [NOT_THERE, NOT_THERE]


@pytest.mark.parametrize("text", ["no json", "[1]"])
async def test_an_index_that_cannot_be_read(tmp_path: Path, text: str) -> None:
    made = folder(tmp_path, a__md="x")
    (made / "sources.json").write_text(text)
    with pytest.raises(UsageError, match=r"sources\.json"):
        await find_cited([], made)


async def test_no_such_folder(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        await find_cited([], tmp_path / "gone")
