"""The BiLSTM, against a slow implementation of its equations, and the words and characters that it reads."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from zerotag.config import ModelConfig
from zerotag.errors import ZerotagError
from zerotag.modeling.heads import HeadOutput
from zerotag.modeling.losses import loss
from zerotag.modeling.network import TensorBatch
from zerotag.research.bilstm import LONGEST_SPELLING, BiLstm, BiLstmConfig, Spelled, WordAligner, new_bilstm
from zerotag.research.vocabulary import PADDING, PADDING_NUMBER, UNKNOWN, UNKNOWN_NUMBER, Vocabulary
from zerotag.types import FloatArray, Sentence

CPU = torch.device("cpu")
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
    with torch.no_grad():
        output = encoder(batch.input_ids, batch.attention_mask, batch.extra["characters"])
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
    the, pump, *once = batch.input_ids[0].tolist()
    assert UNKNOWN_NUMBER not in once
    unknown = torch.tensor([[the, pump, *[UNKNOWN_NUMBER] * 3]])

    def encoded(numbers: torch.Tensor) -> torch.Tensor:
        output = encoder(numbers, batch.attention_mask, batch.extra["characters"])
        return output.last_hidden_state  # type: ignore[no-any-return]

    known, as_unknown = encoded(batch.input_ids), encoded(unknown)
    assert not torch.allclose(known, as_unknown)
    encoder.train()
    torch.testing.assert_close(encoded(batch.input_ids), as_unknown)


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


def test_half_a_surrogate_pair_is_a_question_mark() -> None:
    assert Vocabulary.of([Sentence.from_words(["a\ud83d"])]) == Vocabulary.of([Sentence.from_words(["a?"])])
    _, aligner = tiny_bilstm([Sentence.from_words(["a?"])])
    (encoded,) = aligner.encode([Sentence.from_words(["a\ud83d"])])
    assert encoded.ids.tolist() == [2]
    assert isinstance(encoded, Spelled)
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


def test_long_words_are_spelled_in_part() -> None:
    _, aligner = tiny_bilstm(KNOWN)
    sentences = [Sentence.from_words(words) for words in (["b", "Ab", "b"], ["x" * 1_000_000, "b"])]
    characters = aligner.batch(aligner.encode(sentences)).extra["characters"]
    assert characters.shape == (2, 3, LONGEST_SPELLING)
    assert characters[0, :, :3].tolist() == [[ord("b"), -1, -1], [ord("A"), ord("b"), -1], [ord("b"), -1, -1]]
    assert (characters[1, 0] == ord("x")).all()
    assert (characters[1, 2] == -1).all()  # padding spells nothing


def test_each_distinct_word_is_spelled_once() -> None:
    encoder, aligner = tiny_bilstm(KNOWN)
    spelled: list[torch.Tensor] = []
    encoder.characters.register_forward_hook(lambda _module, inputs, _output: spelled.append(inputs[0]))
    encode(encoder, aligner, [Sentence.from_words(["m", "Pm", "m"]), Sentence.from_words(["Pm"])])
    assert [words.shape for words in spelled] == [(3, 2)]  # nothing, "m" and "Pm"
    assert len(torch.unique(spelled[0], dim=0)) == 3


def test_settings_that_do_not_go_together_are_refused() -> None:
    with pytest.raises(ZerotagError, match="one that scores words"):
        ModelConfig(encoder="bilstm", tokenization="words", head="cls")
