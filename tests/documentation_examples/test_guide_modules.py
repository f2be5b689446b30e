"""The guide: examples of the modules, as printed or as corrected."""

from __future__ import annotations

import numpy as np
import pytest
from documentation_examples.runner import assert_in_errata, run

import pyqref
from pyqref.nn.quantized import DeQuantize, FloatFunctional, QFunctional, Quantize


@pytest.mark.parametrize("name", ["ReLU", "ReLU6"])
def test_relu(name: str) -> None:
    space = run(
        f"""
>>> m = nn.quantized.{name}()
>>> input = torch.randn(2)
>>> input = torch.quantize_per_tensor(input, 1.0, 0, dtype=torch.qint32)
>>> output = m(input)
"""
    )
    x = space["input"].dequantize().numpy()
    expected = np.clip(x, 0, 6 if name == "ReLU6" else None)
    assert expected.tolist() == space["output"].dequantize().tolist()


CONV2D = """
>>> # With square kernels and equal stride
>>> m = nn.quantized.Conv2d(16, 33, 3, stride=2)
>>> # non-square kernels and unequal stride and with padding
>>> m = nn.quantized.Conv2d(16, 33, (3, 5), stride=(2, 1), padding=(4, 2))
>>> # non-square kernels and unequal stride and with padding and dilation
>>> m = nn.quantized.Conv2d(16, 33, (3, 5), stride=(2, 1), padding=(4, 2), dilation=(3, 1))
>>> input = torch.randn({shape})
>>> # quantize input to qint8
>>> q_input = torch.quantize_per_tensor(input, scale=1.0, zero_point=0, dtype=torch.qint32)
"""
CONV3D = """
>>> # With square kernels and equal stride
>>> m = nn.quantized.Conv3d(16, 33, 3, stride=2)
>>> # non-square kernels and unequal stride and with padding
>>> m = nn.quantized.Conv3d(16, 33, (3, 5, 5), stride=(1, 2, 2), padding=(1, 2, 2))
>>> # non-square kernels and unequal stride and with padding and dilation
>>> m = nn.quantized.Conv3d(16, 33, (3, 5, 5), stride=(1, 2, 2), padding=(1, 2, 2), \
dilation=(1, 2, 2))
>>> input = torch.randn({shape})
>>> # quantize input to qint8
>>> q_input = torch.quantize_per_tensor(input, scale=1.0, zero_point=0, dtype=torch.qint32)
"""
#: The documented shapes are (20, 16, 50, 100) and (20, 16, 56, 56, 56); one image is enough.
CONVOLUTIONS = {
    "2d": (CONV2D, "1, 16, 50, 100", [1, 33, 26, 100]),
    "3d": (CONV3D, "1, 16, 6, 28, 28", [1, 33, 6, 12, 12]),
}


@pytest.mark.parametrize("kind", CONVOLUTIONS)
def test_convolution(kind: str) -> None:
    """Two slips: the float tensor is passed, and the quantized one is qint32."""
    text, shape, output = CONVOLUTIONS[kind]
    text = text.format(shape=shape)
    with pytest.raises(RuntimeError, match=r"takes a quantized tensor, got one of pyqref\.float32"):
        run(text + ">>> output = m(input)\n")
    with pytest.raises(RuntimeError, match=r"of pyqref\.quint8, got one of pyqref\.qint32"):
        run(text + ">>> output = m(q_input)\n")
    corrected = text.replace("dtype=torch.qint32", "dtype=torch.quint8")
    assert output == list(run(corrected + ">>> output = m(q_input)\n")["output"].shape)
    assert_in_errata("The examples quantize the input as ``qint32``")


def test_float_functional() -> None:
    space = run(
        """
>>> f_add = FloatFunctional()
>>> a = torch.tensor(3.0)
>>> b = torch.tensor(4.0)
>>> result = f_add.add(a, b)  # Equivalent to ``torch.add(3, 4)
""",
        FloatFunctional=FloatFunctional,
    )
    assert 7.0 == space["result"].item()


