"""The tables of the settings: what they take, and what they refuse."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from deepdiver.core.parts import DEFAULTS, KEYED, Filters, Limit, Mcp, McpServer
from deepdiver.core.settings import Settings, from_public, load
from deepdiver.errors import SettingsError

TOKEN = "a-token-that-nobody-may-see"


def read(folder: Path, text: str) -> Settings:
    (folder / "deepdiver.toml").write_text(text, encoding="utf-8")
    return load(environ={}, folder=folder, user_file=folder / "absent.toml")


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
            ("[mcp]\nfeeds = 'other'", "there is none of that name"),
            ("[mcp]\nserver = 1", "did you mean servers?"),
        ],
    )
    def test_what_is_no_server_is_refused_in_one_line(
        self, tmp_path: Path, text: str, told: str
    ) -> None:
        with pytest.raises(SettingsError, match="mcp") as caught:
            read(tmp_path, text)
        assert told in str(caught.value)
        assert "\n" not in str(caught.value)
        assert "secret" not in str(caught.value)

    def test_a_command_and_an_address_are_read(self, tmp_path: Path) -> None:
        made = read(
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
        made = read(
            tmp_path,
            f"[mcp.servers.near]\ncommand = ['x']\nenv = {{ TOKEN = '{TOKEN}' }}\n"
            f"[mcp.servers.far]\nurl = 'https://example.org/mcp'\nkey = '{TOKEN}-2'\n",
        )
        assert set(made.secrets()) == {TOKEN, f"{TOKEN}-2"}
        assert TOKEN not in repr(made) + str(made.public()) + made.model_dump_json()

    def test_a_saved_run_starts_no_command(self, tmp_path: Path) -> None:
        made = read(tmp_path, "[mcp.servers.near]\ncommand = ['x']\n")
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
        assert Settings().limit("nvd") == DEFAULTS["nvd"]
        assert Settings.model_validate({"keys": {"nvd": "k"}}).limit("nvd") == KEYED["nvd"]

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
