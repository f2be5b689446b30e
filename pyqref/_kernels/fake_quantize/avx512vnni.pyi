from .portable import fake_quantize_per_channel as fake_quantize_per_channel
from .portable import fake_quantize_per_tensor as fake_quantize_per_tensor
from .portable import is_grid as is_grid
from .portable import straight_through as straight_through
