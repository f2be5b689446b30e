from .portable import add as add
from .portable import add_fixed_point as add_fixed_point
from .portable import cat as cat
from .portable import clamp as clamp
from .portable import look_up as look_up
from .portable import mul as mul
