"""Graph mode: every model of the table, one engine after the other, and for training.

``python tests/parity/sweep_models.py`` runs every model on every engine.
"""

from __future__ import annotations

from typing import Any

from parity.eager_models import FLOAT_SUMS
from parity.fx_models import ENGINES, MODELS, engines_of, on_engine, trains
from parity.harness import Bound, parity_case

#: Between the float layers of training, and behind exp and square roots, floats are summed.
BOUNDS = {"*/output*": FLOAT_SUMS, "*scales": FLOAT_SUMS}
#: Interpolation, or a product with a number, ends between two integers of the last layer now and
#: then: a reference model, which computes in float, gives one or the other.
TIE = Bound("one step of the last layer, at a tie", relative=0.02)


def _register(index: int, name: str) -> None:
    engines = engines_of(name)
    engine = engines[index % len(engines)]

    def case(torch: Any) -> dict[str, Any]:
        found = {engine: on_engine(torch, name, engine)}
        if trains(name):
            found["training"] = on_engine(torch, name, ENGINES[0], qat=True)
        return found

    case.__name__ = name
    case.__module__ = __name__
    case.__doc__ = f"{name} on {engine}."
    reference = TIE if "bilinear" in name or "mul_scalar" in name else FLOAT_SUMS
    parity_case({"*/reference_output*": reference, **BOUNDS})(case)


for _index, _name in enumerate(MODELS):
    _register(_index, _name)
