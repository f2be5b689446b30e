"""``pyqref run script.py`` behaves as ``python script.py``, with pyqref for torch."""

from __future__ import annotations

import subprocess
import sys
import tempfile

import pytest


def run(*arguments, module="pyqref", **options):
    """``python -m pyqref run ...`` in a process of its own."""
    command = ["run"] if module == "pyqref" else []
    options.setdefault(
        "cwd", tempfile.gettempdir()
    )  # not the source tree, which hides what is installed
    return subprocess.run(
        [sys.executable, "-m", module, *command, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        **options,
    )


@pytest.fixture
def script(tmp_path):
    """Writes a script and returns its path."""

    def write(text, name="script.py"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


REPORT = """\
import sys, torch, neighbour
print(__name__, __file__, sys.argv[1:], sys.path[0], sys.modules["__main__"].torch is torch)
print(torch.__version__, torch.backends.quantized.conventions, neighbour.NAME)
"""


@pytest.mark.parametrize("module", ["pyqref", "pyqref.run"])
def test_what_a_script_finds(script, tmp_path, module):
    """Its name, path, arguments (options too), folder and neighbours."""
    script("NAME = __name__", "neighbour.py")
    path = script(REPORT)
    result = run(path, "-m", "--help", "x y", module=module)
    assert "" == result.stderr
    assert [
        f"__main__ {path} ['-m', '--help', 'x y'] {tmp_path} True",
        "2.13.0+pyqref torch neighbour",
    ] == result.stdout.splitlines()
    assert 0 == result.returncode


def test_a_module(script, tmp_path):
    """``-m`` finds it from the working folder, as Python does."""
    script("NAME = __name__", "neighbour.py")
    path = script(REPORT)
    result = run("--conventions", "documented", "-m", "script", "a", cwd=tmp_path)
    assert "" == result.stderr
    assert [
        f"__main__ {path} ['a'] {tmp_path} True",
        "2.13.0+pyqref documented neighbour",
    ] == result.stdout.splitlines()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("import sys; sys.exit(7)", 7),
        ("raise SystemExit", 0),
        ("exit(3)", 3),
        ("raise KeyboardInterrupt", 130),
        ("1 / 0", 1),
        ("def f(:", 1),
    ],
)
def test_exit_codes(script, text, code):
    """Exit codes are Python's own."""
    assert code == run(script(text)).returncode


@pytest.mark.parametrize("as_module", [False, True])
def test_a_traceback_shows_the_script_only(script, tmp_path, as_module):
    """Its own frames, those of the error before it, and the advice of a name that is absent."""
    path = script(
        "def load():\n"
        "    import torch.fft\n"
        "try:\n"
        "    load()\n"
        "except ImportError as error:\n"
        "    raise ValueError('no fft') from error\n"
    )
    result = run(*(["-m", "script"] if as_module else [path]), cwd=tmp_path)
    assert 1 == result.returncode
    assert 3 == result.stderr.count("  File ") == result.stderr.count(f'  File "{path}", line ')
    assert "No module named 'torch.fft'; use numpy.fft" in result.stderr
    assert "ValueError: no fft" == result.stderr.splitlines()[-1]


def test_an_exception_hook_of_the_script(script):
    """It is called instead of printing."""
    text = "import sys\nsys.excepthook = lambda kind, *_: print('caught', kind.__name__)\n1 / 0"
    result = run(script(text))
    assert ("caught ZeroDivisionError\n", "", 1) == (
        result.stdout,
        result.stderr,
        result.returncode,
    )


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_child_processes(script, method):
    """A child, forked or spawned, finds the script's functions, and the alias."""
    path = script(
        "import multiprocessing, sys, torch\n"
        "def work(n):\n"
        "    import torch.nn\n"
        "    return torch.__version__, n\n"
        "if __name__ == '__main__':\n"
        "    methods = multiprocessing.get_all_start_methods()\n"
        f"    method = {method!r} if {method!r} in methods else None\n"
        "    with multiprocessing.get_context(method).Pool(1) as pool:\n"
        "        print(pool.map(work, [1]))\n"
    )
    result = run(path)
    assert ("[('2.13.0+pyqref', 1)]\n", 0) == (result.stdout, result.returncode)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.py"], "pyqref run: there is no file 'nowhere.py'\n"),
        (["nowhere"], "pyqref run: there is no file 'nowhere'; for a module say -m\n"),
    ],
)
def test_a_script_that_is_not_there(tmp_path, arguments, message):
    """One line, exit code 2; for a name that may be a module, what to say."""
    result = run(*arguments, cwd=tmp_path)
    assert (message, 2) == (result.stderr, result.returncode)


TRAINING = """\
import torch
import torch.nn as nn
import torch.optim as optim
from torch.ao.quantization import get_default_qat_qconfig, prepare_qat, convert
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.quant = torch.ao.quantization.QuantStub()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
        self.dequant = torch.ao.quantization.DeQuantStub()

    def forward(self, x):
        return self.dequant(self.body(self.quant(x)))

net = Net().to(device)
net.qconfig = get_default_qat_qconfig("x86")
prepare_qat(net.train(), inplace=True)
x = torch.randn(64, 4)
loader = DataLoader(TensorDataset(x, (x.sum(1) > 0).long()), batch_size=16, shuffle=True)
optimizer = optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
for epoch in range(5):
    for inputs, targets in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(inputs.to(device)), targets.to(device))
        loss.backward()
        optimizer.step()
quantized = convert(net.eval())
accuracy = (quantized(x).argmax(1) == (x.sum(1) > 0).long()).float().mean().item()
assert accuracy > 0.9, accuracy
torch.save(quantized.state_dict(), "net.pt")
print(type(quantized.body[0]).__name__, quantized.body[0].weight().dtype)
"""


def test_a_whole_program(script, tmp_path):
    """Quantization-aware training as tutorials write it, from data to a saved model."""
    result = run(script(TRAINING), cwd=tmp_path)
    assert 0 == result.returncode, result.stderr
    assert result.stdout.startswith("Linear ")
    assert (tmp_path / "net.pt").exists()
