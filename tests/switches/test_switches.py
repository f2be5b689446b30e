"""Switches that scripts set: each does what it says, and says where it does nothing."""

from __future__ import annotations

import operator
import time
from collections.abc import Callable
from typing import Any

import pytest

import pyqref
from pyqref import cuda, hub, nn
from pyqref.quantization import NoEffectWarning

#: What scripts ask a machine without a GPU, and what torch answers on one.
ANSWERS: dict[str, Any] = {
    "cuda.is_available()": False,
    "cuda.device_count()": 0,
    "cuda.is_initialized()": False,
    "cuda.is_bf16_supported()": False,
    "cuda.memory_allocated()": 0,
    "cuda.max_memory_allocated()": 0,
    "cuda.memory_reserved()": 0,
    "cuda.max_memory_reserved()": 0,
    "cuda.empty_cache()": None,
    "cuda.manual_seed(0)": None,
    "cuda.manual_seed_all(0)": None,
    "cuda.get_rng_state_all()": [],
    "backends.cudnn.enabled": True,
    "backends.cudnn.benchmark": False,
    "backends.cudnn.deterministic": False,
    "backends.cudnn.is_available()": False,
    "backends.cudnn.version()": None,
    "backends.cuda.is_built()": False,
    "backends.cuda.matmul.allow_tf32": False,
    "backends.mps.is_available()": False,
    "backends.mps.is_built()": False,
    "xpu.is_available()": False,
    "accelerator.is_available()": False,
    "distributed.is_initialized()": False,
    "version.cuda": None,
    "compiler.is_compiling()": False,
    "are_deterministic_algorithms_enabled()": False,
    "get_deterministic_debug_mode()": 0,
    "get_float32_matmul_precision()": "highest",
    "is_autocast_enabled()": False,
    "jit.is_scripting()": False,
    "jit.is_tracing()": False,
    "str(device('cuda'))": "cuda",
    "str(device('cuda:1'))": "cuda:1",
    "device('cuda:1').index": 1,
    "device('cuda', 1).type": "cuda",
    "device(type='cuda', index=2).index": 2,
    "device('meta').type": "meta",
    "device('cpu:0') == device('cpu')": False,
    "device('cuda') == device('cuda')": True,
    "device('cuda') == ones(1).device": False,
    "device('cuda') == 'cuda'": False,
    "repr(device('cuda:1'))": "device(type='cuda', index=1)",
    "len({device('cuda'), device('cuda'), device('cpu')})": 2,
    "get_default_device()": "cpu",
    "amp.GradScaler().is_enabled()": False,
    "amp.GradScaler().get_scale()": 1.0,
    "amp.GradScaler().state_dict()": {},
    "[profiler.schedule(wait=1, warmup=1, active=2, repeat=1)(n).name for n in range(6)]": [
        *("NONE", "WARMUP", "RECORD", "RECORD_AND_SAVE", "NONE", "NONE"),
    ],
    "[profiler.schedule(wait=1, warmup=0, active=1, skip_first=2)(n).value for n in range(6)]": [
        *(0, 0, 0, 3, 0, 3),
    ],
}


@pytest.fixture(autouse=True)
def _as_at_the_start():
    """Another test of the process may have set what is asked for here."""
    pyqref.use_deterministic_algorithms(False)
    yield
    pyqref.use_deterministic_algorithms(False)


def answer(namespace: Any, question: str) -> Any:
    given = eval(question, {**vars(namespace), **_modules(namespace), "__builtins__": {}} | _PYTHON)
    return str(given) if isinstance(given, namespace.device) else given


_PYTHON = {"str": str, "repr": repr, "len": len, "range": range}


def _modules(namespace: Any) -> dict[str, Any]:
    names = [
        "cuda",
        "backends",
        "xpu",
        "accelerator",
        "distributed",
        "version",
        "compiler",
        "jit",
        "amp",
        "profiler",
    ]
    more = [each.split("(")[0] for each in ANSWERS if each.split("(")[0].isidentifier()]
    found = {name: getattr(namespace, name) for name in names}
    return found | {name: getattr(namespace, name) for name in more if name not in _PYTHON}


@pytest.mark.parametrize("question", ANSWERS)
def test_an_answer(question: str) -> None:
    assert ANSWERS[question] == answer(pyqref, question)


@pytest.mark.filterwarnings("ignore")
def test_answers_of_torch() -> None:
    """These are the answers of torch itself on a machine without a GPU."""
    torch = pytest.importorskip("torch", minversion="2.13")
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    assert ANSWERS == {question: answer(torch, question) for question in ANSWERS}


