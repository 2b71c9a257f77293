"""Written programs: the shipped ones byte for byte, others built, run, checked and refused."""

import csv
import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from bridge.cli.main import run
from bridge.market.barfile import read_bars
from bridge.model.contract import Class, Contract, Input, Output, with_contract
from bridge.model.load import load_model
from bridge.mql.golden import golden_rows
from bridge.mql.include import include
from bridge.mql.inputs import Settings, values_of
from bridge.mql.preset import TesterRun, preset, tester_ini
from bridge.mql.program import TEMPLATES, filled
from bridge.settings import DecisionSettings, LimitSettings, StrategySettings
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
    tester = TesterRun(title, f"OnnxBridge\\{title}", "EURUSD", "H1")
    ini = tester_ini(tester, optimises=False)
    assert ini == (presets / f"OnnxBridge_{title}.ini").read_text(encoding="ascii")
    source = ROOT / "Experts" / "OnnxBridge" / f"{title}.mq5"
    assert filled(source, title, name) == source.read_text(encoding="ascii")


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


def test_a_written_expert_runs_as_its_settings_say(compiler: Compiler, tmp_path: Path) -> None:
    model = model_of("eurusd_h1_direction")
    out, config = tmp_path / "out", settings_file(tmp_path, model)
    made = ["ea", "new", str(model), "--template", "classifier", "--out", str(out)]
    assert run([*made, "-c", str(config)]) == 0
    source = out / "Experts" / "OnnxBridge" / "eurusd_h1_direction.mq5"
    mark = "   //--- hand edits end: tick\n"
    text = source.read_text(encoding="ascii")
    source.write_text(text.replace(mark, f'   Comment("mine");\n{mark}'), encoding="ascii")
    built = compiler.build(source, out)
    defaults = {one.name: one.default for one in built.program.inputs}
    desktop = terminal(tmp_path)
    one = program(built, desktop)
    assert one.start() == 0, one.log
    play(desktop, one, bars=60)
    one.stop()
    assert defaults["InpMagic"]
    (journal,) = desktop.common.rglob("decisions_EURUSD_H1_777.csv")
    rows = list(csv.DictReader(journal.read_text(encoding="utf-8").splitlines()))
    decided = [row for row in rows if row["row"] == "decision"]
    assert len(decided) == 60
    assert {row["stop_points"] for row in decided} >= {"400"}
    sent = [each.request for each in one.sent if each.request.get("comment")]
    assert {each["comment"] for each in sent} <= {'a "b" \\c'}


@pytest.mark.parametrize(
    ("template", "name"),
    [
        ("forecast", "eurusd_h1_sma_cross"),
        ("shadow", "eurusd_h1_direction"),
        ("outputs", "eurusd_h1_sma_cross"),
    ],
)
def test_every_template_builds(
    compiler: Compiler, tmp_path: Path, template: str, name: str
) -> None:
    made = ["ea", "new", str(model_of(name)), "--template", template, "--out", str(tmp_path)]
    assert run(made) == 0
    for source in sorted(tmp_path.rglob("*.mq5")):
        built = compiler.build(source, tmp_path)
        assert built.program.inputs


def written(folder: Path, template: str = "classifier") -> Path:
    model = model_of("eurusd_h1_direction")
    assert run(["ea", "new", str(model), "--template", template, "--out", str(folder)]) == 0
    return folder / "Experts" / "OnnxBridge" / "eurusd_h1_direction.mq5"


