import math

import pytest
import torch
from torch import Tensor, nn

import paper_equations as paper
from zerotag.modeling.heads import Classifier, HeadOutput, SoftAttention, attention_weights, initialise
from zerotag.modeling.losses import extreme_scores, loss

LENGTHS = [5, 1, 8, 3]  # tokens of the sentences below; the rest is padding


def _head(labels: int, beta: float, *, width: int = 6, dropout: float = 0.0) -> SoftAttention:
    torch.manual_seed(1)
    head = SoftAttention(width, labels, attention_size=5, hidden_size=7, beta=beta, dropout=dropout)
    for parameter in head.parameters():  # biases, too, and scores far from 0.5
        nn.init.normal_(parameter, std=1.5)
    return head.eval()


def _tokens(width: int = 6) -> tuple[Tensor, Tensor]:
    torch.manual_seed(2)
    tokens = torch.randn(len(LENGTHS), max(LENGTHS), width)
    return tokens, torch.arange(max(LENGTHS)) < torch.tensor(LENGTHS)[:, None]


def _hand_head(beta: float) -> SoftAttention:
    head = SoftAttention(2, 1, attention_size=1, hidden_size=1, beta=beta, dropout=0.0)
    values = {
        "attention_hidden.weight": [[1.0, -1.0]],
        "attention_hidden.bias": [0.0],
        "attention_score.weight": [[math.log(3) / math.tanh(1)]],
        "attention_score.bias": [0.0],
        "sentence_hidden.weight": [[1.0, -2.0]],
        "sentence_hidden.bias": [0.25],
        "sentence_score.weight": [[3.0]],
        "sentence_score.bias": [-0.5],
    }
    head.load_state_dict({name: torch.tensor(value) for name, value in values.items()})
    return head.eval()


@pytest.mark.parametrize(
    ("beta", "weights"),
    [
        (1.0, (3 / 6, 1 / 6, 2 / 6)),
        (2.0, (9 / 14, 1 / 14, 4 / 14)),
        (4.0, (81 / 98, 1 / 98, 16 / 98)),
    ],
)
def test_three_tokens_by_hand(beta: float, weights: tuple[float, float, float]) -> None:
    tokens = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]])
    mask = torch.ones(1, 3, dtype=torch.bool)
    output = _hand_head(beta)(tokens, mask)
    assert output.token_logits.sigmoid().flatten().tolist() == pytest.approx([3 / 4, 1 / 4, 2 / 4])
    assert attention_weights(output.token_logits, mask, beta).flatten().tolist() == pytest.approx(weights)
    context = (weights[0] + weights[2], weights[1] + weights[2])
    logit = 3 * math.tanh(context[0] - 2 * context[1] + 0.25) - 0.5
    assert output.sentence_logits.item() == pytest.approx(logit, abs=1e-6)


@pytest.mark.parametrize("beta", [1.0, 2.0, 4.0])
@pytest.mark.parametrize("labels", [1, 3])
def test_the_head_and_its_losses_are_the_papers(labels: int, beta: float) -> None:
    head = _head(labels, beta)
    tokens, mask = _tokens()
    gold = torch.tensor([[1.0, 0.0, 1.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0]])[:, :labels]
    output: HeadOutput = head(tokens, mask)
    assert output.token_logits is not None
    expected_losses = []
    for k in range(labels):
        p = paper.Parameters.of(head, k)
        rows = [tokens[s, :length].tolist() for s, length in enumerate(LENGTHS)]
        scores = [paper.token_scores(p, row) for row in rows]
        predicted = [paper.sentence_score(p, row) for row in rows]
        expected_losses.append(paper.loss(predicted, scores, gold[:, k].tolist(), gamma=0.3))
        assert output.sentence_logits[:, k].sigmoid().tolist() == pytest.approx(predicted, abs=1e-5)
        attention = attention_weights(output.token_logits, mask, beta)
        for s, length in enumerate(LENGTHS):
            assert output.token_logits[s, :length, k].sigmoid().tolist() == pytest.approx(scores[s], abs=1e-5)
            assert attention[s, :length, k].tolist() == pytest.approx(paper.weights(scores[s], beta), abs=1e-5)
            assert attention[s, length:, k].tolist() == [0.0] * (max(LENGTHS) - length)
    expected = sum(expected_losses) / labels
    assert loss(output, mask, gold, 0.3).item() == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        (1.0, math.log(2) + 0.1 * (0.25 + 0.0625)),  # lowest 0.5, highest 0.75
        (0.0, math.log(2) + 0.1 * (0.25 + 0.5625)),
    ],
)
def test_losses_by_hand(label: float, expected: float) -> None:
    output = HeadOutput(torch.zeros(1, 1), torch.tensor([[[0.0], [math.log(3)], [99.0], [-99.0]]]))
    mask = torch.tensor([[True, True, False, False]])
    assert loss(output, mask, torch.tensor([[label]]), 0.1).item() == pytest.approx(expected, abs=1e-6)


