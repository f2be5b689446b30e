"""How other systems compute: the arithmetic of a quantized layer, one short class each.

Every system sums products of integers, adds a bias, scales, rounds, adds a zero point and clamps.
They differ in where they round, and so by a step here and there. :func:`get` finds an arithmetic by
its name; its methods compute each stage on whole arrays, and :meth:`Arithmetic.steps` writes down
how one output came about. :func:`use` runs a whole model in another arithmetic, and
:func:`saturation` tells where a model would saturate on processors without VNNI. Which arithmetics
there are, and how each was compared with the system itself: :doc:`/theory/arithmetics`.

Examples
--------
>>> from pyqref import arithmetic
>>> model = arithmetic.get("float64")
>>> model.steps([10, 20], 0, [3, -1], 0, 1.0, 0.5, 0.5, 1.0, 0)[-1].value
4
"""

from __future__ import annotations

from .base import Arithmetic as Arithmetic
from .fbgemm import FBGEMM as FBGEMM
from .fixed_point import CMSISNN as CMSISNN
from .fixed_point import TFLite as TFLite
from .fixed_point import TFLiteRuy as TFLiteRuy
from .fixed_point import TFLiteSingle as TFLiteSingle
from .float64 import Float64 as Float64
from .layer import Layer as Layer
from .layer import layer_of as layer_of
from .onednn import OneDNN as OneDNN
from .onnx import ONNX as ONNX
from .onnx import ONNXQDQ as ONNXQDQ
from .onnx import TFLiteXNNPACK as TFLiteXNNPACK
from .packed import patches as patches
from .packed import weight_rows as weight_rows
from .qnnpack import QNNPACK as QNNPACK
from .registry import get as get
from .registry import names as names
from .registry import use as use
from .saturating import OneDNNSaturating as OneDNNSaturating
from .saturating import ONNXSaturating as ONNXSaturating
from .saturating import X86Saturating as X86Saturating
from .saturation import LayerSaturation as LayerSaturation
from .saturation import SaturationReport as SaturationReport
from .saturation import saturation as saturation
from .step import Step as Step
from .tensorrt import TensorRT as TensorRT

__all__ = [
    "CMSISNN",
    "FBGEMM",
    "ONNX",
    "ONNXQDQ",
    "ONNXSaturating",
    "QNNPACK",
    "Arithmetic",
    "Float64",
    "Layer",
    "LayerSaturation",
    "OneDNN",
    "OneDNNSaturating",
    "SaturationReport",
    "Step",
    "TFLite",
    "TFLiteRuy",
    "TFLiteSingle",
    "TFLiteXNNPACK",
    "TensorRT",
    "X86Saturating",
    "get",
    "layer_of",
    "names",
    "patches",
    "saturation",
    "use",
    "weight_rows",
]
