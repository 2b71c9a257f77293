"""The repair itself: every step in order, the proof, and what is left. Runs in the cage."""

import json
import sys
from dataclasses import asdict
from pathlib import Path

import onnx
import onnx.inliner

from bridge.authoring.repair import shapes, steps
from bridge.authoring.repair.plan import Plan, Repaired, plan_of
from bridge.authoring.repair.proof import prove
from bridge.authoring.repair.stamp import restamp
from bridge.errors import DataError, ModelError
from bridge.model.cage import answer, one_line
from bridge.model.contract import CONTRACT_KEY, body_sha256, read_contract, with_contract
from bridge.model.files import ModelFile, read_model_file
from bridge.model.inspection import open_told, parse
from bridge.model.lint.ceilings import Ceiling, ceiling
from bridge.model.lint.finding import Level, Verdict
from bridge.model.lint.judge import judge


def mend(file: ModelFile, plan: Plan) -> tuple[bytes, Repaired]:
    """Return the repaired bytes and what was done.

    Raises:
        ModelError: The file can't be opened at all, so that nothing can be compared.
        ProofError: The repaired file answers otherwise.
        DataError: The rows don't fit.
    """
    target = ceiling(plan.target)
    model = parse(file.data)
    had = _valid_contract(model)
    done = steps.take_in(model, file.path)
    before = _opens(model.SerializeToString())
    model, told, left, labels = _changed(model, plan, target)
    data = with_contract(model, read_contract(_metadata(model))) if had else _bytes(model)
    widest, count = prove(before, data, labels, plan.rows)
    verdict = judge(ModelFile(file.path, data, ""), target)
    return data, Repaired(
        done=tuple(one_line(each) for each in done + told),
        left=_left(left, verdict),
        difference=widest,
        proven=count,
        outputs=tuple(output.name for output in model.graph.output),
        is_blocked=verdict.is_blocked,
    )


def _changed(
    model: onnx.ModelProto, plan: Plan, target: Ceiling
) -> tuple[onnx.ModelProto, list[str], list[str], dict[str, list[int | str]]]:
    """Return the model after every step, what was done, what could not be, and maps' labels."""
    done = steps.without_training(model)
    if model.functions:
        model = onnx.inliner.inline_local_functions(model)
        done.append("put the operators of its functions in their place")
    told, labels = steps.without_zipmap(model)
    done += told
    done += steps.prune(model, plan.keep)
    done += steps.free_of_weights(model)
    done += steps.import_once(model)
    model, told, left = restamp(model, target)
    done += told
    done += shapes.fix_shapes(model, plan.batch, plan.dims)
    return model, done, left, labels


def _left(left: list[str], verdict: Verdict) -> tuple[tuple[str, str, str], ...]:
    """Return level, what and fix of all that is not as it should be yet."""
    told = [(Level.BLOCKED.value, one_line(each), "export it again") for each in left]
    found = [each for each in verdict.findings if each.level is not Level.NOTE]
    return (*told, *((each.level.value, each.what, each.fix) for each in found))


def _opens(data: bytes) -> bytes:
    """Return ``data``, which the runtime opens."""
    try:
        open_told(data)
    except ModelError as error:
        raise ModelError(
            f"nothing can be proven of it, since it does not open as it is: {error}"
        ) from error
    return data


def _bytes(model: onnx.ModelProto) -> bytes:
    data: bytes = model.SerializeToString(deterministic=True)
    return data


def _metadata(model: onnx.ModelProto) -> dict[str, str]:
    return {item.key: item.value for item in model.metadata_props}


def _valid_contract(model: onnx.ModelProto) -> bool:
    """Whether there is a contract that was written for this very graph."""
    if CONTRACT_KEY not in _metadata(model):
        return False
    return read_contract(_metadata(model)).body_sha256 == body_sha256(model)


def main(arguments: list[str]) -> int:
    """Repair the file PATH by PLAN (JSON), write the result to OUT and the report to stdout."""
    path, given, out = Path(arguments[0]), json.loads(arguments[1]), Path(arguments[2])

    def work() -> dict[str, object]:
        try:
            data, report = mend(read_model_file(path), plan_of(given))
        except DataError as error:
            return {"rows": str(error)}
        out.write_bytes(data)
        return asdict(report)

    return answer(path, work)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
