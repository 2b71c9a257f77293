"""The JSON Schema of the settings file, for editors; published as ``bridge.schema.json``."""

from typing import Any

from bridge.settings.strategy import DecisionSettings
from bridge.settings.tables import BridgeSettings


def settings_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a settings file."""
    schema: dict[str, Any] = BridgeSettings.model_json_schema()
    decision = DecisionSettings.model_json_schema()
    definitions = schema["$defs"] | decision.pop("$defs")
    # A strategy's decision is any part of these keys: each has its default in the contract.
    definitions["DecisionSettings"] = decision
    of_strategy = definitions["StrategySettings"]["properties"]["decision"]
    of_strategy.pop("additionalProperties", None)
    of_strategy.pop("type", None)
    of_strategy["$ref"] = "#/$defs/DecisionSettings"
    written: dict[str, Any] = _as_written(schema | {"$defs": definitions})
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | written


def _as_written(node: Any) -> Any:
    """Return ``node`` with "off" where Python says None: TOML has no null."""
    if isinstance(node, list):
        return [_as_written(each) for each in node]
    if not isinstance(node, dict):
        return node
    if node == {"type": "null"}:
        return {"const": "off"}
    return {
        key: "off" if key == "default" and value is None else _as_written(value)
        for key, value in node.items()
    }
