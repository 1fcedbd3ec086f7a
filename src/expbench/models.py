"""Models by name, with one sentence for what can be wrong with one."""

from __future__ import annotations

import re

from inspect_ai.model import Model, get_model

from expbench.errors import NotFoundError, PrerequisiteError, UserError


def load_model(name: str) -> Model:
    """An Inspect model, ``provider/model``, ready to be asked.

    Raises:
        NotFoundError: no provider has that name.
        PrerequisiteError: the provider lacks its package or its key.
    """
    try:
        return get_model(name)
    except UserError:
        raise
    except ValueError as error:
        raise NotFoundError(f"There is no model {name!r}: {_sentence(error)}") from None
    except Exception as error:  # the engine's own error for a missing package or key is private
        raise PrerequisiteError(f"The model {name!r} cannot be used: {_sentence(error)}") from None


def _sentence(error: Exception) -> str:
    """The engine's message on one line, without its colours."""
    text = " ".join(str(getattr(error, "message", error)).split())
    return re.sub(r"\[/?\w+\]", "", text).removeprefix("ERROR: ")
