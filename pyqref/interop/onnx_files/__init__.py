"""Make a graph of an ONNX file: :mod:`.source`, :mod:`.importer`, and one file a family."""

from . import elements as elements
from . import layers as layers
from . import moves as moves
from . import quantized as quantized

__all__ = ["elements", "layers", "moves", "quantized"]
