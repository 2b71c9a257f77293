"""How features fit a model's input: which input, which dimension means what."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bridge.authoring.wrap.source import Source, Tensor
from bridge.authoring.wrap.spec import Arrangement, Spec
from bridge.errors import ContractError

_TYPES = {"float": np.float32, "double": np.float64}
FIXED = {"float": np.float32, "double": np.float64, "int64": np.int64, "int32": np.int32}
"""Numpy's types of the inputs that may hold one number."""
Numbers = NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class Fit:
    """The place of the features.

    Attributes:
        input: What the features go into.
        dims: Of one answer, without the batch.
        is_batched: Whether the first dimension is the batch.
        batch: How many answers a call is made for; None is any number.
        is_turned: Whether features come before steps.
        steps: Rows of features of one answer.
        is_newest_first: Whether the newest step comes first.
        fixed: Other inputs, with the one number that each holds.
    """

    input: Tensor
    dims: tuple[int, ...]
    is_batched: bool
    batch: int | None
    steps: int
    is_turned: bool
    is_newest_first: bool
    fixed: tuple[tuple[Tensor, float], ...]

    def laid_out(self, rows: Numbers) -> Numbers:
        """Return rows ``(n, features)`` or ``(n, steps, features)`` as the input wants them.

        The twin of the graph's nodes.
        """
        if self.is_newest_first:
            rows = rows[:, ::-1]
        if self.is_turned:
            rows = rows.transpose(0, 2, 1)
        shape = (len(rows), *self.dims) if self.is_batched else self.dims
        return np.ascontiguousarray(rows.reshape(shape), dtype=_TYPES[self.input.type])


def fit(source: Source, spec: Spec) -> Fit:
    """Return how the features of ``spec`` go into ``source``.

    Raises:
        ContractError: No input takes them, and why.
    """
    item = _input(source, spec)
    if item.type not in _TYPES:
        raise ContractError(
            f"{source.path}: input {item.name} is {item.type}, features are float or double: "
            "export the model with a float input"
        )
    width, steps = len(spec.features), spec.input.steps
    is_batched = len(item.dims) > 1
    free = item.dims[1:] if is_batched else item.dims
    layout = spec.input.layout or _found(item, free, steps, width)
    dims = _dims(layout, steps, width)
    fits = len(dims) == len(free) and all(
        want is None or want == have for want, have in zip(free, dims, strict=True)
    )
    if not fits:
        raise ContractError(_misfit(item, layout, steps, width))
    batch = item.dims[0] if is_batched else 1
    fixed = tuple((each, spec.fixed[each.name]) for each in source.inputs if each is not item)
    if batch is not None and batch != 1:
        raise ContractError(
            f"{source.path}: input {item.name} is made for {batch} answers at once, a bar has one: "
            "export the model with a free batch, or a batch of 1"
        )
    return Fit(
        input=item,
        dims=dims,
        is_batched=is_batched,
        batch=1 if fixed else batch,
        steps=steps,
        is_turned=steps > 1 and "features" in layout.split("steps")[0],
        is_newest_first=steps > 1 and spec.input.order == "newest first",
        fixed=fixed,
    )


def _input(source: Source, spec: Spec) -> Tensor:
    known = {each.name: each for each in source.inputs}
    for name in (*spec.fixed, *([spec.input.name] if spec.input.name else [])):
        if name not in known:
            raise ContractError(
                f"{source.path} has no input {name}: it has {', '.join(known) or 'none'}"
            )
    for name in spec.fixed:
        if known[name].type not in FIXED:
            raise ContractError(
                f"{source.path}: input {known[name]} can't be fixed to a number: export the model "
                "without it"
            )
    free = [each for each in source.inputs if each.name not in spec.fixed]
    chosen = [each for each in free if spec.input.name in (None, each.name)]
    if len(chosen) != 1:
        raise ContractError(
            f"{source.path} has the inputs {', '.join(map(str, free)) or 'none'}: name the one "
            "that takes the features in [input], and give the others a number in [fixed]"
        )
    if left := [each for each in free if each is not chosen[0]]:
        raise ContractError(
            f"{source.path}: nothing is said about the input {left[0]}: a graph keeps nothing from "
            "bar to bar; give it a number in [fixed] if it may begin anew at each answer, or "
            "export the model over a window of steps"
        )
    return chosen[0]


def _dims(layout: Arrangement, steps: int, width: int) -> tuple[int, ...]:
    sizes = {"steps": steps, "features": width, "1": 1}
    return tuple(
        int(np.prod([sizes[each] for each in part.split("*")]))
        for part in layout.split(",")
        if part != "batch"
    )


def _found(item: Tensor, free: tuple[int | None, ...], steps: int, width: int) -> Arrangement:
    """Return the layout that the sizes leave no doubt about."""
    if len(free) == 1 and steps == 1:
        return "batch,features"
    if len(free) == 2 and free in ((steps, width), (None, width), (steps, None)):
        if steps != width:
            return "batch,steps,features"
        raise ContractError(
            f"input {item} has as many steps as features: say which comes first in [input] layout, "
            "batch,steps,features or batch,features,steps"
        )
    if len(free) == 2 and free == (width, steps):
        return "batch,features,steps"
    raise ContractError(_misfit(item, None, steps, width))


def _misfit(item: Tensor, layout: Arrangement | None, steps: int, width: int) -> str:
    said = f" laid out as {layout}" if layout else ""
    rows = f"{steps} steps of {width} features" if steps > 1 else f"{width} features"
    return (
        f"input {item} does not take {rows}{said}: declare as many features as it was trained "
        "with, and steps and layout in [input]"
    )
