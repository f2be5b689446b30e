from .widths import FLOAT as FLOAT
from .widths import Width as Width
from .results import AccuracyControl as AccuracyControl
from .results import MixedPrecision as MixedPrecision
from .results import Point as Point
from .search import search_mixed_precision as search_mixed_precision
from .control import quantize_with_accuracy_control as quantize_with_accuracy_control
