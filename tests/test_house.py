"""The rules of the house that no linter knows, each with proof that it can fail."""

from __future__ import annotations

import ast
import os
import re
import shutil
import socket
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path, PurePosixPath

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.patience import PATIENCE

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "deepdiver"

BANNED_NAMES = frozenset({"utils", "util", "helpers", "helper", "common", "manager"})
READS_ENVIRONMENT = frozenset({"core/settings.py"})
ENVIRONMENT_NAMES = frozenset({"environ", "environb", "getenv", "getenvb", "putenv"})
PRINTS = frozenset({"cli/output.py"})
OPENS_SOCKETS = ("gateway", "tools", "reason")
SOCKET_MODULES = (
    "aiohttp",
    "ftplib",
    "http.client",
    "httpx",
    "httpx2",
    "imaplib",
    "requests",
    "smtplib",
    "socket",
    "ssl",
    "urllib.request",
    "urllib3",
    "websockets",
)
SOCKET_CALLS = frozenset({"create_connection", "open_connection", "open_unix_connection"})
IMPORTS_BY_NAME = frozenset(
    {
        "__init__.py",  # the public names, imported on first use
        "strategies/table.py",  # the graph of a strategy
        "tools/extract/read_document.py",  # the reader of a format
    }
)
IMPORT_CALLS = frozenset({"import_module", "__import__"})
DOCUMENTED_FIELDS = ("core/record.py",)
WITHOUT_TEST_OF_THEIR_OWN = frozenset({"__init__", "__main__"})

# The brackets keep these patterns from finding themselves.
INDEX_HOST = re.compile(r"py[p]i\.org|python[h]osted|npm[j]s\.(org|com)|deb\.[d]ebian")
MACHINE_PATH = re.compile(r"/wor[k]/(main|shared)|/tm[p]/v/|/roo[t]/")

Check = Callable[[str, str], Iterator[str]]
"""Takes a path inside the package and the file's text, gives complaints."""


def reads_environment(path: str, text: str) -> Iterator[str]:
    """Find uses of the environment outside the one module that may read it."""
    if path in READS_ENVIRONMENT:
        return
    for node in ast.walk(ast.parse(text)):
        names: list[str] = []
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "os"
        ):
            names = [node.attr]
        elif isinstance(node, ast.ImportFrom) and node.module == "os":
            names = [alias.name for alias in node.names]
        for name in ENVIRONMENT_NAMES.intersection(names):
            yield f"{path}:{line(node)}: os.{name} (only core/settings.py reads the environment)"


def prints(path: str, text: str) -> Iterator[str]:
    """Find `print` outside the command line."""
    if path in PRINTS:
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name) and node.id == "print":
            yield f"{path}:{node.lineno}: print (only the command line prints)"


def opens_sockets(path: str, text: str) -> Iterator[str]:
    """Find what can open a connection outside the layers that go through the gateway."""
    if path.startswith(tuple(f"{layer}/" for layer in OPENS_SOCKETS)):
        return
    for node in ast.walk(ast.parse(text)):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        for name in names:
            if any(name == module or name.startswith(f"{module}.") for module in SOCKET_MODULES):
                yield (
                    f"{path}:{line(node)}: imports {name} (only {', '.join(OPENS_SOCKETS)} reach "
                    "outside)"
                )
                break
        if isinstance(node, ast.Attribute) and node.attr in SOCKET_CALLS:
            yield (
                f"{path}:{node.lineno}: {node.attr} (only {', '.join(OPENS_SOCKETS)} reach outside)"
            )


def imports_by_name(path: str, text: str) -> Iterator[str]:
    """Find imports of our own modules by name, which the import contracts cannot see."""
    if path in IMPORTS_BY_NAME:
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module == "importlib":
            for alias in node.names:
                if alias.name in IMPORT_CALLS and alias.asname:
                    yield f"{path}:{node.lineno}: {alias.name} under another name"
        if isinstance(node, ast.Call) and called(node) in IMPORT_CALLS and not foreign(node):
            yield f"{path}:{node.lineno}: imports by name; write an import that contracts can see"


def called(node: ast.Call) -> str:
    """Return the last part of the name of the function that is called."""
    function = node.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def foreign(node: ast.Call) -> bool:
    """Whether an import by name names a module that is not ours."""
    name = node.args[0] if node.args else None
    if not isinstance(name, ast.Constant) or not isinstance(name.value, str):
        return False
    return not name.value.startswith(".") and name.value.partition(".")[0] != "deepdiver"


def undocumented_fields(path: str, text: str) -> Iterator[str]:
    """Find annotated class fields that no docstring follows, in the modules that are the record."""
    if path not in DOCUMENTED_FIELDS:
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ClassDef):
            for field, after in zip(node.body, [*node.body[1:], None], strict=True):
                if isinstance(field, ast.AnnAssign) and not is_docstring(after):
                    yield (
                        f"{path}:{field.lineno}: {node.name}.{ast.unparse(field.target)} has no "
                        "docstring"
                    )


