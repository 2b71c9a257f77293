"""``mt5-onnx why BAR``: what the model saw and said at a bar, and what became of it."""

from typing import Annotated, Any

import typer

from bridge.cli import machine
from bridge.cli.journal import JournalOption


def why(
    bar: Annotated[
        str, typer.Argument(help='Open time of the bar, server time: "2017.10.03 14:00".')
    ],
    path: JournalOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Everything as JSON.")] = False,
) -> None:
    """Explain a bar: what the model saw, said, what each rule answered, what was sent and came."""
    from bridge.cli.state import find_journal
    from bridge.errors import ConfigError
    from bridge.journal.read import reading
    from bridge.mt5.servertime import parse, text

    time = parse(bar)
    with reading(find_journal(path)) as reader:
        decisions = reader.decisions_at(time)
        nearest = reader.nearest_bar(time)
        for decision in decisions:
            decision["intents"] = reader.intents_of(decision["id"])
    if not decisions:
        hint = f"the nearest one is {text(nearest)}" if nearest is not None else "it is empty"
        raise ConfigError(f"the journal has no decision about the bar of {text(time)}: {hint}")
    for decision in decisions:
        typer.echo(machine.as_json(decision) if as_json else "\n".join(_explained(decision)))


def _explained(row: dict[str, Any]) -> list[str]:
    from bridge.mt5.servertime import text

    outputs = ", ".join(f"{value:.6g}" for value in row["outputs"]) or "nothing"
    bar = f"{row['symbol']} {row['timeframe']}, bar of {text(row['bar_time'])}"
    seen, model = row["input_sha256"][:16], row["model_sha256"][:16]
    said = f"{outputs}: long {row['long']:.6g}, short {row['short']:.6g}"
    lines = [
        f"{bar}, strategy {row['magic']}",
        f"  saw       bars with sha256 {seen}..., quote {row['bid']} / {row['ask']},"
        f" equity {row['equity']}",
        f"  model     sha256 {model}... said {row['problem'] or said}",
        f"  held      {_holding(row['holding'])}, trading state {row['state']}",
        f"  decided   {row['action']}{_levels(row)}: {row['reason']}",
    ]
    if not row["intents"]:
        lines.append("  sent      nothing")
    for intent in row["intents"]:
        lines += _intent(intent)
    return lines


def _holding(holding: dict[str, Any] | None) -> str:
    if holding is None:
        return "nothing"
    return (
        f"{holding['side']} {holding['volume']} lots (#{holding['ticket']}, {holding['bars']} bars)"
    )


def _levels(row: dict[str, Any]) -> str:
    parts = [row["side"]] if row["side"] else []
    parts += [
        f"{name} {row[f'{name}_points']:.1f} points"
        for name in ("stop", "take")
        if row[f"{name}_points"] is not None
    ]
    return f" ({', '.join(parts)})" if parts else ""


def _intent(intent: dict[str, Any]) -> list[str]:
    lines = [f"  {intent['purpose']}"]
    for verdict in intent["verdicts"]:
        answer = "yes" if verdict["ok"] else "NO "
        lines.append(
            f"    rule    {answer} {verdict['rule']}: {verdict['value']}, limit {verdict['limit']}"
        )
    if intent["denied"]:
        return [*lines, f"    sent    nothing: denied by {intent['denied']}"]
    lines.append(f"    sent    {machine.as_json(intent['request'])}")
    result = intent["result"]
    if result is None:
        return [*lines, "    came    nothing yet"]
    fields = {key: value for key, value in (result["answer"] or {}).items() if key != "request"}
    return [
        *lines,
        f"    came    {result['outcome']}: {result['words']}; {machine.as_json(fields)}",
    ]
