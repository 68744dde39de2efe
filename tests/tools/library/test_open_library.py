"""One library for each set of paths, and one for what was added by hand."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from deepdiver import sample
from deepdiver.core.settings import Settings
from deepdiver.tools.library.open_library import folder_of, has_documents, open_library


def test_a_damaged_library_is_not_taken_for_an_empty_one(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, ())
    folder.mkdir(parents=True)
    (folder / "catalogue.sqlite").write_text("this is no database " * 50)
    assert has_documents(Settings(home=tmp_path))  # whoever opens it is told


def test_looking_makes_nothing(tmp_path: Path) -> None:
    assert not has_documents(Settings(home=tmp_path / "mine"))
    assert not (tmp_path / "mine").exists()


def test_each_set_of_paths_has_its_own(tmp_path: Path) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    folders = [
        folder_of(tmp_path, paths)
        for paths in ((), (sample.LIBRARY,), (a,), (b,), (a, b), (a, sample.LIBRARY))
    ]
    assert len(set(folders)) == len(folders)
    assert folder_of(tmp_path, (b, a, a)) == folder_of(tmp_path, (a, b))
    assert folder_of(tmp_path, ()).name == "main"
    assert folder_of(tmp_path, (sample.LIBRARY,)).name == "sample"
    assert all(folder.parent == tmp_path / "library" for folder in folders)


def test_a_path_is_known_by_where_it_really_is(tmp_path: Path) -> None:
    assert folder_of(tmp_path, (Path("a"),)) == folder_of(tmp_path, (Path.cwd() / "a",))


def test_what_lies_in_one_library_is_not_in_another(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home")
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("The ferry burnt.")
    with closing(open_library(settings, (docs,))) as own, closing(open_library(settings)) as main:
        own.refresh([docs])
        assert len(own.search("ferry", 5)) == 1
        assert main.search("ferry", 5) == []
        assert not has_documents(settings)
        main.refresh([docs])
        assert has_documents(settings)
        main.forget([docs])
        assert not has_documents(settings)
