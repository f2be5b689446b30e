"""The instruction sets, each a small header of primitives that the kernels are written over."""
