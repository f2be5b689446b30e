"""Following the messages about devices, scripted models, profilers and switches works."""

from __future__ import annotations

import io
import re
import urllib.request
from typing import Any

import pytest
from messages.following import says

import pyqref
from pyqref import cuda, hub, jit, nn, optim, profiler
from pyqref.autograd import profiler as old
from pyqref.testing import assert_close
from pyqref.utils import checkpoint, mobile_optimizer

X = pyqref.ones(1, 2)


def test_devices() -> None:
    """Leave the call out, take the CPU, or ask before."""
    model = nn.Linear(2, 2)
    with says("leave the call out, or use device='cpu'"):
        model.to("cuda")
    with says("leave the call out, or use device='cpu'"):
        X.to("cuda")
    assert model.to("cpu") is model
    assert X.to("cpu") is X
    for call in (X.cuda, model.cuda):
        with says("leave the call out, or write .to(device): {}"):
            call()
    device = "cuda" if pyqref.cuda.is_available() else "cpu"
    assert pyqref.equal(X, X.to(device))
    with says("leave the call out, or ask torch.cuda.is_available() before"):
        cuda.get_device_name(0)
    assert not pyqref.cuda.is_available()
    with says("leave the with out"), cuda.device("cuda"):
        pass
    with says("leave the call out, or use 'cpu'"):
        pyqref.set_default_device("cuda")
    pyqref.set_default_device("cpu")
    with says("leave the call out where torch.cuda.is_available() is False"):
        pyqref.set_default_tensor_type("torch.cuda.FloatTensor")
    with says("leave device_ids and output_device out"):
        nn.DataParallel(model, device_ids=[0])
    assert pyqref.equal(model(X), nn.DataParallel(model)(X))
    with says(
        "train the module itself, as a script does where torch.distributed.is_available() is False"
    ):
        nn.parallel.DistributedDataParallel(model)
    optim.SGD(model.parameters(), lr=0.1).step()
    with says("leave the call out where torch.distributed.is_initialized() is False"):
        pyqref.distributed.barrier()
    assert not pyqref.distributed.is_initialized()


def test_events() -> None:
    """Timing from the beginning, and recorded."""
    start, end = cuda.Event(), cuda.Event()
    with says("make both events with Event(enable_timing=True)"):
        start.elapsed_time(end)
    start, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
    with says("call record() on both events before"):
        start.elapsed_time(end)
    start.record()
    end.record()
    assert start.elapsed_time(end) >= 0


class Layer(nn.Module):
    def forward(self, x: Any) -> Any:
        return x


def doubled(x: Any) -> Any:
    return 2 * x


def file_of(model: Any) -> io.BytesIO:
    file = io.BytesIO()
    jit.save(jit.script(model), file)
    file.seek(0)
    return file


def test_scripted_models() -> None:
    """Script first; examples of tensors; evaluation mode; no function alone."""
    model = nn.Sequential(nn.Linear(2, 2))
    with says("call pyqref.jit.script(model) first"):
        jit.save(model, io.BytesIO())
    with says("call pyqref.jit.script(model) first"):
        jit.freeze(model)
    with says("call pyqref.jit.script(model) first"):
        mobile_optimizer.optimize_for_mobile(model)
    scripted = jit.script(model)
    with says("save it with .save(path)"):
        mobile_optimizer.optimize_for_mobile(scripted)
    scripted.save(io.BytesIO())
    with says("call eval() on it first"):
        jit.freeze(scripted)
    jit.freeze(scripted.eval())
    with says("give a tensor, or a tuple of the arguments"):
        jit.trace(model)
    jit.trace(model, X)
    jit.trace(model, (X,))
    with says("give tensors, or nested lists, tuples and dicts of them"):
        jit.trace(model, "x")
    with says("save the model with .save(path), and load it with pyqref.jit.load(path)"):
        scripted._save_for_lite_interpreter("model.ptl")
    file = file_of(model)
    assert pyqref.equal(model(X), jit.load(file)(X))
    with says("keep it in your script and import it, or make it the forward of an nn.Module"):
        jit.script(doubled).save(io.BytesIO())
    unsaved = nn.Sequential(Layer())
    unsaved[0].generator = (each for each in ())
    with says("keep what cannot be copied out of the model"):
        jit.script(unsaved)
    del unsaved[0].generator
    jit.script(unsaved)


