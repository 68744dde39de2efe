"""Asks the questions of folders of documents in this process, each library opened once, and scores.

The set has FOLDER/docs and FOLDER.questions.jsonl; its own `score.py` judges the reports. Choose on
some folders, and report others once.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

from deepdiver.core.settings import load
from deepdiver.evals.public_sets import DATA
from deepdiver.run import research
from deepdiver.store import open_store

KEPT = Path(tempfile.gettempdir()) / "deepdiver-ask"


def main(arguments: Sequence[str] = ()) -> int:
    """Ask, print a line for each question and a table, and write the rows to a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", type=Path, default=DATA / "ask")
    parser.add_argument("--folders", default="A,B,C", help="first letters, with commas between")
    parser.add_argument("--ids", default="")
    parser.add_argument("--strategy", default="popper")
    parser.add_argument("--kept", type=Path, default=KEPT)
    args = parser.parse_args(arguments)
    if not args.set.is_dir():
        print(f"there is no set at {args.set}: nothing was measured")
        return 0
    scoring = _load_scoring(args.set)
    rows = []
    for file in sorted(args.set.glob("*.questions.jsonl")):
        if file.name[0] in args.folders.split(","):
            rows += _ask_folder(file, args, scoring)
    scoring.table(rows)
    return 0


def _load_scoring(folder: Path) -> Any:
    spec = importlib.util.spec_from_file_location("ask_score", folder / "score.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _ask_folder(file: Path, args: argparse.Namespace, scoring: Any) -> list[dict[str, Any]]:
    asked = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line]
    pool = {
        text
        for q in asked
        for text in (
            *(q.get("never_refuted") or ()),
            *(e["text"] for e in q.get("evidence") or () if e.get("true", True)),
        )
    }
    wanted = {key for key in args.ids.split(",") if key}
    docs = file.with_name(file.name.removesuffix(".questions.jsonl")) / "docs"
    settings = load(
        {
            "home": args.kept,
            "documents": (docs,),
            "search": ("library",),
            "strategy": args.strategy,
            "model": "embedded",
        },
        environ={},
    )
    store = open_store(settings)
    out = args.kept / "reports"
    out.mkdir(parents=True, exist_ok=True)
    rows = []
    for q in asked:
        if wanted and q["id"] not in wanted:
            continue
        given = settings
        if q.get("as_of"):
            given = settings.model_copy(update={"as_of": date.fromisoformat(q["as_of"])})
        began = time.process_time()
        outcome = asyncio.run(research(q["question"], given, store=store))
        seconds = time.process_time() - began
        if outcome.report is None:
            print(q["id"], "failed", outcome.error)
            continue
        told = outcome.report.model_dump(mode="json")
        (out / f"{q['id']}.json").write_text(json.dumps(told, ensure_ascii=False))
        row = scoring.judge(q, scoring.load(told), seconds, pool=pool)
        rows.append(row)
        print(
            f"{q['id']} {q['kind']:13s} {row['status']:12s} {row['confidence']:.2f} "
            f"{'right' if row['right'] else 'ABST' if row['abstained_rightly'] else '-----'} "
            f"{'found' if row.get('evidence_found') else ''} {seconds:.1f}",
            flush=True,
        )
    store.close()
    return rows


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
