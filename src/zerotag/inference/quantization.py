"""Weights of 8 bits: matrix products with one scale for each token, so that scores depend on no other sentence, and
tables of vectors with one for each row."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, numpy_helper
from onnx.helper import make_node, make_opsetid

Quantised = tuple[NDArray[np.int8], NDArray[np.float32]]
"""Bytes, and their scales."""

_STEPS = 127  # on either side of 0
_ZERO = 128  # what 0 becomes as an unsigned byte


def quantise(model: ModelProto) -> None:
    """Have the matrix products with constant weights computed in 8 bits, and keep tables of vectors in 8 bits.

    Weights have a scale per column. What they are multiplied with has a scale per row, that is, per token: with one
    scale for all, as usual, a score would depend on what else is in its batch, and the strongest token would leave the
    others few of the 256 steps. Most of a small encoder is the table of its sub-words' vectors, a scale for each.
    """
    weights = {tensor.name: tensor for tensor in model.graph.initializer}
    nodes: list[NodeProto] = []
    quantised: set[str] = set()

    def keep(
        name: str, in_8_bits: Callable[[NDArray[np.float32]], tuple[NDArray[np.int8], NDArray[np.float32]]]
    ) -> None:
        if f"{name}.int8" not in weights:
            values, scales = in_8_bits(numpy_helper.to_array(weights[name]))
            weights[f"{name}.int8"] = numpy_helper.from_array(values, f"{name}.int8")
            weights[f"{name}.scale"] = numpy_helper.from_array(scales, f"{name}.scale")

    for node in model.graph.node:
        if node.op_type == "MatMul" and node.input[1] in weights and len(weights[node.input[1]].dims) == 2:
            rows, weight = node.input
            if rows not in quantised:
                quantised.add(rows)
                nodes += _quantised_rows(rows)
            keep(weight, quantised_columns)
            nodes += _product(rows, weight, node.output[0])
        elif _looks_up_vectors(node, weights):
            table, chosen = node.input
            keep(table, quantised_rows)
            nodes += _rows_of(table, chosen, node.output[0])
        else:
            nodes.append(node)
    used = {name for node in nodes for name in node.input}
    constants = {
        "zerotag.tiny": np.float32(1e-30),
        "zerotag.step": np.float32(1 / _STEPS),
        "zerotag.one": np.float32(1),
        "zerotag.zero": np.uint8(_ZERO),
        "zerotag.last": np.array([-1], np.int64),
    }
    kept = [tensor for name, tensor in weights.items() if name in used]
    kept += [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    del model.graph.node[:], model.graph.initializer[:]
    model.graph.node.extend(nodes)
    model.graph.initializer.extend(kept)
    model.opset_import.append(make_opsetid("com.microsoft", 1))


def quantised_columns(weight: NDArray[np.float32]) -> Quantised:
    """A matrix as bytes, and the scale of each of its columns.

    Two neighbours in a column are 128 together at most: processors without instructions for products of bytes add those
    of two neighbours in 16 bits, which hold 255 · 128, but not 255 · 254.
    """
    neighbours = np.add.reduceat(np.abs(weight), np.arange(0, len(weight), 2))
    scales = np.maximum(neighbours.max(axis=0), 1e-30) / np.float32(_STEPS)
    return np.rint(weight / scales).astype(np.int8), scales.astype(np.float32)


def quantised_rows(table: NDArray[np.float32]) -> Quantised:
    """A table as bytes, and the scale of each of its rows, (rows, 1)."""
    scales = np.maximum(np.abs(table).max(axis=1, keepdims=True), 1e-30) / np.float32(_STEPS)
    return np.rint(table / scales).astype(np.int8), scales.astype(np.float32)


def _looks_up_vectors(node: NodeProto, weights: Mapping[str, TensorProto]) -> bool:
    """Whether it takes rows of a constant table of floats."""
    table = weights.get(node.input[0]) if node.op_type == "Gather" else None
    of_rows = all(attribute.name != "axis" or attribute.i == 0 for attribute in node.attribute)
    return table is not None and of_rows and len(table.dims) == 2 and table.data_type == TensorProto.FLOAT


def _quantised_rows(rows: str) -> list[NodeProto]:
    """Nodes that make bytes of float rows, and a scale for each; it may have any number of dimensions."""
    return [
        make_node("ReduceMax", [rows, "zerotag.last"], [f"{rows}.highest"]),
        make_node("ReduceMin", [rows, "zerotag.last"], [f"{rows}.lowest"]),
        make_node("Neg", [f"{rows}.lowest"], [f"{rows}.depth"]),
        make_node("Max", [f"{rows}.highest", f"{rows}.depth", "zerotag.tiny"], [f"{rows}.range"]),
        make_node("Mul", [f"{rows}.range", "zerotag.step"], [f"{rows}.scale"]),
        # The operator takes one scale per row of a matrix, and as many zeros.
        make_node("Flatten", [rows], [f"{rows}.matrix"], axis=-1),
        make_node("Reshape", [f"{rows}.scale", "zerotag.last"], [f"{rows}.scales"]),
        make_node("Shape", [f"{rows}.scales"], [f"{rows}.count"]),
        make_node("Expand", ["zerotag.zero", f"{rows}.count"], [f"{rows}.zeros"]),
        make_node("QuantizeLinear", [f"{rows}.matrix", f"{rows}.scales", f"{rows}.zeros"], [f"{rows}.bytes"], axis=0),
        make_node("Shape", [rows], [f"{rows}.shape"]),
        make_node("Reshape", [f"{rows}.bytes", f"{rows}.shape"], [f"{rows}.int8"]),
    ]


def _rows_of(table: str, chosen: str, output: str) -> list[NodeProto]:
    """Nodes that look up rows of a table of bytes."""
    return [
        make_node("Gather", [f"{table}.int8", chosen], [f"{output}.bytes"]),
        make_node("Gather", [f"{table}.scale", chosen], [f"{output}.scale"]),
        make_node("Cast", [f"{output}.bytes"], [f"{output}.unscaled"], to=TensorProto.FLOAT),
        make_node("Mul", [f"{output}.unscaled", f"{output}.scale"], [output]),
    ]


def _product(rows: str, weight: str, output: str) -> list[NodeProto]:
    return [
        make_node(
            "MatMulIntegerToFloat",
            [f"{rows}.int8", f"{weight}.int8", "zerotag.one", f"{weight}.scale", "zerotag.zero"],
            [f"{output}.unscaled"],
            domain="com.microsoft",
        ),
        make_node("Mul", [f"{output}.unscaled", f"{rows}.scale"], [output]),
    ]
