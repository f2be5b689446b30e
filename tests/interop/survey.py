"""Take over the models of torchvision, timm and transformers, and print what became of each.

``python tests/interop/survey.py [name ...]``: it needs those packages and torch, draws random
weights and downloads nothing. The page ``docs/models_from_torch.rst`` shows what it prints.
"""

from __future__ import annotations

import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch.ao.quantization.quantize_fx import prepare_fx as torch_prepare_fx

import pyqref
from pyqref.interop import UnsupportedError, from_torch
from pyqref.quantization import get_default_qconfig_mapping
from pyqref.quantization.quantize_fx import convert_fx, prepare_fx

#: A model of a hundred layers rounds some hundred times; each product sums up to a few thousand
#: rounded terms, in another order than torch. Of the largest number in the output.
BOUND = 1024 * 2 * float(np.finfo(np.float32).eps)

Case = tuple[str, Callable[[], Any], tuple[int, ...]]


def torchvision_models() -> Iterator[Case]:
    register = torch.library.register_fake  # a wheel for another torch has no operators
    torch.library.register_fake = lambda *_, **__: lambda function: function
    import torchvision.models as m

    torch.library.register_fake = register

    sizes = {"inception_v3": 96, "vit_b_16": 32, "maxvit_t": 224}
    options: dict[str, dict[str, Any]] = {
        "inception_v3": {"init_weights": False},
        "googlenet": {"init_weights": False},
        "vit_b_16": {"image_size": 32},
        "maxvit_t": {"input_size": (224, 224)},
    }
    names = (
        "alexnet vgg11_bn resnet18 resnext50_32x4d wide_resnet50_2 squeezenet1_1 densenet121 "
        "inception_v3 googlenet shufflenet_v2_x1_0 mobilenet_v2 mobilenet_v3_small mnasnet1_0 "
        "efficientnet_b0 efficientnet_v2_s regnet_y_400mf convnext_tiny vit_b_16 swin_t swin_v2_t "
        "maxvit_t"
    )
    for name in names.split():
        size = sizes.get(name, 64)
        make = getattr(m, name)
        yield name, lambda make=make, name=name: make(**options.get(name, {})), (1, 3, size, size)
    none = {"weights": None, "weights_backbone": None}
    for name in ("fcn_resnet50", "deeplabv3_mobilenet_v3_large", "lraspp_mobilenet_v3_large"):
        yield name, lambda name=name: getattr(m.segmentation, name)(**none), (1, 3, 64, 64)
    yield "r3d_18", m.video.r3d_18, (1, 3, 4, 32, 32)
    yield "quantizable_resnet18", m.quantization.resnet18, (1, 3, 64, 64)


def timm_models() -> Iterator[Case]:
    import timm

    names = (
        "resnet18 resnetv2_50 efficientnet_b0 mobilenetv3_small_100 convnext_atto "
        "vit_tiny_patch16_224 swin_tiny_patch4_window7_224 mixer_b16_224 regnetx_002 repvgg_a0 "
        "ghostnet_100 densenet121 hrnet_w18_small edgenext_xx_small mobilevit_xxs levit_128s "
        "poolformer_s12"
    )
    fixed = {"vit_tiny_patch16_224", "swin_tiny_patch4_window7_224", "mixer_b16_224", "levit_128s"}
    for name in names.split():
        size = 224 if name in fixed else 64
        yield f"timm {name}", lambda name=name: timm.create_model(name), (1, 3, size, size)


def transformers_models() -> Iterator[Case]:
    import transformers as t

    text = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "vocab_size": 50}
    inner = {**text, "intermediate_size": 64}
    gpt = {"n_embd": 32, "n_layer": 2, "n_head": 2, "vocab_size": 50}
    distil = {"dim": 32, "n_layers": 2, "n_heads": 2, "hidden_dim": 64, "vocab_size": 50}
    t5 = {"d_model": 32, "d_kv": 16, "d_ff": 64, "num_layers": 2, "num_heads": 2, "vocab_size": 50}
    whisper = {
        **{f"{side}_{key}": 2 for side in ("encoder", "decoder") for key in ("layers",)},
        **{f"{side}_attention_heads": 2 for side in ("encoder", "decoder")},
        **{f"{side}_ffn_dim": 64 for side in ("encoder", "decoder")},
        "d_model": 32,
        "vocab_size": 50,
        "max_source_positions": 16,
        "num_mel_bins": 8,
        **dict.fromkeys(("pad_token_id", "bos_token_id", "eos_token_id"), 1),
        "decoder_start_token_id": 1,
    }
    vision = {**inner, "image_size": 32, "patch_size": 8}
    vision.pop("vocab_size")
    cases: list[tuple[str, str, dict[str, Any], tuple[int, ...]]] = [
        ("BertForSequenceClassification", "BertConfig", inner, (2, 7)),
        ("DistilBertForMaskedLM", "DistilBertConfig", distil, (2, 7)),
        ("RobertaModel", "RobertaConfig", inner, (2, 7)),
        ("AlbertModel", "AlbertConfig", {**inner, "embedding_size": 16}, (2, 7)),
        ("GPT2LMHeadModel", "GPT2Config", gpt, (2, 7)),
        ("ViTForImageClassification", "ViTConfig", vision, (1, 3, 32, 32)),
        ("T5EncoderModel", "T5Config", t5, (2, 7)),
        ("SegformerForSemanticSegmentation", "SegformerConfig", {}, (1, 3, 64, 64)),
        ("WhisperModel", "WhisperConfig", whisper, (1, 8, 32)),
        (
            "Wav2Vec2ForCTC",
            "Wav2Vec2Config",
            {**inner, "conv_dim": (16,) * 7, "num_conv_pos_embedding_groups": 4},
            (1, 800),
        ),
    ]
    for name, config, given, shape in cases:
        make = lambda name=name, config=config, given=given: getattr(t, name)(  # noqa: E731
            getattr(t, config)(**given)
        )
        yield name, make, shape


