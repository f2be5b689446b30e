"""The old home of :func:`pyqref.hub.load_state_dict_from_url`."""

from ..hub import load_state_dict_from_url as load_url
from .progress import tqdm as tqdm

__all__ = ["load_url", "tqdm"]
