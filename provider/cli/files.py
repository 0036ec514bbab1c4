"""The files that commands are given: JSON, profile documents, provider configurations.

Decides how they are read and what a fault in one is called: the message has the file and the place in it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agent_api.wire import codec, mesos_pb2
from agent_api.wire.unknown import unknown_fields
from profiles.errors import ProfilesError
from profiles.mapping import Entry, parse_document

__all__ = ["BadFileError", "read_json", "read_profiles", "read_provider_config"]


class BadFileError(Exception):
    """A file that is not what it should be; the message has the place in it."""


def read_json(path: Path) -> Any:
    """What the file holds. Raises BadFileError, and OSError where it cannot be read."""
    try:
        return json.loads(path.read_bytes())
    except ValueError as error:
        raise BadFileError(f"{path}: no JSON: {error}") from error


def read_profiles(path: Path) -> Mapping[str, Entry]:
    """The profiles of a document. Raises as `read_json`."""
    try:
        return parse_document(path.read_bytes())
    except ProfilesError as error:
        raise BadFileError(f"{path}: {error}") from error


def read_provider_config(path: Path) -> tuple[mesos_pb2.ResourceProviderInfo, bool]:
    """A provider's configuration, or its `cpu` part alone, and whether it names its provider. Raises as `read_json`."""
    data = read_json(path)
    if not isinstance(data, dict):
        raise BadFileError(f"{path}: a provider config is an object")
    named = "type" in data and "name" in data
    if "cpu" not in data and "type" not in data and "name" not in data:
        data = {"cpu": data}
    data = {"type": "org.pinfold.rp.cpu", "name": "plan", **data}
    if faults := unknown_fields(mesos_pb2.ResourceProviderInfo, data):
        raise BadFileError("\n".join(f"{path}: {fault}" for fault in faults))
    try:
        return codec.from_dict(mesos_pb2.ResourceProviderInfo, data), named
    except codec.CodecError as error:
        raise BadFileError(f"{path}: {error}") from error