def test_the_squared_loss_is_a_sum_over_sentences() -> None:
    output = HeadOutput(torch.tensor([[0.0], [math.log(3)]]), torch.tensor([[[0.0], [math.log(3)]]] * 2))
    value = loss(output, torch.ones(2, 2, dtype=torch.bool), torch.tensor([[1.0], [0.0]]), 0.5, "squared")
    first, second = 0.25 + 0.5 * (0.25 + 0.0625), 0.5625 + 0.5 * (0.25 + 0.5625)
    assert value.item() == pytest.approx(first + second, abs=1e-6)


def test_a_head_without_token_scores_has_the_first_loss_alone() -> None:
    output = HeadOutput(torch.zeros(2, 1), None)
    mask = torch.ones(2, 3, dtype=torch.bool)
    assert loss(output, mask, torch.ones(2, 1), 100.0).item() == pytest.approx(math.log(2))


@pytest.mark.parametrize("beta", [1.0, 2.0, 64.0])
def test_what_is_outside_the_mask_does_not_exist(beta: float) -> None:
    head = _head(3, beta)
    tokens, mask = _tokens()
    gold = torch.ones(len(LENGTHS), 3)
    elsewhere = tokens.masked_fill(~mask.unsqueeze(-1), 1e4)
    results = []
    for variant in (tokens, elsewhere, torch.cat([tokens, tokens], dim=1)):
        variant = variant.clone().requires_grad_()
        wider = torch.zeros(variant.shape[:2], dtype=torch.bool)
        wider[:, : mask.shape[1]] = mask
        output = head(variant, wider)
        value = loss(output, wider, gold, 0.1)
        value.backward()
        assert variant.grad is not None
        assert not variant.grad[~wider].any()
        assert variant.grad[wider].any()
        results.append((output.sentence_logits, value))
    for logits, value in results[1:]:
        torch.testing.assert_close(logits, results[0][0], rtol=0, atol=1e-6)
        assert value.item() == pytest.approx(results[0][1].item(), abs=1e-6)


def test_labels_do_not_mix() -> None:
    """Changing one label's own weights changes that label alone."""
    head = _head(3, 2.0)
    tokens, mask = _tokens()
    before = head(tokens, mask)
    with torch.no_grad():
        head.attention_score.weight[1] += 1
        head.sentence_score.weight[1] += 1
    after = head(tokens, mask)
    for old, new in zip(before, after, strict=True):
        torch.testing.assert_close(new[..., [0, 2]], old[..., [0, 2]], rtol=0, atol=0)
        assert not torch.isclose(new[..., 1], old[..., 1]).all()


@pytest.mark.parametrize("extreme", [1e3, 1e6, 1e30])
@pytest.mark.parametrize("beta", [1.0, 64.0])
@pytest.mark.parametrize("kind", ["cross-entropy", "squared"])
def test_gradients_stay_finite_at_extreme_logits(extreme: float, beta: float, kind: str) -> None:
    token_logits = torch.tensor([[[extreme], [-extreme], [0.0]], [[-extreme], [-extreme], [7.0]]]).requires_grad_()
    mask = torch.tensor([[True, True, True], [True, True, False]])
    weights = attention_weights(token_logits, mask, beta)
    torch.testing.assert_close(weights.sum(dim=1), torch.ones(2, 1))
    assert weights[1].flatten().tolist() == pytest.approx([0.5, 0.5, 0.0])
    sentence_logits = (weights * extreme).sum(dim=1)
    value = loss(
        HeadOutput(sentence_logits, token_logits),
        mask,
        torch.tensor([[0.0], [1.0]]),
        0.1,
        "squared" if kind == "squared" else "cross-entropy",
    )
    value.backward()
    assert value.isfinite()
    assert token_logits.grad is not None
    assert token_logits.grad.isfinite().all()


