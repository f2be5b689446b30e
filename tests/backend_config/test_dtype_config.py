"""``DTypeConfig`` and ``DTypeWithConstraints``: the examples of their page, and errors."""

from __future__ import annotations

import pytest
from pyqref.ao.quantization.backend_config import DTypeConfig, DTypeWithConstraints

import pyqref as torch


def test_documented_example() -> None:
    """The example on the page of ``DTypeConfig``."""
    dtype_config1 = DTypeConfig(
        input_dtype=torch.quint8,
        output_dtype=torch.quint8,
        weight_dtype=torch.qint8,
        bias_dtype=torch.float,
    )
    dtype_config2 = DTypeConfig(
        input_dtype=DTypeWithConstraints(
            dtype=torch.quint8, quant_min_lower_bound=0, quant_max_upper_bound=255
        ),
        output_dtype=DTypeWithConstraints(
            dtype=torch.quint8, quant_min_lower_bound=0, quant_max_upper_bound=255
        ),
        weight_dtype=DTypeWithConstraints(
            dtype=torch.qint8, quant_min_lower_bound=-128, quant_max_upper_bound=127
        ),
        bias_dtype=torch.float,
    )
    assert torch.quint8 == dtype_config1.input_dtype
    assert torch.quint8 == dtype_config2.input_dtype
    expected = (
        "DTypeWithConstraints(dtype=pyqref.quint8, quant_min_lower_bound=0, "
        "quant_max_upper_bound=255, scale_min_lower_bound=None, scale_max_upper_bound=None, "
        "scale_exact_match=None, zero_point_exact_match=None)"
    )
    assert expected == repr(dtype_config2.input_dtype_with_constraints)


@pytest.mark.parametrize(
    "config",
    [
        DTypeConfig(),
        DTypeConfig(torch.quint8, is_dynamic=False),
        DTypeConfig(None, torch.float16, DTypeWithConstraints(torch.qint8, -8, 7), torch.float),
    ],
)
def test_dictionaries_are_inverses(config: DTypeConfig) -> None:
    """``from_dict(to_dict())`` is the same config, and the other way round."""
    items = config.to_dict()
    assert config == DTypeConfig.from_dict(items)
    assert items == DTypeConfig.from_dict(items).to_dict()


def test_bias_type_is_understood() -> None:
    """The page calls the key ``"bias_type"``, the code ``"bias_dtype"``."""
    assert torch.float == DTypeConfig.from_dict({"bias_type": torch.float}).bias_dtype


def test_wrong_types_and_keys() -> None:
    """Neither is silently ignored."""
    with pytest.raises(TypeError, match="weight_dtype must be a dtype or a DTypeWithConstraints"):
        DTypeConfig(weight_dtype="qint8")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="bias_dtype must be a dtype"):
        DTypeConfig(bias_dtype=8)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"got \['inputs'\]"):
        DTypeConfig.from_dict({"inputs": torch.quint8})