def test_hand_edits_stay_and_others_are_kept_from_loss(tmp_path: Path, capsys: Said) -> None:
    out = tmp_path / "out"
    source = written(out)
    again = ["ea", "new", str(model_of("eurusd_h1_direction")), "--template", "classifier"]
    again += ["--out", str(out), "--magic", "5"]
    mark = "   //--- hand edits end: init\n"
    own = f"   if(Digits()>5)\n      return(INIT_FAILED);\n{mark}"
    # An editor on Windows ends lines its own way.
    source.write_bytes(
        source.read_bytes().replace(mark.encode(), own.encode()).replace(b"\n", b"\r\n")
    )
    assert run(["ea", "check", str(out)]) == 0
    assert run(again) == 0
    assert own in source.read_text(encoding="ascii")
    include_ = out / "Include" / "OnnxBridge" / "Generated" / "eurusd_h1_direction.mqh"
    assert "#define SET_MAGIC                    5\n" in include_.read_text(encoding="ascii")
    edited = source.read_text(encoding="ascii").replace("ExtBridge.Tick();", "ExtBridge.Tick(); ;")
    source.write_text(edited, encoding="ascii")
    (out / "README.md").unlink()
    capsys.readouterr()
    assert run(["ea", "check", str(out), "--json"]) == 6
    said = capsys.readouterr().out
    assert '"what": "edited"' in said
    assert '"what": "missing"' in said
    assert run(again) == 6
    assert "was edited outside the marked parts" in capsys.readouterr().err
    assert run([*again, "--force"]) == 0
    assert own in source.read_text(encoding="ascii")
    assert run(["ea", "check", str(out)]) == 0


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
    shape = ["N", 4, 1] if columns else ["N", 1, 4]
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
        inputs=(Input(name="bars", dtype="double", layout=layout, columns=("close",)),),  # type: ignore[arg-type]
        output=Output(
            name="out",
            kind=kind,  # type: ignore[arg-type]
            classes=tuple(Class(name=n, side=s) for n, s in sides),  # type: ignore[arg-type]
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


def test_a_model_without_bars_gets_made_up_ones(
    compiler: Compiler, tmp_path: Path, capsys: Said
) -> None:
    """A forecast's tolerance follows its size: four closes near 1.1 are near 4.4."""
    path = small_model(tmp_path)
    out = tmp_path / "out"
    made = ["ea", "new", str(path), "--template", "forecast", "--out", str(out)]
    assert run(made) == 0
    assert "made-up bars, answers of the model on this computer" in capsys.readouterr().out
    text = (out / "Include/OnnxBridge/Generated/small.mqh").read_text(encoding="ascii")
    (line,) = (each for each in text.splitlines() if "contract.tolerance" in each)
    assert 4.3e-6 < float(line.partition("=")[2].rstrip(";")) < 4.5e-6
    compiler.build(out / "Experts" / "OnnxBridge" / "small.mq5", out)


def test_what_a_terminal_cannot_run_is_one_sentence(tmp_path: Path, capsys: Said) -> None:
    def refused(path: Path, code: int, words: str, *more: str) -> None:
        template = [] if "--template" in more else ["--template", "forecast"]
        out = ["--out", str(tmp_path / "never")]
        assert run(["ea", "new", str(path), *template, *out, *more]) == code
        said = capsys.readouterr().err
        assert words in said
        assert said.count("\n") == 1
        assert not (tmp_path / "never").exists()

    refused(
        small_model(tmp_path, layout="batch,columns,window"), 4, "transpose it inside the graph"
    )
    refused(
        small_model(tmp_path, opset=19), 4, "its opset of ai.onnx is 19, terminals read up to 18"
    )
    refused(small_model(tmp_path, ir=9), 4, "its IR version is 9, terminals read up to 8")
    fine = small_model(tmp_path)
    refused(fine, 2, "MQL5 takes 63", "--name", "a" * 59)
    refused(fine, 2, "holds more than letters", "--name", "a b")
    refused(fine, 4, "use --template forecast or shadow or outputs", "--template", "classifier")
    refused(small_model(tmp_path, kind="shares"), 4, "use --template classifier or shadow")
    config = settings_file(tmp_path, fine)
    refused(fine, 4, "was made for GBPUSD", "-c", str(config))
    refused(fine, 2, "0 strategies of magic 5 from 777", "-c", str(config), "--magic", "5")
    bare = onnx.load(fine)
    del bare.metadata_props[:]
    onnx.save(bare, tmp_path / "bare.onnx")
    refused(tmp_path / "bare.onnx", 4, "there is no contract")


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path, capsys: Said) -> None:
    out = tmp_path / "out"
    written(out)
    other = ["ea", "new", str(model_of("eurusd_h1_direction")), "--out", str(out)]
    assert run([*other, "--template", "shadow"]) == 6
    (out / "ea.json").unlink()
    (out / "README.md").write_text("mine", encoding="utf-8")
    assert run([*other, "--template", "classifier"]) == 2
    assert "which no recipe there tells of" in capsys.readouterr().err
    assert run(["ea", "check", str(out)]) == 2
    assert (out / "README.md").read_text(encoding="utf-8") == "mine"


def test_the_command_names_every_template() -> None:
    from bridge.cli.ea_new import TemplateName

    assert {each.value for each in TemplateName} == set(TEMPLATES)
