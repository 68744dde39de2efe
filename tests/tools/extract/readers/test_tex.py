"""LaTeX: what is read, what is left out, and what is broken."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.tools.extract.readers.tex import argument_at, rows_of, words_of
from tests.patience import in_proportion
from tests.tools.extract.reading import format_or_reason, read, reason

REASONABLE = {"tex", "it is empty", "it is nested too deep"}

PAPER = r"""\documentclass[11pt]{article}
\usepackage{graphicx} % pictures
\newcommand{\ferry}[1]{The ferry #1}
\title{The harbour \emph{froze}}
\author{Anna Berg \and Bo \O sten}
\date{2025-03-04}
\begin{document}
\maketitle
\begin{abstract}
Ice, 100\% of it.% not this
\end{abstract}
\section{Costs \& fares}\label{sec:costs}
See~Section~\ref{sec:costs} and \cite[p.~3]{berg2024}.\footnote{It cost more.}

The second paragraph
goes on --- ``quoted'' -- with $E = mc^2$.
\begin{itemize}
  \item One
  \item[Two] is more
\end{itemize}
\begin{table}[ht]
\caption{Passengers}
\begin{tabular}{l|r}
\hline
Year & Count \\ \hline
2024 & 1,200 \\[2pt]
2025 & \textbf{1,350} \\
\end{tabular}
\end{table}
\begin{verbatim}
x = {1: "%"}
\end{verbatim}
\subsection*{Last}
\input{more}
The end.
\end{document}
Not this.
"""


def test_a_paper() -> None:
    found = read(PAPER, "a.tex")
    assert found.text == (
        "Abstract\n\nIce, 100% of it.\n\nCosts & fares\n\n"
        "See Section [sec:costs] and [berg2024]. (It cost more.)\n\n"
        "The second paragraph goes on — “quoted” – with $E = mc^2$.\n\n"
        "- One\n- Two: is more\n\nPassengers\n\n"
        "| Year | Count\n| Year: 2024 | Count: 1,200\n| Year: 2025 | Count: 1,350\n\n"
        'x = {1: "%"}\n\nLast\n\nThe end.'
    )
    assert [label for _, label, _ in found.marked()] == ["Abstract", "Costs & fares", "Last"]
    assert (found.title, found.author, found.published) == (
        "The harbour froze",
        "Anna Berg Bo Østen",
        "2025-03-04",
    )
    assert found.notes == ["the files that it includes were not read with it"]


@pytest.mark.parametrize(
    ("markup", "words"),
    [
        (r"\emph{a} \textbf{b \textit{c}}", "a b c"),
        (r"caf\'e na\"{\i}ve \c{c}a Erd\H{o}s \v{S}koda \aa", "café naïve ça Erdős Škoda å"),
        (r"\% \& \_ \# \$ \{x\}", "% & _ # $ {x}"),
        (r"\href{https://a.example}{here} \url{b.example}", "here b.example"),
        (r"a\\b", "a\nb"),
        (r"\verb|a_b{c}| d", "a_b{c} d"),
        (r"\[ a = b \]", r"\[ a = b \]"),
        (r"\begin{equation} a_1 \end{equation}", r"\begin{equation} a_1 \end{equation}"),
        (r"\hypertarget{x}{Words}", "Words"),
        (r"\def\x{gone}kept", "kept"),
        ("cost: $5 only\n\nnext", "cost: $5 only\n\nnext"),
        (r"\unknown[opt]{kept}", "[opt]kept"),
        ("one % comment\ntwo", "one two"),
        (r"100\\% a comment", "100"),
        ("\\item loose", "- loose"),
    ],
)
def test_what_is_written(markup: str, words: str) -> None:
    assert read(f"x\n\n{markup}", "a.tex").text.removeprefix("x").strip() == words


@pytest.mark.parametrize(
    "text",
    [
        "\\begin{document}\\end{document}",
        "\\documentclass{article}\n\\usepackage{x}",
        "% only a comment",
    ],
)
def test_nothing_to_read(text: str) -> None:
    assert reason(text, "a.tex") == "it is empty"


def test_code_keeps_its_lines() -> None:
    code = "\\begin{lstlisting}[language=C]\nint a;\n  int b;\n\\end{lstlisting}"
    assert read(code, "a.tex").text == "int a;\n  int b;"
    coloured = "\\begin{Highlighting}[]\n\\KeywordTok{def}\n  f()\n\\end{Highlighting}"
    assert read(coloured, "a.tex").text == "def\n  f()"


def test_arguments() -> None:
    assert argument_at("{a{b}c}d", 0) == ("a{b}c", 7)
    assert argument_at(r"{a\}b}c", 0) == (r"a\}b", 6)
    assert argument_at("{open\n\nnext", 0) == ("open", 7)
    assert argument_at("{open", 0) == ("open", 5)


def test_rows() -> None:
    assert list(rows_of(r"{l r} a & b\&c \\ \hline d & ")) == [["a", "b&c"], ["d", ""]]
    assert list(rows_of(r"[t]{\textwidth}{lr}a&b")) == [["a", "b"]]


def test_what_is_not_closed_is_read_on() -> None:
    assert read("\\section{Open\n\nText \\begin{itemize} \\item One", "a.tex").text == (
        "Open\n\nText\n\n- One"
    )
    assert read("\\begin{tabular}{l} a & b", "a.tex").text.endswith("a & b")
    assert words_of("a {b") == "a b"


@given(st.text(alphabet="\\{}[]$%&~ \nabegincition-'`", max_size=120))
def test_anything_is_text_or_a_reason(text: str) -> None:
    assert format_or_reason(f"x {text}", "a.tex") in REASONABLE


def test_depth_is_an_error_of_this_file() -> None:
    assert reason("\\footnote{" * 3_000 + "x", "a.tex") == "it is nested too deep"


@pytest.mark.parametrize(
    ("begun", "words"),
    [(r"\begin{verbatim} a ", "a"), (r"x \[ a ", "x a x a")],
)
def test_what_begins_without_end_is_read_on_and_in_proportion(begun: str, words: str) -> None:
    with in_proportion():
        assert words_of(begun * 100_000).startswith(words)


@pytest.mark.parametrize("kind", ["tabular", "verbatim", "align"])
def test_what_has_no_end_does_not_hide_what_has_one(kind: str) -> None:
    markup = rf"\begin{{{kind}*}} a \begin{{{kind}}} b \end{{{kind}}} c \begin{{{kind}}} d"
    assert words_of(markup).split()[0] == "a"
    assert words_of(markup).split()[-1] == "d"
    assert words_of(r"\[ e \] f \[ g \] h \( i") == r"\[ e \] f \[ g \] h i"
