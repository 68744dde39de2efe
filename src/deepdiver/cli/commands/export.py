"""The commands about files for others: `deepdiver export`, `verify` and `import`."""

from __future__ import annotations

import argparse
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

from deepdiver.cli import options
from deepdiver.cli.command import Command, argument
from deepdiver.cli.output import print_err, print_json, print_out
from deepdiver.cli.settings import settings_of
from deepdiver.errors import UsageError

FORMATS = (
    "pdf",
    "html",
    "docx",
    "md",
    "json",
    "csv",
    "bibtex",
    "csl",
    "ris",
    "references",
    "obsidian",
    "bundle",
)
"""The names of `report.exports.formats`, which is too heavy to import for the help."""
STYLES = ("apa", "ieee", "chicago", "vancouver", "nature")
"""The names of `report.exports.references.STYLES`, likewise."""
NOT_VERIFIED = 1
"""Exit code if something was altered or does not hold."""


def export(args: argparse.Namespace) -> int:
    """Write a run to a file for others."""
    from deepdiver.report.exports.formats import FORMATS
    from deepdiver.report.files import write_all
    from deepdiver.run.export import make_export
    from deepdiver.store import open_store

    with closing(open_store(settings_of(args))) as store:
        run = store.runs.get(args.run)
        made = make_export(run.id, store, args.written_as, args.style, _note)
    suffix = FORMATS[args.written_as].suffix
    again = f"deepdiver export {run.id} --format {args.written_as} --out PATH"
    if isinstance(made, str | bytes):
        out = _file(args.out, f"{run.id}{suffix}")
        write_all(out.parent, {out.name: made}, again)
    else:
        out = args.out or Path(run.id)
        write_all(out, made, again)
    if args.json:
        print_json({"id": run.id, "format": args.written_as, "out": str(out)})
    else:
        print_err(f"{args.written_as} in {out}")
    return 0


def _note(line: str) -> None:
    print_err(f"note: {line}")


def _file(out: Path | None, name: str) -> Path:
    """Return the file to write: as given, or of the run's name in the folder that is given."""
    if out is None:
        return Path(name)
    return out / name if out.is_dir() else out


def verify(args: argparse.Namespace) -> int:
    """Check a PDF, a page or a bundle from itself alone."""
    from deepdiver.core.shown_text import one_line
    from deepdiver.run.verify import verify

    found = verify(_read(args.file))
    if args.json:
        print_json(asdict(found) | {"verified": not found.faults})
        return NOT_VERIFIED if found.faults else 0
    for fault in found.faults:
        print_out(f"FAULT: {one_line(fault)}")
    for doubt in found.doubts:
        print_out(f"DOUBT: {one_line(doubt)}")
    for note in found.notes:
        print_err(f"note: {one_line(note)}")
    if found.faults:
        return NOT_VERIFIED
    print_out(one_line(found.title))
    print_out(
        f"verified{', with doubts' if found.doubts else ''}: "
        f"{found.sentences} sentences, {found.citations} citations, {found.texts} saved texts"
    )
    print_out("every quote is where it is said to be, every value is carried, all hashes match")
    if many := len(found.doubts):
        print_out(
            f"The reader, a small model, disagrees with {many} "
            f"sentence{'s' if many > 1 else ''}. It may be wrong: read the quotes."
        )
    print_out(f"run    {one_line(found.run)}\nreport {found.report}")
    return 0


def import_(args: argparse.Namespace) -> int:
    """Enter a run from a bundle into this home.

    Raises:
        UsageError: If the file is not a bundle, or was altered.
    """
    from deepdiver.report.exports.package import from_archive, unpack
    from deepdiver.run.transfer import put_in
    from deepdiver.run.verify import kind_of, verify
    from deepdiver.store import open_store

    data = _read(args.file)
    if kind_of(data) != "bundle":
        raise UsageError(
            f"{args.file} is not a bundle: make one with deepdiver export RUN --format bundle"
        )
    if faults := verify(data).faults:
        raise UsageError(f"{args.file} was not imported: {faults[0]}")
    with closing(open_store(settings_of(args))) as store:
        run = put_in(unpack(from_archive(data)), store)
    if args.json:
        print_json({"id": run.id, "status": run.status.value})
    else:
        print_err(f"run {run.id} is here; read it with: deepdiver show {run.id}")
    return 0


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None


_FILE = argument("file", metavar="FILE", type=options.path, help="the file")
EXPORT = Command(
    "export",
    "write a run as pdf, html, docx, bundle and more",
    export,
    takes="RUN",
    arguments=(options.RUN,),
    options=(
        argument(
            "--format",
            metavar="NAME",
            dest="written_as",  # `format` is a setting: the shape of a report
            choices=FORMATS,
            default="pdf",
            help=f"{', '.join(FORMATS[:-1])} or bundle; default: pdf",
        ),
        argument(
            "--out",
            metavar="PATH",
            type=options.path,
            help="file to write, or a folder; default: here, under the run's name",
        ),
        argument(
            "--style",
            metavar="NAME",
            choices=STYLES,
            default="apa",
            help=f"style of the references: {', '.join(STYLES)}; default: apa",
        ),
        options.JSON,
        options.HOME,
        options.DATABASE,
    ),
)
VERIFY = Command(
    "verify",
    "check an exported pdf, html or bundle from itself alone",
    verify,
    takes="FILE",
    arguments=(_FILE,),
    options=(options.JSON,),
)
IMPORT = Command(
    "import",
    "enter a run from a bundle into this home",
    import_,
    takes="FILE",
    arguments=(_FILE,),
    options=(options.JSON, options.HOME, options.DATABASE),
)
