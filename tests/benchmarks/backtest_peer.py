"""The peer's side of ``backtest.py``: backtesting.py on the same bars, in a venv of its own."""

import json
import sys
import time

begun = time.process_time()

import numpy as np
import pandas as pd
from backtesting import Backtest, Strategy, __version__


def mean(values, bars):
    return pd.Series(values).rolling(bars).mean()


class Cross(Strategy):
    """SMA 10/30 cross at the next open, SL 50 and TP 100 points."""

    def init(self):
        self.fast = self.I(mean, self.data.Close, 10)
        self.slow = self.I(mean, self.data.Close, 30)

    def next(self):
        lead, before = self.fast[-1] - self.slow[-1], self.fast[-2] - self.slow[-2]
        if lead > 0 >= before:
            enter(self, 1)
        elif lead < 0 <= before:
            enter(self, -1)


class Scores(Strategy):
    """Sides that a model gave, ready: 1 long, -1 short, 0 nothing new."""

    sides = None

    def init(self):
        self.wanted = self.I(lambda: self.sides)

    def next(self):
        side = self.wanted[-1]
        if side and side != np.sign(self.position.size):
            enter(self, side)


def enter(self, side):
    self.position.close()
    price, order = self.data.Close[-1], self.buy if side > 0 else self.sell
    order(size=10_000, sl=price - side * 0.0005, tp=price + side * 0.0010)


def peak_mb():
    """Peak memory; the kernel's counter does not hold what the process was forked from."""
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024


def main():
    path, strategy = sys.argv[1:3]
    given = np.load(path)
    rates = given["rates"]
    frame = pd.DataFrame(
        {name.title(): rates[name] for name in ("open", "high", "low", "close")},
        index=pd.to_datetime(rates["time"], unit="s"),
    )
    Scores.sides = given["sides"]
    test = Backtest(
        frame,
        {"cross": Cross, "scores": Scores}[strategy],
        cash=1_000_000,
        margin=0.01,
        spread=0.0001,
        commission=lambda size, price: 0.35,
    )
    start = time.process_time()
    found = test.run()
    spent = time.process_time() - start
    print(
        json.dumps(
            {
                "name": f"backtesting.py {__version__}",
                "run": spent,
                "whole": time.process_time() - begun,
                "mb": peak_mb(),
                "trades": int(found["# Trades"]),
            }
        )
    )


if __name__ == "__main__":
    main()
