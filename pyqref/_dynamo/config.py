"""Settings of a compiler that is not there: any can be set."""

__all__ = ["cache_size_limit", "suppress_errors", "verbose"]

cache_size_limit = 8
suppress_errors = False
verbose = False
