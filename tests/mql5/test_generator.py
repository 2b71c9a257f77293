"""Written programs: the shipped ones byte for byte, others built, run, checked and refused."""

import csv
import inspect
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from bridge.cli.main import run
from bridge.errors import ConfigError, ContractError, ModelError, StateMismatch
from bridge.market.barfile import read_bars
from bridge.model.contract import Class, Contract, Input, Output, with_contract
from bridge.model.inspection import inspect_file
from bridge.model.load import LoadedModel, load_model
from bridge.mql import inputs
from bridge.mql.fit import check_runs, program_name
from bridge.mql.golden import check_answers, golden_rows, tolerance_of
from bridge.mql.include import include
from bridge.mql.inputs import Settings, values_of
from bridge.mql.literals import literal
from bridge.mql.preset import RunOfTester, ini_of, preset
from bridge.mql.program import TEMPLATES, check_kind, filled
from bridge.mql.project import check, write
from bridge.mql.recipe import Recipe, read_recipe
from bridge.settings import (
    DecisionSettings,
    ExecutionSettings,
    HoursSettings,
    LimitSettings,
    ManageSettings,
    PropFirmSettings,
    RiskSettings,
    StrategySettings,
)
from bridge.share import share_dir
from mql5.host.compiler import Compiler
from mql5.host.play import play
from mql5.parity.markets import SAMPLE
from mql5.support import ROOT, program, terminal

SHIPPED = {
    "eurusd_h1_direction": (26001, "Classifier"),
    "eurusd_h1_sma_cross": (26002, "Forecast"),
}
Said = pytest.CaptureFixture[str]


def model_of(name: str) -> Path:
    return share_dir("models") / name / "model.onnx"


@pytest.mark.parametrize("name", SHIPPED)
def test_the_shipped_includes_and_presets_are_the_generators(name: str) -> None:
    magic, title = SHIPPED[name]
    model = load_model(model_of(name), probe=False)
    strategy = StrategySettings(model="m", symbol="EURUSD", timeframe="H1", magic=magic)
    values = values_of(Settings(strategy, model.contract.decision, LimitSettings()))
    golden = golden_rows(model, read_bars(SAMPLE / "EURUSD_H1_2017.csv"), "sample")
    generated = ROOT / "Include" / "OnnxBridge" / "Generated"
    written = (generated / f"{name}.mqh").read_text(encoding="ascii")
    assert include(model, name, values, golden) == written
    assert (generated / f"{name}.onnx").read_bytes() == model.path.read_bytes()
    library = (ROOT / "Include" / "OnnxBridge" / "Inputs.mqh").read_text(encoding="ascii")
    made = preset(title, name, library, values, steps=True)
    presets = ROOT / "Presets"
    assert made == (presets / f"OnnxBridge_{title}.set").read_text(encoding="ascii")
    tester = RunOfTester(title, f"OnnxBridge\\{title}", "EURUSD", "H1")
    for end, optimises in (("", False), ("_Optimize", True)):
        path = presets / f"OnnxBridge_{title}{end}.ini"
        ini = ini_of(tester, optimises=optimises)
        assert ini == path.read_text(encoding="ascii")


def test_every_preset_sets_every_input_once() -> None:
    """Those that were written by hand, too: an input that a preset lacks keeps its last value."""
    library = (ROOT / "Include" / "OnnxBridge" / "Inputs.mqh").read_text(encoding="ascii")
    inputs = re.findall(r"^s?input .* (Inp\w+)=", library, re.MULTILINE)
    for path in (ROOT / "Presets").glob("*.set"):
        lines = path.read_text(encoding="ascii").splitlines()
        assert [line.partition("=")[0] for line in lines if line[0] != ";"] == inputs, path


def test_filled_templates_are_the_shipped_programs() -> None:
    """So that what builds of the shipped ones builds of the shadow, too."""
    for template in TEMPLATES.values():
        source = ROOT / template.source
        text = source.read_text(encoding="ascii")
        shown = "eurusd_h1_sma_cross" if source.stem == "Forecast" else "eurusd_h1_direction"
        assert filled(source, source.stem, shown) == text
        other = filled(source, "Mine", "mine")
        assert "#include <OnnxBridge\\Generated\\mine.mqh>" in other
        assert other.startswith("//+---")
        assert "//| Mine.mq5: " in other


