"""A float model of ``torch`` as a model of this package."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from pyqref import nn
from pyqref._typing import Module
from pyqref.tensor import Parameter, get_rng_state, set_rng_state

from .arrays import is_torch, is_wider, to_value
from .functions import MissingError
from .graphs import graph_module
from .layers import base_layer, layer_class, make_layer, torch_name
from .mirror import STATIC
from .missing import missing_calls
from .problems import Problem, UnsupportedError
from .quantized_layers import holds_its_state, loaded_layer, to_qconfig
from .running import add_attributes, add_hooks, mirrored_module, without_reparametrization
from .trace import trace_module
from .traced import Program, Traced
from .translation import Translation

__all__ = ["from_torch"]


def from_torch(module: Module) -> Module:
    """Make a model of this package from a model of ``torch``: float, prepared or quantized.

    Layers become the layers of the same name, containers are rebuilt child by child. Modules
    of a user's own class are traced by ``torch.fx`` and become :class:`Traced`; those that
    cannot be traced, or have an option, run their own Python code, in which ``torch`` is this
    package. Graphs of ``torch.fx`` and of ``torch.export`` stay graphs. All names stay, so that
    state dicts, and quantization by name, fit.

    Parameters
    ----------
    module
        A ``torch.nn.Module``. It is not changed, and shares no memory with the result.
        Observers and fake quantizers keep what they have seen, quantized layers their integers,
        and a model that ``prepare`` or ``prepare_fx`` of ``torch`` made goes into ``convert`` or
        ``convert_fx`` of this package.

    Returns
    -------
    Module
        With the same parameters and buffers (and the same that require gradients or are
        shared), each module training or not as in ``torch``.

    Raises
    ------
    UnsupportedError
        Parts have no counterpart: layers, functions or methods that pyqref does not have, backward
        hooks, sparse tensors. The message lists all of them with their paths, and with file
        and line where the code of the user calls them.
    TypeError
        ``module`` is no module of ``torch``.

    Warns
    -----
    UserWarning
        A ``qconfig`` makes something else than observers, and is left behind. Numbers of
        bfloat16 or of 8-bit floats are kept as float32. A weight norm or another parametrization
        is worked out once and left behind.

    Notes
    -----
    Of a traced class only the forward is recorded, for training and evaluation, and for each
    choice of up to two of its optional arguments; its plain attributes are left behind. A class
    that runs its own code keeps them, and its methods. Where that code calls under a condition
    what pyqref does not have, running it raises NotImplementedError. Such a module is pickled by
    the name of its class, so unpickling it needs ``torch`` too; its state dict does not.
    :doc:`/models_from_torch` lists the models of three libraries.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.interop.from_torch(pyqref.nn.Linear(2, 1))
    Traceback (most recent call last):
        ...
    TypeError: from_torch: module must be a torch.nn.Module, got pyqref.nn.modules.linear.Linear
    """
    if not is_torch(module, "Module"):
        kind = type(module)
        raise TypeError(
            "from_torch: module must be a torch.nn.Module, got "
            f"{kind.__qualname__ if kind.__module__ == 'builtins' else torch_name(kind)}"
        )
    state = get_rng_state()
    try:
        STATIC.refresh()
        conversion = _Conversion()
        model = conversion.convert(module, "")
    finally:
        set_rng_state(state)  # layers draw weights when they are made
    if conversion.problems:
        raise UnsupportedError(tuple(dict.fromkeys(conversion.problems)))
    if conversion.qconfigs:
        warnings.warn(
            "from_torch: the qconfig of torch is left behind at "
            f"{', '.join(conversion.qconfigs)}; "
            "set one of pyqref.quantization",
            stacklevel=2,
        )
    if conversion.widened:
        warnings.warn(
            f"from_torch: numbers of type {', '.join(sorted(conversion.widened))} are kept, "
            "exactly, as float32; the model computes in float32",
            stacklevel=2,
        )
    if conversion.folded:
        warnings.warn(
            "from_torch: weight norm, spectral norm or another parametrization is worked out once "
            f"and left behind at {', '.join(path or 'the model' for path in conversion.folded)}",
            stacklevel=2,
        )
    return model


class _Conversion:
    """One run of :func:`from_torch`: what was met so far, and what was wrong with it."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.qconfigs: list[str] = []
        self.folded: list[str] = []
        self.widened: set[str] = set()
        #: Twins that have their state.
        self.finished: set[int] = set()
        self.modules: dict[int, Any] = {}
        self.tensors: dict[int, Any] = {}
        #: Whether the module above runs its own code, which may read anything of those below.
        self.running = False
        self.objects = Translation(self.attribute_module, self.tensor, STATIC)

    def convert(self, source: object, path: str) -> Any:
        """The twin of a module; the same one each time it is met."""
        if source is None:
            return None
        if id(source) not in self.modules:
            plain = without_reparametrization(source)
            if plain is not source:
                self.folded.append(path)
            self.modules[id(source)] = self.twin(plain, path)
        return self.modules[id(source)]

    def twin(self, source: object, path: str) -> Any:
        """A new twin, with its state."""
        count = len(self.problems)
        self.check(source, path)
        twin: Any = nn.Identity()
        if len(self.problems) == count:
            twin = self.structure(source, path, base_layer(type(source)))
        if len(self.problems) == count:
            if id(twin) not in self.finished:
                self.copy_state(source, twin, path)
            self.copy_qconfig(source, twin, path)
            try:
                add_hooks(source, twin, self.objects)
            except TypeError as error:
                self.problems.append(
                    Problem(path or "(the model)", type(source).__name__, str(error))
                )
        return twin

    def structure(self, source: Any, path: str, cls: type) -> Any:
        """The twin of a module, its parameters and buffers not yet set."""
        count = len(self.problems)
        errors: list[TypeError] = []

        def problem(reason: str) -> None:
            self.problems.append(Problem(path or "(the model)", type(source).__name__, reason))

        twin = layer_class(cls)
        if is_torch(source, "GraphModule"):
            return self.graph(source, path, problem)
        own = twin is None and not torch_name(cls).startswith("torch.")
        if own and not self.running:
            signature, programs = trace_module(source, errors.append)
            if all_recorded(programs):
                for error in errors:
                    if isinstance(error, MissingError):
                        problem(str(error))
        if own and (self.running or errors or not all_recorded(programs) or has_switch(signature)):
            return self.run_source(source, path, problem)
        if twin is not None and holds_its_state(source):
            return self.quantized(twin, source, problem)
        children = self.children(source, path)
        if twin is not None:
            if len(self.problems) > count:
                return nn.Identity()
            try:
                return make_layer(twin, source, cls.__name__, children)
            except (TypeError, ValueError) as error:
                problem(str(error))
                return nn.Identity()
        if not own:
            problem(f"{torch_name(cls)} is not in pyqref")
            return nn.Identity()
        traced = Traced(type(source).__name__, signature, programs)
        for name, child in children.items():
            traced.add_module(name, child)
        return traced

    def attribute_module(self, source: object) -> Any:
        """The twin of a module that is met as an attribute."""
        return self.convert(source, f"({type(source).__name__})")

    def children(self, source: Any, path: str) -> dict[str, Any]:
        """The twins of a module's children, by name."""
        return {
            name: self.convert(child, f"{path}.{name}" if path else name)
            for name, child in source._modules.items()
            if type(child).__name__ != "GuardsFn"  # of an exported graph: checks the inputs
        }

    def graph(self, source: Any, path: str, problem: Callable[[str], None]) -> Any:
        """The twin of a graph, whose state is copied before, since the graph names it."""
        root = nn.Module()
        root.training = source.training
        root._modules.update(self.children(source, path))
        self.copy_state(source, root, path)
        twin = graph_module(source, root, self.objects, problem)
        for name in ("_parameters", "_buffers"):
            for key, value in getattr(root, name).items():
                getattr(twin, name).setdefault(key, value)
        self.finished.add(id(twin))
        return twin

    def quantized(self, twin: type, source: Any, problem: Callable[[str], None]) -> Any:
        """The twin of a quantized layer, with its state."""
        try:
            layer = loaded_layer(twin, source)
        except (TypeError, ValueError, RuntimeError) as error:
            problem(str(error))
            return nn.Identity()
        layer.training = source.training
        self.finished.add(id(layer))
        return layer

    def run_source(self, source: Any, path: str, problem: Callable[[str], None]) -> Any:
        """A twin that runs the Python code of the original, as all below it do."""
        reasons = missing_calls(source)
        for reason in reasons:
            problem(reason)
        before, self.running = self.running, True
        try:
            twin = mirrored_module(source, self.objects)
            self.modules[id(source)] = twin
            for name, child in self.children(source, path).items():
                twin._modules[name] = child
            add_attributes(source, twin, self.objects)
        except TypeError as error:
            problem(str(error))
            return nn.Identity()
        finally:
            self.running = before
        return twin

    def check(self, source: Any, path: str) -> None:
        """Note what would get lost in silence."""
        where, kind = path or "(the model)", type(source).__name__
        if source._backward_hooks:
            self.problems.append(Problem(where, kind, "has backward hooks; remove them first"))
        if "forward" in vars(source):
            reason = "its forward was replaced on the object; make a class of it"
            self.problems.append(Problem(where, kind, reason))

    def copy_qconfig(self, source: Any, twin: Any, path: str) -> None:
        """The qconfig, if a module has one, with observers of this package."""
        if "qconfig" not in vars(source):
            return
        try:
            twin.qconfig = to_qconfig(source.qconfig, self.objects.value)
        except (TypeError, ValueError) as error:
            self.qconfigs.append(f"{path or 'the model'} ({error})")

    def copy_state(self, source: Any, twin: Any, path: str) -> None:
        """Parameters and buffers, whether they require gradients, the mode."""
        for name, tensor in (*source._parameters.items(), *source._buffers.items()):
            try:
                value = self.tensor(tensor)
            except TypeError as error:
                reason = f"{name}: {error}"
                self.problems.append(Problem(path or "(the model)", type(source).__name__, reason))
                continue
            if name in source._parameters:
                twin._buffers.pop(name, None)
                twin.register_parameter(name, value)
            else:
                persistent = name not in source._non_persistent_buffers_set
                twin.register_buffer(name, value, persistent=persistent)
        twin.training = source.training

    def tensor(self, tensor: Any) -> Any:
        """A copy of a tensor; the same one each time it is met."""
        if tensor is None:
            return None
        if id(tensor) not in self.tensors:
            value = to_value(tensor)
            if is_wider(tensor):
                self.widened.add(str(tensor.dtype).removeprefix("torch."))
            if is_torch(tensor, "Parameter"):
                value = Parameter(value, requires_grad=tensor.requires_grad)
            self.tensors[id(tensor)] = value
        return self.tensors[id(tensor)]


def has_switch(signature: inspect.Signature) -> bool:
    """Return True if a forward has an option that its code may use before it is known."""
    return any(isinstance(each.default, bool) for each in signature.parameters.values())


def all_recorded(programs: Mapping[Any, Any]) -> bool:
    """Return True if every choice of optional arguments could be traced in every mode."""
    return all(isinstance(each, Program) for each in programs.values())
