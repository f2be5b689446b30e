from .portable import histogram as histogram
from .portable import min_max as min_max
from .portable import min_max_per_channel as min_max_per_channel