def test_no_setting_is_forgotten() -> None:
    """A new key of a strategy or limit is an input, or is said to be none."""
    known = inspect.getsource(inputs)
    tables = (DecisionSettings, RiskSettings, HoursSettings, ManageSettings, ExecutionSettings)
    for table in (*tables, LimitSettings, PropFirmSettings):
        for name in table.model_fields:
            # Minutes around news have no meaning without the file of news.
            if not name.startswith("news_") or name == "news_csv":
                assert f".{name}" in known, f"{table.__name__}.{name}"


SETTINGS = """mode = "paper"
[paper]
profile = "{sample}/profile.json"
[[paper.bars]]
symbol = "EURUSD"
timeframe = "H1"
path = "{sample}/EURUSD_H1_2017.csv"
[limits]
weekly_loss_share = 0.06
max_positions = 3
[[strategy]]
model = "{model}"
symbol = "EURUSD"
timeframe = "H1"
magic = 777
[strategy.decision]
open_at = 0.31
stop_points = 400
[strategy.risk]
risk_share = 0.01
weekly_loss_share = 0.05
[strategy.hours]
weekdays = ["mon", "tue"]
windows = ["08:00-12:00", "22:00-02:00"]
[strategy.execution]
comment = 'a "b" \\c'
"""


def settings_file(folder: Path, model: Path) -> Path:
    path = folder / "bridge.toml"
    text = SETTINGS.format(sample=SAMPLE.as_posix(), model=model.as_posix())
    path.write_text(text, encoding="utf-8")
    return path


def test_a_written_expert_runs_as_its_settings_say(
    compiler: Compiler, tmp_path: Path, capsys: Said
) -> None:
    """The daemon, with the same settings file, decides and sends the same."""
    model = model_of("eurusd_h1_direction")
    out, config = tmp_path / "out", settings_file(tmp_path, model)
    made = ["ea", "new", str(model), "--template", "classifier", "--out", str(out)]
    assert run([*made, "-c", str(config)]) == 0
    source = out / "Experts" / "OnnxBridge" / "eurusd_h1_direction.mq5"
    mark = "   //--- hand edits end: tick\n"
    text = source.read_text(encoding="ascii")
    source.write_text(text.replace(mark, f'   Comment("mine");\n{mark}'), encoding="ascii")
    built = compiler.build(source, out)
    desktop = terminal(tmp_path)
    one = program(built, desktop)
    assert one.start() == 0, one.log
    play(desktop, one, bars=200)
    one.stop()
    (journal,) = desktop.common.rglob("decisions_EURUSD_H1_777.csv")
    rows = list(csv.DictReader(journal.read_text(encoding="utf-8").splitlines()))
    assert sum(row["row"] == "decision" for row in rows) == 200
    assert "hours" in {row["denied"] for row in rows}
    assert {each.request["comment"] for each in one.sent} == {'a "b" \\c'}
    capsys.readouterr()
    assert run(["ea", "parity", str(journal), "-c", str(config)]) == 0
    assert capsys.readouterr().out.endswith("equal\n")


def recipe_of(
    model: LoadedModel, template: str, *, magic: int = 26001, name: str = "one"
) -> Recipe:
    contract = model.contract
    return Recipe(
        name="one",
        template=template,
        sha256=model.sha256,
        strategy=StrategySettings(
            model="m", symbol=contract.symbol, timeframe=contract.timeframe, magic=magic
        ),
        limits=LimitSettings(news_csv="/home/me/news.csv"),
        deposit=5_000.0,
        golden=golden_rows(model, None, ""),
        written={},
    )


@pytest.mark.parametrize("template", TEMPLATES)
def test_every_template_compiles_as_it_is_written(
    compiler: Compiler, tmp_path: Path, template: str
) -> None:
    model = load_model(small_model(tmp_path, kind=TEMPLATES[template].kinds[0]), probe=False)
    out = tmp_path / "out"
    write(out, recipe_of(model, template), model, force=False)
    compiler.check(out / TEMPLATES[template].folder / "one.mq5", out)
    if template == "outputs":  # it is the same for all
        compiler.check(out / "Scripts" / "OnnxBridge" / "one_SelfTest.mq5", out)


