from .portable import max_pool as max_pool
from .portable import mean_pool as mean_pool
