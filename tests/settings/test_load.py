"""Files and the sentences that answer them."""

import codecs
from pathlib import Path

import pytest

from bridge.errors import ConfigError
from bridge.settings import BridgeSettings, Mode, load_settings

GOOD = """
mode = "dry-run"
server_clock = "eet-us"

[terminal]
login = 123
python = ["wine", "python.exe"]

[limits]
max_positions = 4
daily_loss_share = "off"

[schedule]
daily_summary_at = "22:30"

[[strategy]]
model = 'models/a.onnx'
symbol = "EURUSD"
timeframe = "H1"
magic = 7
decision = { sides = "long", stop_points = 100, max_bars = "off" }

[strategy.risk]
risk_share = 0.01
"""
SECOND = """
[[strategy]]
model = 'b.onnx'
symbol = "GBPUSD"
timeframe = "H1"
magic = 8
"""
PAPER = """
[limits]
news_csv = 'news.csv'
[paper]
profile = 'profile.json'
[[paper.bars]]
symbol = "EURUSD"
timeframe = "M5"
path = 'bars.csv'
[[strategy]]
model = 'a.onnx'
symbol = "EURUSD"
timeframe = "H1"
magic = 7
"""


def load(
    folder: Path, stored: str | bytes, environ: dict[str, str] | None = None
) -> BridgeSettings:
    path = folder / "bridge.toml"
    path.write_bytes(stored.encode() if isinstance(stored, str) else stored)
    return load_settings(path, environ or {})


def refusal(folder: Path, stored: str | bytes, environ: dict[str, str] | None = None) -> str:
    with pytest.raises(ConfigError) as caught:
        load(folder, stored, environ)
    sentence = str(caught.value)
    assert caught.value.exit_code == 2
    assert sentence.isprintable()
    assert sentence.startswith(f"{folder / 'bridge.toml'}: ")
    return sentence.removeprefix(f"{folder / 'bridge.toml'}: ")


def changed(old: str, new: str) -> str:
    assert GOOD.count(old) == 1, old
    return GOOD.replace(old, new)


def test_a_file_is_read_with_the_defaults_of_what_it_leaves_out(tmp_path: Path) -> None:
    settings = load(tmp_path, GOOD + SECOND)
    assert settings.mode is Mode.DRY_RUN
    assert not settings.allow_real
    assert settings.terminal.python == ("wine", "python.exe")
    assert settings.terminal.timeout_seconds == 60.0
    assert settings.limits.daily_loss_share is None
    assert settings.limits.max_drawdown_share == 0.25
    first, second = settings.strategy
    assert (first.risk.volume, first.risk.risk_share) == (None, 0.01)
    assert (second.risk.volume, second.risk.risk_share) == (0.1, None)
    assert second.title == "GBPUSD H1 8"


def test_limits_and_hours_are_read(tmp_path: Path) -> None:
    limits = """
flatten_on = ["drawdown", "prop_daily_loss"]
[limits.prop_firm]
start_balance = 100_000
daily_from = "balance"
profit_target_share = "off"
"""
    hours = """
[strategy.hours]
weekdays = ["mon", "fri"]
windows = ["08:00-24:00", "22:00-02:00"]
rollover = "23:55-00:15"
friday_until = "20:00"
"""
    settings = load(tmp_path, changed("\n[schedule]", f"{limits}\n[schedule]") + hours)
    prop = settings.limits.prop_firm
    assert prop is not None
    assert (prop.start_balance, prop.daily_from) == (100_000.0, "balance")
    assert (prop.daily_loss_share, prop.profit_target_share) == (0.05, None)
    assert settings.limits.flatten_on == ("drawdown", "prop_daily_loss")
    (strategy,) = settings.strategy
    assert strategy.hours.windows == ("08:00-24:00", "22:00-02:00")
    assert strategy.hours.weekdays == ("mon", "fri")


def test_paper_is_the_mode_of_a_file_that_names_none(tmp_path: Path) -> None:
    assert load(tmp_path, PAPER).mode is Mode.PAPER