ON_A_GPU: dict[str, Callable[[], Any]] = {
    "ones": lambda: pyqref.ones(2, device="cuda"),
    "tensor": lambda: pyqref.tensor([1.0], device=pyqref.device("cuda")),
    "as_tensor": lambda: pyqref.as_tensor([1.0], device="cuda"),
    "rand": lambda: pyqref.rand(2, device="cuda:1"),
    "ones_like": lambda: pyqref.ones_like(pyqref.ones(1), device="cuda"),
    "arange": lambda: pyqref.arange(3, device="cuda"),
    "meta": lambda: pyqref.empty(2, device="meta"),
    "number": lambda: pyqref.ones(2, device=0),
    "Tensor.to()": lambda: pyqref.ones(2).to("cuda"),
    "to a number": lambda: pyqref.ones(2).to(0),
    "Tensor.cuda()": lambda: pyqref.ones(2).cuda(),
    "quantized": lambda: pyqref.quantize_per_tensor(pyqref.ones(1), 1.0, 0, pyqref.qint8).cuda(),
    "Module.to()": lambda: nn.Linear(1, 1).to(pyqref.device("cuda")),
    "Module.cuda()": lambda: nn.Linear(1, 1).cuda(),
    "layer": lambda: nn.Linear(1, 1, device="cuda"),
    "Generator": lambda: pyqref.Generator(device="cuda"),
    "load": lambda: pyqref.load("none", map_location="cuda"),
    "jit.load": lambda: pyqref.jit.load("none", map_location="cuda"),
    "DataParallel": lambda: nn.DataParallel(nn.ReLU(), device_ids=[0]),
    "set_default_device": lambda: pyqref.set_default_device("cuda"),
    "with": lambda: pyqref.device("cuda").__enter__(),
    "cuda.device": lambda: cuda.device(0).__enter__(),
    "cuda.set_device": lambda: cuda.set_device(0),
    "cuda.current_device": cuda.current_device,
    "cuda.get_device_name": cuda.get_device_name,
    "cuda.get_device_properties": lambda: cuda.get_device_properties(0),
    "cuda.get_device_capability": cuda.get_device_capability,
    "cuda.init": cuda.init,
}


@pytest.mark.parametrize("use", ON_A_GPU)
def test_use_of_another_device_is_refused(use: str) -> None:
    """A device may be named; what would use it says so, and what to write."""
    advice = "use|leave|write|ask"
    with pytest.raises(RuntimeError, match=rf"(CPU only|its numbers).*({advice})") as caught:
        ON_A_GPU[use]()
    assert not use.endswith("()") or use in str(caught.value)


@pytest.mark.parametrize("name", ["gpu", "cuda:x", "cuda:-1", "cuda:", "cuda:1:2", ""])
def test_no_device_is_called_so(name: str) -> None:
    with pytest.raises(RuntimeError, match="device"):
        pyqref.device(name)


def test_other_wrong_devices() -> None:
    """An index twice, a negative one, a float."""
    with pytest.raises(RuntimeError, match="must not have an index"):
        pyqref.device("cuda:1", 2)
    with pytest.raises(RuntimeError, match="index must be an integer"):
        pyqref.device("cuda", -1)
    with pytest.raises(TypeError, match="must be a str"):
        pyqref.device(1.5)


def test_switches_can_be_set() -> None:
    """Flags of back ends and compilers keep what they are set to, inside a ``with`` only there."""
    from pyqref import _dynamo, _inductor
    from pyqref.backends import cudnn, mkldnn

    cudnn.benchmark = cudnn.fastest = True
    assert cudnn.benchmark
    cudnn.benchmark = False
    with cudnn.flags(enabled=True, benchmark=True):
        assert cudnn.benchmark
    assert not cudnn.benchmark
    with mkldnn.flags(enabled=False):
        assert not mkldnn.enabled
    assert mkldnn.enabled
    _dynamo.config.suppress_errors = True
    _inductor.config.freezing = True
    _dynamo.config.suppress_errors = _inductor.config.freezing = False
    _dynamo.reset()
    for mode, number in (("warn", 1), ("error", 2), ("default", 0)):
        pyqref.set_deterministic_debug_mode(mode)
        assert number == pyqref.get_deterministic_debug_mode()
    pyqref.set_default_tensor_type("torch.DoubleTensor")
    assert pyqref.get_default_dtype() is pyqref.float64
    pyqref.set_default_tensor_type(pyqref.float32)


