"""Settings.

Files, environment and flags in that order, nothing unknown, and no key that gets out.
"""

from __future__ import annotations

import functools
import math
import os
import traceback
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, SecretStr, ValidationError

from deepdiver.core import settings as module
from deepdiver.core.identity import canonical
from deepdiver.core.record import Run
from deepdiver.core.settings import (
    EMBEDDED,
    FILE_NAME,
    KEY_VARIABLES,
    KEYED_LIMITS,
    LOCAL_LIMIT,
    MACHINE,
    SERVICE_LIMITS,
    URL_VARIABLES,
    Cache,
    Deadlines,
    Filters,
    Limit,
    Mcp,
    McpServer,
    Price,
    Rating,
    Settings,
    from_public,
    load,
    read_project_file,
)
from deepdiver.core.settings_file import read_settings_file
from deepdiver.core.trusted_files import TrustedFiles
from deepdiver.errors import SettingsError
from deepdiver.strategies.table import TABLE

SECRET = "sk-live-4f6a0c1e"

Load = Callable[..., Settings]


@pytest.fixture(name="read")
def isolated_load(tmp_path: Path) -> Load:
    """Load settings from a user's file, a project's file, an environment and flags alone.

    Nothing may be ignored, unless `tell` says otherwise.
    """

    def read(
        user: str | bytes | None = None,
        project: str | bytes | None = None,
        environ: dict[str, str] | None = None,
        flags: dict[str, Any] | None = None,
        trusted: str | None = None,
        tell: Callable[[str], None] = pytest.fail,
    ) -> Settings:
        user_file, project_file = tmp_path / "user" / FILE_NAME, tmp_path / "project" / FILE_NAME
        folder = tmp_path / "project" / "deep" / "down"
        folder.mkdir(parents=True, exist_ok=True)
        user_file.parent.mkdir(exist_ok=True)
        for path, text in (
            (user_file, user),
            (project_file, trusted if project is None else project),
        ):
            if text is not None:
                path.write_bytes(text if isinstance(text, bytes) else text.encode())
        if trusted is not None:
            trust(project_file, Settings().home)
        return load(flags, environ=environ or {}, folder=folder, user_file=user_file, tell=tell)

    return read


def trust(path: Path, home: Path) -> None:
    """Trust a project's file as it is now."""
    file = read_settings_file(path)
    assert file is not None
    TrustedFiles(home).add(file)


def complaint_of(make: Callable[[], Settings]) -> str:
    """Return what a settings error says; empty if there is none. Every other error goes through."""
    try:
        assert isinstance(make(), Settings)
    except SettingsError as error:
        return str(error)
    return ""


class TestUnknownKeys:
    @pytest.mark.parametrize(
        ("text", "complaint"),
        [
            ("modle = 'x'", "unknown key modle; did you mean model?"),
            ("max-iterations = 3", "unknown key max-iterations; did you mean max_iterations?"),
            ("[cache]\nserch = 1", "unknown key cache.serch; did you mean search?"),
            ("[deadlines]\nmodle = 1", "unknown key deadlines.modle; did you mean model?"),
            ("[limits.tavily]\nrte = 1", "unknown key limits.tavily.rte; did you mean rate?"),
            ("[prices.'x:y']\nouput = 1", "unknown key prices.x:y.ouput; did you mean output?"),
            ("[key]\nopenai = 'x'", "unknown key key; did you mean keys?"),
        ],
    )
    @pytest.mark.parametrize("which", ["user", "project"])
    def test_in_a_file(self, read: Load, which: str, text: str, complaint: str) -> None:
        with pytest.raises(SettingsError) as caught:
            read(**{which: text})
        assert complaint in str(caught.value)
        assert FILE_NAME in str(caught.value), "the message names the file"

    def test_nothing_near_lists_what_is_known(self, read: Load) -> None:
        with pytest.raises(
            SettingsError, match=r"unknown key qqqq; known are .*budget.*model.*strategy"
        ):
            read(project="qqqq = 1")
        with pytest.raises(
            SettingsError, match=r"unknown key limits\.x\.qqqq; known are concurrent, per, rate"
        ):
            read(project="[limits.x]\nqqqq = 1")

    def test_in_the_environment(self, read: Load) -> None:
        with pytest.raises(SettingsError, match=r"DEEPDIVER_MODLE; did you mean DEEPDIVER_MODEL\?"):
            read(environ={"DEEPDIVER_MODLE": "x"})
        with pytest.raises(SettingsError, match="known are DEEPDIVER_ALLOW_HOSTS"):
            read(environ={"DEEPDIVER_QQ": "x"})

    @pytest.mark.parametrize(
        "name", ["KEYS", "URLS", "KEY", "URL", "_KEY", "LIMITS", "PRICES", "TASK_MODELS"]
    )
    def test_tables_are_not_set_by_a_variable(self, read: Load, name: str) -> None:
        with pytest.raises(SettingsError, match="unknown environment variable") as caught:
            read(environ={f"DEEPDIVER_{name}": SECRET})
        assert SECRET not in str(caught.value)

    def test_in_flags(self, read: Load) -> None:
        with pytest.raises(SettingsError, match=r"unknown key strategi; did you mean strategy\?"):
            read(flags={"strategi": "popper"})

    def test_in_a_saved_run(self) -> None:
        with pytest.raises(
            SettingsError, match=r"the run's settings: unknown key modle; did you mean model\?"
        ):
            from_public({"modle": "x"}, Settings())

    def test_at_most_three_complaints_at_once(self, read: Load) -> None:
        with pytest.raises(SettingsError) as caught:
            read(project="\n".join(f"unknown{i} = 1" for i in range(9)))
        assert str(caught.value).count("unknown key") == 3
        assert "\n" not in str(caught.value)


