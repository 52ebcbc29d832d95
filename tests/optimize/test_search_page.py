"""The page of a search: what it tells, that it needs nothing else, and that texts stay texts."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimize.importance import Importance, importance
from optimize.page_parts import element, page, table
from optimize.search_page import BEST, search_page
from optimize.search_record import read_search
from tests.optimize.searches import line, trials, write

SVG = '<?xml version="1.0"?><!DOCTYPE svg><svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0"/></svg>'
OURS = {"html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "strong", "figure", "svg", "path"}
OURS |= {"div", "table", "tr", "th", "td", "code", "span"}
EVIL = '</code><script>alert(1)</script><img src="https://example.org/x" onerror="x()">'


class Read(HTMLParser):
    """Tags, attributes and texts, as a browser finds them."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.texts = [], {}, []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes |= dict(attrs)

    def handle_data(self, data):
        self.texts.append(data)

    @property
    def text(self):
        return "".join(self.texts)


def made(folder, rows, **about):
    search = read_search(write(folder, rows, **about))
    return search_page(search, importance(search), "what it was", SVG)


def test_the_page_tells_what_was_chosen_by_which_rule_and_what_it_changes(tmp_path):
    text = Read(made(tmp_path, trials(40))).text
    for part in (
        "Chosen: trial ",
        "Rule: Of the good ones",
        "Title mentioned",
        "RET",
        "What the choice changes",
        "plan",
    ):
        assert part in text
    assert "fANOVA" in text
    assert "0.05 to 0.99, by its logarithm" in text
    assert "keep < 1" in text


def test_the_table_has_the_best_trials_in_order(tmp_path):
    html = made(tmp_path, [line(number, number / 100) for number in range(50)])
    text = Read(html).text
    assert f"The best {BEST} of 50" in text
    assert html.index('<td class="number">49</td>') < html.index('<td class="number">48</td>')
    assert '<td class="number">20</td>' not in html


def test_the_page_has_no_script_and_loads_nothing(tmp_path):
    read = Read(made(tmp_path, trials(40)))
    assert set(read.tags) <= OURS
    assert not {"src", "href", "onload"} & set(read.attributes)
    assert read.attributes["content"]
    assert "default-src 'none'" in made(tmp_path, trials(3))


def test_texts_of_files_stay_texts(tmp_path):
    rows = [line(0), line(1, 0.9, parameters={EVIL: EVIL}, chosen=True, by_workload={EVIL: {"quality": 1.0}})]
    rows += [line(2, None, state="failed", error=EVIL)]
    html = made(tmp_path, rows, method=EVIL, preset=EVIL, quality=EVIL, cost=EVIL, rule=EVIL, space={EVIL: [EVIL]})
    read = Read(html)
    assert set(read.tags) <= OURS
    assert EVIL in read.text
    assert "onerror" not in read.attributes


@given(st.text(max_size=40))
def test_any_text_comes_out_as_text_with_its_control_characters_shown(text):
    html = page("t", [element("p", "a", element("code", text), text)], SVG, text, [table([text], [[text]], range(1))])
    read = Read(html)
    assert set(read.tags) <= OURS
    assert "\x1b" not in html


@pytest.mark.parametrize("state", ["pruned", "failed"])
def test_a_search_in_which_nothing_can_be_compared_says_so(tmp_path, state):
    text = Read(made(tmp_path, [line(number, None, None, state=state) for number in range(3)])).text
    assert "Nothing is chosen" in text
    assert "none can be compared" in text


def test_one_trial_is_the_preset_as_it_is(tmp_path):
    text = Read(made(tmp_path, [line(0, chosen=True)])).text
    assert "Chosen: the start as it is" in text
    assert "Too few trials to tell" in text
    assert "What the choice changes" not in text


def test_a_rank_correlation_is_said_to_be_one(tmp_path):
    search = read_search(write(tmp_path, trials(20)))
    html = search_page(search, Importance("rank correlation", 18, {"a": 1.0}, {}), "t", SVG)
    assert "Squared rank correlations" in Read(html).text


def test_where_only_some_trials_were_measured_for_importance_the_page_says_so(tmp_path):
    search = read_search(write(tmp_path, trials(40)))
    html = search_page(search, Importance("fANOVA", 10, {"a": 1.0}, {}), "t", SVG)
    assert f"10 of the {len(search.complete)} complete trials, evenly taken" in Read(html).text