def test_files_of_models(tmp_path: Any) -> None:
    """Classes and functions are passed; hooks are removed; each kind of file has its function."""

    class Local(nn.Module):
        def forward(self, x: Any) -> Any:
            return x

    file = file_of(Local())
    with says("pass it: pyqref.jit.load(f, classes=[{}])"):
        jit.load(file)
    file.seek(0)
    jit.load(file, classes=[Local])
    graph = pyqref.fx.Graph()
    graph.output(graph.call_function(doubled, (graph.placeholder("x"),)))
    file = file_of(pyqref.fx.GraphModule(nn.Module(), graph))
    with says("pass it, if it is yours: pyqref.jit.load(f, classes=[{}])"):
        jit.load(file)
    file.seek(0)
    jit.load(file, classes=[doubled])
    graph = pyqref.fx.Graph()
    graph.output(graph.call_function(lambda x: x, (graph.placeholder("x"),)))
    with says("define it with def in a module"):
        file_of(pyqref.fx.GraphModule(nn.Module(), graph))
    model = nn.Sequential(nn.ReLU())
    handle = model[0].register_forward_hook(lambda *_: None)
    with says("remove it before (handle.remove(), with the handle that registering gave)"):
        file_of(model)
    handle.remove()
    path = tmp_path / "model.pt"
    jit.script(model).save(path)
    with says("read it with pyqref.jit.load(f)"):
        pyqref.load(path)
    jit.load(path)
    model = nn.Linear(2, 2)
    pyqref.save(model.state_dict(), path)
    with says(
        "read them with pyqref.load(f) and give them to a model with model.load_state_dict(...)"
    ):
        jit.load(path)
    model.load_state_dict(pyqref.load(path))
    for load in (pyqref.load, jit.load, hub.load_state_dict_from_url):
        with says("use map_location='cpu'"):
            load(str(path), map_location="cuda")
    pyqref.load(path, map_location="cpu")


def test_files_of_other_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    """The module of a class is imported before."""
    import sys

    file = file_of(Layer())
    home = Layer.__module__
    module = sys.modules[home]
    monkeypatch.delitem(sys.modules, home)
    with says("run 'import {}' before, or {}"):
        jit.load(file)
    monkeypatch.setitem(sys.modules, home, module)
    file.seek(0)
    jit.load(file)


def test_downloads(tmp_path: Any) -> None:
    """A file is put where the message says; other calls have their own ways."""
    url = "https://x.org/a.pth"
    with says("run this again") as told:
        hub.load_state_dict_from_url(url, model_dir=tmp_path)
    found = re.search(r" to (\S+),", told.text)
    assert found
    pyqref.save({"a": X}, found[1])
    assert pyqref.equal(X, hub.load_state_dict_from_url(url, model_dir=tmp_path)["a"])
    with says(
        "import the model's class from there ({}), and read its weights with torch.load(path); "
        "models of torchvision come with pip install torchvision --no-deps"
    ):
        hub.load("pytorch/vision", "resnet18")
    pyqref.load(tmp_path / "a.pth")
    with says("write urllib.request.urlretrieve({}, {})"):
        hub.download_url_to_file(url, "a.pth")
    assert callable(urllib.request.urlretrieve)


def test_profilers(tmp_path: Any) -> None:
    """One at a time; looked at afterwards; traces and what is measured."""
    with profiler.profile() as running:
        with says("leave its with block, or call its stop(), first"):
            profiler.profile().start()
        running.stop()
        with old.profile() as measured:
            X.exp()
    with says("look at it after the with, and with enabled=True"):
        old.profile().table()
    measured.table()
    with says(
        "write the times of operations with export_chrome_trace(path), "
        "or measure Python functions with the module cProfile"
    ):
        running.export_stacks("x")
    running.export_chrome_trace(tmp_path / "trace.json")
    with says("leave it out"):
        profiler.profile(with_flops=True)
    profiler.profile()
    with says("repeat and skip_first must be >= 0 and active >= 1"):
        profiler.schedule(wait=0, warmup=0, active=0)
    profiler.schedule(wait=0, warmup=0, active=1)


def test_switches_without_effect() -> None:
    """Call the model itself, switch off, give both tolerances."""
    model = nn.Linear(2, 2)
    with says("call the model itself"):
        pyqref.compile(model)
    model(X)
    with says("write autocast('cpu', enabled=False)"), pyqref.autocast("cpu"):
        pass
    with pyqref.autocast("cpu", enabled=False):
        pass
    with says("Call the function itself, and smaller batches where the memory does not suffice"):
        checkpoint.checkpoint(model, X)
    with says("give both rtol and atol, or none"):
        assert_close(1.0, 1.0, rtol=0.1)
    assert_close(1.0, 1.05, rtol=0.1, atol=0.0)
    assert_close(1.0, 1.0)


def test_tensors_of_torch() -> None:
    """A type that NumPy lacks is converted; quantized integers are taken as such."""

    class Tensor:
        """Looks like a tensor of torch."""

        def __init__(self, dtype: str) -> None:
            self.dtype = dtype
            self.is_quantized = dtype == "torch.qint8"

        def detach(self) -> Tensor:
            return self

        def numpy(self) -> Any:
            raise NotImplementedError

        def int_repr(self) -> Any:
            return pyqref.ones(2, dtype=pyqref.int8)

        def float(self) -> Any:
            return pyqref.ones(2)

        def cpu(self) -> Any:
            return self

    Tensor.__module__ = "torch"
    t = Tensor("torch.bfloat16")
    with says("write pyqref.from_dlpack(t.float().cpu())"):
        pyqref.tensor(t)
    pyqref.from_dlpack(t.float().cpu())
    with says("write pyqref.from_dlpack({})"):
        pyqref.exp(Tensor("torch.float32"))
    t = Tensor("torch.qint8")
    with says(
        "take its integers, pyqref.from_dlpack(t.int_repr()), and make_per_tensor of them, "
        "or take over the model with pyqref.interop.from_torch"
    ):
        pyqref.tensor(t)
    pyqref.make_per_tensor(pyqref.from_dlpack(t.int_repr())._array, 1.0, 0, pyqref.qint8)