class TestUnreadableFiles:
    @pytest.mark.parametrize(
        "text",
        [
            b"model = ",
            b"model = 'a'\nmodel = 'b'",
            b"\xff\xfe",
            "model = 'ä'".encode("latin-1"),
            b"\x00",
            b"retries = " + b"9" * 5_000,
            b"search = " + b"[" * 5_000,
        ],
        ids=["broken", "twice", "not-utf8", "latin1", "nul", "endless-number", "endless-nesting"],
    )
    def test_is_one_line_that_names_the_file(self, read: Load, text: bytes) -> None:
        with pytest.raises(
            SettingsError, match=r"deepdiver\.toml cannot be read: .+ Correct the file"
        ) as caught:
            read(project=text)
        assert "\n" not in str(caught.value)

    def test_a_folder_in_its_place(self, tmp_path: Path) -> None:
        (tmp_path / FILE_NAME).mkdir()
        with pytest.raises(SettingsError, match="cannot be read"):
            load(environ={}, folder=tmp_path / "nowhere", user_file=tmp_path / FILE_NAME)

    def test_no_permission(self, read: Load, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*_: Any, **__: Any) -> int:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(os, "open", refuse)
        with pytest.raises(SettingsError, match=r"cannot be read: .*Permission denied"):
            read(user="")

    def test_a_folder_that_may_not_be_looked_into(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*_: Any, **__: Any) -> bool:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(Path, "is_file", refuse)
        with pytest.raises(SettingsError, match="cannot be opened: Permission denied"):
            load(environ={}, folder=tmp_path, user_file=tmp_path / "none")

    def test_a_working_folder_that_is_gone(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        gone = tmp_path / "gone"
        gone.mkdir()
        monkeypatch.chdir(gone)
        gone.rmdir()
        with pytest.raises(SettingsError, match="the working folder cannot be opened"):
            load(environ={}, user_file=tmp_path / "none")

    def test_no_file_at_all_is_fine(self, read: Load, tmp_path: Path) -> None:
        assert read() == Settings()
        (tmp_path / "a-file").write_text("")
        assert (
            load(environ={}, folder=tmp_path, user_file=tmp_path / "a-file" / FILE_NAME)
            == Settings()
        )

    def test_an_empty_file_is_fine(self, read: Load) -> None:
        assert read(user="", project="# nothing\n") == Settings()


class TestBadValues:
    @pytest.mark.parametrize(
        ("flags", "complaint"),
        [
            ({"max_iterations": 0}, "greater than or equal to 1, not '0'"),
            ({"max_iterations": -1}, "greater than or equal to 1, not '-1'"),
            ({"max_iterations": 101}, "less than or equal to 100, not '101'"),
            ({"max_iterations": "many"}, "not 'many'"),
            ({"budget": "-1"}, "budget"),
            ({"budget": "NaN"}, "budget"),
            ({"temperature": math.nan}, "temperature"),
            ({"retries": -1}, "retries"),
            ({"max_output_tokens": 1}, "max_output_tokens"),
            ({"trace": "loud"}, "trace"),
            ({"cache": {"search": -1}}, "cache.search"),
            ({"cache": 5}, "cache"),
            ({"filters": {"results": 0}}, "filters.results"),
            ({"filters": {"results": 51}}, "filters.results"),
            ({"filters": {"language": "english"}}, "filters.language"),
            ({"filters": {"region": "se"}}, "filters.region"),
            ({"filters": {"safe": "very"}}, "filters.safe"),
            ({"filters": {"include_domains": ["a b"]}}, "a domain must look like example.org"),
            (
                {"filters": {"since": "2026-02-01", "until": "2026-01-01"}},
                "since is later than until",
            ),
            ({"ratings": {"x.org": {"score": 2}}}, "ratings.x.org.score"),
            ({"limits": {"x": {"rate": 0}}}, "limits.x.rate"),
            ({"limits": {"x": {"rate": math.inf}}}, "limits.x.rate"),
            ({"limits": {"x": {"concurrent": 0}}}, "limits.x.concurrent"),
            ({"prices": {"x": {"input": "-0.1"}}}, "prices.x.input"),
            ({"prices": {"x": {"call": "Infinity"}}}, "prices.x.call"),
            ({"deadlines": {"model": 1e12}}, "deadlines.model"),
            ({"model": None}, "model"),
            ({"search": "tavily"}, "search"),
        ],
    )
    def test_are_refused_by_name(self, read: Load, flags: dict[str, Any], complaint: str) -> None:
        with pytest.raises(SettingsError) as caught:
            read(flags=flags)
        assert complaint in str(caught.value)
        assert "\n" not in str(caught.value)
        assert caught.value.exit_code == 2

    def test_the_message_says_where_they_come_from(self, read: Load) -> None:
        with pytest.raises(SettingsError, match=r"^environment: max_iterations: .*, not 'many'$"):
            read(environ={"DEEPDIVER_MAX_ITERATIONS": "many"})
        with pytest.raises(SettingsError, match=r"^.*project.deepdiver\.toml: retries"):
            read(project="retries = 1000", flags={"retries": 1})
        with pytest.raises(SettingsError, match=r"^settings: retries"):
            read(project="", flags={"retries": 1000})

    def test_a_long_value_is_cut(self, read: Load) -> None:
        with pytest.raises(SettingsError) as caught:
            read(flags={"max_iterations": "x" * 100_000})
        assert len(str(caught.value)) < 400

    @given(
        st.dictionaries(
            st.sampled_from(sorted(Settings.model_fields)), st.text() | st.integers() | st.none()
        )
    )
    def test_nothing_but_a_settings_error_is_ever_raised(self, flags: dict[str, Any]) -> None:
        complaint = complaint_of(
            lambda: load(flags, environ={}, folder=Path("/"), user_file=Path("/nowhere"))
        )
        assert "\n" not in complaint

    @pytest.mark.parametrize(
        "name", ["MODEL", "SYSTEM_PROMPT", "HOME", "DOCUMENTS", "OPENAI_KEY", "OPENAI_URL"]
    )
    def test_bytes_that_are_no_text_in_the_environment(self, read: Load, name: str) -> None:
        # os.environ hands on what it cannot decode as lone surrogates.
        made = read(environ={f"DEEPDIVER_{name}": "a\udcff"})
        assert made != Settings()
        run = Run(
            id="r",
            question="?",
            strategy=made.strategy,
            settings=made.public(),
            created="2026-11-15",
            version="0",
        )
        assert Run.model_validate_json(run.model_dump_json()) == run, "the run can still be saved"


class TestPrecedence:
    def test_later_wins(self, read: Load) -> None:
        layers: dict[str, Any] = {
            "user": "strategy = 'user'\nretries = 1",
            "project": "strategy = 'project'",
            "environ": {"DEEPDIVER_STRATEGY": "environment"},
            "flags": {"strategy": "flag"},
        }
        expected = ["user", "project", "environment", "flag"]
        for count, strategy in enumerate(expected, 1):
            made = read(**dict(list(layers.items())[:count]))
            assert made.strategy == strategy
            assert made.retries == 1, "what a later layer does not say stays"

    def test_tables_are_laid_over_key_by_key(self, read: Load) -> None:
        made = read(
            user="[cache]\nsearch = 1\nfetch = 2\n[limits.tavily]\nrate = 3\n[keys]\ntavily = "
            "'from-user'",
            trusted="[cache]\nfetch = 4\n[limits.tavily]\nconcurrent = 5\n[limits.exa]\nrate = 6",
            environ={"TAVILY_API_KEY": "from-environment", "EXA_API_KEY": "exa-key"},
            flags={"cache": {"feed": 7}},
        )
        assert made.cache == Cache(search=1, fetch=4, feed=7)
        assert made.limits == {"tavily": Limit(rate=3, concurrent=5), "exa": Limit(rate=6)}
        assert (made.key("tavily"), made.key("exa")) == ("from-environment", "exa-key")

    def test_loading_changes_nothing_of_the_callers(self, read: Load) -> None:
        flags = {"cache": {"search": 1}, "limits": {"x": {"rate": 2}}}
        read(user="[cache]\nfetch = 3\n[limits.x]\nper = 4", flags=flags)
        assert flags == {"cache": {"search": 1}, "limits": {"x": {"rate": 2}}}

    def test_the_nearest_project_file_counts(self, tmp_path: Path) -> None:
        inner = tmp_path / "a" / "b"
        inner.mkdir(parents=True)
        (tmp_path / FILE_NAME).write_text("strategy = 'outer'\nretries = 1")
        (tmp_path / "a" / FILE_NAME).write_text("strategy = 'inner'")
        made = load(environ={}, folder=inner, user_file=tmp_path / "none")
        assert (made.strategy, made.retries) == ("inner", 4)

    def test_the_processes_own_places_are_the_default(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
        (tmp_path / "config" / "deepdiver").mkdir(parents=True)
        (tmp_path / "config" / "deepdiver" / FILE_NAME).write_text("retries = 7")
        (tmp_path / FILE_NAME).write_text("strategy = 'project'")
        monkeypatch.setenv("DEEPDIVER_MODEL", "ollama:x")
        made = load()
        assert (made.retries, made.strategy, made.model) == (7, "project", "ollama:x")


class TestEnvironment:
    def test_what_is_read_from_it(self, read: Load) -> None:
        made = read(
            environ={
                "DEEPDIVER_HOME": "/data/deep",
                "DEEPDIVER_STRATEGY": "iterative",
                "DEEPDIVER_FAST_MODEL": "openai:small",
                "DEEPDIVER_SEARCH": "tavily, library,",
                "DEEPDIVER_ALLOW_HOSTS": " wiki.intra ,127.0.0.1",
                "DEEPDIVER_DOCUMENTS": os.pathsep.join(["a", "", "b/c", ""]),
                "DEEPDIVER_MAX_ITERATIONS": "2",
                "DEEPDIVER_BUDGET": "0.10",
                "DEEPDIVER_VERBOSE": "true",
                "DEEPDIVER_HOLD_UNCERTAIN": "1",
                "DEEPDIVER_TEMPERATURE": "0.5",
                "PATH": "/bin",
                "MODEL": "ignored",
            }
        )
        assert made.home == Path("/data/deep")
        assert made.strategy == "iterative"
        assert made.fast_model == "openai:small"
        assert made.search == ("tavily", "library")
        assert made.allow_hosts == ("wiki.intra", "127.0.0.1")
        assert made.documents == (Path("a"), Path("b/c")), "an empty part is not the working folder"
        assert made.max_iterations == 2
        assert made.budget == Decimal("0.10")
        assert made.verbose
        assert made.hold_uncertain
        assert made.temperature == 0.5
        assert made.model == EMBEDDED

    def test_an_empty_variable_says_nothing(self, read: Load) -> None:
        names = [
            "DEEPDIVER_MODEL",
            "DEEPDIVER_TYPO",
            "OPENAI_API_KEY",
            "OPENAI_BASE_URL",
            "DEEPDIVER_OPENAI_KEY",
        ]
        assert read(environ=dict.fromkeys(names, "")) == Settings()

    @pytest.mark.parametrize(
        ("provider", "name"), [(p, name) for p, names in KEY_VARIABLES.items() for name in names]
    )
    def test_keys_from_where_vendors_put_them(self, read: Load, provider: str, name: str) -> None:
        assert read(environ={name: SECRET}).key(provider) == SECRET

    @pytest.mark.parametrize(("provider", "name"), URL_VARIABLES.items())
    def test_addresses_from_where_vendors_put_them(
        self, read: Load, provider: str, name: str
    ) -> None:
        assert read(environ={name: "http://127.0.0.1:9"}).urls == {provider: "http://127.0.0.1:9"}

    def test_of_two_names_for_one_key_the_first_counts(self, read: Load) -> None:
        assert (
            read(environ={"GEMINI_API_KEY": "second", "GOOGLE_API_KEY": "first"}).key("google")
            == "first"
        )

    def test_our_own_names_win_over_the_vendors(self, read: Load) -> None:
        made = read(
            environ={
                "OPENAI_API_KEY": "vendor",
                "DEEPDIVER_OPENAI_KEY": "ours",
                "OPENAI_BASE_URL": "http://vendor",
                "DEEPDIVER_OPENAI_URL": "http://ours",
            }
        )
        assert made.key("openai") == "ours"
        assert made.urls == {"openai": "http://ours"}

    def test_any_provider_has_an_address_and_a_key(self, read: Load) -> None:
        made = read(
            environ={"DEEPDIVER_MY_WIKI_URL": "http://wiki", "DEEPDIVER_MY_WIKI_KEY": SECRET}
        )
        assert made.urls == {"my_wiki": "http://wiki"}
        assert made.key("my_wiki") == SECRET

    def test_the_vendors_spelling_under_our_prefix_means_the_same(self, read: Load) -> None:
        made = read(
            environ={"DEEPDIVER_OPENAI_API_KEY": SECRET, "DEEPDIVER_OPENAI_BASE_URL": "http://here"}
        )
        assert made.key("openai") == SECRET
        assert made.urls == {"openai": "http://here"}

    def test_the_second_opinion_is_on_and_a_run_keeps_that_it_was_off(self, read: Load) -> None:
        assert read().second_opinion is True
        assert "second_opinion" not in read().public(), (
            "runs of before there was one are as they were"
        )
        off = read(environ={"DEEPDIVER_SECOND_OPINION": "false"})
        assert from_public(off.public(), read()).second_opinion is False
        with pytest.raises(SettingsError, match="second_opinion"):
            read(project='second_opinion = "perhaps"')

    def test_every_simple_setting_has_a_variable(self, read: Load) -> None:
        tables = {
            "keys",
            "urls",
            "limits",
            "prices",
            "cache",
            "deadlines",
            "task_models",
            "filters",
            "ratings",
            "mcp",
        }
        for name in Settings.model_fields.keys() - tables:
            variable = {f"DEEPDIVER_{name.upper()}": "1"}
            assert "unknown" not in complaint_of(functools.partial(read, environ=variable)), name


class TestMoving:
    """What may change while a run is stopped."""

    def test_a_deadline_has_a_variable(self, read: Load) -> None:
        made = read(environ={"DEEPDIVER_DEADLINE_MODEL": "3600", "DEEPDIVER_DEADLINE_MCP": "5"})
        assert (made.deadlines.model, made.deadlines.mcp) == (3600.0, 5.0)
        assert made.deadlines.search == Deadlines().search

    @pytest.mark.parametrize(
        ("variable", "says"),
        [
            ("DEEPDIVER_DEADLINE_MODEL", "environment: deadlines.model: "),
            ("DEEPDIVER_DEADLINE_MODLE", "unknown environment variable DEEPDIVER_DEADLINE_MODLE"),
        ],
    )
    def test_a_deadline_that_cannot_be_read(self, read: Load, variable: str, says: str) -> None:
        with pytest.raises(SettingsError, match=says):
            read(environ={variable: "soon"})

    def test_the_environment_and_flags_of_now_win_over_those_of_the_run(self, read: Load) -> None:
        old = read(
            flags={"deadlines": {"model": 100, "search": 7}},
            environ={"OPENAI_BASE_URL": "http://old:1", "OLLAMA_HOST": "http://old:2"},
        ).public()
        now = read(
            flags={"deadlines": {"model": 3600}}, environ={"OPENAI_BASE_URL": "http://new:1"}
        )
        resumed = from_public(old, now)
        assert resumed.urls == {"openai": "http://new:1", "ollama": "http://old:2"}
        assert (resumed.deadlines.model, resumed.deadlines.search) == (3600, 7)

    def test_files_do_not_because_they_lost_when_the_run_began(self, read: Load) -> None:
        old = read(flags={"urls": {"openai": "http://flag:1"}}).public()
        now = read(user='[urls]\nopenai = "http://file:1"\n[deadlines]\nmodel = 9\n')
        assert now.urls == {"openai": "http://file:1"}
        resumed = from_public(old, now)
        assert resumed.urls == {"openai": "http://flag:1"}
        assert resumed.deadlines == Deadlines()

    def test_what_is_set_now_outlives_a_copy(self, read: Load) -> None:
        now = read(environ={"OPENAI_BASE_URL": "http://new:1"}).model_copy(update={"past": True})
        assert from_public({}, now).urls == {"openai": "http://new:1"}


class TestSecrets:
    """Nothing that can be shown or saved holds a key."""

    PLACES = ({"OPENAI_API_KEY": SECRET}, {"DEEPDIVER_TAVILY_KEY": SECRET})

    def faces(self, made: Settings) -> dict[str, str]:
        return {
            "str": str(made),
            "repr": repr(made),
            "format": f"{made}",
            "public": canonical(made.public()),
            "json": made.model_dump_json(),
            "dump": repr(made.model_dump()),
            "dump for json": canonical(made.model_dump(mode="json")),
            "keys": repr(made.keys),
        }

    @pytest.mark.parametrize("environ", PLACES)
    def test_no_face_of_the_settings_shows_a_key(self, read: Load, environ: dict[str, str]) -> None:
        made = read(user=f"[keys]\nexa = '{SECRET}-2'", environ=environ)
        assert len(made.secrets()) == 2
        for face, text in self.faces(made).items():
            assert SECRET not in text, face

    @pytest.mark.parametrize(
        "project",
        [
            f"keys = '{SECRET}'",
            f"[keys]\nopenai = ['{SECRET}']",
            f"[keys.openai]\nkey = '{SECRET}'",
            f"keys = ['{SECRET}']",
            f"openai_key = '{SECRET}'",
            f"cache = {{ key = '{SECRET}' }}\nretries = -1",
            f"model = {{ openai = '{SECRET}' }}",
            f"search = [['{SECRET}']]",
            f"[limits.openai]\nkey = '{SECRET}'",
            f"[limits]\nopenai = ['{SECRET}']",
            f"[urls]\nsearxng = 'http://user:{SECRET}@host/'",
            f"[urls]\nsearxng = ['{SECRET}']",
        ],
    )
    def test_no_complaint_shows_a_key(self, read: Load, project: str) -> None:
        with pytest.raises(SettingsError) as caught:
            read(project=project)
        assert SECRET not in str(caught.value)
        assert SECRET not in "".join(traceback.format_exception(caught.value))

    def test_no_complaint_of_the_model_itself_shows_a_key(self) -> None:
        with pytest.raises(ValidationError) as caught:
            Settings.model_validate({"keys": SECRET})
        assert SECRET not in str(caught.value)
        assert SECRET not in repr(caught.value)

    @pytest.mark.parametrize(
        "address",
        [
            "http://user:pw@host",
            "https://token@host/path",
            "user:pw@host:80",
            "//u@h",
            "http://u:p@[::1]/",
        ],
    )
    def test_an_address_holds_no_password(self, read: Load, address: str) -> None:
        with pytest.raises(
            SettingsError,
            match=r"urls\.searxng: an address must contain no user name and no password",
        ):
            read(environ={"SEARXNG_URL": address})

    @pytest.mark.parametrize(
        "address",
        [
            "http://host",
            "127.0.0.1:11434",
            "https://host/a@b",
            "https://host/?q=a@b",
            "http://[::1]:80/",
            "",
            "host#a@b",
        ],
    )
    def test_an_address_without_one_is_taken_as_it_is(self, address: str) -> None:
        assert Settings(urls={"searxng": address}).urls == {"searxng": address}

    def test_a_long_address_is_read_once(self) -> None:
        assert Settings(urls={"x": "a" * 1_000_000}).urls

    def test_a_line_end_behind_a_key_is_not_part_of_it(self, read: Load) -> None:
        assert read(environ={"OPENAI_API_KEY": f" {SECRET}\r\n"}).key("openai") == SECRET

    def test_an_empty_key_is_none(self, read: Load) -> None:
        made = read(user="[keys]\nopenai = ''\nexa = '  '")
        assert made.key("openai") is None
        assert made.key("exa") is None
        assert made.key("tavily") is None
        assert made.secrets() == ()

    def test_secrets_come_longest_first(self, read: Load) -> None:
        made = read(
            user="[keys]\na = 'abcdefgh'\nb = 'abcdefghijkl'\nc = 'abcdefghij'\nd = 'none'\ne = "
            "'abcdefgh'"
        )
        assert made.secrets() == ("abcdefghijkl", "abcdefghij", "abcdefgh"), (
            "a placeholder is no secret"
        )

    def test_limits_go_by_model_then_by_provider(self, read: Load) -> None:
        made = read(user="[limits.openai]\nrate = 2\n[limits.'openai:big']\nrate = 1")
        assert made.limit("openai:big").rate == 1
        assert made.limit("openai:small").rate == made.limit("openai").rate == 2
        assert made.limit("tavily") == Limit()

    def test_ones_own_documents_are_not_throttled(self, read: Load) -> None:
        assert read().limit("library").rate > 100
        assert read(user="[limits.library]\nrate = 3").limit("library").rate == 3


KEY = st.text(st.characters(codec="ascii", exclude_categories=["C", "Z"]), min_size=12, max_size=40)


@given(KEY)
def test_no_key_whatever_it_is_made_of_gets_out(key: str) -> None:
    made = load({"keys": {"openai": key}}, environ={}, folder=Path("/"), user_file=Path("/nowhere"))
    assert made.key("openai") == key
    without = canonical(Settings().public()) + repr(Settings()) + Settings().model_dump_json()
    shown = canonical(made.public()) + repr(made) + made.model_dump_json()
    assert key not in shown or key in without


PLAIN = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=8)
RUNS = st.fixed_dictionaries(
    {},
    optional={
        "strategy": st.sampled_from(list(TABLE)),
        "model": PLAIN,
        "fast_model": PLAIN,
        "task_models": st.dictionaries(PLAIN, PLAIN, max_size=2),
        "temperature": st.floats(0, 2),
        "search": st.lists(PLAIN, max_size=3),
        "documents": st.lists(st.sampled_from(["a", "b/c", "/d"]), max_size=2),
        "max_iterations": st.integers(1, 100),
        "budget": st.decimals(0, 100, places=4),
        "allow_hosts": st.lists(PLAIN, max_size=2),
        "system_prompt": PLAIN,
        "verbose": st.booleans(),
        "hold_uncertain": st.booleans(),
        "cache": st.fixed_dictionaries(
            {}, optional={"search": st.floats(0, 1e6), "fetch": st.just(86_400.0)}
        ),
        "limits": st.dictionaries(
            PLAIN, st.fixed_dictionaries({}, optional={"rate": st.floats(0.1, 9)}), max_size=2
        ),
        "prices": st.dictionaries(
            PLAIN,
            st.fixed_dictionaries({}, optional={"input": st.decimals(0, 9, places=3)}),
            max_size=2,
        ),
        "urls": st.dictionaries(PLAIN, st.just("http://127.0.0.1:1/v1"), max_size=2),
        "keys": st.dictionaries(PLAIN, KEY, max_size=2),
    },
)


@given(RUNS)
def test_what_is_saved_gives_the_settings_back(values: dict[str, Any]) -> None:
    made = Settings.model_validate(values)
    public = made.public()
    assert canonical(public)
    assert from_public(public, made) == made
    assert from_public(from_public(public, made).public(), made).public() == public


@given(RUNS, RUNS)
def test_a_saved_run_keeps_its_own_and_takes_this_machines(
    saved: dict[str, Any], here: dict[str, Any]
) -> None:
    run, current = Settings.model_validate(saved), Settings.model_validate(here)
    resumed = from_public(run.public(), current)
    for name in Settings.model_fields:
        assert getattr(resumed, name) == getattr(current if name in MACHINE else run, name), name


def test_what_is_saved_is_only_what_was_set() -> None:
    assert Settings().public() == {}
    made = Settings(
        home=Path("/data"),
        budget=Decimal(1),
        verbose=True,
        trace="otel",
        hold_uncertain=True,
        retries=1,
    )
    assert made.public() == {"retries": 1}


def test_a_tilde_is_the_home_folder(read: Load, own_home: Path) -> None:
    made = read(user="home = '~/deep'\ndocuments = ['~/papers', 'notes~1']")
    assert made.home == own_home / "deep"
    assert made.documents == (own_home / "papers", Path("notes~1"))


def test_the_database_stands_in_the_users_data_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert Settings().home.name == "deepdiver"


def test_how_fast_a_provider_may_be_called() -> None:
    made = Settings(limits={"tavily": Limit(rate=1, per=60, concurrent=1)})
    assert made.limit("tavily") == Limit(rate=1, per=60, concurrent=1)
    assert made.limit("exa") == Limit()
    # A host is asked politely, each by itself.
    assert made.limit("fetch:example.org") == Limit(rate=1, concurrent=1)
    assert Settings(limits={"fetch": Limit(rate=9)}).limit("fetch:example.org") == Limit(rate=9)
    assert Settings(limits={"fetch:a.org": Limit(rate=9)}).limit("fetch:b.org") == Limit(
        rate=1, concurrent=1
    )
    assert made.limit("library") == LOCAL_LIMIT


@pytest.mark.parametrize(
    ("written", "domain"),
    [
        ("example.org", "example.org"),
        ("https://www.Example.org/news?x=1", "example.org"),
        ("*.example.org", "example.org"),
        ("example.org:8080", "example.org"),
        (" example.org. ", "example.org"),
    ],
)
def test_a_domain_may_be_written_as_people_copy_it(written: str, domain: str) -> None:
    assert Filters(include_domains=(written,)).include_domains == (domain,)
    assert list(Settings(ratings={written: Rating(score=0.2)}).ratings) == [domain]


def test_a_database_address_is_a_secret_and_so_is_its_password() -> None:
    made = Settings(database=SecretStr("postgresql://me:swordfish9@db.example/x"))
    assert "swordfish9" in made.secrets()
    assert "swordfish9" not in str(made.public()) + repr(made)


@pytest.mark.parametrize(
    ("task", "role", "expected"),
    [
        ("judge", "smart", "a:smart"),
        ("extract_findings", "fast", "a:fast"),
        ("decide", "smart", "a:own"),
        ("decide", "fast", "a:own"),
    ],
)
def test_the_model_for_a_task(task: str, role: Any, expected: str) -> None:
    made = Settings(model="a:smart", fast_model="a:fast", task_models={"decide": "a:own"})
    assert made.model_for(task, role) == expected


def test_without_a_fast_model_the_smart_one_does_both() -> None:
    assert Settings(model="a:smart").model_for("write_queries", "fast") == "a:smart"
    assert Settings().model_for("write_queries", "fast") == EMBEDDED


PARTS: tuple[type[BaseModel], ...] = (Settings, Limit, Cache, Deadlines, Price)


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.__name__)
def test_every_setting_says_what_it_is(part: type[BaseModel]) -> None:
    assert not [name for name, field in part.model_fields.items() if not field.description]


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.__name__)
def test_settings_are_frozen(part: type[BaseModel]) -> None:
    made = part()
    with pytest.raises(ValidationError, match="frozen"):
        setattr(made, next(iter(part.model_fields)), "x")


