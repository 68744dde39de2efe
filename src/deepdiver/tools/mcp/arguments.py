"""Checking arguments against the JSON schema of a tool, before anything is sent.

The schema is foreign. Nothing is fetched to understand it, its regular expressions are not run (one
can be written that runs for years; the server checks them itself), and the number of references
that are followed is limited.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

STEPS = 10_000
"""References that are followed: a schema of 30 lines can lead to a billion."""
LONGEST_MESSAGE = 200
"""Characters of a message about an argument."""


class _TooManyReferencesError(Exception):
    pass


def check_arguments(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> None:
    """Check arguments against a schema.

    Raises:
        ValueError: If the schema does not allow them, or is not valid; says why in one line.
    """
    from jsonschema import SchemaError  # type: ignore[import-untyped]
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    try:
        validator = _validator()
        validator.check_schema(schema)
        error = next(validator(schema, registry=Registry()).iter_errors(dict(arguments)), None)
    except SchemaError:
        raise ValueError("the tool's own schema is not valid") from None
    except Unresolvable:
        raise ValueError(
            "the tool's own schema refers to something that it does not hold"
        ) from None
    except (_TooManyReferencesError, RecursionError):
        raise ValueError("the tool's own schema leads in circles") from None
    if error is not None:
        where = ".".join(map(str, error.absolute_path))
        message = " ".join(str(error.message).split())
        if len(message) > LONGEST_MESSAGE:  # the value comes first, what is wrong with it last
            message = f"{message[: LONGEST_MESSAGE // 4]} … {message[-LONGEST_MESSAGE // 2 :]}"
        raise ValueError(f"its argument {where!r}: {message}" if where else message)


def _validator() -> Any:
    """Return a class of validators that counts references and runs no regular expressions."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend  # type: ignore[import-untyped]

    usual, followed = Draft202012Validator.VALIDATORS, 0

    def counting(keyword: str) -> Any:
        def follow(*given: Any) -> Iterator[Any]:
            nonlocal followed
            followed += 1
            if followed > STEPS:
                raise _TooManyReferencesError
            yield from usual[keyword](*given) or ()

        return follow

    def ignore(*_: Any) -> Iterator[Any]:
        yield from ()

    def additional(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        # With patternProperties, only regular expressions say which properties are additional.
        if "patternProperties" not in schema:
            yield from usual["additionalProperties"](validator, value, instance, schema) or ()

    ignored = ("pattern", "patternProperties", "unevaluatedProperties")
    own: dict[str, Any] = {
        **dict.fromkeys(ignored, ignore),
        **{keyword: counting(keyword) for keyword in ("$ref", "$dynamicRef")},
        "additionalProperties": additional,
    }
    return extend(Draft202012Validator, own)
