from .portable import recurrent_layer as recurrent_layer
from .portable import recurrent_step as recurrent_step