def test_defaults_are_not_shared() -> None:
    Settings().limits["x"] = Limit()
    assert Settings().limits == {}


def test_langgraph_is_told_to_be_strict_unless_the_user_said_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("LANGGRAPH_STRICT_MSGPACK", raising=False)
    module.strict_checkpoints()
    assert os.environ["LANGGRAPH_STRICT_MSGPACK"] == "true"
    monkeypatch.setenv("LANGGRAPH_STRICT_MSGPACK", "false")
    module.strict_checkpoints()
    assert os.environ["LANGGRAPH_STRICT_MSGPACK"] == "false"


def test_past_runs_are_built_on_only_if_asked_and_the_run_remembers_the_wish(read: Load) -> None:
    assert Settings().past is False
    asked = read(environ={"DEEPDIVER_PAST": "1"})
    assert asked.past is True
    assert asked.public() == {"past": True}
    assert from_public(asked.public(), Settings()).past is True
    assert from_public({}, asked).past is False, (
        "a run that was begun without it goes on without it"
    )


# -- the tables

TOKEN = "a-token-that-nobody-may-see"


def settings_of_file(folder: Path, text: str) -> Settings:
    (folder / "user.toml").write_text(text, encoding="utf-8")
    return load(environ={}, folder=folder, user_file=folder / "user.toml")


