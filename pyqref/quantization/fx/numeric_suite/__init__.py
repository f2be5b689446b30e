"""Compare two forms of a model in graph mode: weights, outputs, and each layer by itself.

The names of ``torch.ao.ns._numeric_suite_fx``. :mod:`pyqref.measure` gives the same answers in
fewer lines.

Read :mod:`.related` and :mod:`.subgraphs`, which find what is the same in two models; then
:mod:`.weights`, :mod:`.outputs` and :mod:`.shadows`, the three comparisons; then
:mod:`.n_shadows`, which tries several qconfigs in one run.

Examples
--------
>>> import copy
>>> import pyqref
>>> from pyqref.quantization import default_qconfig, quantize_fx
>>> from pyqref.quantization.fx import numeric_suite as ns
>>> _ = pyqref.manual_seed(0)
>>> batch = pyqref.rand(8, 3)
>>> model = pyqref.nn.Sequential(pyqref.nn.Linear(3, 4), pyqref.nn.ReLU()).eval()
>>> prepared = quantize_fx.prepare_fx(model, {"": default_qconfig}, (batch,))
>>> _ = prepared(batch)
>>> quantized = quantize_fx.convert_fx(copy.deepcopy(prepared))

The outputs of both models, each running by itself:

>>> a, b = ns.add_loggers("float", prepared, "int8", quantized, ns.OutputLogger)
>>> _ = a(batch), b(batch)
>>> results = ns.extract_logger_info(a, b, ns.OutputLogger, "int8")
>>> ns.extend_logger_results_with_comparison(results, "float", "int8", ns.compute_sqnr, "sqnr")
>>> float(results["_0"]["node_output"]["int8"][0]["sqnr"][0]) > 30
True

The float layers on the inputs of the quantized ones:

>>> both = ns.add_shadow_loggers("float", prepared, "int8", quantized, ns.OutputLogger)
>>> _ = both(batch)
>>> list(ns.extract_shadow_logger_info(both, ns.OutputLogger, "int8"))
['_0']
"""

from pyqref import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__)
