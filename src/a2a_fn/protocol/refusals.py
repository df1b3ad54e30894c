"""The journal's refusals, and an agent's own, as the errors that A2A has for them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from a2a.utils import errors as a2a

from ..errors import NotFound
from ..journal import intents
from ..journal.slots import Failure
from .errors import invalid


@contextlib.contextmanager
def translated() -> Iterator[None]:
    """The journal's refusals in A2A's words; engines' errors pass (see ``errors.py``)."""
    try:
        yield
    except NotFound as error:
        raise a2a.TaskNotFoundError from error
    except intents.WrongContext as error:
        raise invalid("message.contextId", "is not the context of the task") from error
    except intents.TooManyWebhooks as error:
        raise a2a.InvalidParamsError(str(error)) from error
    except (intents.Ended, intents.Busy, intents.OtherWorkspace) as error:
        raise a2a.UnsupportedOperationError(str(error)) from error


def failed(failure: Failure) -> a2a.A2AError:
    """The agent's own refusal, as it raised it."""
    kinds = {kind.__name__: kind for kind in a2a.JSON_RPC_ERROR_CODE_MAP}
    return kinds.get(failure.error, a2a.InternalError)(failure.message)
