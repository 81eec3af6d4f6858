"""The BiLSTM: against a slow implementation of its equations, and as a word labeller from training to prediction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from zerotag.aligners import LONGEST_SPELLING, WordAligner
from zerotag.bilstm import BiLstm, BiLstmConfig, new_bilstm
from zerotag.config import PRESETS, ModelConfig
from zerotag.encoders import aligner_for
from zerotag.errors import ZerotagError
from zerotag.inference import TorchPredictor
from zerotag.labeller import WordLabeller
from zerotag.model import Network, TensorBatch
from zerotag.scorers.native import NativeScorer
from zerotag.soft_attention import HeadOutput, loss
from zerotag.training import Progress, train
from zerotag.types import Corpus, Example, FloatArray, Sentence
from zerotag.vocabulary import PADDING, PADDING_NUMBER, UNKNOWN, UNKNOWN_NUMBER, Vocabulary, read_vectors

CPU = torch.device("cpu")
CUE = "maybe"
FILLERS = ("pump", "valve", "motor", "engine", "signal", "leaks", "runs", "holds", "moves", "near", "under", "over")
KNOWN = [Sentence.from_words(words.split()) for words in ("The pump may leak .", "the Pump ran 42 m")]


def tiny_bilstm(sentences: list[Sentence]) -> tuple[BiLstm, WordAligner]:
    vocabulary = Vocabulary.of(sentences)
    config = BiLstmConfig(
        vocab_size=len(vocabulary.numbers),
        first_singleton=vocabulary.first_singleton,
        alphabet=vocabulary.alphabet,
        word_size=5,
        character_size=4,
        character_lstm_size=3,
        character_hidden_size=2,
        word_lstm_size=4,
        hidden_size=6,
    )
    torch.manual_seed(0)
    aligner = WordAligner(vocabulary.tokenizer().backend_tokenizer, window=64, pad_id=PADDING_NUMBER)
    encoder = BiLstm(config)
    encoder.train(False)
    return encoder, aligner


def encode(encoder: BiLstm, aligner: WordAligner, sentences: list[Sentence]) -> torch.Tensor:
    batch = TensorBatch.of(aligner.batch(aligner.encode(sentences)), CPU)
    assert batch.spellings is not None
    assert batch.characters is not None
    with torch.no_grad():
        output = encoder(batch.input_ids, batch.attention_mask, batch.spellings, batch.characters)
    return output.last_hidden_state  # type: ignore[no-any-return]


# The network ----------------------------------------------------------------------------------------------------------


def sigmoid(x: FloatArray) -> FloatArray:
    y: FloatArray = np.reciprocal(1 + np.exp(-x))
    return y


def slow_lstm(weights: dict[str, FloatArray], suffix: str, inputs: list[FloatArray]) -> list[FloatArray]:
    """The states of an LSTM, one input at a time."""
    size = weights["weight_hh_l0"].shape[1]
    state, memory = np.zeros(size, np.float32), np.zeros(size, np.float32)
    states = []
    for x in inputs:
        gates = (
            weights[f"weight_ih_l0{suffix}"] @ x
            + weights[f"bias_ih_l0{suffix}"]
            + weights[f"weight_hh_l0{suffix}"] @ state
            + weights[f"bias_hh_l0{suffix}"]
        )
        enter, forget, new, leave = np.split(gates, 4)
        memory = sigmoid(forget) * memory + sigmoid(enter) * np.tanh(new)
        state = sigmoid(leave) * np.tanh(memory)
        states.append(state)
    return states


def slow_encoding(encoder: BiLstm, numbers: dict[str, int], words: list[str]) -> FloatArray:
    """The published equations, word by word and character by character."""
    weights = {name: tensor.numpy() for name, tensor in encoder.state_dict().items()}

    def part(name: str) -> dict[str, FloatArray]:
        return {key.removeprefix(f"{name}."): value for key, value in weights.items() if key.startswith(f"{name}.")}

    def dense(name: str, x: FloatArray) -> FloatArray:
        y: FloatArray = np.tanh(weights[f"{name}.weight"] @ x + weights[f"{name}.bias"])
        return y

    inputs = []
    for word in words:
        letters = [weights["characters.weight"][encoder.config.alphabet.find(character) + 1] for character in word]
        ahead = slow_lstm(part("character_lstm"), "", letters)[-1]
        back = slow_lstm(part("character_lstm"), "_reverse", letters[::-1])[-1]
        spelled = dense("character_hidden", np.concatenate([ahead, back]))
        inputs.append(np.concatenate([weights["words.weight"][numbers.get(word.lower(), UNKNOWN_NUMBER)], spelled]))
    ahead_states = slow_lstm(part("word_lstm"), "", inputs)
    back_states = slow_lstm(part("word_lstm"), "_reverse", inputs[::-1])[::-1]
    return np.stack(
        [dense("word_hidden", np.concatenate(pair)) for pair in zip(ahead_states, back_states, strict=True)]
    )


def test_forward_equals_a_slow_implementation_whatever_is_padded_beside_it() -> None:
    encoder, aligner = tiny_bilstm(KNOWN)
    numbers = dict(Vocabulary.of(KNOWN).numbers)
    texts = ["The pump may leak .", "MAY", "an unseen Zebra ran", "pump pump pump pump pump pump pump"]
    encoded = encode(encoder, aligner, [Sentence.from_words(text.split()) for text in texts])
    for row, text in zip(encoded.numpy(), texts, strict=True):
        words = text.split()
        np.testing.assert_allclose(row[: len(words)], slow_encoding(encoder, numbers, words), atol=1e-6)


def test_case_is_seen_by_the_characters_alone() -> None:
    encoder, aligner = tiny_bilstm(KNOWN)
    ids = [sentence.ids.tolist() for sentence in aligner.encode([Sentence.from_words([w]) for w in ("pump", "PUMP")])]
    lower, upper = encode(encoder, aligner, [Sentence.from_words([word]) for word in ("pump", "PUMP")])
    assert ids[0] == ids[1]
    assert not torch.allclose(lower, upper)


def test_published_sizes_and_initial_values() -> None:
    encoder, _ = new_bilstm(KNOWN, None)
    shapes = {name: tuple(parameter.shape) for name, parameter in encoder.named_parameters()}
    assert shapes["words.weight"] == (len(Vocabulary.of(KNOWN).numbers), 300)
    assert shapes["characters.weight"][1] == 100
    assert shapes["character_hidden.weight"] == (50, 200)
    assert shapes["word_lstm.weight_ih_l0"] == (4 * 300, 300 + 50)
    assert shapes["word_hidden.weight"] == (200, 600)
    bound = (6 / (350 + 300 + 1200)) ** 0.5
    for name in ("weight_ih_l0", "weight_hh_l0_reverse"):
        assert 0.98 * bound < encoder.word_lstm.get_parameter(name).abs().max().item() <= bound
    biases = [encoder.word_lstm.get_parameter(name).detach() for name in ("bias_ih_l0", "bias_hh_l0")]
    gates = torch.stack(biases).sum(dim=0).view(4, 300)
    assert gates.mean(dim=1).tolist() == [0, 1, 0, 0]  # enter, forget, new, leave


def test_training_drops_the_same_states_all_along_a_sentence() -> None:
    encoder, aligner = tiny_bilstm(KNOWN)
    encoder.word_hidden = torch.nn.Identity()  # type: ignore[assignment]
    encoder.train()
    torch.manual_seed(1)
    dropped = encode(encoder, aligner, KNOWN * 8) == 0  # (sentences, words, units)
    assert torch.equal(dropped, dropped[:, :1].expand_as(dropped))
    assert 0.3 < dropped.float().mean().item() < 0.7


def test_training_reads_words_seen_once_as_unknown_now_and_then() -> None:
    encoder, aligner = tiny_bilstm(KNOWN)
    encoder.config.dropout = 0.0
    encoder.config.singleton_dropout = 1.0
    batch = TensorBatch.of(aligner.batch(aligner.encode(KNOWN[:1])), CPU)  # the, pump: twice; may, leak, .: once
    assert torch.equal(encoder._forget(batch.input_ids), batch.input_ids)
    encoder.train()
    the, pump, *once = batch.input_ids[0].tolist()
    assert UNKNOWN_NUMBER not in once
    assert encoder._forget(batch.input_ids)[0].tolist() == [the, pump, *[UNKNOWN_NUMBER] * 3]


def test_losses_are_squared_errors_summed_over_sentences() -> None:
    def logit(score: float) -> float:
        return float(np.log(score / (1 - score)))

    sentences = torch.tensor([[logit(0.9)], [logit(0.3)]])
    tokens = torch.tensor([[logit(0.2), logit(0.7), logit(0.99)], [logit(0.1), logit(0.4), logit(0.5)]]).unsqueeze(-1)
    mask = torch.tensor([[True, True, False], [True, True, True]])
    labels = torch.tensor([[1.0], [0.0]])
    value = loss(HeadOutput(sentences, tokens), mask, labels, gamma=0.01, kind="squared")
    lowest, highest = 0.2**2 + 0.1**2, (0.7 - 1) ** 2 + 0.5**2
    assert value.item() == pytest.approx(0.1**2 + 0.3**2 + 0.01 * (lowest + highest))


# Words and characters -------------------------------------------------------------------------------------------------


def test_vocabulary_is_lower_case_with_digits_as_0_frequent_first() -> None:
    vocabulary = Vocabulary.of(KNOWN)
    assert list(vocabulary.numbers) == [PADDING, UNKNOWN, "the", "pump", "may", "leak", ".", "ran", "00", "m"]
    assert vocabulary.first_singleton == vocabulary.numbers["may"]
    assert vocabulary.alphabet == "".join(sorted(set("The pump may leak . the Pump ran 42 m") - {" "}))


def test_half_a_surrogate_pair_is_a_question_mark() -> None:
    assert Vocabulary.of([Sentence.from_words(["a\ud83d"])]) == Vocabulary.of([Sentence.from_words(["a?"])])
    _, aligner = tiny_bilstm([Sentence.from_words(["a?"])])
    (encoded,) = aligner.encode([Sentence.from_words(["a\ud83d"])])
    assert encoded.ids.tolist() == [2]
    assert encoded.spellings == ("a?",)


def test_words_are_the_tokens_even_where_no_space_divides_them() -> None:
    _, aligner = tiny_bilstm(KNOWN)
    glued = Sentence("may.leak", ("may", ".", "leak"), ((0, 3), (3, 4), (4, 8)))
    numbers = Vocabulary.of(KNOWN).numbers
    (encoded,) = aligner.encode([glued])
    assert encoded.ids.tolist() == [numbers["may"], numbers["."], numbers["leak"]]
    assert encoded.pair_words.tolist() == [0, 1, 2]


def test_a_text_cannot_smuggle_in_special_words() -> None:
    _, aligner = tiny_bilstm(KNOWN)
    (encoded,) = aligner.encode([Sentence.from_words([PADDING, UNKNOWN, "may"])])
    assert encoded.ids.tolist() == [UNKNOWN_NUMBER, UNKNOWN_NUMBER, Vocabulary.of(KNOWN).numbers["may"]]


def test_each_distinct_word_is_spelled_once_and_long_ones_in_part() -> None:
    _, aligner = tiny_bilstm(KNOWN)
    sentences = [Sentence.from_words(words) for words in (["b", "Ab", "b"], ["x" * 1_000_000, "b"])]
    batch = aligner.batch(aligner.encode(sentences))
    assert batch.spellings is not None
    assert batch.characters is not None
    assert batch.spellings.tolist() == [[1, 2, 1], [3, 1, 0]]
    assert batch.characters.shape == (4, LONGEST_SPELLING)
    assert batch.characters[:3, :3].tolist() == [[-1, -1, -1], [ord("b"), -1, -1], [ord("A"), ord("b"), -1]]


@pytest.mark.parametrize("words", [[], [""], ["", "may", ""]])
def test_empty_words_and_sentences_have_finite_scores(words: list[str]) -> None:
    (scored,) = untrained().score([Sentence.from_words(words)])
    assert scored.word_scores.shape == (len(words), 1)
    assert np.isfinite(scored.word_scores).all()


# Vectors --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("header", ["", "6 3\n"], ids=["glove", "word2vec"])
def test_vectors_of_known_words_are_read_and_the_rest_start_at_random(tmp_path: Path, header: str) -> None:
    file = tmp_path / "vectors.txt"
    file.write_text(
        header + "Pump 1 2 3\npump 9 9 9\n. . . 7 7 7\nunseen 4 4 4\n37 -1 0.5 1e-2 \nmay 0 0 0\n", encoding="utf-8"
    )
    numbers = Vocabulary.of(KNOWN).numbers
    encoder, _ = new_bilstm(KNOWN, file)
    vectors = encoder.words.weight.detach()
    assert encoder.config.word_size == 3
    assert vectors[numbers["pump"]].tolist() == [1, 2, 3]
    assert vectors[numbers["00"]].tolist() == pytest.approx([-1, 0.5, 0.01])
    assert vectors[numbers["may"]].tolist() == [0, 0, 0]
    assert len(vectors) == len(numbers)
    limit = (6 / (len(numbers) + 3)) ** 0.5
    assert 0 < vectors[numbers["."]].abs().max().item() <= limit


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "{file}:1: a word and its numbers are expected"),
        (b"pump\n", "{file}:1: a word and its numbers are expected"),
        (b"the 1 2 3\npump 1 2\n", "{file}:2: 2 numbers after the word, expected 3"),
        (b"the 1 2 3\npump 1 2 3 4\n", "{file}:2: 4 numbers after the word, expected 3"),
        (b"3 2\npump 1 two\n", "{file}:2: not a number in 1 two"),
        (b"pump 1 nan\n", "{file}:1: not a number in 1 nan"),
        (b"1 3\npump \xff\xfe\x00\x80", "vectors {file} are not UTF-8 text"),
        (b"zebra 1 2\n", "vectors {file} have none of the words of the training sentences"),
    ],
)
def test_bad_vectors_are_refused_in_one_line(tmp_path: Path, content: bytes, complaint: str) -> None:
    file = tmp_path / "vectors.txt"
    file.write_bytes(content)
    with pytest.raises(ZerotagError) as raised:
        read_vectors(file, Vocabulary.of(KNOWN))
    assert str(raised.value).startswith(complaint.format(file=file))
    assert "\n" not in str(raised.value)


def test_missing_vectors_are_refused_in_one_line(tmp_path: Path) -> None:
    for path, reason in [(tmp_path / "none.txt", "No such file"), (tmp_path, "Is a directory")]:
        with pytest.raises(ZerotagError, match=f"vectors .* cannot be read: {reason}"):
            read_vectors(path, Vocabulary.of(KNOWN))


def test_settings_that_do_not_go_together_are_refused() -> None:
    with pytest.raises(ZerotagError, match="'bilstm'"):
        ModelConfig(encoder="bilstm", head="cls")
    with pytest.raises(ZerotagError, match="'bilstm'"):
        ModelConfig(vectors="glove.txt")


# As a word labeller ---------------------------------------------------------------------------------------------------


def toy_words(count: int, seed: int) -> list[list[str]]:
    """Six words at random; in every second sentence one of them is the cue."""
    random = np.random.default_rng(seed)
    sentences = [[FILLERS[i] for i in random.integers(0, len(FILLERS), 6)] for _ in range(count)]
    for words in sentences[1::2]:
        words[random.integers(0, 6)] = CUE
    return sentences


def toy_corpus(count: int, seed: int) -> Corpus[Example]:
    examples = (Example(Sentence.from_words(words), (CUE in words,)) for words in toy_words(count, seed))
    return Corpus(("hedge",), tuple(examples))


def trained(
    epochs: int, checkpoints: Path | None = None, on_progress: Callable[[Progress], None] = lambda _: None
) -> WordLabeller:
    model, training = PRESETS["bilstm"]
    return train(
        toy_corpus(40, seed=0),
        toy_corpus(20, seed=1),
        model=model,
        training=replace(training, epochs=epochs, batch_size=8, patience=epochs),
        checkpoints=checkpoints,
        device=CPU,
        on_progress=on_progress,
    )


@pytest.fixture(scope="module")
def labeller() -> WordLabeller:
    return trained(epochs=15)


def untrained() -> NativeScorer:
    model, _ = PRESETS["bilstm"]
    torch.manual_seed(0)
    encoder, tokenizer = new_bilstm(KNOWN, None)
    model = replace(model, window=16)
    return NativeScorer(TorchPredictor(Network(encoder, 1, model).eval()), aligner_for(model, tokenizer))


def word_scores(labeller: WordLabeller, sentences: list[list[str]]) -> list[NDArray[np.float32]]:
    return [scored.word_scores for scored in labeller.score(map(Sentence.from_words, sentences))]


def test_the_published_settings_find_the_cue_in_new_sentences(labeller: WordLabeller) -> None:
    held_out = toy_words(30, seed=2)[1::2]
    for words, scores in zip(held_out, word_scores(labeller, held_out), strict=True):
        assert words[int(scores[:, 0].argmax())] == CUE  # the only positive word first: average precision 1
    labelled = labeller.label([held_out[0], toy_words(2, seed=3)[0]])
    assert [result.label for result in labelled] == ["hedge", None]


def test_scores_are_the_same_alone_or_in_a_batch_and_long_sentences_are_scored_whole() -> None:
    random = np.random.default_rng(0)
    sentences = [[FILLERS[i] for i in random.integers(0, len(FILLERS), length)] for length in (1, 5, 40, 15, 16, 17)]
    scorer = untrained()  # windows of 16 words
    together = list(scorer.score(map(Sentence.from_words, sentences)))
    for words, scored in zip(sentences, together, strict=True):
        (alone,) = scorer.score([Sentence.from_words(words)])
        assert scored.word_scores.shape == (len(words), 1)
        np.testing.assert_allclose(scored.word_scores, alone.word_scores, atol=1e-6)
        np.testing.assert_allclose(scored.sentence_scores, alone.sentence_scores, atol=1e-6)


def test_saved_and_loaded_it_gives_identical_scores(labeller: WordLabeller, tmp_path: Path) -> None:
    labeller.save_pretrained(tmp_path / "model")
    again = WordLabeller.from_pretrained(tmp_path / "model", device=CPU)
    sentences = [*toy_words(6, seed=4), ["Maybe", "Überraschung", "🙂", "x1"]]
    for before, after in zip(word_scores(labeller, sentences), word_scores(again, sentences), strict=True):
        np.testing.assert_array_equal(before, after)
    assert again.manifest == labeller.manifest
    assert not list(tmp_path.rglob("*.bin"))


def test_unknown_words_are_told_apart_by_their_characters(labeller: WordLabeller) -> None:
    (scored,) = word_scores(labeller, [["leaksx", "zzzz", "漢字", "ß", CUE.upper()]])
    assert np.isfinite(scored).all()
    assert len(np.unique(scored)) == 5


def test_the_vocabulary_is_of_the_training_sentences_alone() -> None:
    model, training = PRESETS["bilstm"]
    dev = Corpus(("hedge",), tuple(Example(Sentence.from_words([word]), (word == "yes",)) for word in ("yes", "no")))
    made = train(
        toy_corpus(10, seed=0), dev, model=model, training=replace(training, epochs=1, batch_size=10), device=CPU
    )
    vocabulary = made.tokenizer.get_vocab()
    assert set(vocabulary) == {PADDING, UNKNOWN, *(word for words in toy_words(10, seed=0) for word in words)}


def test_a_stopped_training_ends_with_the_same_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zerotag.run.REPORT_SECONDS", 0.0)  # after each step

    class StoppedError(Exception):
        pass

    def stop_in_the_second_epoch(progress: Progress) -> None:
        if progress.steps_done == 8:
            raise StoppedError

    with pytest.raises(StoppedError):
        trained(3, tmp_path, stop_in_the_second_epoch)
    steps: list[int] = []
    resumed = trained(3, tmp_path, lambda progress: steps.append(progress.steps_done))
    undisturbed = trained(3)
    assert steps[0] == 9
    for name, tensor in undisturbed.network.state_dict().items():
        assert torch.equal(resumed.network.state_dict()[name], tensor), name


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_on_a_gpu_it_is_trained_the_same_twice_and_scores_as_on_a_cpu(tmp_path: Path) -> None:
    """Warnings are errors here, those of operations that vary from run to run included."""
    model, training = PRESETS["bilstm"]
    first, second = (
        train(toy_corpus(40, seed=0), model=model, training=replace(training, epochs=2, batch_size=8)) for _ in "ab"
    )
    for name, tensor in first.network.state_dict().items():
        assert torch.equal(second.network.state_dict()[name], tensor), name
    first.save_pretrained(tmp_path / "model")
    sentences = toy_words(6, seed=4)
    on_cpu = word_scores(WordLabeller.from_pretrained(tmp_path / "model", device=CPU), sentences)
    for gpu, cpu in zip(word_scores(first, sentences), on_cpu, strict=True):
        np.testing.assert_allclose(gpu, cpu, atol=5e-3)
