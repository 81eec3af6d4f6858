"""Exported models against the networks they were exported from."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from onnxruntime import InferenceSession

import tiny
import zerotag
from zerotag.config import ModelConfig
from zerotag.errors import ZerotagError
from zerotag.explain import create
from zerotag.inference import onnx_export, onnx_predictor
from zerotag.inference.onnx_export import export
from zerotag.inference.onnx_predictor import OnnxPredictor, Output
from zerotag.inference.predictor import predict
from zerotag.inference.quantization import quantise, quantised_columns
from zerotag.io.integrity import ENCODER, HEAD
from zerotag.io.model_folder import FORMAT
from zerotag.labeller import Labeller, WordLabeller, load
from zerotag.text.batches import Batch
from zerotag.types import Rule, Scored, Sentence

LABELS = ("a", "b", "c")
RULES = (Rule(0.4), Rule(0.5, 0.4), Rule(0.55, 0.6, "sentence labels"))
DEPTH = 1


def _labeller(family: str = "bert", *, head: str = "soft-attention") -> WordLabeller:
    config = ModelConfig(encoder="tiny", depth=DEPTH, window=tiny.POSITIONS // 2, head=head)
    made = tiny.labeller(family, labels=LABELS, config=config)
    with torch.no_grad():  # away from 0.5, where every score would look alike
        for parameter in made.network.head.parameters():
            parameter.mul_(3)
    return made.with_rules(RULES)


def _sentences(*lengths: int) -> list[Sentence]:
    words = [word for sentence, _ in tiny.sentences(60) for word in sentence] * 20
    return [Sentence.from_words(words[i : i + length]) for i, length in enumerate(lengths)]


SENTENCES = _sentences(5, 70, 1, 12, 33, 140, 12, 20, 2, 28, 29, 30, 31)


def _check_alike(some: Sequence[Scored], others: Sequence[Scored], atol: float) -> None:
    assert [one.sentence for one in some] == [one.sentence for one in others]
    for one, other in zip(some, others, strict=True):
        np.testing.assert_allclose(one.sentence_scores, other.sentence_scores, rtol=0, atol=atol)
        np.testing.assert_allclose(one.word_scores, other.word_scores, rtol=0, atol=atol)


@pytest.fixture(scope="module")
def original() -> WordLabeller:
    return _labeller()


@pytest.fixture(scope="module")
def folder(original: WordLabeller, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny BERT that was exported as it is."""
    place = tmp_path_factory.mktemp("exported") / "fp32"
    export(original, place)
    return place


