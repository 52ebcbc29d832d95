"""Ten thousand random pairs against a second implementation that shares no code and no method with the first.

It normalises letter by letter, pairs tokens off a sorted list, and fills the whole table of edit distances.
"""

import random
import unicodedata

import pytest

from metrics.answers import anls_paper, anls_standard, containment_accuracy, exact_match, normalise, token_f1

PIECES = (
    *("the", "The", "THE", "a", "A", "an", "An", "then", "ana", "theatre", "a-", "-the-", "the.", "“the”", "a’s"),
    *(
        "ferry",
        "Ferry",
        "ferry!",
        "fer-ry",
        "heron",
        "heron heron",
        "Brass",
        "1868",
        "1,868",
        "U.S.",
        "us",
        "no",
        "yes",
    ),
    *("Ørsted", "É", "E\u0301", "ß", "İstanbul", "東京", "Москва", "naïve", "x_y", "١٢", "½", "\u200b", "…", "—"),
    *("", " ", "\t", "\n", "\u00a0", "\u2003", "?!", "...", "_", "\x00", "\x1c"),
)
PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"


def is_word_letter(letter: str) -> bool:
    """Say what `\\w` says, by Unicode's categories: letters, and whatever stands for a number."""
    return letter == "_" or letter.isalpha() or unicodedata.numeric(letter, None) is not None or letter.isdecimal()


def plain_words(text: str) -> list[str]:
    words, run = [], ""
    for letter in [*(c for c in text.lower() if c not in PUNCTUATION), " "]:
        if letter.isspace():
            words.extend(without_articles(run))
            run = ""
        else:
            run += letter
    return words


def without_articles(chunk: str) -> list[str]:
    """Break a chunk where letters meet other characters, blank out the articles, and put the rest together again."""
    parts: list[str] = []
    for letter in chunk:
        if parts and is_word_letter(parts[-1][-1]) == is_word_letter(letter):
            parts[-1] += letter
        else:
            parts.append(letter)
    return "".join(" " if part in ("a", "an", "the") else part for part in parts).split(" ")


def words_of(text: str) -> list[str]:
    return [word for word in plain_words(text) if word]


def paired_off(one: list[str], other: list[str]) -> float:
    """Walk two sorted lists side by side and count the equal heads."""
    left, right, pairs = sorted(one, reverse=True), sorted(other, reverse=True), 0
    while left and right:
        if left[-1] == right[-1]:
            pairs += 1
            left.pop()
            right.pop()
        elif left[-1] < right[-1]:
            left.pop()
        else:
            right.pop()
    if not pairs:
        return 0.0
    precision, recall = pairs / len(one), pairs / len(other)
    return 2 * precision * recall / (precision + recall)


def edits(one: str, other: str) -> int:
    table = [[max(i, j) if not i * j else 0 for j in range(len(other) + 1)] for i in range(len(one) + 1)]
    for i, a in enumerate(one, start=1):
        for j, b in enumerate(other, start=1):
            table[i][j] = min(table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + (a != b))
    return table[-1][-1]


def second_opinion(prediction: str, references: list[str]) -> dict[str, float]:
    best = dict.fromkeys(("em", "f1", "accuracy", "paper", "standard"), 0.0)
    for reference in references:
        one, other = words_of(prediction), words_of(reference)
        a, b = " ".join(one), " ".join(other)
        if a and b:
            distance = edits(a, b) / max(len(a), len(b))
            best["em"] = max(best["em"], 1.0 if one == other else 0.0)
            best["f1"] = max(best["f1"], paired_off(one, other))
            best["accuracy"] = max(best["accuracy"], 1.0 if a.count(b) + b.count(a) else 0.0)
            best["paper"] = max(best["paper"], 0.0 if distance >= 0.5 else 1 - distance)
        a, b = flat(prediction), flat(reference)
        if a and b:
            similarity = 1 - edits(a, b) / max(len(a), len(b))
            best["standard"] = max(best["standard"], 0.0 if similarity < 0.5 else similarity)
    return best


def flat(text: str) -> str:
    out = ""
    for letter in text.lower():
        out += " " if letter.isspace() and out and out[-1] != " " else "" if letter.isspace() else letter
    return out.removesuffix(" ")


def a_text(draw: random.Random) -> str:
    if draw.random() < 0.1:
        return "".join(chr(draw.choice((draw.randrange(32, 127), draw.randrange(0xA0, 0x2FF)))) for _ in range(6))
    return draw.choice((" ", "", "  ")).join(draw.choices(PIECES, k=draw.randrange(6)))


def a_near_miss(draw: random.Random, text: str) -> str:
    """Change a letter or two, so that distances about one half come up often."""
    letters = list(text)
    for _ in range(draw.randrange(1, 2 + len(letters))):
        at = draw.randrange(len(letters) + 1)
        letters[at : at + draw.randrange(2)] = draw.choice(("", "x", "y", " ", "é"))
    return "".join(letters)


def pairs(count: int) -> list[tuple[str, list[str]]]:
    draw, drawn = random.Random(20), []
    for _ in range(count):
        references = [a_text(draw) for _ in range(draw.randrange(1, 4))]
        prediction = a_text(draw) if draw.random() < 0.5 else a_near_miss(draw, draw.choice(references))
        drawn.append((prediction, references))
    return drawn


def test_ten_thousand_random_pairs_score_the_same_by_a_second_implementation():
    partial = dict.fromkeys(("f1", "paper", "standard"), 0)
    for prediction, references in pairs(10_000):
        expected = second_opinion(prediction, references)
        found = {
            "em": exact_match(prediction, references),
            "f1": token_f1(prediction, references),
            "accuracy": containment_accuracy(prediction, references),
            "paper": anls_paper(prediction, references),
            "standard": anls_standard(prediction, references),
        }
        assert found == pytest.approx(expected, abs=1e-9), (prediction, references)
        for name in partial:
            partial[name] += 0 < expected[name] < 1
    assert min(partial.values()) > 1000, "too few of the pairs are neither right nor wrong"


def test_the_pairs_include_what_is_empty_and_what_normalises_to_nothing():
    predictions = [prediction for prediction, _ in pairs(10_000)]
    assert "" in predictions
    assert any(text.strip() and not normalise(text) for text in predictions)
    assert any(not text.isascii() for text in predictions)
