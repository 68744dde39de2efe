"""Arguments against the JSON schema of a tool, before anything is sent.

The schema is a stranger's. So nothing is fetched to understand it, none of its regular expressions
is run (one can be written to run for years; the server checks its own), and there is an end to
following its references.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

STEPS = 10_000
"""References that are followed: a schema of 30 lines can ask for a billion."""
TOLD = 200
"""Characters of what is said about an argument."""


class _TooFarError(Exception):
    pass


def check(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> None:
    """Check arguments.

    Raises:
        ValueError: If the schema does not allow them, or is none; says why in one line.
    """
    from jsonschema import SchemaError  # type: ignore[import-untyped]
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    try:
        made = _validator()
        made.check_schema(schema)
        error = next(made(schema, registry=Registry()).iter_errors(dict(arguments)), None)
    except SchemaError:
        raise ValueError("the tool's own schema is none") from None
    except Unresolvable:
        raise ValueError("the tool's own schema refers to what it does not hold") from None
    except (_TooFarError, RecursionError):
        raise ValueError("the tool's own schema leads in circles") from None
    if error is not None:
        where = ".".join(map(str, error.absolute_path))
        told = " ".join(str(error.message).split())
        if len(told) > TOLD:  # what was given stands first, what is wrong with it last
            told = f"{told[: TOLD // 4]} … {told[-TOLD // 2 :]}"
        raise ValueError(f"its argument {where!r}: {told}" if where else told)


def _validator() -> Any:
    """Return a class of validators that counts the references it follows and runs no regular expression."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend  # type: ignore[import-untyped]

    usual, taken = Draft202012Validator.VALIDATORS, 0

    def counted(keyword: str) -> Any:
        def follow(*given: Any) -> Iterator[Any]:
            nonlocal taken
            taken += 1
            if taken > STEPS:
                raise _TooFarError
            yield from usual[keyword](*given) or ()

        return follow

    def unread(*_: Any) -> Iterator[Any]:
        yield from ()

    def besides(keyword: str) -> Any:
        def judge(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
            if (
                "patternProperties" not in schema
            ):  # else what is besides them is known to a regular expression alone
                yield from usual[keyword](validator, value, instance, schema) or ()

        return judge

    own: dict[str, Any] = dict.fromkeys(
        ("pattern", "patternProperties", "unevaluatedProperties"), unread
    )
    own |= {name: counted(name) for name in ("$ref", "$dynamicRef")}
    return extend(
        Draft202012Validator, {**own, "additionalProperties": besides("additionalProperties")}
    )