def banned_names(paths: Iterable[str]) -> Iterator[str]:
    """Find files and folders named after nothing in particular."""
    for path in paths:
        if any(part.partition(".")[0] in BANNED_NAMES for part in PurePosixPath(path).parts):
            yield f"{path}: name it after what it does"


def without_test(modules: Iterable[str], tests: Collection[str]) -> Iterator[str]:
    """Find modules of the package whose mirror under tests/ is missing."""
    for module in map(PurePosixPath, modules):
        if module.stem not in WITHOUT_TEST_OF_THEIR_OWN:
            mirror = module.with_name(f"test_{module.stem.lstrip('_')}.py").as_posix()
            if mirror not in tests:
                yield f"src/deepdiver/{module}: tests/{mirror} is missing"


def foreign_names(path: str, text: str) -> Iterator[str]:
    """Find package index hosts, and paths of somebody's machine."""
    for number, content in enumerate(text.splitlines(), start=1):
        if found := INDEX_HOST.search(content):
            yield f"{path}:{number}: names the package index {found.group()}"
        if found := MACHINE_PATH.search(content):
            yield f"{path}:{number}: names a path of one machine: {found.group()}"


def unlocked(wanted: Iterable[str], lock: str) -> Iterator[str]:
    """Find requirements that the lock does not meet, and locked packages without a hash."""
    pins = {}
    for entry in re.sub(r"^#.*\n", "", lock, flags=re.MULTILINE).replace("\\\n", " ").splitlines():
        pin, *hashes = entry.split("--hash=sha256:")
        requirement = Requirement(pin.strip())
        pins[canonicalize_name(requirement.name)] = next(iter(requirement.specifier)).version
        if not hashes:
            yield f"{requirement.name} is locked without a hash"
    for requirement in map(Requirement, wanted):
        version = pins.get(canonicalize_name(requirement.name))
        if version is None or not requirement.specifier.contains(version, prereleases=True):
            yield f"{requirement} is asked for, the lock has {version}"


def line(node: ast.AST) -> int:
    """Give the line of any node that has one."""
    return int(getattr(node, "lineno", 0))


def is_docstring(node: ast.stmt | None) -> bool:
    """Tell whether a statement is a bare string."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def modules() -> list[str]:
    """List the package's Python files, as paths inside the package."""
    return sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))


def tracked() -> list[str]:
    """List the files that git holds or would hold."""
    if not shutil.which("git"):
        pytest.skip("git is not here: there is no list of tracked files to look at")
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],  # noqa: S607
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listing.returncode:
        pytest.skip("not a git checkout: there is no list of tracked files to look at")
    return sorted(path for path in listing.stdout.split("\0") if path and (ROOT / path).is_file())


SOURCE_CHECKS: tuple[Check, ...] = (
    reads_environment,
    prints,
    opens_sockets,
    imports_by_name,
    undocumented_fields,
)

# check, where, what it must complain about, what it must let pass there
CASES: list[tuple[Check, str, str, str]] = [
    (reads_environment, "run.py", "import os\nos.environ['A']", "import os\nos.sep"),
    (reads_environment, "run.py", "import os\nx = os.getenv('A')", "environ = {}\nenviron['A']"),
    (reads_environment, "store/sqlite.py", "from os import environ", "from os import sep"),
    (prints, "run.py", "print('x')", "'print(x)'"),
    (prints, "core/ledger.py", "show = print", "def printed(): ..."),
    (opens_sockets, "run.py", "import httpx", "import http"),
    (
        opens_sockets,
        "cli.py",
        "def f():\n    from urllib.request import urlopen",
        "from urllib.parse import quote",
    ),
    (opens_sockets, "cli.py", "from urllib import request", "from urllib import parse"),
    (opens_sockets, "store/sqlite.py", "import socket as s", "import sockets_of_ours"),
    (
        opens_sockets,
        "run.py",
        "import asyncio\nasyncio.open_connection('h', 1)",
        "import asyncio\nasyncio.sleep(1)",
    ),
    (
        imports_by_name,
        "cli/commands/eval.py",
        "from importlib import import_module\nimport_module('deepdiver.evals.floors')",
        "def f():\n    from deepdiver.evals.floors import bounds",
    ),
    (
        imports_by_name,
        "cli/dispatch.py",
        "import importlib\nimportlib.import_module(module)",
        "import importlib\nimportlib.import_module('openai')",
    ),
    (imports_by_name, "run.py", "__import__('deepdiver.cli')", "__import__('deepdiverse')"),
    (imports_by_name, "run.py", "import_module(f'deepdiver.{name}')", "imported(name)"),
    (imports_by_name, "run.py", "import_module('.cli', 'deepdiver')", "import_module('rich.text')"),
    (
        imports_by_name,
        "run.py",
        "from importlib import import_module as load",
        "from importlib import metadata as load",
    ),
    (
        undocumented_fields,
        "core/record.py",
        "class A:\n    x: int\n    y: int\n    'why'",
        "class A:\n    x: int\n    'why'",
    ),
    (
        undocumented_fields,
        "core/record.py",
        "class A:\n    x: int = 1\n    def f(self): ...",
        "class A:\n    x = 1",
    ),
    (foreign_names, "README.md", "see " + ".".join(("pypi", "org")), "see the package index"),
    (foreign_names, "docs/x.md", "cd " + "/".join(("", "root", "x")), "cd deepdiver"),
]


