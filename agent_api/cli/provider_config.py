"""`pinfold provider-config`: the operator's calls that add, change and remove provider configs.

Decides nothing about a config; the agent does, and its text is shown. Only a key that no field is there for is refused
here: the agent would ignore it, as Mesos does.
"""

from __future__ import annotations

import json
from typing import Any, TextIO

import click

from agent_api.cli.client import call, fail, with_access, with_agent
from agent_api.wire import mesos_pb2
from agent_api.wire.unknown import unknown_fields

__all__ = ["provider_config"]


@click.group("provider-config")
def provider_config() -> None:
    """Add, update or remove the config of a provider."""


def _read(file: TextIO) -> dict[str, Any]:
    try:
        info = json.load(file)
    except ValueError as error:
        fail(f"{file.name} is no JSON: {error}")
    if not isinstance(info, dict):
        fail(f"{file.name} holds no JSON object")
    if faults := unknown_fields(mesos_pb2.ResourceProviderInfo, info):
        fail("\n".join(f"{file.name}: {fault}" for fault in faults))
    return info


def _name(info: dict[str, Any]) -> str:
    return f"{info.get('type')} {info.get('name')}"


@provider_config.command()
@click.argument("file", type=click.File("r", encoding="utf-8"))
@with_agent
@with_access
def add(file: TextIO, agent_url: str) -> None:
    """Add the config in FILE ('-' for standard input): a ResourceProviderInfo in JSON. Twice the same is fine."""
    info = _read(file)
    call(agent_url, {"type": "ADD_RESOURCE_PROVIDER_CONFIG", "add_resource_provider_config": {"info": info}})
    click.echo(f"added {_name(info)}")


@provider_config.command()
@click.argument("file", type=click.File("r", encoding="utf-8"))
@with_agent
@with_access
def update(file: TextIO, agent_url: str) -> None:
    """Replace the config of the same type and name by the one in FILE ('-' for standard input)."""
    info = _read(file)
    body = {"type": "UPDATE_RESOURCE_PROVIDER_CONFIG", "update_resource_provider_config": {"info": info}}
    call(agent_url, body)
    click.echo(f"updated {_name(info)}")


@provider_config.command()
@click.argument("type_", metavar="TYPE")
@click.argument("name")
@with_agent
@with_access
def remove(type_: str, name: str, agent_url: str) -> None:
    """Remove the config TYPE NAME and stop its provider. Unknown ones are none."""
    body = {"type": "REMOVE_RESOURCE_PROVIDER_CONFIG", "remove_resource_provider_config": {"type": type_, "name": name}}
    call(agent_url, body)
    click.echo(f"removed {type_} {name}")