def test_q_functional() -> None:
    """The name of the operation is accepted, though torch takes no argument."""
    space = run(
        """
>>> q_add = QFunctional('add')
>>> a = torch.quantize_per_tensor(torch.tensor(3.0), 1.0, 0, torch.qint32)
>>> b = torch.quantize_per_tensor(torch.tensor(4.0), 1.0, 0, torch.qint32)
>>> result = q_add.add(a, b)  # Equivalent to ``torch.ops.quantized.add(3, 4)
""",
        QFunctional=QFunctional,
    )
    assert 7.0 == space["result"].dequantize().item()
    assert_in_errata("``QFunctional('add')``")


@pytest.mark.parametrize("name", ["add", "cat", "mul", "add_relu", "add_scalar", "mul_scalar"])
def test_valid_operation_names(name: str) -> None:
    assert callable(getattr(QFunctional(name), name))
    assert callable(getattr(FloatFunctional(), name))


def test_quantize_prints_as_printed() -> None:
    run(
        """
>>> t = torch.tensor([[1., -1.], [1., -1.]])
>>> scale, zero_point, dtype = 1.0, 2, torch.qint8
>>> qm = Quantize(scale, zero_point, dtype)
>>> qt = qm(t)
>>> print(qt)
tensor([[ 1., -1.],
        [ 1., -1.]], size=(2, 2), dtype=torch.qint8, scale=1.0, zero_point=2)
""",
        Quantize=Quantize,
    )


DEQUANTIZE = """
>>> input = torch.tensor([[1., -1.], [1., -1.]])
>>> scale, zero_point, dtype = 1.0, 2, torch.qint8
>>> qm = Quantize(scale, zero_point, dtype)
>>> quantized_input = qm(input)
>>> dqm = DeQuantize()
>>> dequantized = dqm(quantized_input)
>>> print(dequantized)
tensor([[ 1., -1.],
        [ 1., -1.]]{ending})
"""


def test_dequantize() -> None:
    """The page prints the dtype, which neither torch nor pyqref does for the default dtype."""
    names = {"Quantize": Quantize, "DeQuantize": DeQuantize}
    with pytest.raises(AssertionError):
        run(DEQUANTIZE.format(ending=", dtype=torch.float32"), **names)
    space = run(DEQUANTIZE.format(ending=""), **names)
    assert pyqref.float32 is space["dequantized"].dtype
    assert_in_errata("prints ``dtype=torch.float32`` behind the result")


def test_linear() -> None:
    run(
        """
>>> m = nn.quantized.Linear(20, 30)
>>> input = torch.randn(128, 20)
>>> input = torch.quantize_per_tensor(input, 1.0, 0, torch.quint8)
>>> output = m(input)
>>> print(output.size())
torch.Size([128, 30])
"""
    )


def test_dynamic_linear() -> None:
    run(
        """
>>> m = nn.quantized.dynamic.Linear(20, 30)
>>> input = torch.randn(128, 20)
>>> output = m(input)
>>> print(output.size())
torch.Size([128, 30])
"""
    )


LINEAR_RELU = """
>>> m = {make}
>>> input = {input}
>>> output = m(input)
>>> print(output.size())
torch.Size([128, 30])
"""


def test_linear_relu_for_training() -> None:
    """The class is in ``nn.intrinsic.qat``, and needs a qconfig."""
    with pytest.raises(AttributeError, match="LinearReLU"):
        run(LINEAR_RELU.format(make="nn.qat.LinearReLU(20, 30)", input="torch.randn(128, 20)"))
    with pytest.raises(ValueError, match="qconfig must be given"):
        run("m = nn.intrinsic.qat.LinearReLU(20, 30)")
    make = (
        "nn.intrinsic.qat.LinearReLU(20, 30, "
        "qconfig=torch.quantization.get_default_qat_qconfig('fbgemm'))"
    )
    run(LINEAR_RELU.format(make=make, input="torch.randn(128, 20)"))
    assert_in_errata("calls it ``nn.qat.LinearReLU``")


def test_quantized_linear_relu() -> None:
    """The example makes the float group; the quantized class takes quantized input."""
    with pytest.raises(TypeError, match="holds the layers"):
        run(LINEAR_RELU.format(make="nn.intrinsic.LinearReLU(20, 30)", input="torch.randn(1)"))
    run(
        LINEAR_RELU.format(
            make="nn.intrinsic.quantized.LinearReLU(20, 30)",
            input="torch.quantize_per_tensor(torch.randn(128, 20), 1.0, 0, torch.quint8)",
        )
    )
    assert_in_errata("The example of ``nn.intrinsic.quantized.LinearReLU`` makes")
