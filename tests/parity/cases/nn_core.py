"""Modules, initialisers, optimisers, schedules, data order: scripts with torch's answers."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np
from parity.harness import Bound, parity_case

STEPS = 30

OPTIMIZER = Bound(
    "torch fuses multiply and add where we round twice: at each of 30 steps half an ulp of a "
    "parameter (|p| < 4, ulp 2**-22) and of an update, amplified up to 10 times by momentum 0.9",
    absolute=30 * 10 * 2.0**-23,
)
ULPS = Bound("libm and torch's vector functions differ by a few ulp of float32", relative=2.0**-21)
QR = Bound("Householder QR of another LAPACK: 12 columns, errors of some ulp", absolute=2.0**-19)


def _parameters(torch: Any) -> list[Any]:
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(shape).astype(np.float32) for shape in ((3, 4), (5,))]
    return [torch.nn.Parameter(torch.from_numpy(array)) for array in arrays]


def _train(torch: Any, optimizer: Any) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    members = [p for group in optimizer.param_groups for p in group["params"]]
    for _ in range(STEPS):
        for parameter in members:
            gradient = rng.standard_normal(tuple(parameter.shape)).astype(np.float32)
            parameter.grad = torch.from_numpy(gradient)
        optimizer.step()
    keys = list(optimizer.state_dict()["param_groups"][0])
    return {"parameters": members, "repr": repr(optimizer), "keys": str(sorted(keys))}


def _optimizer_case(name: str, kind: str, settings: dict[str, Any]) -> None:
    def script(torch: Any) -> dict[str, Any]:
        return _train(torch, getattr(torch.optim, kind)(_parameters(torch), **settings))

    script.__name__ = name
    parity_case({"parameters/*": OPTIMIZER})(script)


_optimizer_case("sgd", "SGD", {"lr": 0.1})
_optimizer_case("sgd_momentum", "SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.5})
_optimizer_case(
    "sgd_nesterov",
    "SGD",
    {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.01, "maximize": True},
)
_optimizer_case("adam", "Adam", {"lr": 0.01, "weight_decay": 0.1})
_optimizer_case("adam_amsgrad", "Adam", {"lr": 0.01, "amsgrad": True, "maximize": True})
_optimizer_case("adamw", "AdamW", {"lr": 0.01, "betas": (0.5, 0.9)})


@parity_case()
def schedules(torch: Any) -> dict[str, Any]:
    """Learning rates are Python floats, computed in the same order: equal in every bit."""
    lr_scheduler = torch.optim.lr_scheduler
    makers = {
        "step": lambda o: lr_scheduler.StepLR(o, 3, 0.3),
        "multi_step": lambda o: lr_scheduler.MultiStepLR(o, [2, 5, 5, 9], 0.7),
        "exponential": lambda o: lr_scheduler.ExponentialLR(o, 0.9),
        "cosine": lambda o: lr_scheduler.CosineAnnealingLR(o, 7, eta_min=0.01),
        "lambda": lambda o: lr_scheduler.LambdaLR(o, lambda epoch: 1 / (1 + epoch)),
    }
    results = {}
    for name, make in makers.items():
        first, second = _parameters(torch)
        optimizer = torch.optim.SGD([{"params": [first]}, {"params": [second], "lr": 0.3}], lr=0.1)
        schedule = make(optimizer)
        rates = [schedule.get_last_lr()]
        for _ in range(20):
            optimizer.step()
            schedule.step()
            rates.append(schedule.get_last_lr())
        results[name] = np.array(rates)
    return results


@parity_case()
def plateau(torch: Any) -> dict[str, Any]:
    """ReduceLROnPlateau in its four modes."""
    losses = np.random.default_rng(0).standard_normal(40).cumsum().tolist()
    results = {}
    for mode in ("min", "max"):
        for threshold_mode in ("rel", "abs"):
            optimizer = torch.optim.SGD(_parameters(torch), lr=0.1)
            schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(
                optimizer,
                mode,
                factor=0.5,
                patience=2,
                threshold=0.1,
                threshold_mode=threshold_mode,
                cooldown=1,
                min_lr=0.005,
            )
            rates = []
            for loss in losses:
                schedule.step(loss)
                rates.append(schedule.get_last_lr()[0])
            results[f"{mode}_{threshold_mode}"] = np.array(rates)
    return results


def _wide(torch: Any) -> Any:
    return torch.zeros(6, 4, 3)


@parity_case({"uniform": ULPS, "normal": ULPS, "xavier*": ULPS, "kaiming*": ULPS, "trunc*": ULPS})
def random_initialisers(torch: Any) -> dict[str, Any]:
    """Compare the numbers of every initialiser under manual_seed."""
    init = torch.nn.init
    makers = {
        "uniform": lambda t: init.uniform_(t, -2, 3),
        "normal": lambda t: init.normal_(t, 1, 2),
        "xavier_uniform": lambda t: init.xavier_uniform_(t, gain=2),
        "xavier_normal": lambda t: init.xavier_normal_(t),
        "kaiming_uniform": lambda t: init.kaiming_uniform_(t, a=5**0.5),
        "kaiming_normal": lambda t: init.kaiming_normal_(t, mode="fan_out", nonlinearity="relu"),
        "trunc_normal": lambda t: init.trunc_normal_(t, 0.5, 1.0, -1, 1),
        "trunc_normal_tail": lambda t: init.trunc_normal_(t, 0.0, 1.0, 1.5, 2.5),
    }
    results = {}
    for name, make in makers.items():
        torch.manual_seed(7)
        results[name] = make(_wide(torch))
    return results


@parity_case({"*": QR})
def orthogonal(torch: Any) -> dict[str, Any]:
    """Rows, or columns, at right angles."""
    results = {}
    for name, shape in {"tall": (12, 5), "wide": (5, 3, 4), "square": (6, 6)}.items():
        torch.manual_seed(3)
        results[name] = torch.nn.init.orthogonal_(torch.zeros(*shape), gain=2.0)
    return results


@parity_case()
def constant_initialisers(torch: Any) -> dict[str, Any]:
    """Constants, identity, Dirac; gains."""
    init = torch.nn.init
    gains = [init.calculate_gain(name) for name in ("linear", "conv2d", "tanh", "relu", "selu")]
    return {
        "constant": init.constant_(torch.zeros(3), 2.5),
        "zeros": init.zeros_(torch.ones(3)),
        "ones": init.ones_(torch.zeros(3)),
        "eye": init.eye_(torch.zeros(3, 5)),
        "dirac": init.dirac_(torch.zeros(4, 2, 3, 3), groups=2),
        "gains": np.array([*gains, init.calculate_gain("leaky_relu", 0.2)]),
    }


class _Texts:
    """Texts in which a tree of modules describes itself."""

    def __init__(self, torch: Any) -> None:
        nn = torch.nn

        class Block(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.weight = nn.Parameter(torch.ones(2, 3))
                self.register_buffer("mean", torch.zeros(3))
                self.register_buffer("scratch", torch.zeros(1), persistent=False)

            def extra_repr(self) -> str:
                return "first=1,\nsecond=2"

        named = OrderedDict(start=nn.Identity(), block=Block())
        self.model = nn.Sequential(
            Block(),
            nn.Sequential(named),
            nn.ModuleList([nn.Flatten(), nn.Flatten(), Block(), nn.Unflatten(1, (2, -1))]),
            nn.ModuleDict({"a": nn.Sequential(), "b": nn.ParameterList([torch.zeros(2, 3), 4])}),
        )


@parity_case()
def module_texts(torch: Any) -> dict[str, Any]:
    """repr, keys, metadata, paths."""
    model = _Texts(torch).model
    state = model.state_dict(prefix="net.")
    return {
        "repr": repr(model),
        "keys": str(list(state)),
        "metadata": str([(key, dict(value)) for key, value in state._metadata.items()]),
        "modules": str([name for name, _ in model.named_modules(remove_duplicate=False)]),
        "parameters": str([name for name, _ in model.named_parameters(prefix="p")]),
        "buffers": str([name for name, _ in model.named_buffers()]),
        "children": str([name for name, _ in model.named_children()]),
    }


@parity_case()
def load_state_errors(torch: Any) -> dict[str, Any]:
    """The message lists what is missing, unexpected and of a wrong size."""
    model = _Texts(torch).model
    state = model.state_dict()
    del state["0.mean"], state["3.b.0"]
    state["0.weight"] = torch.zeros(1, 7)
    state["1.other.x"] = torch.zeros(1)
    message = ""
    try:
        model.load_state_dict(state)
    except RuntimeError as error:
        message = str(error)
    keys = _Texts(torch).model.load_state_dict(
        {"0.mean": torch.ones(3), "extra": torch.ones(1)}, strict=False
    )
    return {
        "message": message,
        "keys": str(keys),
        "all": str(model.load_state_dict({}, False))[:40],
    }


@parity_case()
def full_backward_hooks(torch: Any) -> dict[str, Any]:
    """Record the arguments of backward hooks, and the effect of what they return."""

    class Mix(torch.nn.Module):
        def forward(self, x: Any, factor: float, y: Any) -> Any:
            return x * factor, x * y

    seen = []
    module = Mix()

    def hook(module: Any, grad_input: Any, grad_output: Any) -> Any:
        seen.extend(grad for grad in (*grad_input, *grad_output) if grad is not None)
        return (grad_input[0] * 2, None, grad_input[2])

    module.register_full_backward_pre_hook(lambda m, g: (g[0] * 3, g[1]))
    module.register_full_backward_hook(hook)
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = torch.tensor([3.0, -1.0], requires_grad=True)
    first, second = module(x, 4.0, y)
    (first * second).sum().backward()
    return {"seen": seen, "x": x.grad, "y": y.grad}


@parity_case({"norm": ULPS, "clipped/*": ULPS})
def clip_gradients(torch: Any) -> dict[str, Any]:
    """Norms 2, 1 and infinity; clipping by norm and by value."""
    results: dict[str, Any] = {"norm": [], "clipped": []}
    for norm_type in (2.0, 1.0, float("inf")):
        parameters = _parameters(torch)
        for parameter in parameters:
            parameter.grad = parameter.detach() * 3
        norm = torch.nn.utils.clip_grad_norm_(parameters, 1.0, norm_type)
        results["norm"].append(float(norm))
        results["clipped"] += [parameter.grad for parameter in parameters]
    torch.nn.utils.clip_grad_value_(parameters, 0.1)
    results["by_value"] = [parameter.grad for parameter in parameters]
    results["norm"] = np.array(results["norm"])
    return results


@parity_case()
def fold_batch_norm(torch: Any) -> dict[str, Any]:
    """Weights and biases of folded layers, also transposed and without bias or gamma."""
    rng = np.random.default_rng(0)

    def numbers(*shape: int, positive: bool = False) -> Any:
        array = rng.standard_normal(shape).astype(np.float32)
        return torch.from_numpy(np.abs(array) + np.float32(0.5) if positive else array)

    weight, bias = numbers(4, 4, 3, 3), numbers(4)
    mean, variance, gamma, beta = numbers(4), numbers(4, positive=True), numbers(4), numbers(4)
    utils = torch.nn.utils
    fold = utils.fuse_conv_bn_weights
    return {
        "conv": fold(weight, bias, mean, variance, 1e-5, gamma, beta),
        "transposed": fold(weight, bias, mean, variance, 1e-5, gamma, beta, transpose=True),
        "bare": fold(weight, None, mean, variance, 1e-3, None, None),
        "linear": utils.fuse_linear_bn_weights(
            numbers(4, 5), None, mean, variance, 1e-5, gamma, beta
        ),
    }


@parity_case()
def data_order(torch: Any) -> dict[str, Any]:
    """The order of shuffled batches, epoch after epoch, and of the samplers."""
    data = torch.utils.data
    dataset = data.TensorDataset(torch.arange(50))
    results = {}
    torch.manual_seed(3)
    loader = data.DataLoader(dataset, batch_size=7, shuffle=True, drop_last=True)
    results["default"] = [torch.cat([b for (b,) in loader]) for _ in range(3)]
    generator = torch.Generator().manual_seed(5)
    loader = data.DataLoader(dataset, batch_size=7, shuffle=True, generator=generator)
    results["generator"] = [torch.cat([b for (b,) in loader]) for _ in range(3)]
    parts = data.random_split(range(50), [0.5, 0.3, 0.2], torch.Generator().manual_seed(1))
    results["split"] = [np.array(list(part.indices)) for part in parts]
    sampler = data.RandomSampler(range(50), replacement=True, num_samples=70)
    results["replacement"] = np.array(list(sampler))
    sampler = data.SubsetRandomSampler(range(20), torch.Generator().manual_seed(2))
    results["subset"] = np.array(list(sampler))
    results["more"] = np.array(list(data.RandomSampler(range(10), num_samples=25)))
    results["after"] = torch.rand(3)
    return results


@parity_case()
def collate(torch: Any) -> dict[str, Any]:
    """Types and dtypes of collated batches."""
    samples = [
        (1, 2.5, torch.ones(2), np.ones(3, np.float32), "a", {"k": [1, 2]}, np.int64(3), True)
        for _ in range(2)
    ]
    batch = torch.utils.data.default_collate(samples)
    return {"types": str(batch), "kind": type(batch).__name__}


@parity_case()
def vectors(torch: Any) -> dict[str, Any]:
    """All parameters as one vector and back."""
    parameters = _parameters(torch)
    vector = torch.nn.utils.parameters_to_vector(parameters)
    torch.nn.utils.vector_to_parameters(vector.detach() * 2, parameters)
    return {"vector": vector, "parameters": parameters}
