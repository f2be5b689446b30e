"""The errata pages print of torch 2.13 what torch 2.13 gives."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from parity.errata_pages import DOCS, PAGES, answers, sections

CASES = [(page, title) for page in PAGES for title in sections(page)]
NAMES = [f"{page.relative_to(DOCS).with_suffix('')}: {title}" for page, title in CASES]


@cache
def _answers(page: Path, torch: Any) -> dict[str, list[Any]]:
    return answers(page, torch)


@pytest.mark.parametrize(("page", "title"), CASES, ids=NAMES)
def test_torch_gives_what_the_page_says(page: Path, title: str) -> None:
    """Each example, run by torch, gives its comment's answer; without one, that of pyqref."""
    torch = pytest.importorskip("torch", minversion="2.13", reason="the extra 'parity' has torch")
    if torch.backends.quantized.engine != "x86":
        pytest.skip("this processor has another default engine")
    wrong = [each for each in _answers(page, torch)[title] if each.said != each.given]
    assert [] == wrong


WITHOUT_VNNI = """
import sys
import torch

torch.backends.quantized.engine = sys.argv[1]
x = torch.quantize_per_tensor(torch.full((1, 2), 255.0), 1.0, 0, torch.quint8)
weight = torch.quantize_per_tensor(torch.full((1, 2), 127.0), 1.0, 0, torch.qint8)
linear = torch.ao.nn.quantized.functional.linear
print(linear(x, weight, None, scale=400.0, zero_point=0).int_repr().item())
"""


@pytest.mark.parametrize("engine", ["fbgemm", "x86", "onednn"])
def test_torch_saturates_without_vnni(engine: str) -> None:
    """The experiment of "Processors without VNNI": 82 where two products add up to 162."""
    pytest.importorskip("torch", minversion="2.13", reason="the extra 'parity' has torch")
    older = {"FBGEMM_ENABLE_INSTRUCTIONS": "AVX2", "ONEDNN_MAX_CPU_ISA": "AVX2"}
    command = [sys.executable, "-W", "ignore", "-c", WITHOUT_VNNI, engine]
    assert b"82\n" == subprocess.check_output(command, env={**os.environ, **older})