def test_events_measure() -> None:
    """Milliseconds of wall time between two events."""
    start, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
    start.record()
    time.sleep(0.02)
    cuda.current_stream().record_event(end)
    cuda.synchronize()
    assert 20 <= start.elapsed_time(end) < 5000


def test_what_has_no_effect_says_so() -> None:
    """compile, autocast on the CPU, checkpoint and others warn, and give the same results."""
    from pyqref.utils import checkpoint, mobile_optimizer

    model, x = nn.Linear(2, 2), pyqref.ones(1, 2, requires_grad=True)
    with pytest.warns(NoEffectWarning, match="compile has no effect"):
        assert pyqref.compile(model, mode="max-autotune") is model
    with pytest.warns(NoEffectWarning, match="compile has no effect"):
        assert 3 == pyqref.compile(fullgraph=True)(operator.add)(1, 2)
    assert pyqref.compile(model, disable=True) is model
    with pytest.warns(NoEffectWarning, match="autocast has no effect"):
        y = pyqref.autocast("cpu", dtype=pyqref.float16)(model)(x)
    assert y.dtype is pyqref.float32
    for quiet in (
        pyqref.autocast("cuda"),
        pyqref.autocast("cpu", enabled=False),
        pyqref.cuda.amp.autocast(),
    ):
        with quiet:
            assert pyqref.equal(model(x), quiet(model)(x))
    with pytest.warns(NoEffectWarning, match="all activations are kept"):
        y = checkpoint.checkpoint(model, x, use_reentrant=False)
    y.sum().backward()
    assert model.weight.grad is not None
    with pytest.warns(NoEffectWarning, match="all activations are kept"):
        assert pyqref.equal(model(x), checkpoint.checkpoint_sequential(nn.Sequential(model), 1, x))
    scripted = pyqref.jit.script(model)
    with pytest.warns(NoEffectWarning, match="optimize_for_mobile has no effect"):
        assert mobile_optimizer.optimize_for_mobile(scripted) is scripted
    with pytest.warns(NoEffectWarning, match="set_num_interop_threads has no effect"):
        pyqref.set_num_interop_threads(2)


def test_parallel_wrappers() -> None:
    """``.module``, and keys with its name; the distributed one is only asked for."""
    model = nn.DataParallel(nn.Linear(2, 1))
    assert ["module.weight", "module.bias"] == list(model.state_dict())
    x = pyqref.ones(3, 2)
    assert pyqref.equal(model.module(x), model(x))
    assert nn.parallel.DataParallel is nn.DataParallel
    assert not isinstance(model, nn.parallel.DistributedDataParallel)
    with pytest.raises(RuntimeError, match="train the module itself"):
        nn.parallel.DistributedDataParallel(model)


def test_hub_reads_what_lies_there(tmp_path: Any) -> None:
    """A file that was downloaded is read; one that is not there is asked for."""
    url = "https://download.pytorch.org/models/small-12345678.pth"
    with pytest.raises(FileNotFoundError, match=rf"download {url} to .*small-12345678\.pth"):
        hub.load_state_dict_from_url(url, model_dir=tmp_path)
    state = nn.Linear(2, 1).state_dict()
    hub.set_dir(tmp_path)
    try:
        (tmp_path / "checkpoints").mkdir()
        pyqref.save(state, tmp_path / "checkpoints" / "small-12345678.pth")
        from pyqref.utils.model_zoo import load_url

        found = load_url(url, progress=False, map_location="cpu")
    finally:
        hub.set_dir(None)
    assert pyqref.equal(state["weight"], found["weight"])
    with pytest.raises(RuntimeError, match="downloads no code"):
        hub.load("pytorch/vision", "resnet18", pretrained=True)


def test_random_and_processes() -> None:
    """Random numbers go on after ``fork_rng``; a process that fails is reported."""
    pyqref.random.manual_seed(3)
    with pyqref.random.fork_rng():
        inside = pyqref.rand(2)
    assert pyqref.equal(inside, pyqref.rand(2))


def test_custom_operations() -> None:
    """``schema=``, shapes of fake tensors and kernels of devices are accepted."""

    @pyqref.library.custom_op("switches::triple", mutates_args=(), schema="(Tensor x) -> Tensor")
    def triple(x: Any) -> Any:
        return 3 * x

    @triple.register_fake
    def shape_of_triple(x: Any) -> Any:
        return pyqref.empty_like(x)

    @triple.register_kernel("cuda")
    def on_a_gpu(x: Any) -> Any:
        raise AssertionError

    assert 3.0 == pyqref.ops.switches.triple(pyqref.ones(1)).item()