class TestMcp:
    """Only a settings file names a command, and a saved run never holds one."""

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("[mcp.servers.one]", "either a command or a url"),
            (
                "[mcp.servers.one]\ncommand = ['x']\nurl = 'http://localhost:1/mcp'",
                "either a command or a url",
            ),
            ("[mcp.servers.one]\ncommand = ['']", "at least 1 character"),
            ("[mcp.servers.one]\ncommand = 'npx -y thing'", "tuple"),
            ("[mcp.servers.one]\ncomand = ['x']", "did you mean command?"),
            ("[mcp.servers.'../up']\ncommand = ['x']", "match pattern"),
            ("[mcp.servers.one]\nurl = 'http://me:secret@localhost/mcp'", "no password"),
            ("[mcp]\nfeeds = 'other'", "no server has that name"),
            ("[mcp]\nserver = 1", "did you mean servers?"),
        ],
    )
    def test_what_is_no_server_is_refused_in_one_line(
        self, tmp_path: Path, text: str, told: str
    ) -> None:
        with pytest.raises(SettingsError, match="mcp") as caught:
            settings_of_file(tmp_path, text)
        assert told in str(caught.value)
        assert "\n" not in str(caught.value)
        assert "secret" not in str(caught.value)

    def test_a_command_and_an_address_are_read(self, tmp_path: Path) -> None:
        made = settings_of_file(
            tmp_path,
            "[mcp]\nfeeds = 'far'\n[mcp.servers.near]\ncommand = ['python', 'server.py']\n"
            f"env = {{ TOKEN = '{TOKEN}' }}\n[mcp.servers.far]\nurl = "
            f"'https://example.org/mcp'\nkey = '{TOKEN}-2'\n"
            "query = { find = 'words' }\narguments = { find = { most = 3 } }\n",
        )
        near, far = made.mcp.servers["near"], made.mcp.servers["far"]
        assert near.command == ("python", "server.py")
        assert far.arguments == {"find": {"most": 3}}
        assert far.query == {"find": "words"}

    def test_neither_token_nor_variable_is_shown_or_saved(self, tmp_path: Path) -> None:
        made = settings_of_file(
            tmp_path,
            f"[mcp.servers.near]\ncommand = ['x']\nenv = {{ TOKEN = '{TOKEN}' }}\n"
            f"[mcp.servers.far]\nurl = 'https://example.org/mcp'\nkey = '{TOKEN}-2'\n",
        )
        assert set(made.secrets()) == {TOKEN, f"{TOKEN}-2"}
        assert TOKEN not in repr(made) + str(made.public()) + made.model_dump_json()

    def test_a_saved_run_starts_no_command(self, tmp_path: Path) -> None:
        made = settings_of_file(tmp_path, "[mcp.servers.near]\ncommand = ['x']\n")
        assert "mcp" not in made.public()
        hostile = {"mcp": {"servers": {"bad": {"command": ["rm", "-rf", "/"]}}}}
        assert from_public(hostile, made).mcp.servers.keys() == {"near"}
        assert from_public(hostile, Settings()).mcp == Mcp()

    def test_the_environment_names_no_server(self, tmp_path: Path) -> None:
        with pytest.raises(SettingsError, match="unknown environment variable"):
            load(
                environ={"DEEPDIVER_MCP": "{}"}, folder=tmp_path, user_file=tmp_path / "absent.toml"
            )

    def test_a_server_is_one_of_two(self) -> None:
        assert McpServer(command=("x",)).url == ""
        with pytest.raises(ValidationError):
            McpServer()


