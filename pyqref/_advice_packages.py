"""Advice on packages beside torch that are not installed."""

from __future__ import annotations

__all__ = ["PACKAGES"]

#: Packages beside torch that scripts import, and what to do where they are not installed.
PACKAGES = {
    "torchvision": "pip install torchvision --no-deps (and pillow): it runs on pyqref under "
    "the alias",
    "torchaudio": "read sound with scipy.io.wavfile, and compute spectra with numpy.fft",
    "torchtext": "read the files with Python's own open and csv, and count words with "
    "collections.Counter",
    "torchdata": "use torch.utils.data: Dataset, IterableDataset, DataLoader",
    "torchao": "use torch.ao.quantization: quantize_ of weights is quantize_dynamic or a "
    "weight-only qconfig there",
    "torchinfo": "pip install torchinfo --no-deps, or print(model)",
    "torchsummary": "pip install torchsummary --no-deps, or print(model)",
    "torchmetrics": "write the metric with torch: (prediction == target).float().mean()",
    "pytorch_lightning": "write the training loop: forward, loss.backward(), optimizer.step()",
    "lightning": "write the training loop: forward, loss.backward(), optimizer.step()",
    "functorch": "loop over the batch and torch.stack the results",
    "executorch": "pyqref has no mobile runtime: run the model with pyqref run",
    "torch_xla": "pyqref runs on the CPU: leave the device out",
    "torch_directml": "pyqref runs on the CPU: leave the device out",
    "apex": "train in float32: pyqref has no mixed precision",
}
