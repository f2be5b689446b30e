from .float_convolution import convolution as convolution
from .float_convolution import convolution_gradient as convolution_gradient
from .float_convolution import convolution_weight_gradient as convolution_weight_gradient
from .float_depthwise import depthwise as depthwise
from .float_depthwise import depthwise_gradient as depthwise_gradient
from .float_depthwise import depthwise_weight_gradient as depthwise_weight_gradient
from .maxima import gradient_of_largest as gradient_of_largest
from .maxima import largest as largest
