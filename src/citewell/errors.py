"""The whole error tree. A class exists only where a caller acts differently.

    CitewellError               what we can explain; `message`: what and to what, `hint`: what to do
     ├── InvalidInput           the request is wrong: fix it
     │    ├── SensitiveContent  the question contains a refused word
     │    ├── ConfigError       a setting is unknown or wrong: fix the file or the variable
     │    └── StatementRefused  it may do more than read: it is not run
     ├── NotAllowed             the user's role does not allow it
     ├── NotFound               no such collection, document, session, trace, job
     ├── Conflict               it exists already, or is being changed by someone else
     ├── UnreadableFile         broken, encrypted, empty, too large, of no known kind; others go on
     ├── ModelUnavailable       no model file, or it cannot be started: install it or choose another
     ├── TransientError         may work when tried again; `models/retry.py` acts on this class only
     ├── PermanentError         will fail the same way again; `code` tells which way
     │    ├── StatementFailed   an engine refuses it, or a limit ended it; `message` is the engine's
     │    └── BudgetSpent       end the question with what there is; `code` is the limit
     ├── SourceUnavailable      tables cannot be reached: bring the file or the server back
     ├── StorageError           the disk or the database refuses (full, locked, read-only)
     │    └── DatabaseAway      its server cannot be reached, or went at the end of a change
     ├── Stopped                the server ends first: ask again, or use `resume`, when it is back
     └── StepLimit              a graph took more steps than it is allowed

`code` is the snake_case name that the JSON error shape carries on every channel.
"""

from __future__ import annotations

from citewell.messages import Text


class CitewellError(Exception):
    """`message`: what happened, to what. `hint`: what to do about it. Both are shown to people."""

    code = "error"

    def __init__(self, message: str, *, hint: str = "", code: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        if code:
            self.code = code

    @property
    def explanation(self) -> str:
        """What happened and what to do about it, as one text."""
        return Text("; ").join(part for part in (self.message, self.hint) if part)

    def __reduce__(self) -> tuple[object, ...]:
        """Errors pickle with their hint and code, for parsers run in a worker."""
        return _rebuild_error, (type(self), self.message, self.hint, self.code)


def _rebuild_error(kind: type[CitewellError], message: str, hint: str, code: str) -> CitewellError:
    return kind(message, hint=hint, code=code)


class InvalidInput(CitewellError):
    code = "invalid_input"


class SensitiveContent(InvalidInput):
    code = "sensitive_content"


class ConfigError(InvalidInput):
    code = "config_error"


class StatementRefused(InvalidInput):
    code = "statement_refused"


class NotAllowed(CitewellError):
    code = "not_allowed"


class NotFound(CitewellError):
    code = "not_found"


class Conflict(CitewellError):
    code = "conflict"


class UnreadableFile(CitewellError):
    code = "unreadable_file"


class ModelUnavailable(CitewellError):
    code = "model_unavailable"


class TransientError(CitewellError):
    code = "transient"


class PermanentError(CitewellError):
    code = "permanent"


class BudgetSpent(PermanentError):
    code = "budget"


class StatementFailed(PermanentError):
    code = "statement_failed"


class SourceUnavailable(CitewellError):
    code = "source_unavailable"


class StorageError(CitewellError):
    code = "storage"


class DatabaseAway(StorageError):
    """A caller may wait for the server, or look whether the change was kept."""


class Stopped(CitewellError):
    """`resume`: the trace_id of the interrupted run, if it can be resumed."""

    code = "stopping"

    def __init__(self, message: str, *, hint: str = "", code: str = "", resume: str = "") -> None:
        super().__init__(message, hint=hint, code=code)
        self.resume = resume


class StepLimit(CitewellError):
    code = "step_limit"


def unwrap_first_error(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first error of a group. Nested task groups raise nested groups."""
    error = errors.exceptions[0]
    return unwrap_first_error(error) if isinstance(error, BaseExceptionGroup) else error
