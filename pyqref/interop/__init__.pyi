from .from_onnx import from_onnx as from_onnx
from .from_torch import from_torch as from_torch
from .load import load_torch_state_dict as load_torch_state_dict
from .problems import UnsupportedError as UnsupportedError
from .report import LoadReport as LoadReport
from .report import LoadRow as LoadRow
from .to_torch import to_torch_state_dict as to_torch_state_dict
from .traced import Traced as Traced