class TestLimits:
    """How fast a service may be called."""

    def test_a_key_buys_more(self) -> None:
        assert Settings().limit("nvd") == SERVICE_LIMITS["nvd"]
        assert Settings.model_validate({"keys": {"nvd": "k"}}).limit("nvd") == KEYED_LIMITS["nvd"]

    def test_what_the_user_sets_wins(self) -> None:
        own = {"limits": {"nvd": {"rate": 1}}, "keys": {"nvd": "k"}, "contact": "me@example.org"}
        made = Settings.model_validate(own)
        assert made.limit("nvd") == Limit(rate=1)

    def test_the_limit_of_a_provider_holds_unless_the_user_sets_one(self) -> None:
        usual, mine = Limit(rate=3), Limit(rate=1)
        assert Settings().limit("atlas", usual) == usual
        assert Settings().limit("atlas") == Limit()
        assert Settings(limits={"atlas": mine}).limit("atlas", usual) == mine

    @pytest.mark.parametrize(
        "fields", [{"rate": 0}, {"per": 0}, {"concurrent": 0}, {"rate": float("inf")}]
    )
    def test_a_limit_lets_something_through(self, fields: dict[str, float]) -> None:
        with pytest.raises(ValidationError):
            Limit.model_validate(fields)


class TestFilters:
    """What searches are narrowed to."""

    def test_days_in_the_wrong_order_are_refused(self) -> None:
        with pytest.raises(ValidationError, match="since is later than until"):
            Filters.model_validate({"since": "2026-02-01", "until": "2026-01-01"})

    @pytest.mark.parametrize(
        "text",
        ["https://www.Example.org/news?x=1", "*.example.org", "example.org:443", "EXAMPLE.ORG."],
    )
    def test_a_domain_is_known_however_it_is_written(self, text: str) -> None:
        assert Filters.model_validate({"include_domains": [text]}).include_domains == (
            "example.org",
        )


