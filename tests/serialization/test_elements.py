"""Number formats of safetensors files that no tensor here has: widened, exactly, and told."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest

import pyqref
from pyqref.serialization.elements import float8_values

FLOAT8 = ["float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"]


def file(dtype: str, codes: np.ndarray) -> io.BytesIO:
    entry = {"dtype": dtype, "shape": [codes.size], "data_offsets": [0, codes.nbytes]}
    header = json.dumps({"x": entry}).encode()
    return io.BytesIO(len(header).to_bytes(8, "little") + header + codes.tobytes())


def test_bfloat16_is_the_upper_half_of_float32() -> None:
    """All 65536 codes are read exactly, nan included."""
    codes = np.arange(65536, dtype=np.uint16)
    with pytest.warns(UserWarning, match="1 array of bfloat16 is read as float32, .* exactly"):
        found = pyqref.load(file("BF16", codes))["x"]
    np.testing.assert_array_equal(codes.astype(np.uint32) << 16, found.numpy().view(np.uint32))


@pytest.mark.parametrize(
    ("name", "dtype"),
    [("F8_E4M3", FLOAT8[0]), ("F8_E5M2", FLOAT8[2]), ("F8_E8M0", FLOAT8[4])],
)
def test_8_bit_floats(name: str, dtype: str) -> None:
    """All 256 codes, from their sign, exponent and mantissa."""
    with pytest.warns(UserWarning, match=dtype):
        found = pyqref.load(file(name, np.arange(256, dtype=np.uint8)))["x"]
    np.testing.assert_array_equal(float8_values(dtype), found.numpy())


def test_values_of_8_bit_floats() -> None:
    """The largest, the smallest and the special values of the formats' definition."""
    e4m3, e5m2 = float8_values(FLOAT8[0]), float8_values(FLOAT8[2])
    assert [448.0, 2.0**-6, 2.0**-9, -1.0] == e4m3[[0x7E, 0x08, 0x01, 0xB8]].tolist()
    assert [0x7F, 0xFF] == np.flatnonzero(np.isnan(e4m3)).tolist()
    assert [57344.0, 2.0**-14, 2.0**-16] == e5m2[[0x7B, 0x04, 0x01]].tolist()
    # e5m2 is the upper half of float16.
    halves = (np.arange(256, dtype=np.uint16) << 8).view(np.float16)
    np.testing.assert_array_equal(halves.astype(np.float32), e5m2)
    uz = float8_values(FLOAT8[1])
    assert ([128], 240.0) == (np.flatnonzero(np.isnan(uz)).tolist(), uz[0x7F])


@pytest.mark.parametrize("name", FLOAT8)
def test_8_bit_floats_of_torch(name: str) -> None:
    """The tables are torch's."""
    torch = pytest.importorskip("torch", minversion="2.13")
    codes = torch.arange(256, dtype=torch.uint8)
    theirs = codes.view(getattr(torch, name)).float().numpy()
    np.testing.assert_array_equal(theirs, float8_values(name))


@pytest.mark.parametrize(
    ("name", "dtype", "held"), [("U16", np.uint16, "int32"), ("U32", np.uint32, "int64")]
)
def test_unsigned_integers(name: str, dtype: type, held: str) -> None:
    """They become signed ones that hold them."""
    codes = np.array([0, 1, np.iinfo(dtype).max], dtype)
    with pytest.warns(UserWarning, match=f"read as {held}"):
        found = pyqref.load(file(name, codes))["x"]
    assert getattr(pyqref, held) is found.dtype
    assert codes.tolist() == found.tolist()


def test_files_of_the_package_safetensors() -> None:
    """Files that torch's side of safetensors writes in BF16 and F8 are read to the bit."""
    torch = pytest.importorskip("torch", minversion="2.13")
    write = pytest.importorskip("safetensors.torch").save
    values = torch.tensor([1.5, -0.25, 3e4])
    names = ("bfloat16", "float16", "float8_e4m3fn", "float8_e5m2")
    tensors = {name: values.to(getattr(torch, name)) for name in names}
    with pytest.warns(UserWarning, match="bfloat16"):
        found = pyqref.load(io.BytesIO(write(tensors)))
    assert pyqref.float16 is found["float16"].dtype
    for name in names:
        np.testing.assert_array_equal(tensors[name].float().numpy(), found[name].float().numpy())
