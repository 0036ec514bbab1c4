"""The errors that the agent's edge turns into HTTP answers. They decide nothing.

Deep code raises them; `agent_api.web` answers with `status` and the message as plain text, once.
"""

# ruff: noqa: N801, N818  (named after the HTTP statuses; the contract between the parts fixes the names)

from __future__ import annotations

__all__ = [
    "ApiError",
    "BadRequest",
    "Conflict",
    "Forbidden",
    "NotFound",
    "NotImplemented_",
    "Unauthorized",
    "Unavailable",
]


class ApiError(Exception):
    """A call that is refused as a whole. `message` is what the client reads, without the status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


class BadRequest(ApiError):
    """400: the call itself is wrong."""

    def __init__(self, message: str) -> None:
        super().__init__(400, message)


class Unauthorized(ApiError):
    """401: nobody we know. The answer asks for HTTP basic authentication."""

    def __init__(self, message: str) -> None:
        super().__init__(401, message)


class Forbidden(ApiError):
    """403: not in this state, or not by this caller."""

    def __init__(self, message: str) -> None:
        super().__init__(403, message)


class NotFound(ApiError):
    """404: what the call names is unknown."""

    def __init__(self, message: str) -> None:
        super().__init__(404, message)


class Conflict(ApiError):
    """409: the call contradicts what there is."""

    def __init__(self, message: str) -> None:
        super().__init__(409, message)


class NotImplemented_(ApiError):
    """501: a call that Mesos knows and Pinfold does not serve."""

    def __init__(self, message: str) -> None:
        super().__init__(501, message)


class Unavailable(ApiError):
    """503: not now; trying again may help."""

    def __init__(self, message: str) -> None:
        super().__init__(503, message)
