"""Runs models in whatever onnxruntime this Python has: python old_runtime.py FOLDER."""

import json
import sys
from pathlib import Path

import numpy as np
import onnxruntime


def main(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    for name, about in manifest.items():
        session = onnxruntime.InferenceSession(about["model"], providers=["CPUExecutionProvider"])
        feeds = {
            key: np.fromfile(folder / each["file"], each["dtype"]).reshape(each["shape"])
            for key, each in about["inputs"].items()
        }
        session.run([about["output"]], feeds)[0].tofile(folder / f"{name}.out")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
