"""The program `pinfold`: finds the commands that each package brings and runs the one that was asked for.

Decides nothing else. A command is imported only when it is used, so that `pinfold topology` does not load the agent.
"""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points, version

import click

__all__ = ["main"]


class _Commands(click.Group):
    """A group whose commands are the entry points of the group `pinfold.commands`."""

    def _entries(self) -> dict[str, EntryPoint]:
        return {entry.name: entry for entry in entry_points(group="pinfold.commands")}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(self._entries())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = self._entries().get(cmd_name)
        if entry is None:
            return None
        command = entry.load()
        if not isinstance(command, click.Command):
            raise TypeError(f"entry point {cmd_name} of pinfold.commands is no click command: {command!r}")
        return command


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(version("pinfold"), prog_name="pinfold")
def cli() -> None:
    """Give every task the CPUs it asked for, next to the memory it uses, by the name of a profile."""


def main() -> None:
    """Run the command line. Exit status: 0 done, 1 failed, 2 wrong usage."""
    cli(prog_name="pinfold")


if __name__ == "__main__":
    main()
