"""The guide: examples of ``nn.quantized.functional``, printed and corrected."""

from __future__ import annotations

import pytest
from documentation_examples.runner import assert_in_errata, run

CONVOLUTION = """
>>> from torch.nn.quantized import functional as qF
>>> filters = torch.randn({filters}, dtype=torch.float)
>>> inputs = torch.randn({inputs}, dtype=torch.float)
>>> bias = torch.randn({bias}, dtype=torch.float)
>>>
>>> scale, zero_point = 1.0, 0
>>> dtype = torch.quint8
>>>
>>> q_filters = torch.quantize_per_tensor(filters, scale, zero_point, {dtype})
>>> q_inputs = torch.quantize_per_tensor(inputs, scale, zero_point, dtype)
"""
CALLS = {
    "conv2d": {"filters": "8, 4, 3, 3", "inputs": "1, 4, 5, 5"},
    "conv3d": {"filters": "8, 4, 3, 3, 3", "inputs": "1, 4, 5, 5, 5"},
}


def text(name: str, call: str, dtype: str = "dtype", bias: int = 4) -> str:
    return CONVOLUTION.format(bias=bias, dtype=dtype, **CALLS[name]) + f">>> output = {call}\n"


@pytest.mark.parametrize("name", CALLS)
def test_as_printed_padding_is_given_twice(name: str) -> None:
    call = f"qF.{name}(q_inputs, q_filters, bias, scale, zero_point, padding=1)"
    with pytest.raises(TypeError, match="padding"):
        run(text(name, call))
    assert_in_errata("``scale`` and ``zero_point`` are passed in the places of ``stride`` and ")


@pytest.mark.parametrize("name", CALLS)
def test_each_slip_by_itself_is_an_error(name: str) -> None:
    """The bias has the size of the input channels; the filter is quint8."""
    call = f"qF.{name}(q_inputs, q_filters, bias, padding=1, scale=scale, zero_point=zero_point)"
    with pytest.raises((RuntimeError, TypeError, ValueError), match="qint8"):
        run(text(name, call, bias=8))
    with pytest.raises((RuntimeError, ValueError), match="bias"):
        run(text(name, call, dtype="torch.qint8"))


@pytest.mark.parametrize("name", CALLS)
def test_corrected(name: str) -> None:
    call = f"qF.{name}(q_inputs, q_filters, bias, padding=1, scale=scale, zero_point=zero_point)"
    output = run(text(name, call, dtype="torch.qint8", bias=8))["output"]
    assert [1, 8, *[5] * (output.dim() - 2)] == list(output.shape)
    assert (1.0, 0) == (output.q_scale(), output.q_zero_point())


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("qF.upsample(x, scale_factor=2)", "qF.interpolate(x, scale_factor=2)"),
        (
            "qF.upsample_bilinear(x, scale_factor=2)",
            "qF.interpolate(x, scale_factor=2, mode='bilinear', align_corners=True)",
        ),
        (
            "qF.upsample_nearest(x, scale_factor=2)",
            "qF.interpolate(x, scale_factor=2, mode='nearest')",
        ),
    ],
)
def test_deprecated_names_are_equivalent(first: str, second: str) -> None:
    """Each warning says what the function is equivalent to."""
    prepare = """
from torch.nn.quantized import functional as qF
x = torch.quantize_per_tensor(torch.randn(1, 2, 3, 4), 0.05, 100, torch.quint8)
"""
    space = run(prepare)
    with pytest.warns(Warning, match="deprecated"):
        found = eval(first, space)
    expected = eval(second, space)
    assert expected.int_repr().tolist() == found.int_repr().tolist()
    assert (0.05, 100) == (found.q_scale(), found.q_zero_point())
