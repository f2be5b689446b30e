from .cells import gru_step as gru_step
from .cells import lstm_step as lstm_step
from .cells import rnn_step as rnn_step
from .floats import recurrent_floats as recurrent_floats
from .layer import NoGridError as NoGridError
from .layer import recurrent_cell as recurrent_cell
from .layer import recurrent_layer as recurrent_layer
from .layer import recurrent_loop as recurrent_loop
