from .portable import layer_norm as layer_norm
from .portable import put_channels_first as put_channels_first
