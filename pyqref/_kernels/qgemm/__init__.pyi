from .dynamic import Projection as Projection
from .dynamic import linear_dynamic as linear_dynamic
from .linear import linear as linear
from .linear import linear_accumulator as linear_accumulator
from .linear import linear_float as linear_float
from .matmul import quantized_matmul as quantized_matmul
from .pack import PackedLinear as PackedLinear
from .pack import pack_linear as pack_linear
