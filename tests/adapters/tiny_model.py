"""A model small enough to be made for a test: each token has a vector of its own, and says nothing else."""

from __future__ import annotations

import hashlib
import random
from pathlib import Path

import onnx
from onnx import TensorProto, helper

from souvenance.adapters.embed.local import wordpieces

DIMENSIONS = 16
MARKS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]


def lay_out(folder: Path, words: list[str], *, wants: str = "attention_mask", seed: int = 7) -> str:
    """Write `model.onnx` and `tokenizer.json`; the model's SHA-256."""
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = [*MARKS, *words]
    wordpieces("".join(f"{piece}\n" for piece in vocabulary)).save(str(folder / "tokenizer.json"))
    model = _model(len(vocabulary), wants, seed).SerializeToString()
    (folder / "model.onnx").write_bytes(model)
    return hashlib.sha256(model).hexdigest()


def _model(size: int, wants: str, seed: int) -> onnx.ModelProto:
    chosen = random.Random(seed)
    values = [chosen.gauss(0, 1) for _ in range(size * DIMENSIONS)]
    shape = [1, "tokens"]
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name in ("input_ids", wants)]
    states = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, [1, "tokens", "width"])
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])],
        "tiny",
        inputs,
        [states],
        [helper.make_tensor("table", TensorProto.FLOAT, [size, DIMENSIONS], values)],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