def test_a_written_shadow_decides_and_sends_nothing(compiler: Compiler, tmp_path: Path) -> None:
    model = load_model(model_of("eurusd_h1_direction"), probe=False)
    out = tmp_path / "out"
    write(out, recipe_of(model, "shadow"), model, force=False)
    desktop = terminal(tmp_path)
    one = program(compiler.build(out / "Experts" / "OnnxBridge" / "one.mq5", out), desktop)
    assert one.start() == 0, one.log
    play(desktop, one, bars=60)
    one.stop()
    assert one.sent == []
    (journal,) = desktop.common.rglob("decisions_shadow_EURUSD_H1_26001.csv")
    rows = list(csv.DictReader(journal.read_text(encoding="utf-8").splitlines()))
    actions = [row["action"] for row in rows if row["row"] == "decision"]
    assert len(actions) == 60
    assert set(actions) == {"open", "hold"}
    assert one.open_sessions == 0


def test_hand_edits_stay_and_others_are_kept_from_loss(tmp_path: Path) -> None:
    model = load_model(small_model(tmp_path), probe=False)
    out, first = tmp_path / "out", recipe_of(model, "forecast")
    assert len(write(out, first, model, force=False)) > 30
    assert write(out, first, model, force=False) == []
    source = out / "Experts" / "OnnxBridge" / "one.mq5"
    mark = "   //--- hand edits end: init\n"
    own = f"   if(Digits()>5)\n      return(INIT_FAILED);\n{mark}"
    # An editor on Windows ends lines its own way.
    edited = source.read_bytes().replace(mark.encode(), own.encode()).replace(b"\n", b"\r\n")
    source.write_bytes(edited)
    known = read_recipe(out)
    assert check(out, known, known, model) == []
    again = recipe_of(model, "forecast", magic=5)
    changed = write(out, again, model, force=False)
    assert own in source.read_text(encoding="ascii")
    assert "Include/OnnxBridge/Generated/one.mqh" in changed
    text = (out / "Include/OnnxBridge/Generated/one.mqh").read_text(encoding="ascii")
    assert "#define SET_MAGIC                    5\n" in text
    assert "/home/me" not in (out / "ea.json").read_text(encoding="utf-8")

    outside = source.read_text(encoding="ascii").replace("ExtBridge.Tick();", "ExtBridge.Tick(); ;")
    source.write_text(outside, encoding="ascii")
    (out / "README.md").unlink()
    found = check(out, read_recipe(out), read_recipe(out), model)
    assert {each.path: each.what for each in found} == {
        "Experts/OnnxBridge/one.mq5": "edited",
        "README.md": "missing",
    }
    with pytest.raises(StateMismatch, match="was edited outside the marked parts"):
        write(out, again, model, force=False)
    write(out, again, model, force=True)
    assert own in source.read_text(encoding="ascii")
    known = read_recipe(out)
    assert check(out, known, known, model) == []

    source.write_text(source.read_text(encoding="ascii").replace(mark, ""), encoding="ascii")
    with pytest.raises(StateMismatch, match="don't pair up"):
        write(out, again, model, force=True)


@pytest.mark.parametrize("code", ["utf-16", "utf-8-sig", "utf-8"])
def test_letters_of_hand_edits_stay_as_any_editor_saves_them(tmp_path: Path, code: str) -> None:
    model = load_model(small_model(tmp_path), probe=False)
    out, recipe = tmp_path / "out", recipe_of(model, "forecast")
    write(out, recipe, model, force=False)
    source = out / "Experts" / "OnnxBridge" / "one.mq5"
    mark = "   //--- hand edits end: tick\n"
    own = f"   // \N{CYRILLIC SMALL LETTER IO}\n{mark}"
    text = source.read_text(encoding="ascii").replace(mark, own)
    source.write_bytes(text.replace("\n", "\r\n").encode(code))
    assert check(out, read_recipe(out), read_recipe(out), model) == []
    write(out, recipe, model, force=False)
    assert own in source.read_bytes().decode("utf-8-sig")
    assert source.read_bytes().startswith(b"\xef\xbb\xbf//+--")
    source.write_bytes(text.encode("cp1251"))
    with pytest.raises(StateMismatch, match="save it as UTF-8 in MetaEditor"):
        write(out, recipe, model, force=True)
    assert source.read_bytes() == text.encode("cp1251")