def test_small_scores_keep_their_proportions() -> None:
    """Scores of about e⁻⁵⁰ to the power 4 are far below what a float can hold."""
    logits = torch.tensor([[[-50.0], [-50.0 + math.log(2)]]])
    weights = attention_weights(logits, torch.ones(1, 2, dtype=torch.bool), 4.0)
    assert weights.flatten().tolist() == pytest.approx([1 / 17, 16 / 17], rel=1e-5)


def test_a_sentence_without_tokens_has_finite_scores() -> None:
    tokens, mask = _tokens()
    mask[1] = False
    assert _head(2, 2.0)(tokens, mask).sentence_logits.isfinite().all()


def test_extremes_are_of_the_sentences_own_tokens() -> None:
    logits = torch.tensor([[[0.0], [math.log(3)], [-9.0], [9.0]]])
    lowest, highest = extreme_scores(logits, torch.tensor([[True, True, False, False]]))
    assert (lowest.item(), highest.item()) == pytest.approx((0.5, 0.75))


@pytest.mark.parametrize(
    "head",
    [
        SoftAttention(768, 3, attention_size=100, hidden_size=300, beta=2.0, dropout=0.1),
        Classifier(768, 3, dropout=0.1),
    ],
    ids=["soft attention", "classifier"],
)
def test_weights_start_as_glorots_and_biases_at_zero(head: nn.Module) -> None:
    layers = [layer for layer in head.modules() if isinstance(layer, nn.Linear)]
    assert len(layers) == (4 if isinstance(head, SoftAttention) else 2)
    for layer in layers:
        bound = math.sqrt(6 / (layer.in_features + layer.out_features))
        assert layer.weight.abs().max().item() <= bound
        assert layer.weight.abs().max().item() > 0.95 * bound
        assert layer.weight.std().item() == pytest.approx(bound / math.sqrt(3), rel=0.1)
        assert not layer.bias.any()


def test_initialising_again_overwrites_everything() -> None:
    head = _head(1, 1.0)
    initialise(head)
    assert not head.attention_hidden.bias.any()


def test_the_sizes_are_those_asked_for() -> None:
    head = SoftAttention(32, 3, attention_size=100, hidden_size=300, beta=2.0, dropout=0.1)
    assert {name: tuple(parameter.shape) for name, parameter in head.named_parameters()} == {
        "attention_hidden.weight": (100, 32),
        "attention_hidden.bias": (100,),
        "attention_score.weight": (3, 100),
        "attention_score.bias": (3,),
        "sentence_hidden.weight": (300, 32),
        "sentence_hidden.bias": (300,),
        "sentence_score.weight": (3, 300),
        "sentence_score.bias": (3,),
    }


def test_dropout_works_in_training_alone() -> None:
    head = _head(1, 2.0, dropout=0.5)
    tokens, mask = _tokens()
    torch.testing.assert_close(head(tokens, mask), head(tokens, mask), rtol=0, atol=0)
    head.train()
    assert not torch.equal(head(tokens, mask).sentence_logits, head(tokens, mask).sentence_logits)


def test_the_classifier_by_hand() -> None:
    head = Classifier(2, 1, dropout=0.1).eval()
    head.load_state_dict(
        {
            "dense.weight": torch.tensor([[1.0, 0.0], [0.0, 2.0]]),
            "dense.bias": torch.tensor([0.0, 1.0]),
            "output.weight": torch.tensor([[2.0, -1.0]]),
            "output.bias": torch.tensor([0.5]),
        }
    )
    output = head(torch.tensor([[1.0, -1.0]]))
    assert output.sentence_logits.item() == pytest.approx(2 * math.tanh(1) - math.tanh(-1) + 0.5, abs=1e-6)
    assert output.token_logits is None