def test_relative_paths_are_taken_from_the_files_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bridge.toml").write_text(PAPER, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    settings = load_settings(Path("bridge.toml"), {})
    assert settings.state == str(tmp_path / "state")
    assert settings.strategy[0].model == str(tmp_path / "a.onnx")
    assert settings.paper.profile == str(tmp_path / "profile.json")
    assert settings.paper.bars[0].path == str(tmp_path / "bars.csv")
    assert settings.limits.news_csv == str(tmp_path / "news.csv")
    elsewhere = str(tmp_path.parent / "b.onnx")
    absolute = PAPER.replace("a.onnx", elsewhere)
    assert load(tmp_path, absolute).strategy[0].model == elsewhere


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (b"", "utf-8"),
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ],
)
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_what_notepad_saves_is_read(
    tmp_path: Path, mark: bytes, encoding: str, ending: str
) -> None:
    text = changed("models/a.onnx", "модель.onnx").replace("\n", ending)
    settings = load(tmp_path, mark + text.encode(encoding))
    assert Path(settings.strategy[0].model).name == "модель.onnx"


@pytest.mark.parametrize(
    ("stored", "words"),
    [
        (b"", "is empty: fill it"),
        (b"# nothing yet\n", "is empty: fill it"),
        (GOOD.encode("utf-16-le"), "neither UTF-8 nor UTF-16 with its mark: save the file as"),
        (GOOD.encode("utf-32"), "neither UTF-8 nor UTF-16 with its mark: save the file as"),
        (b'mode = "live"\nx = "\xe9"', "line 2 is not UTF-8: save the file as UTF-8"),
        (codecs.BOM_UTF16_LE + b"abc", "line 1 is not UTF-16: save the file as UTF-8"),
        (b"a = " + b"[" * 5000, "is nested too deeply"),
        (b"a = " + b"9" * 5000, "is no TOML"),
    ],
)
def test_bytes_that_are_no_settings_are_refused(tmp_path: Path, stored: bytes, words: str) -> None:
    assert words in refusal(tmp_path, stored)


def test_a_file_that_is_not_there_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no\.toml: there is no such file: make one with"):
        load_settings(tmp_path / "no.toml", {})
    with pytest.raises(ConfigError, match="can't be read: it is a folder"):
        load_settings(tmp_path, {})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[terminal", "is no TOML at its end: Expected ']'"),
        ("\n\na = 1 b", "line 3, column 7 is no TOML: "),
        ('mode = "paper\nx = 1', "line 1, column 14 is no TOML: "),
        (
            'path = "C:\\Program Files\\MT5\\terminal64.exe"\n',
            "write backslashes in single quotes: path = 'C:\\Program Files\\MT5\\terminal64.exe'",
        ),
        (
            '[t]\r\n  path = "C:\\Users\\me\\terminal64.exe"\r\n',
            "is no TOML: Invalid hex value; write backslashes in single quotes: "
            "path = 'C:\\Users\\me\\terminal64.exe'",
        ),
    ],
)
def test_what_is_no_toml_is_refused_with_line_and_column(
    tmp_path: Path, text: str, words: str
) -> None:
    assert words in refusal(tmp_path, text)


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("C:\\new\\terminal64.exe", "write it in single quotes, path = 'C:\\new\\terminal64.exe'"),
        ("C:\\bin\\fx\\run\\t.exe", "write it in single quotes, path = 'C:\\bin\\fx\\run\\t.exe'"),
        ("C:\\u0000x", "holds a character that can't be seen"),
        ("C:\\new's", "holds a character that can't be seen"),
    ],
)
def test_a_path_that_toml_has_mangled_is_shown_as_it_was_meant(
    tmp_path: Path, typed: str, words: str
) -> None:
    sentence = refusal(tmp_path, changed("login = 123", f'path = "{typed}"'))
    assert sentence.startswith(("terminal.path = 'C:", 'terminal.path = "C:'))
    assert words in sentence


