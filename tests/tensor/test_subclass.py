"""``as_subclass`` gives the same tensor as an object of another class."""

from __future__ import annotations

import pytest

import pyqref


class Image(pyqref.Tensor):
    """Subclass of a user."""


def test_memory_and_graph_are_shared():
    """A write to one is read in the other, and gradients flow through."""
    x = pyqref.ones(2)
    image = x.as_subclass(Image)
    image[0] = 3.0
    assert isinstance(image, Image)
    assert [3.0, 1.0] == x.tolist() == image.as_subclass(pyqref.Tensor).tolist()
    assert type(image.as_subclass(pyqref.Tensor)) is pyqref.Tensor
    w = pyqref.ones(2, requires_grad=True)
    (w * 2).as_subclass(Image).sum().backward()
    assert [2.0, 2.0] == w.grad.tolist()


@pytest.mark.parametrize("cls", [int, "Image", None, pyqref.nn.Linear])
def test_what_is_no_class_of_tensors(cls):
    """It is refused by name."""
    with pytest.raises(TypeError, match="as_subclass: cls must be a class derived from Tensor"):
        pyqref.ones(1).as_subclass(cls)


def test_a_quantized_tensor_is_of_a_quantized_class():
    """The two kinds keep different things."""
    q = pyqref.quantize_per_tensor(pyqref.ones(1), 1.0, 0, pyqref.qint8)
    with pytest.raises(TypeError, match=r"derive the class from QuantizedTensor"):
        q.as_subclass(Image)
    with pytest.raises(TypeError, match=r"derive the class from Tensor"):
        pyqref.ones(1).as_subclass(pyqref.QuantizedTensor)
