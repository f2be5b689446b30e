from .added import conv_add as conv_add
from .added import prepare_add
prepare_conv_add = prepare_add
from .convolution import conv1d as conv1d
from .convolution import conv2d as conv2d
from .convolution import conv3d as conv3d
from .convolution import prepare
prepare_conv = prepare
from .pack import PackedConv as PackedConv
from .pack import pack_conv1d as pack_conv1d
from .pack import pack_conv2d as pack_conv2d
from .pack import pack_conv3d as pack_conv3d
from .sums import conv_sums as conv_sums
from .transposed import PackedConvTranspose as PackedConvTranspose
from .transposed import conv_transpose as conv_transpose
from .transposed import pack_conv_transpose as pack_conv_transpose
from .transposed import prepare_transposed
prepare_conv_transpose = prepare_transposed
