"""The real torchvision runs on pyqref: ``pip install torchvision --no-deps`` and ``pyqref run``."""

from __future__ import annotations

import importlib.util

import pytest

from .test_script import run

pytestmark = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("torchvision", "PIL")),
    reason="needs torchvision and pillow",
)

TRANSFORMS = """
import numpy, torch
from PIL import Image
from torchvision import datasets, transforms, utils

image = Image.fromarray(numpy.arange(40 * 50 * 3, dtype=numpy.uint8).reshape(40, 50, 3))
train = transforms.Compose([
    transforms.RandomResizedCrop(32),
    transforms.RandomHorizontalFlip(),
    transforms.ColorJitter(0.1, 0.1, 0.1, 0.1),
    transforms.RandomRotation(10),
    transforms.ToTensor(),
    transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
    transforms.RandomErasing(p=1.0),
])
assert (3, 32, 32) == tuple(train(image).shape)
pixels = transforms.PILToTensor()(image)
assert pixels.dtype == torch.uint8
whole = transforms.ToTensor()(image)
assert torch.equal(whole, pixels.float() / 255)
assert (3, 20, 25) == tuple(transforms.Resize(20)(whole).shape)
assert torch.equal(transforms.RandomVerticalFlip(1.0)(whole), whole.flip(1))
assert torch.allclose(transforms.Grayscale()(whole)[0],
                      0.2989 * whole[0] + 0.587 * whole[1] + 0.114 * whole[2], atol=1e-6)

data = datasets.FakeData(16, (3, 32, 32), 10, transforms.ToTensor())
loader = torch.utils.data.DataLoader(data, batch_size=8, shuffle=True)
images, labels = next(iter(loader))
assert (8, 3, 32, 32) == tuple(images.shape) and labels.dtype == torch.int64
grid = utils.make_grid(images, nrow=4, padding=2, normalize=True)
assert (3, 70, 138) == tuple(grid.shape) and grid.min() == 0 and grid.max() <= 1
utils.save_image(grid, "grid.png")
assert Image.open("grid.png").size == (138, 70)
"""

TRANSFORMS_V2 = """
import numpy, torch
from PIL import Image
from torchvision.transforms import v2
from torchvision import tv_tensors

image = Image.fromarray(numpy.arange(40 * 50 * 3, dtype=numpy.uint8).reshape(40, 50, 3))
steps = v2.Compose([
    v2.ToImage(), v2.RandomResizedCrop(24), v2.RandomHorizontalFlip(),
    v2.ToDtype(torch.float32, scale=True), v2.Normalize([0.5] * 3, [0.5] * 3),
])
result = steps(image)
assert isinstance(result, torch.Tensor) and (3, 24, 24) == tuple(result.shape)
assert isinstance(v2.ToImage()(image), tv_tensors.Image)
"""

MODELS = """
import torch
from torchvision import models

torch.manual_seed(0)
x = torch.rand(2, 3, 32, 32)
for name in ("resnet18", "mobilenet_v2", "squeezenet1_1"):
    model = models.get_model(name, weights=None, num_classes=10).eval()
    with torch.no_grad():
        assert (2, 10) == tuple(model(x).shape)
model = models.resnet18(num_classes=10)
torch.nn.functional.cross_entropy(model(x), torch.tensor([1, 2])).backward()
assert all(p.grad is not None for p in model.parameters())
"""

QUANTIZED = """
import torch
from torch.ao.quantization import convert, get_default_qconfig, prepare
from torch.ao.quantization.quantize_fx import convert_fx, prepare_fx
from torchvision.models import quantization, resnet18

torch.manual_seed(0)
torch.backends.quantized.engine = "fbgemm"
x = torch.rand(4, 3, 32, 32)
for make in (quantization.resnet18, quantization.mobilenet_v2):
    model = make(weights=None, num_classes=10).eval()
    with torch.no_grad():
        expected = model(x)
        model.fuse_model()
        assert torch.allclose(expected, model(x), atol=1e-3)
        model.qconfig = get_default_qconfig("fbgemm")
        prepare(model, inplace=True)
        model(x)
        model = convert(model)
        found = model(x)
    assert found.dtype == torch.float32 and (4, 10) == tuple(found.shape)
    # Random weights leave little to see, so a look at the layers: they run on integers.
    assert any(type(m).__module__.startswith("pyqref.nn.quantized") for m in model.modules())

float_model = resnet18(weights=None, num_classes=10).eval()
prepared = prepare_fx(float_model, torch.ao.quantization.get_default_qconfig_mapping(), (x,))
with torch.no_grad():
    prepared(x)
    assert (4, 10) == tuple(convert_fx(prepared)(x).shape)
"""


@pytest.mark.parametrize(
    "script",
    [TRANSFORMS, TRANSFORMS_V2, MODELS, QUANTIZED],
    ids=["transforms", "transforms_v2", "models", "quantized"],
)
def test_torchvision(tmp_path, script):
    """Transforms, data sets, grids, models and quantizable models, as their pages show them."""
    (tmp_path / "script.py").write_text(script, encoding="utf-8")
    result = run("script.py", cwd=tmp_path)
    assert 0 == result.returncode, result.stderr
