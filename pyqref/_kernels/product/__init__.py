"""Products of matrices of bytes: what linear, convolution and recurrent kernels share."""