def test_single_quotes_and_doubled_backslashes_are_paths(tmp_path: Path) -> None:
    for written in ("'C:\\new\\t.exe'", '"C:\\\\new\\\\t.exe"'):
        settings = load(tmp_path, changed("login = 123", f"path = {written}"))
        assert settings.terminal.path == "C:\\new\\t.exe"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "risk_share",
            "risk_shar",
            "strategy 1, risk has no key risk_shar: did you mean risk_share?",
        ),
        ("magic", "magik", "strategy 1 has no key magik: did you mean magic?"),
        ("login", "logn", "terminal has no key logn: did you mean login?"),
        ("[limits]", "[limit]", "the top of the file has no key limit: did you mean limits?"),
        (
            "stop_points",
            "stop_pts",
            "strategy 1, decision has no key stop_pts: did you mean stop_points",
        ),
        ("login = 123", "zzz = 1", "terminal has no key zzz: use one of path, login, server, "),
        ("login = 123", "speed = 1", "terminal has no key speed: it belongs in [paper]"),
        ("login = 123", "mode = 1", "it belongs in the lines before the first [table]"),
        ("risk_share = 0.01", "deviation_points = 5", "it belongs in [strategy.execution]"),
        ('"dry-run"', '"live"', "mode live needs terminal.login and terminal.server"),
        ('"dry-run"', '"paper"', "mode paper plays a broker: name its file in paper.profile"),
        ('"dry-run"', '"real"', "mode = 'real': has to be 'paper', 'dry-run' or 'live'"),
        ("eet-us", "eet", "server_clock = 'eet': has to be auto, utc, eet-eu, eet-us or an offset"),
        ("22:30", "24:00", "schedule.daily_summary_at = '24:00': has to be hours and minutes"),
        ('"22:30"', "22:30:00", "schedule.daily_summary_at = '22:30:00': has to be hours and"),
        ("login = 123", 'login = "123"', "terminal.login = '123': has to be a whole number"),
        ("login = 123", "login = 0", "terminal.login = 0: has to be at least 1"),
        ("login = 123", "timeout_seconds = 601", "= 601: has to be at most 600"),
        ("login = 123", "may_switch_account = 1", "= 1: has to be true or false"),
        ('["wine", "python.exe"]', '"wine"', "terminal.python = 'wine': has to be a list"),
        ('["wine", "python.exe"]', "[]", "terminal.python: has to have at least 1"),
        (
            "risk_share = 0.01",
            "risk_share = 1.5",
            "strategy 1, risk.risk_share = 1.5: has to be at most 1",
        ),
        ("risk_share = 0.01", "risk_share = 0", "risk.risk_share = 0: has to be above 0"),
        ("risk_share = 0.01", 'risk_share = "1"', "risk.risk_share = '1': has to be a number"),
        ("risk_share = 0.01", "risk_share = nan", "risk.risk_share = nan: has to be a finite"),
        (
            "risk_share = 0.01",
            "risk_share = 0.1\nvolume = 1",
            "set exactly one of volume and risk_share",
        ),
        ("risk_share = 0.01", 'volume = "off"', "set exactly one of volume and risk_share"),
        ("magic = 7", "", "strategy 1, magic: has to be given"),
        ("magic = 7", "magic = 7.0", "strategy 1, magic = 7.0: has to be a whole number"),
        ("magic = 7", f"magic = {2**63}", "has to be below 9223372036854775808"),
        ("magic = 7", "magic = 1979-05-27", "magic = '1979-05-27': has to be a whole number"),
        ("magic = 7", "magic = [1]", "strategy 1, magic: has to be a whole number"),
        ('"H1"', '"H7"', "strategy 1, timeframe = 'H7': has to be one of M1, M2, "),
        ('"EURUSD"', '""', "strategy 1, symbol = '': may not be empty"),
        ('"long"', '"lng"', "strategy 1, decision.sides = 'lng': has to be 'both', 'long' or"),
        ("max_bars", "stop_ranges = 1, max_bars", "stop_points and stop_ranges are both set"),
        (
            "max_positions = 4",
            'flatten_on = ["weekly_loss"]',
            "limits: flatten_on names weekly_loss, which is off: set weekly_loss_share, too",
        ),
        (
            "max_positions = 4",
            'flatten_on = ["prop_total_loss"]',
            "flatten_on names prop_total_loss, which is off: set prop_firm.total_loss_share, too",
        ),
        (
            "max_positions = 4",
            'flatten_on = ["all"]',
            "limits.flatten_on 1 = 'all': has to be 'daily_loss', 'weekly_loss', ",
        ),
        (
            "max_positions = 4",
            "prop_firm = { daily_loss_share = 0.04 }",
            "limits.prop_firm.start_balance: has to be given",
        ),
        (
            "max_positions = 4",
            "prop_firm = { start_balance = 1, total_los_share = 0.1 }",
            "limits.prop_firm has no key total_los_share: did you mean total_loss_share?",
        ),
        ("max_positions = 4", "news_before_minutes = -1", "= -1: has to be at least 0"),
        (
            'max_bars = "off" }',
            'max_bars = "off" }\nhours = { windows = ["8:00-20:00"] }',
            "strategy 1, hours.windows 1 = '8:00-20:00': has to be two times in quotes, such as",
        ),
        (
            'max_bars = "off" }',
            'max_bars = "off" }\nhours = { rollover = "23:55-23:55" }',
            "strategy 1, hours.rollover = '23:55-23:55': begins and ends at one time: name two",
        ),
        (
            'max_bars = "off" }',
            'max_bars = "off" }\nhours = { weekdays = ["Monday"] }',
            "strategy 1, hours.weekdays 1 = 'Monday': has to be 'sun', 'mon', 'tue', ",
        ),
        ("daily_loss_share", '"a\\nb"', "the key ('limits', 'a\\nb') holds a character"),
    ],
)
def test_a_wrong_key_or_value_is_answered_with_what_is_allowed(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    assert words in refusal(tmp_path, changed(old, new))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('mode = "dry-run"', "strategy: has to be given"),
        ('mode = "dry-run"\nstrategy = []', "strategy: has to have at least 1"),
        ('mode = "dry-run"\nstrategy = 5', "strategy = 5: has to be a list"),
        ('mode = "dry-run"\nstrategy = [5]', "strategy 1 = 5: has to be a table"),
        (GOOD + SECOND.replace("8", "7"), "two strategies have the magic 7, on EURUSD and GBPUSD"),
        (
            GOOD + SECOND.replace("8", "7").replace("GBP", "EUR"),
            "two strategies have the magic 7, twice on EURUSD",
        ),
        (
            changed("magic = 7", "magic = 7\nname = 'a'") + SECOND + "name = 'a'",
            "two strategies are called a: give each its own name",
        ),
        (PAPER + SECOND, "has none of GBPUSD: name a file in [[paper.bars]]"),
        (PAPER.replace('"M5"', '"H4"'), "the recorded H4 bars of EURUSD can't show H1"),
        (
            PAPER.replace(
                "[[strategy]]",
                '[[paper.bars]]\nsymbol="EURUSD"\ntimeframe="M1"\npath="x"\n[[strategy]]',
            ),
            "paper.bars names a symbol twice",
        ),
    ],
)
def test_strategies_and_recordings_that_clash_are_refused(
    tmp_path: Path, text: str, words: str
) -> None:
    assert words in refusal(tmp_path, text)


def test_the_environment_replaces_what_the_file_says_of_the_terminal(tmp_path: Path) -> None:
    environ = {"MT5_LOGIN": "456", "MT5_SERVER": "Broker-Live", "MT5_PATH": "C:\\mt5\\t.exe"}
    live = changed('"dry-run"', '"live"')
    terminal = load(tmp_path, live, environ).terminal
    assert (terminal.login, terminal.server, terminal.path) == (
        456,
        "Broker-Live",
        "C:\\mt5\\t.exe",
    )
    assert load(tmp_path, GOOD, {"MT5_LOGIN": "", "MT5_PASSWORD": ""}).terminal.login == 123
    assert load(tmp_path, GOOD, {"MT5_PASSWORD": ""}).terminal.password is None


@pytest.mark.parametrize("login", ["x", "0", "-1", "1.5", "٣", "9" * 30])
def test_a_login_of_the_environment_that_is_no_number_is_refused_unseen(
    tmp_path: Path, login: str
) -> None:
    sentence = refusal(tmp_path, GOOD, {"MT5_LOGIN": login})
    assert sentence == "MT5_LOGIN is no account number: set it to digits only"