def test_check_tells_settings_that_moved_on_and_another_model(tmp_path: Path, capsys: Said) -> None:
    model = model_of("eurusd_h1_direction")
    out, config = tmp_path / "out", settings_file(tmp_path, model)
    made = ["ea", "new", str(model), "--template", "classifier", "--out", str(out)]
    assert run([*made, "-c", str(config)]) == 0
    said = capsys.readouterr().out
    assert "left out  limits.max_positions" in said
    generated = out / "Include" / "OnnxBridge" / "Generated"
    text = (generated / "eurusd_h1_direction.mqh").read_text(encoding="ascii")
    for line in (
        "#define SET_MAGIC                    777\n",
        "#define SET_OPEN_AT                  0.31\n",
        "#define SET_STOP_POINTS              400.0\n",
        "#define SET_STOP_RANGES              0.0\n",
        "#define SET_VOLUME                   0.0\n",
        "#define SET_RISK_SHARE               0.01\n",
        "#define SET_WEEKLY_LOSS              0.05\n",
        '#define SET_WEEKDAYS                 "mon tue"\n',
        '#define SET_WINDOWS                  "08:00-12:00 22:00-02:00"\n',
        '#define SET_COMMENT                  "a \\"b\\" \\\\c"\n',
    ):
        assert line in text
    assert run(["ea", "check", str(out), "-c", str(config)]) == 0
    config.write_text(config.read_text().replace("0.31", "0.35"), encoding="utf-8")
    capsys.readouterr()
    assert run(["ea", "check", str(out), "-c", str(config)]) == 6
    assert "+#define SET_OPEN_AT                  0.35" in capsys.readouterr().out
    shutil.copy(model_of("eurusd_h1_sma_cross"), generated / "eurusd_h1_direction.onnx")
    assert run(["ea", "check", str(out)]) == 4
    assert "the program was written for 360480272f2a" in capsys.readouterr().err


def small_model(
    folder: Path,
    *,
    layout: str = "batch,window,columns",
    opset: int = 15,
    ir: int = 8,
    kind: str = "forecast",
    name: str = "small",
) -> Path:
    """Write a model that answers the sum of four closes, or three classes of equal share."""
    columns = layout != "batch,columns,window"
    shape: list[str | int | None] = ["N", 4, 1] if columns else ["N", 1, 4]
    width = 3 if kind == "shares" else 1
    weights = np.zeros((4, width), np.float64) if kind == "shares" else np.ones((4, 1))
    constants = [
        helper.make_tensor("w", TensorProto.DOUBLE, weights.shape, weights.ravel()),
        helper.make_tensor("flat", TensorProto.INT64, [2], [-1, 4]),
        helper.make_tensor("third", TensorProto.DOUBLE, [1], [1 / 3 if kind == "shares" else 0.0]),
    ]
    nodes = [
        helper.make_node("Reshape", ["bars", "flat"], ["rows"]),
        helper.make_node("MatMul", ["rows", "w"], ["sums"]),
        helper.make_node("Add", ["sums", "third"], ["out"]),
    ]
    graph = helper.make_graph(
        nodes,
        "small",
        [helper.make_tensor_value_info("bars", TensorProto.DOUBLE, shape)],
        [helper.make_tensor_value_info("out", TensorProto.DOUBLE, ["N", width])],
        constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir)
    sides = (("a", "short"), ("b", "flat"), ("c", "long")) if kind == "shares" else ()
    contract = Contract(
        name=name,
        symbol="GBPUSD",
        timeframe="M15",
        window=4,
        inputs=(Input(name="bars", dtype="double", layout=layout, columns=("close",)),),
        output=Output(
            name="out",
            kind=kind,
            classes=tuple(Class(name=n, side=s) for n, s in sides),
            unit="points" if kind == "forecast" else None,
        ),
        decision=DecisionSettings(open_at=0.5),
        server_clock="utc",
        created="2026-01-01",
        algorithm="sum",
        licence="MIT",
    )
    path = folder / f"{kind}{opset}{ir}{len(layout)}.onnx"
    path.write_bytes(with_contract(model, contract))
    return path


def test_a_model_without_bars_gets_made_up_ones(tmp_path: Path) -> None:
    """A forecast's tolerance follows its size: four closes near 1.1 are near 4.4."""
    model = load_model(small_model(tmp_path), probe=False)
    golden = golden_rows(model, None, "")
    assert [row.outputs[0] for row in golden.rows] == pytest.approx(
        [row.bars["close"].sum() for row in golden.rows], abs=1e-8
    )
    assert 4.3e-6 < tolerance_of(model.contract, golden) < 4.5e-6
    off = replace(golden.rows[1], outputs=(golden.rows[1].outputs[0] + 5e-6,))
    with pytest.raises(ModelError, match="off its golden row, the limit is 4"):
        check_answers(model, replace(golden, rows=(golden.rows[0], off)))


