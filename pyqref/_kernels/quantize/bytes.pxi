from pyqref._kernels.quantize.to_bytes cimport quantize_bytes