@pytest.mark.parametrize(
    ("check", "path", "bad", "good"), CASES, ids=lambda value: getattr(value, "__name__", None)
)
def test_each_check_can_fail(check: Check, path: str, bad: str, good: str) -> None:
    assert list(check(path, bad))
    assert not list(check(path, good))


@pytest.mark.parametrize(
    ("check", "path", "text"),
    [
        (reads_environment, "core/settings.py", "import os\nos.environ"),
        (prints, "cli/output.py", "print()"),
        (imports_by_name, "strategies/table.py", "import_module(f'deepdiver.strategies.{name}')"),
        (imports_by_name, "__init__.py", "import_module(HOMES[name])"),
        (opens_sockets, "gateway/gateway.py", "import httpx"),
        (undocumented_fields, "run.py", "class A:\n    x: int"),
    ],
)
def test_each_exception_is_an_exception(check: Check, path: str, text: str) -> None:
    assert not list(check(path, text))


def test_the_checks_of_names_and_locks_can_fail() -> None:
    assert (
        list(banned_names(["src/deepdiver/utils.py", "tests/common/test_x.py", "src/manager.py"]))
        != []
    )
    assert not list(banned_names(["src/deepdiver/core/record.py", "docs/uncommon.md"]))
    assert list(without_test(["core/record.py", "core/__init__.py"], ())) == [
        "src/deepdiver/core/record.py: tests/core/test_record.py is missing"
    ]
    assert not list(
        without_test(["core/record.py", "tools/_x.py"], ("core/test_record.py", "tools/test_x.py"))
    )
    lock = (
        "# by make lock\nhttpx==0.28.1 \\\n  --hash=sha256:00\nrich==15.0 ; os_name == 'nt' \\\n  "
        "--hash=sha256:00\n"
    )
    assert not list(unlocked(["httpx>=0.28", "rich"], lock))
    assert list(unlocked(["httpx>=0.29"], lock)) == [
        "httpx>=0.29 is asked for, the lock has 0.28.1"
    ]
    assert list(unlocked(["absent"], lock)) == ["absent is asked for, the lock has None"]
    assert list(unlocked([], "httpx==0.28.1\n")) == ["httpx is locked without a hash"]


@pytest.mark.parametrize("check", SOURCE_CHECKS, ids=lambda check: check.__name__)
def test_source(check: Check) -> None:
    complaints = [
        complaint
        for path in modules()
        for complaint in check(path, (PACKAGE / path).read_text(encoding="utf-8"))
    ]
    assert not complaints, "\n".join(complaints)


def test_no_file_has_a_name_that_says_nothing() -> None:
    complaints = list(banned_names(path for path in tracked() if path.endswith(".py")))
    assert not complaints, "\n".join(complaints)


def test_every_module_has_its_tests() -> None:
    tests = {
        path.relative_to(ROOT / "tests").as_posix() for path in (ROOT / "tests").rglob("test_*.py")
    }
    complaints = list(without_test(modules(), tests))
    assert not complaints, "\n".join(complaints)


def test_no_index_host_and_no_machine_is_named() -> None:
    complaints: list[str] = []
    for path in tracked():
        try:
            text = (ROOT / path).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # not text, so nothing that a reader could mistake for an address
        complaints += foreign_names(path, text)
    assert not complaints, "\n".join(complaints)


def test_the_lock_meets_pyproject() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"]
    wanted = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    for extra in ("openai", "ollama", "otel", "serve"):
        wanted += extras[extra]
    complaints = list(unlocked(wanted, (ROOT / "requirements.lock").read_text(encoding="utf-8")))
    assert not complaints, "\n".join([*complaints, "make lock brings the lock up to date"])


def test_the_extra_all_is_all_of_them() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    (everything,) = map(Requirement, extras.pop("all"))
    assert everything.name == "deepdiver-research"
    assert everything.extras == set(extras)


def test_the_wheel_holds_every_file_of_the_package(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT,
        check=True,
        capture_output=True,
        timeout=PATIENCE,
    )
    (wheel,) = tmp_path.glob("deepdiver_research-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        packed = set(archive.namelist())
    ours = {path.removeprefix("src/") for path in tracked() if path.startswith("src/")}
    assert ours
    assert not ours - packed, sorted(ours - packed)


def test_continuous_integration_runs_what_developers_run() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert "make test" in script.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def somebodys_key() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", "sk-somebody")
        yield


@pytest.mark.usefixtures("somebodys_key")
def test_no_test_sees_a_key(own_home: Path) -> None:
    assert "OPENAI_API_KEY" not in os.environ
    assert Path.home() == own_home


def test_no_test_leaves_this_machine() -> None:
    with (
        socket.socket() as client,
        pytest.raises(pytest.fail.Exception, match="leave this machine"),
    ):
        client.connect(("192.0.2.1", 80))
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as client:
        client.connect(server.getsockname())
        assert client.getpeername() == server.getsockname()
