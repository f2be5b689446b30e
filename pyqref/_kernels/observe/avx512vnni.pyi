from .portable import choose_qparams_dynamic as choose_qparams_dynamic
from .portable import extremes as extremes
from .portable import fused_average as fused_average
from .portable import histogram as histogram
from .portable import min_max as min_max
from .portable import min_max_per_channel as min_max_per_channel
from .portable import running_range as running_range
