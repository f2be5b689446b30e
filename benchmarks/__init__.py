"""pyqref side by side with torch and ONNX Runtime: ``python -m benchmarks --help``."""
