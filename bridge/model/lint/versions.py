"""Rules about the file as a whole: versions, size, what is outside, whether it opens."""

from collections.abc import Iterable

from bridge.model import walk
from bridge.model.lint.ceilings import Ceiling
from bridge.model.lint.facts import Facts
from bridge.model.lint.finding import Level
from bridge.model.lint.rule import REPAIR, Rule

_LARGE = 16 * 1024 * 1024
_OLD_OPSET = 13
_FUNCTIONS_SINCE = 8  # IR version


def _refused(facts: Facts, ceiling: Ceiling) -> Iterable[str]:
    """Yield the runtime's refusal, unless a rule of the target says it better."""
    if facts.refused is None:
        return
    told = [*_ir(facts, ceiling), *_opset(facts, ceiling), *_ml(facts, ceiling)]
    told += [*custom_domains(facts, ceiling)]
    if not told:
        yield facts.refused


def _outside(facts: Facts, _: Ceiling) -> Iterable[str]:
    there = [place for place in facts.outside if place not in facts.missing]
    if there:
        yield f"its weights are in another file, {', '.join(there)}"


def _missing(facts: Facts, _: Ceiling) -> Iterable[str]:
    if facts.missing:
        yield (
            f"its weights are in {', '.join(facts.missing)}, which is no file in its own folder, "
            "or leads out of it"
        )


def _ir(facts: Facts, ceiling: Ceiling) -> Iterable[str]:
    if ceiling.ir is not None and facts.model.ir_version > ceiling.ir:
        yield (
            f"its IR version is {facts.model.ir_version}, {ceiling.runtime} reads up to "
            f"{ceiling.ir}"
        )


def _opset(facts: Facts, ceiling: Ceiling) -> Iterable[str]:
    version = facts.opsets.get("ai.onnx", 0)
    if ceiling.opset is not None and version > ceiling.opset:
        yield f"its opset is {version}, too new for {ceiling.runtime}, limit {ceiling.opset}"


def _ml(facts: Facts, ceiling: Ceiling) -> Iterable[str]:
    version = facts.opsets.get(walk.ML, 0)
    if ceiling.ml is not None and version > ceiling.ml:
        yield f"its opset of ai.onnx.ml is {version}, too new for {ceiling.runtime}, limit " + str(
            ceiling.ml
        )


def custom_domains(facts: Facts, _: Ceiling) -> Iterable[str]:
    """Yield the operators that are of no standard domain, by domain."""
    local = {function.domain for function in facts.model.functions}
    known = walk.STANDARD | {walk.ML} | local
    found: dict[str, set[str]] = {}
    for node in walk.nodes(facts.model):
        if node.domain not in known:
            found.setdefault(node.domain, set()).add(node.op_type)
    for domain, operators in sorted(found.items()):
        yield f"{', '.join(sorted(operators))} of the domain {domain}"


def _fault(facts: Facts, _: Ceiling) -> Iterable[str]:
    if facts.fault is not None and not [*custom_domains(facts, _)] and facts.refused is None:
        yield f"onnx's checker says: {facts.fault}"


def _twice(facts: Facts, _: Ceiling) -> Iterable[str]:
    domains = [item.domain or "ai.onnx" for item in facts.model.opset_import]
    for domain in sorted({each for each in domains if domains.count(each) > 1}):
        yield f"the domain {domain} is imported {domains.count(domain)} times"


def _too_big(facts: Facts, ceiling: Ceiling) -> Iterable[str]:
    if ceiling.resource is not None and facts.size > ceiling.resource:
        yield f"it has {facts.size:,} bytes, a #resource takes {ceiling.resource:,}"


def _heavy(facts: Facts, ceiling: Ceiling) -> Iterable[str]:
    if ceiling.resource is not None and _LARGE < facts.size <= ceiling.resource:
        yield f"it has {facts.size:,} bytes"


def _functions(facts: Facts, _: Ceiling) -> Iterable[str]:
    if facts.model.functions:
        names = sorted({function.name for function in facts.model.functions})
        yield f"it has functions of its own ({', '.join(names)})"


