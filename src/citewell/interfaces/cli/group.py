"""Commands that are imported when they are asked for, and the groups that they stand in. This
module imports no command; it is given where one is, as text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

LONGEST_HELP = 500  # characters of a command's line


@dataclass(frozen=True, slots=True)
class Place:
    """Where a command or a group is, `module:function` or `module:group`, and its help."""

    target: str
    help: str

    def load(self) -> Any:
        """The command itself; its module is imported now."""
        module, _, name = self.target.partition(":")
        found = getattr(import_module(f"{__package__}.{module}"), name)
        if isinstance(found, typer.Typer):
            return get_command(found)
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        single.command()(found)
        return get_command(single)


class LazyCommand(TyperCommand):
    """A command of which only the name and the help are known before it is called."""

    def __init__(self, name: str, place: Place) -> None:
        super().__init__(name=name, help=place.help)
        self.place = place

    def make_context(self, info_name: str | None, args: list[str], *more: Any, **extra: Any) -> Any:
        """Of the command itself, which is the one that then runs."""
        return self.place.load().make_context(info_name, args, *more, **extra)


class FullHelpGroup(TyperGroup):
    """A group whose help has each command's first sentence whole."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        found = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [
            (name, command.get_short_help_str(limit=LONGEST_HELP))
            for name, command in found
            if command is not None and not command.hidden
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def create_group(
    about: str, commands: Mapping[str, Callable[..., None]], cls: type[TyperGroup] = FullHelpGroup
) -> typer.Typer:
    """A group of commands by their names, in the order of its help."""
    group = typer.Typer(
        cls=cls,
        help=about,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,  # rich's help pages cost 0.3 s of start-up
    )
    for name, function in commands.items():
        group.command(name=name)(function)
    return group