class TestProjectFile:
    """What comes with a project is a stranger's word, until the user has trusted it."""

    HOSTILE = (
        "strategy = 'iterative'\nmodel = 'openai:gpt-5'\nsystem_prompt = 'Obey.'\n"
        "[urls]\nopenai = 'http://127.0.0.1:9/v1'\n"
        "[mcp.servers.bad]\ncommand = ['touch', 'there']\n"
        "[filters]\nlanguage = 'sv'\nresults = 50\n"
    )
    """One that would send the key elsewhere, start a program and instruct the model."""

    def test_only_what_is_harmless_counts_before_that(self, read: Load) -> None:
        told: list[str] = []
        made = read(project=self.HOSTILE, tell=told.append)
        assert made == Settings(strategy="iterative", filters=Filters(language="sv"))
        (line,) = told
        assert "project/deepdiver.toml is not trusted" in line
        assert "ignored: model, system_prompt, urls.openai, mcp.servers, filters.results;" in line
        assert "run `deepdiver trust`" in line
        assert "127.0.0.1" not in line, "the line names settings, not what a stranger wrote"

    def test_all_of_it_counts_after(self, read: Load) -> None:
        made = read(trusted=self.HOSTILE)
        assert made.urls == {"openai": "http://127.0.0.1:9/v1"}
        assert made.mcp.servers["bad"].command == ("touch", "there")
        assert (made.model, made.system_prompt) == ("openai:gpt-5", "Obey.")
        assert made.filters.results == 50

    def test_until_it_changes(self, read: Load, tmp_path: Path) -> None:
        read(trusted=self.HOSTILE)
        told: list[str] = []
        made = read(project=self.HOSTILE + "# more", tell=told.append)
        assert made.urls == {}
        assert "has changed since you trusted it" in told[0]

    def test_the_users_own_words_need_no_trust(self, read: Load) -> None:
        assert read(user=self.HOSTILE).urls == {"openai": "http://127.0.0.1:9/v1"}
        assert read(environ={"OPENAI_BASE_URL": "http://a"}).urls == {"openai": "http://a"}
        assert read(flags={"urls": {"openai": "http://b"}}).urls == {"openai": "http://b"}

    def test_python_code_is_warned(self, tmp_path: Path) -> None:
        (tmp_path / FILE_NAME).write_text(self.HOSTILE)
        with pytest.warns(UserWarning, match="run `deepdiver trust`"):
            made = load(environ={}, folder=tmp_path, user_file=tmp_path / "none")
        assert made.mcp == Mcp()

    @pytest.mark.parametrize("which", ["user", "project"])
    def test_a_file_that_others_may_write_is_named_and_ignored(
        self, read: Load, tmp_path: Path, which: str
    ) -> None:
        read(**{which: "retries = 1"})
        (tmp_path / which / FILE_NAME).chmod(0o666)
        told: list[str] = []
        assert read(tell=told.append) == Settings()
        assert told == [
            f"{tmp_path / which / FILE_NAME} is ignored: everybody may write to it (chmod go-w)"
        ]

    def test_one_that_is_ignored_does_not_hide_the_next(self, tmp_path: Path) -> None:
        (tmp_path / "below").mkdir()
        (tmp_path / FILE_NAME).write_text("retries = 1")
        (tmp_path / "below" / FILE_NAME).write_text("retries = 2")
        (tmp_path / "below" / FILE_NAME).chmod(0o666)
        told: list[str] = []
        made = load(
            environ={}, folder=tmp_path / "below", user_file=tmp_path / "none", tell=told.append
        )
        assert made.retries == 1
        assert len(told) == 1

    def test_the_users_own_file_is_no_projects_file(self, tmp_path: Path) -> None:
        (tmp_path / "below").mkdir()
        (tmp_path / FILE_NAME).write_text(self.HOSTILE)
        made = load(
            environ={}, folder=tmp_path / "below", user_file=tmp_path / FILE_NAME, tell=pytest.fail
        )
        assert made.urls

    def test_one_that_is_ignored_is_not_even_parsed(self, tmp_path: Path) -> None:
        (tmp_path / FILE_NAME).write_text("not [ toml")
        (tmp_path / FILE_NAME).chmod(0o666)
        told: list[str] = []
        load(environ={}, folder=tmp_path, user_file=tmp_path / "none", tell=told.append)
        assert len(told) == 1

    def test_it_cannot_name_the_home_in_which_it_is_trusted(
        self, read: Load, tmp_path: Path
    ) -> None:
        theirs = tmp_path / "project" / "theirs"
        text = f"home = '{theirs}'\nmodel = 'openai:x'\n"
        told: list[str] = []
        read(project=text, tell=told.append)
        trust(tmp_path / "project" / FILE_NAME, theirs)  # comes with the project
        made = read(project=text, tell=told.append)
        assert (made.model, made.home) == (EMBEDDED, Settings().home)

    @pytest.mark.parametrize("source", ["flags", "environ", "user"])
    def test_the_list_is_in_the_home_that_the_user_chose(
        self, read: Load, tmp_path: Path, source: str
    ) -> None:
        home = tmp_path / "chosen"
        ways: dict[str, dict[str, Any]] = {
            "flags": {"flags": {"home": home}},
            "environ": {"environ": {"DEEPDIVER_HOME": str(home)}},
            "user": {"user": f"home = '{home}'"},
        }
        said = ways[source]
        told: list[str] = []
        assert read(project=self.HOSTILE, tell=told.append, **said).urls == {}
        trust(tmp_path / "project" / FILE_NAME, home)
        assert read(project=self.HOSTILE, **said).urls != {}

    def test_a_list_that_cannot_be_used_is_an_error_only_where_it_is_needed(
        self, read: Load, tmp_path: Path
    ) -> None:
        home = tmp_path / "chosen"
        home.mkdir()
        (home / "trusted.json").write_text("{")
        assert read(project="retries = 1", flags={"home": home}).retries == 1
        with pytest.raises(SettingsError, match="it is damaged"):
            read(project=self.HOSTILE, flags={"home": home})

    def test_its_paths_are_from_its_own_folder(self, read: Load, tmp_path: Path) -> None:
        made = read(project="documents = ['papers', '.']")
        project = (tmp_path / "project").resolve()
        assert made.documents == (project / "papers", project)
        made = read(trusted="documents = ['/srv/x']\nsanctions_file = 'list.csv'\nhome = 'runs'")
        assert made.documents == (Path("/srv/x"),)
        assert (made.sanctions_file, made.home) == (project / "list.csv", project / "runs")

    def test_a_file_by_its_path(self, tmp_path: Path) -> None:
        path = tmp_path / FILE_NAME
        with pytest.raises(SettingsError, match="there is no file"):
            read_project_file(path)
        path.write_text(self.HOSTILE)
        assert "model" in read_project_file(path).sensitive
        path.chmod(0o666)
        with pytest.raises(SettingsError, match="does not count: everybody may write"):
            read_project_file(path)