def _training(facts: Facts, _: Ceiling) -> Iterable[str]:
    if facts.model.training_info:
        yield "it carries what a training needs"


def _old(facts: Facts, ceiling: Ceiling) -> Iterable[str]:
    version = facts.opsets.get("ai.onnx", _OLD_OPSET)
    if ceiling.opset is not None and version < _OLD_OPSET:
        yield f"its opset is {version}"


RULES = (
    Rule(
        name="outside-weights",
        look=_outside,
        level=Level.BLOCKED,
        why="an EA hands the terminal a buffer, which has no folder; the daemon reads one file",
        fix=f"store the weights in the file: {REPAIR}",
    ),
    Rule(
        name="missing-weights",
        look=_missing,
        level=Level.BLOCKED,
        why="the numbers of the model are not here, and a place outside its folder is never read",
        fix="put the .data file beside the model under that name, or export the model as one file",
    ),
    Rule(
        name="ir-too-new",
        look=_ir,
        level=Level.BLOCKED,
        why="the session is refused: INVALID_HANDLE, the reason is only in the Experts log",
        fix=f"export with ir_version 8, or stamp it anew: {REPAIR}",
    ),
    Rule(
        name="opset-too-new",
        look=_opset,
        level=Level.BLOCKED,
        why="the session is refused: INVALID_HANDLE, the reason is only in the Experts log",
        fix=f"export with target opset 15, or have it converted: {REPAIR} where no operator "
        "changed its meaning; never overwrite the number by hand",
    ),
    Rule(
        name="ml-opset-too-new",
        look=_ml,
        level=Level.BLOCKED,
        why="trees and linear models are of this domain; a newer version is refused",
        fix=f"export with ai.onnx.ml 1 to 3, or stamp it anew: {REPAIR} where it can",
    ),
    Rule(
        name="custom-domain",
        look=custom_domains,
        level=Level.BLOCKED,
        why="there is no way to load operators into a terminal; com.microsoft is what onnxruntime "
        "writes when it saves its own optimised graph",
        fix="export again with standard operators, and never ship onnxruntime's optimised file",
    ),
    Rule(
        name="refused",
        look=_refused,
        level=Level.BLOCKED,
        why="what onnxruntime refuses here, it refuses in the terminal",
        fix="export it again for opset 15, float32, and open it in onnxruntime before you ship it",
    ),
    Rule(
        name="faulty",
        look=_fault,
        level=Level.BLOCKED,
        why="the file breaks ONNX's own rules; another runtime may read it in another way",
        fix="export it again, with a newer converter",
    ),
    Rule(
        name="too-big",
        look=_too_big,
        level=Level.BLOCKED,
        why="the EA can't embed it, and as a plain file it is not on the tester's agents",
        fix="use fewer or shallower trees, or a smaller network",
    ),
    Rule(
        name="heavy",
        look=_heavy,
        level=Level.CARE,
        why="each agent of the tester unpacks and holds its own copy",
        fix="use fewer or shallower trees, if the answers allow it",
    ),
    Rule(
        name="functions",
        look=_functions,
        level=Level.CARE,
        levels={"legacy": Level.BLOCKED},
        why="functions came with IR 8; older runtimes refuse them",
        fix=f"put their operators in their place: {REPAIR}",
    ),
    Rule(
        name="training-graph",
        look=_training,
        level=Level.CARE,
        why="a terminal needs none of it",
        fix=f"leave it out: {REPAIR}",
    ),
    Rule(
        name="imported-twice",
        look=_twice,
        level=Level.CARE,
        why="runtimes take the higher version; other tools take the first, or stop (skl2onnx "
        "writes so)",
        fix=f"import it once: {REPAIR}",
    ),
    Rule(
        name="old-opset",
        look=_old,
        level=Level.NOTE,
        why="an old opset is no fault: runtimes read all since 7, and a higher number makes no "
        "model better",
        fix="nothing to do",
    ),
)
