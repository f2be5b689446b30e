from .portable import add_sums as add_sums
from .portable import layer_norm as layer_norm
from .portable import put_channels_first as put_channels_first