def inputs(name: str, shape: tuple[int, ...]) -> tuple[np.ndarray[Any, Any], ...]:
    rng = np.random.default_rng(1)
    if len(shape) == 2 and not name.startswith("Wav"):
        return (rng.integers(2, 50, shape),)
    given = (rng.standard_normal(shape).astype(np.float32),)
    if name == "WhisperModel":
        return (*given, rng.integers(2, 50, (1, 5)))
    return given


def call(namespace: Any, model: Any, name: str, arrays: Any) -> Any:
    given = [namespace.from_numpy(each.copy()) for each in arrays]
    if name == "WhisperModel":
        return model(given[0], decoder_input_ids=given[1])
    return model(*given)


def leaves(value: Any) -> list[Any]:
    """The tensors in nested outputs, as arrays."""
    if isinstance(value, dict):
        return leaves(list(value.values()))
    if isinstance(value, tuple | list):
        return [each for part in value for each in leaves(part)]
    if hasattr(value, "detach"):
        return [value.detach().numpy()]
    return [] if value is None else [np.asarray(value)] if isinstance(value, float | int) else []


def survey(name: str, make: Callable[[], Any], shape: tuple[int, ...]) -> dict[str, str]:
    """How far a model comes."""
    torch.manual_seed(0)
    arrays = inputs(name, shape)
    row: dict[str, str] = {}
    step = "torch"
    try:
        theirs = make().eval()
        with torch.no_grad():
            expected = leaves(call(torch, theirs, name, arrays))
        step = "taken over"
        ours = from_torch(theirs)
        row[step], step = "yes", "error"
        with pyqref.no_grad():
            actual = leaves(call(pyqref, ours, name, arrays))
        assert len(expected) == len(actual), f"{len(expected)} outputs, {len(actual)} here"
        error = max(
            float(np.abs(e - a).max()) / max(1e-9, float(np.abs(e).max()))
            for e, a in zip(expected, actual, strict=True)
            if e.size
        )
        row[step] = f"{error:.0e}" + ("" if error <= BOUND else " (over the bound)")
        step = "prepare_fx"
        example = tuple(pyqref.from_numpy(each) for each in arrays)
        prepared = prepare_fx(ours, get_default_qconfig_mapping(), example)
        with pyqref.no_grad():
            call(pyqref, prepared, name, arrays)
        row[step], step = "yes", "convert_fx"
        converted = convert_fx(prepared)
        with pyqref.no_grad():
            call(pyqref, converted, name, arrays)
        row[step] = "yes"
    except UnsupportedError as problem:
        row[step] = "; ".join(f"{p.path}: {p.reason}" for p in problem.problems)[:400]
    except Exception as problem:
        where = traceback.extract_tb(problem.__traceback__)[-1]
        row[step] = (
            f"{type(problem).__name__}: {str(problem)[:300]} ({where.filename}:{where.lineno})"
        )
        if "-v" in sys.argv:
            traceback.print_exc()
    if step == "prepare_fx":
        row["torch traces it"] = "yes" if traceable(theirs, arrays) else "no"
        row["dynamic"] = dynamic(name, theirs, ours, arrays)
    return row


def dynamic(name: str, theirs: Any, ours: Any, arrays: Any) -> str:
    """How far ``quantize_dynamic`` of both is apart; at most a step of an int8 activation."""
    try:
        outputs = []
        for namespace, model in ((torch, theirs), (pyqref, ours)):
            quantized = namespace.ao.quantization.quantize_dynamic(model)
            with namespace.no_grad():
                outputs.append(leaves(call(namespace, quantized, name, arrays)))
        return "yes" if all(map(lambda e, a: e.shape == a.shape, *outputs)) else "other shapes"
    except Exception as problem:
        return f"{type(problem).__name__}: {str(problem)[:200]}"


def traceable(model: Any, arrays: Any) -> bool:
    """Return True if torch itself prepares a model that is not prepared here."""
    try:
        mapping = torch.ao.quantization.get_default_qconfig_mapping("x86")
        torch_prepare_fx(model, mapping, tuple(torch.from_numpy(each) for each in arrays))
    except Exception:
        return False
    return True


def main() -> None:
    torch.set_num_threads(1)
    wanted = [each for each in sys.argv[1:] if not each.startswith("-")]
    counts = dict.fromkeys(("taken over", "error", "prepare_fx", "convert_fx"), 0)
    for group in (torchvision_models, timm_models, transformers_models):
        for name, make, shape in group():
            if wanted and not any(
                each in (name, group.__name__.partition("_")[0]) for each in wanted
            ):
                continue
            start = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                row = survey(name, make, shape)
            for key in counts:
                counts[key] += row.get(key, "no") == "yes" or row.get(key, "x")[0].isdigit()
            print(f"{name}: {row} {time.perf_counter() - start:.0f} s", flush=True)
    print(counts)


if __name__ == "__main__":
    main()
