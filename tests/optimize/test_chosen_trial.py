"""Which trial is chosen: the one with the most quality less the price of its tokens."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from optimize.parameters.trial import PRICE, RULE, SlicedQuestions, choose
from tests.optimize.parameter_world import make_examples, make_trial

N = 12
questions = SlicedQuestions.sliced(make_examples(N), 3)

values = st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=N, max_size=N)
costs = st.integers(0, 4).map(lambda cost: [float(cost)] * N)
trials = st.lists(st.tuples(values, costs), min_size=1, max_size=8).map(
    lambda rows: [make_trial(number, quality, cost) for number, (quality, cost) in enumerate(rows)]
)


def mean(values):
    return questions.mean(values)


def beats(a, b):
    as_good = mean(a.quality) >= mean(b.quality) and mean(a.cost) <= mean(b.cost)
    return as_good and (mean(a.quality) > mean(b.quality) or mean(a.cost) < mean(b.cost))


def test_a_point_of_quality_is_given_up_for_the_tokens_that_it_is_priced_at_and_for_no_fewer():
    best = make_trial(0, [0.600] * N, [2000.0] * N)
    cheaper = make_trial(1, [0.590] * N, [2000.0 - PRICE - 1] * N)
    too_dear = make_trial(2, [0.590] * N, [2000.0 - PRICE + 1] * N)
    assert choose([best, cheaper], questions) is cheaper
    assert choose([best, too_dear], questions) is best


def test_quality_is_not_given_up_because_few_questions_can_not_tell_it():
    best = make_trial(0, [1.0] * 11 + [0.0], [9.0] * N)
    cheaper = make_trial(1, [1.0] * 9 + [0.0, 0.0, 1.0], [1.0] * N)
    assert choose([best, cheaper], questions) is best


def test_the_earlier_of_equals_is_chosen():
    same = [make_trial(number, [0.5] * N, [2.0] * N) for number in range(3)]
    assert choose(same, questions) is same[0]
    assert choose(same[::-1], questions) is same[0]


def test_at_the_same_cost_the_better_one_is_chosen():
    close = make_trial(0, [0.599] * N, [3.0] * N)
    best = make_trial(1, [0.600] * N, [3.0] * N)
    assert choose([close, best], questions) is best


def test_a_trial_that_was_not_asked_everything_is_never_chosen():
    preset = make_trial(0, [0.0] * N, [9.0] * N)
    pruned = make_trial(1, [1.0] * 4, [1.0] * 4, state="pruned")
    failed = make_trial(2, [], [], state="failed")
    assert choose([preset, pruned, failed], questions) is preset


@given(trials)
def test_no_trial_beats_the_chosen_one_in_both(given_trials):
    chosen = choose(given_trials, questions)
    assert not any(beats(other, chosen) for other in given_trials)


@given(trials)
def test_the_order_of_trials_does_not_matter(given_trials):
    assert choose(given_trials, questions) is choose(given_trials[::-1], questions)


def test_the_rule_is_written_in_words():
    assert "100 tokens cost one point" in RULE
