"""Following the messages of the ledger works."""

from __future__ import annotations

from messages.following import says

import pyqref
from pyqref import measure, nn, quantization

X = pyqref.ones(2, 2)


def models() -> tuple[nn.Module, nn.Module]:
    """A float model and its dynamic form."""
    model = nn.Sequential(nn.Linear(2, 2)).eval()
    return model, quantization.quantize_dynamic(model)


def test_models_of_the_ledger() -> None:
    """Both models are in evaluation mode, and the second one is quantized."""
    model, quantized = models()
    with says("call eval() on it first"):
        pyqref.ledger(model.train(), quantized, X)
    with says("call eval() on it first"):
        pyqref.ledger(model.eval(), quantized.train(), X)
    with says("make it with convert or convert_fx"):
        pyqref.ledger(model, model, X)
    pyqref.ledger(model.eval(), quantized.eval(), X)


def test_targets_of_the_ledger() -> None:
    """Pairs, or a metric that needs none; several inputs in a tuple."""
    model, quantized = models()
    with says("let each batch of data be a pair (inputs, targets)", "or use metric='sqnr'"):
        pyqref.ledger(model, quantized, X, "loss")
    pyqref.ledger(model, quantized, [(X, X)], "loss")
    pyqref.ledger(model, quantized, X, metric="sqnr")
    with says("put several inputs in a tuple: ((first, second), targets)"):
        pyqref.ledger(model, quantized, [(X, X, X)], "loss")
    pyqref.ledger(model, quantized, [((X,), X)], "loss")
    with says("look for layers whose output is not finite with pyqref.measure.layer_outputs"):
        pyqref.ledger(model, quantized, X, lambda output, target: float("inf"))
    measure.layer_outputs(model, X)


def test_sides_of_a_comparison() -> None:
    """Two forms of one model, or one model and its recorded integers."""
    model, quantized = models()
    with says("give the model whose integers were recorded"):
        pyqref.explain_diff({}, {}, X)
    other = nn.Sequential(nn.Sequential(nn.Flatten())).eval()
    with says("compare two forms of one model"):
        pyqref.explain_diff(other, quantized, X)
    pyqref.explain_diff(model, quantized, X)
    pyqref.explain_diff(quantized, {"0": quantized(X).detach().numpy()}, X)
