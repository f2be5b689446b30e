"""Record what torch gives for the sentences of the example: ``python tests/examples/record_minilm.py``.

The embeddings go into ``minilm.npz``, in float, and in 8 bits on two engines. Every sentence is
embedded by itself: the rows of a batch share one scale.
"""  # noqa: E501

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parents[1]))
from examples.torch_twin import example

ENGINES = ("fbgemm", "qnnpack")


def main() -> None:
    """Write the file."""
    ours, theirs = example("minilm"), example("minilm", "torch")
    folder = ours.folder()
    tokens, mask = theirs.tokenizer(folder)([each for pair in ours.PAIRS[:4] for each in pair])
    encoder = theirs.Encoder().eval()
    state = {name: torch.from_numpy(array) for name, array in ours.arrays(folder).items()}
    encoder.load_state_dict(state)
    recorded = {"tokens": tokens.numpy(), "mask": mask.numpy()}
    warnings.simplefilter("ignore")
    lengths = mask.sum(1).tolist()

    def embed(model):
        rows = enumerate(lengths)
        return torch.cat([model(tokens[i : i + 1, :n], mask[i : i + 1, :n]) for i, n in rows])

    with torch.no_grad():
        recorded["float"] = embed(encoder).numpy()
        for engine in ENGINES:
            torch.backends.quantized.engine = engine
            recorded[engine] = embed(theirs.quantized(encoder)).numpy()
    np.savez_compressed(Path(__file__).with_name("minilm.npz"), **recorded)


if __name__ == "__main__":
    main()
