from .portable import add_up as add_up
from .portable import gradient as gradient
from .portable import moments_of_channels as moments_of_channels
from .portable import scale as scale
