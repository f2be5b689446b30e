from .adjacent import Pair as Pair
from .adjacent import adjacent_layers as adjacent_layers
from .equalization import cross_layer_equalization as cross_layer_equalization
from .bias_absorption import absorb_high_bias as absorb_high_bias
from .bias_correction import bias_correction as bias_correction
from .batch_norm import reestimate_batch_norm as reestimate_batch_norm
from .smoothing import smooth_quant as smooth_quant