def test_what_a_terminal_cannot_run_is_one_sentence(tmp_path: Path) -> None:
    """D14: the verdict on a terminal is another than that on the daemon, which opens these."""

    def refused(words: str, **faults: Any) -> None:
        path = small_model(tmp_path, **faults)
        with pytest.raises(ModelError, match=words) as found:
            check_runs(load_model(path, probe=False), inspect_file(path))
        assert "\n" not in str(found.value)

    refused("transpose it inside the graph", layout="batch,columns,window")
    refused("its opset of ai.onnx is 19, terminals read up to 18", opset=19)
    refused("its IR version is 9, terminals read up to 8", ir=9)
    model = load_model(small_model(tmp_path), probe=False)
    check_runs(model, inspect_file(model.path))
    assert program_name(None, model.contract, "_x") == "small_x"
    with pytest.raises(ConfigError, match="has 64 characters, MQL5 takes 63"):
        program_name("a" * 59, model.contract, "")
    with pytest.raises(ConfigError, match="holds more than letters"):
        program_name("a b", model.contract, "")
    with pytest.raises(ConfigError, match="is a device of Windows"):
        program_name("Com1", model.contract, "")
    with pytest.raises(ContractError, match="use --template forecast or shadow or outputs"):
        check_kind("classifier", model.contract)
    with pytest.raises(ConfigError, match="plain ASCII"):
        literal("strategy.execution.comment", "\N{LATIN SMALL LETTER A WITH DIAERESIS}")
    with pytest.raises(ConfigError, match="at most 2147483647"):
        literal("deviation", 2**31)


def test_another_model_of_the_same_name_changes_the_hash(tmp_path: Path) -> None:
    """D26: the model is a resource, pinned by its hash; no file of the terminal is named."""
    lines = []
    for opset in (14, 15):
        model = load_model(small_model(tmp_path, opset=opset), probe=False)
        write(tmp_path / "out", recipe_of(model, "forecast"), model, force=False)
        generated = tmp_path / "out" / "Include" / "OnnxBridge" / "Generated"
        assert (generated / "one.onnx").read_bytes() == model.path.read_bytes()
        text = (generated / "one.mqh").read_text(encoding="ascii")
        assert '#resource "one.onnx" as uchar ExtModelBytes[]' in text
        assert text.count(".onnx") == 1
        lines += [line for line in text.splitlines() if line.endswith(f'"{model.sha256}"')]
    assert len(set(lines)) == 2


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    model = load_model(small_model(tmp_path), probe=False)
    out = tmp_path / "out"
    write(out, recipe_of(model, "forecast"), model, force=False)
    with pytest.raises(StateMismatch, match="holds the program one of the template forecast"):
        write(out, recipe_of(model, "shadow"), model, force=False)
    (out / "ea.json").unlink()
    (out / "README.md").write_text("mine", encoding="utf-8")
    with pytest.raises(ConfigError, match="which no recipe there tells of"):
        write(out, recipe_of(model, "forecast"), model, force=False)
    with pytest.raises(ConfigError, match=r"holds no ea\.json"):
        read_recipe(out)
    with pytest.raises(ConfigError, match="is a file: name the folder"):
        read_recipe(out / "README.md")
    assert (out / "README.md").read_text(encoding="utf-8") == "mine"


def test_the_command_refuses_before_it_writes(tmp_path: Path, capsys: Said) -> None:
    fine, out = small_model(tmp_path), tmp_path / "never"
    made = ["ea", "new", str(fine), "--out", str(out), "--template"]
    config = settings_file(tmp_path, fine)
    for code, words, more in (
        (4, "use --template forecast", ["classifier"]),
        (4, "was made for GBPUSD", ["forecast", "-c", str(config)]),
        (2, "of magic 5 from 777", ["forecast", "-c", str(config), "--magic", "5"]),
    ):
        assert run([*made, *more]) == code
        said = capsys.readouterr().err
        assert words in said
        assert said.count("\n") == 1
    assert not out.exists()


def test_the_command_names_every_template() -> None:
    from bridge.cli.ea_new import TemplateName

    assert {each.value for each in TemplateName} == set(TEMPLATES)
