"""Record small files of torch 2.13 and what its models answer; run it where torch is installed."""

from __future__ import annotations

import argparse
import io
from pathlib import Path
from typing import Any

import numpy as np
from serialization.torch_models import KINDS, build, example

FOLDER = Path(__file__).parent / "recorded"
#: Kinds whose files are small enough to keep.
RECORDED = [kind for kind in KINDS if kind != "fx prepared"]
LEGACY = ["float", "eager", "dynamic lstm", "embedding 4 bits"]


def arrays(result: Any) -> list[np.ndarray]:
    """The arrays that a model of either library gave."""
    if isinstance(result, tuple | list):
        return [array for each in result for array in arrays(each)]
    return [result.detach().numpy()]


def values(torch: Any) -> Any:
    """A checkpoint of a script, with everything that torch.load(weights_only=True) takes."""
    base = torch.arange(12, dtype=torch.float32).reshape(3, 4)
    return {
        "base": base,
        "view": base[1:, ::2],
        "transposed": base.t(),
        "expanded": torch.ones(1).expand(5),
        "empty": torch.ones(0, 3),
        "scalar": torch.tensor(1.5, dtype=torch.float64),
        "parameter": torch.nn.Parameter(torch.ones(2)),
        "needs": torch.ones(2, requires_grad=True),
        **{
            name: torch.tensor([0, 1, 3]).to(getattr(torch, name))
            for name in ("bool", "uint8", "int8", "int16", "int32", "float16", "bfloat16")
        },
        "uint16": torch.tensor([1, 65535]).to(torch.uint16),
        "float8": torch.tensor([0.5, 448.0]).to(torch.float8_e4m3fn),
        "qint32": torch.quantize_per_tensor(torch.ones(2), 0.5, 3, torch.qint32),
        "steps": [1, 2.5, "text", None, True, (1, 2), {3}, b"ab\xff", bytearray(b"x"), 1j],
        "size": torch.Size([1, 2]),
        "dtype": torch.float16,
        "device": torch.device("cpu"),
        "arguments": argparse.Namespace(lr=0.1),
        "array": np.arange(3.0),
        "number": np.float64(3),
    }


def main() -> None:
    """Write the files."""
    import torch

    FOLDER.mkdir(exist_ok=True)
    answers: dict[str, np.ndarray] = {}

    def save(name: str, value: Any, legacy: bool = False) -> None:
        file = io.BytesIO()
        torch.save(value, file, _use_new_zipfile_serialization=not legacy)
        (FOLDER / f"{name.replace(' ', '_')}.pt").write_bytes(file.getvalue())

    for kind in RECORDED:
        model = build(kind, torch)
        save(kind, model.state_dict())
        for index, array in enumerate(arrays(model(example(kind, torch, 5)))):
            answers[f"{kind}/{index}"] = array
        if kind in LEGACY:
            save(f"{kind} legacy", model.state_dict(), legacy=True)
    save("values", values(torch))
    save("values legacy", values(torch), legacy=True)
    for kind in ("wrapped", "fx functional", "embedding"):
        model = build(kind, torch)
        scripted = (
            torch.jit.trace(model, example(kind, torch))
            if "fx" in kind
            else (torch.jit.script(model))
        )
        torch.jit.save(scripted, FOLDER / f"{kind.replace(' ', '_')}_script.pt")
    np.savez(FOLDER / "answers.npz", **answers)


if __name__ == "__main__":
    main()