@pytest.fixture(scope="module")
def int8_folder(original: WordLabeller, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny BERT that was exported with weights of 8 bits."""
    place = tmp_path_factory.mktemp("exported") / "int8"
    export(original, place, int8=True)
    return place


@pytest.mark.parametrize("family", [family for family in tiny.FAMILIES if family != "bert"])
def test_every_family_scores_as_in_torch(family: str, tmp_path: Path) -> None:
    made = _labeller(family)
    before = {name: value.clone() for name, value in made.network.state_dict().items()}
    export(made, tmp_path / "model")
    expected = list(made.score(SENTENCES))
    _check_alike(list(load(tmp_path / "model").score(SENTENCES)), expected, 1e-4)
    assert np.concatenate([one.word_scores for one in expected]).std(axis=0).min() > 0.01, "else it could not fail"
    for name, value in made.network.state_dict().items():
        assert torch.equal(value, before[name])


def test_words_offsets_and_decisions_are_those_of_torch(folder: Path, original: WordLabeller) -> None:
    exported = load(folder)
    assert type(exported) is Labeller
    assert (exported.label_names, exported.rules) == (LABELS, RULES)
    texts = ["The pump  may leak — perhaps.", "", "x" * 300, "🙂 \ud800 [SEP]", " ".join(["valve"] * 100)]
    for one, other in zip(exported.label(texts), original.label(texts), strict=True):
        assert (one.text, one.labels) == (other.text, other.labels)
        assert [(w.text, w.start, w.end, w.labels) for w in one.words] == [
            (w.text, w.start, w.end, w.labels) for w in other.words
        ]
        assert [(s.start, s.end, s.label) for s in one.spans] == [(s.start, s.end, s.label) for s in other.spans]
        np.testing.assert_allclose([w.score for w in one.words], [w.score for w in other.words], rtol=0, atol=1e-4)


@pytest.mark.parametrize("precision", ["fp32", "int8"])
def test_scores_do_not_depend_on_the_company(
    precision: str, folder: Path, int8_folder: Path, original: WordLabeller
) -> None:
    exported = load(folder if precision == "fp32" else int8_folder)
    alone = [next(exported.score([sentence])) for sentence in SENTENCES]
    _check_alike(list(exported.score(SENTENCES)), alone, 1e-5)
    tolerance = 1e-4 if precision == "fp32" else 0.05
    _check_alike(list(original.score(SENTENCES)), alone, tolerance)


def test_the_manifest_says_what_was_done(folder: Path, int8_folder: Path, original: WordLabeller) -> None:
    as_it_is, smaller = (load(place).manifest for place in (folder, int8_folder))
    assert as_it_is.export is not None
    assert smaller.export is not None
    assert (as_it_is.export.precision, smaller.export.precision) == ("fp32", "int8")
    assert as_it_is.export.difference <= 1e-4 < smaller.export.difference < 0.1
    assert (as_it_is.model, as_it_is.rules) == (original.manifest.model, RULES)
    assert json.loads((folder / "zerotag.json").read_text())["format"] == FORMAT, "which older readers refuse"
    assert "ONNX Runtime, precision int8" in (int8_folder / "README.md").read_text()


def test_nothing_of_this_machine_is_in_the_graphs(folder: Path, int8_folder: Path) -> None:
    for file in (folder / ENCODER, folder / HEAD, int8_folder / ENCODER):
        content = file.read_bytes()
        assert b".py" not in content
        assert b"site-packages" not in content


def test_a_plain_classifier(tmp_path: Path) -> None:
    made = _labeller(head="cls")
    export(made, tmp_path / "model")
    exported = load(tmp_path / "model")
    encoded = made.aligner.encode(SENTENCES)
    found = predict(exported.predictor, exported.aligner, encoded)
    assert {one.token_scores for one in found} == {None}
    expected = [one.sentence_scores for one in predict(made.predictor, made.aligner, encoded)]
    np.testing.assert_allclose([one.sentence_scores for one in found], expected, rtol=0, atol=1e-4)
    with pytest.raises(ZerotagError, match="does not score words"):
        next(exported.score(SENTENCES))


def test_torch_is_never_imported(folder: Path, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("the pump may leak .\nperhaps not .\n")
    gold = tmp_path / "gold.jsonl"
    gold.write_text("".join(f'{{"text": "the pump may leak", "labels": ["{name}"]}}\n' for name in LABELS))
    program = f"""
import sys
import zerotag
from zerotag.cli import main
assert len(zerotag.load({str(folder)!r}, device="cpu").label(["the pump may leak"])[0].words) == 4
sys.argv = ["zerotag", "label", {str(folder)!r}, {str(text)!r}, "--device", "cpu"]
main()
sys.argv = ["zerotag", "evaluate", {str(folder)!r}, {str(gold)!r}, "--label-column", "labels"]
main()
assert not {{"torch", "transformers", "onnx", "onnxscript"}} & set(sys.modules), sorted(sys.modules)
"""
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    assert [json.loads(line)["text"] for line in answer.stdout.splitlines()[:2]] == [
        "the pump may leak .",
        "perhaps not .",
    ]


def test_methods_that_need_the_network(folder: Path) -> None:
    exported = load(folder)
    assert [one.word_scores.shape for one in create("random", exported).score(SENTENCES[:1])] == [(5, 3)]
    assert create("native", exported).name == "native"
    for method in ("lime", "gradient-x-input", "heads:1.1"):
        with pytest.raises(ZerotagError, match=rf"^method '{method}' needs the network in torch, .* exported from$"):
            create(method, exported)
    with pytest.raises(ZerotagError, match=r"^unknown method 'native:1'"):
        create("native:1", exported)


def test_an_exported_model_is_not_for_torch(folder: Path) -> None:
    with pytest.raises(ZerotagError, match=r"was exported for ONNX Runtime and cannot run in torch"):
        WordLabeller.from_pretrained(folder)
    with pytest.raises(ZerotagError, match=r"on the processor, not on cuda:1$"):
        zerotag.load(folder, device=torch.device("cuda:1"))
    with pytest.raises(ZerotagError, match=r"on the processor, not on cuda$"):
        zerotag.load(folder, device="cuda")
    for device in (torch.device("cpu"), "cpu"):
        assert zerotag.load(folder, device=device).label_names == LABELS


def test_a_graph_that_cannot_be_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx_predictor, "ENCODER", "zerotag.json")
    with pytest.raises(ZerotagError, match=r"cannot be loaded \(.*pip install -U onnxruntime$"):
        load(folder)


def test_without_onnx_runtime(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ZerotagError, match=r"needs onnxruntime: pip install 'zerotag\[onnx\]'$"):
        load(folder)


def test_exporting_without_its_packages(
    original: WordLabeller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnxscript", None)
    with pytest.raises(ZerotagError, match=r"^exporting needs onnxscript: pip install 'zerotag\[onnx-export\]'$"):
        export(original, tmp_path / "model")


def test_a_wrong_export_is_not_written(original: WordLabeller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Wrong(OnnxPredictor):
        """Runs what was exported, but not as it should."""

        def each(self, batches: Iterable[Batch]) -> Iterator[Output]:
            for sentence_scores, token_scores in super().each(batches):
                yield sentence_scores + np.float32(0.1), token_scores

    monkeypatch.setattr(onnx_export, "OnnxPredictor", Wrong)
    with pytest.raises(ZerotagError, match=r"^encoders of type 'bert' cannot be exported .*scores differ by 0\."):
        export(original, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_weights_of_8_bits_that_lose_too_much_are_not_written(
    original: WordLabeller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def quantise_badly(model: onnx.ModelProto) -> None:
        quantise(model)
        for tensor in model.graph.initializer:
            if tensor.name.endswith("LayerNorm.bias"):
                bias = numpy_helper.to_array(tensor)
                noise = np.random.default_rng(0).normal(0, 3, bias.shape).astype(bias.dtype)
                tensor.CopyFrom(numpy_helper.from_array(bias + noise, tensor.name))

    monkeypatch.setattr("zerotag.inference.quantization.quantise", quantise_badly)
    with pytest.raises(ZerotagError) as caught:
        export(original, tmp_path / "model", int8=True)
    assert re.fullmatch(
        r"with weights of 8 bits scores differ by 0\.\d+ on average, allowed: 0\.05; "
        r"nothing was written: export without --int8",
        str(caught.value),
    )
    assert list(tmp_path.iterdir()) == []


def test_the_bilstm_is_refused(tmp_path: Path, original: WordLabeller) -> None:
    model = replace(original.manifest.model, encoder="bilstm")
    bilstm = WordLabeller(original.network, original.tokenizer, replace(original.manifest, model=model))
    with pytest.raises(ZerotagError, match=r"^encoder 'bilstm' cannot be exported"):
        export(bilstm, tmp_path / "model")


def test_several_threads_change_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scored = {}
    for count in ("1", "3"):
        monkeypatch.setenv("OMP_NUM_THREADS", count)
        exported = load(folder)
        monkeypatch.setattr(type(exported.predictor), "token_budget", 100)
        monkeypatch.setattr(onnx_predictor, "AT_ONCE", 40)  # several parts per batch, several batches
        scored[count] = list(exported.score(SENTENCES))
    for one, other in zip(*scored.values(), strict=True):
        assert one.sentence_scores == other.sentence_scores
        np.testing.assert_array_equal(one.word_scores, other.word_scores)


def test_what_goes_wrong_in_a_thread_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exported = load(folder)

    def fail(*_: object) -> None:
        raise RuntimeError("no room for it")

    monkeypatch.setattr(InferenceSession, "run", fail)
    with pytest.raises(ZerotagError, match=r"^ONNX Runtime cannot run the model \(no room for it\)$"):
        next(exported.score(SENTENCES))


def _quantised_product(rows: NDArray[np.float32], weight: NDArray[np.float32]) -> NDArray[np.float32]:
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        "product",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["windows", "length", weight.shape[0]])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["windows", "length", weight.shape[1]])],
        [numpy_helper.from_array(weight, "w")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=10)
    quantise(model)
    onnx.checker.check_model(model)
    assert "MatMul" not in {node.op_type for node in model.graph.node}
    session = InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    (product,) = session.run(None, {"x": rows})
    return product  # type: ignore[no-any-return]


def test_quantised_products_by_hand() -> None:
    # The scale of a row is its largest number / 127, that of a column its largest sum of two neighbours / 127; these
    # are all whole multiples of them.
    rows = np.array([[[127, -64, 1], [0, 0, 0]], [[0.127, 0.001, -0.002], [-254, 0, 2]]], np.float32)
    weight = np.array([[-27, 127], [100, 0], [-2, -1]], np.float32)
    np.testing.assert_allclose(_quantised_product(rows, weight), rows @ weight, rtol=1e-5, atol=1e-6)


@given(arrays(np.float32, st.tuples(st.integers(1, 9), st.integers(1, 4)), elements=st.floats(-8, 8, width=32)))
def test_products_of_two_neighbours_fit_16_bits(weight: NDArray[np.float32]) -> None:
    values, scales = quantised_columns(weight)
    neighbours = np.add.reduceat(np.abs(values.astype(int)), np.arange(0, len(values), 2))
    assert 255 * neighbours.max() <= np.iinfo(np.int16).max
    assert (np.abs(values * scales - weight) <= scales * 0.501).all()


def test_rows_of_a_table_are_looked_up_in_8_bits() -> None:
    # Each row is a whole multiple of its largest number / 127, whatever the others are; one has nothing but zeros.
    table = np.array([[127, -64, 1], [0, 0, 0], [0.127, 0.001, -0.002], [-254, 0, 2]], np.float32)
    graph = helper.make_graph(
        [
            helper.make_node("Gather", ["table", "ids"], ["y"]),
            helper.make_node("Gather", ["table", "ids"], ["z"], axis=1),
        ],
        "lookup",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, ["windows", "length"])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [None] * 3) for name in "yz"],
        [numpy_helper.from_array(table, "table")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=10)
    quantise(model)
    onnx.checker.check_model(model)
    assert {tensor.name for tensor in model.graph.initializer} >= {
        "table",
        "table.int8",
    }  # columns are left as they are
    session = InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    ids = np.array([[3, 0, 0], [2, 1, 2]])
    rows, columns = session.run(None, {"ids": ids % 3})
    np.testing.assert_allclose(rows, table[ids % 3], rtol=1e-6)
    np.testing.assert_array_equal(columns, table[:, ids % 3])


def test_no_table_of_full_precision_is_left(folder: Path, int8_folder: Path) -> None:
    def floats(place: Path) -> int:
        tensors = onnx.load(place / ENCODER).graph.initializer
        return max(
            int(np.prod(one.dims)) for one in tensors if one.data_type == TensorProto.FLOAT and len(one.dims) > 1
        )

    assert floats(int8_folder) * 4 < floats(folder)


def test_a_loud_row_leaves_the_others_their_steps() -> None:
    random = np.random.default_rng(0)
    rows = random.standard_normal((2, 5, 64), np.float32)
    weight = random.standard_normal((64, 48), np.float32)
    quiet = _quantised_product(rows, weight)
    rows[1, 4] *= 1000
    loud = _quantised_product(rows, weight)
    np.testing.assert_array_equal(loud[0], quiet[0])
    assert np.abs(quiet[0] - rows[0] @ weight).max() < 0.3
