"""The published JSON Schema of the profile document (`profiles/schema.json`), read once when this is imported.

Decides nothing: the schema file says what a valid document looks like, `profiles.mapping` adds the rules between
fields. The schema refers to nothing outside itself, so validation never reads from anywhere.
"""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import jsonschema

__all__ = ["SCHEMA", "VALIDATOR"]

SCHEMA: dict[str, Any] = json.loads(resources.files("profiles").joinpath("schema.json").read_text("utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
