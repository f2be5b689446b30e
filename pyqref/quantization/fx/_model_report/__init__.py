"""Report on a prepared and calibrated model: what could be quantized differently.

``torch.ao.quantization.fx._model_report``: :class:`ModelReport` puts observers around layers,
detectors read them, and :class:`ModelReportVisualizer` shows their numbers.
"""

from pyqref import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__)
