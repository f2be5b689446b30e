"""``torch.func``: of it, what calls a module with other parameters."""

from .nn.utils.stateless_call import functional_call as functional_call

__all__ = ["functional_call"]
