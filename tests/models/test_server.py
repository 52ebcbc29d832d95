"""Faults of transport against a real socket: what is retried, what is counted, what reaches the user."""

import json
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import dspy
import pytest

from programs.errors import ContextOverflow, InputError, ModelUnavailable, TransportFault
from programs.models.engines.engine import ChatMessage, ChatRequest, GeneratedToken
from programs.models.engines.exchange import MOST_BYTES
from programs.models.engines.server import ServerEngine
from programs.models.engines.transport import MOST_WAIT, retry_after
from programs.models.engines.wire import SPLIT_CHARACTER, read_completion, read_echo
from programs.models.language_model import LanguageModel, RequestRefused
from programs.models.ledger import Ledger, Phase
from programs.models.network import is_loopback
from tests.support.endpoint import (
    FAULTS,
    PATIENCE,
    Endpoint,
    completion,
    headed,
    send,
    served,
    status,
    streams,
    well,
)
from tests.support.hostile import CONTROL_TOKENS, FENCES

REQUEST = ChatRequest((ChatMessage("user", "Hi."),), max_tokens=8)


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with served(Endpoint()) as running:
        yield running


def opened(endpoint: Endpoint, **options: Any) -> ServerEngine:
    return ServerEngine(endpoint.url, "tiny", **{"timeout": 30.0, "retries": 2, "context": 4096, **options})


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_that_passes_is_retried_and_counted(endpoint, name):
    engine = opened(endpoint, timeout=PATIENCE.get(name, 30.0))
    endpoint.answers = [FAULTS[name], well]
    answer = engine.complete(REQUEST)
    assert (answer.text, answer.transport_retries) == ("fine", 1)
    assert len(endpoint.seen) == 2


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_that_stays_ends_as_a_transport_fault_after_the_bounded_retries(endpoint, name):
    engine = opened(endpoint, retries=1, timeout=PATIENCE.get(name, 30.0))
    endpoint.answers = [FAULTS[name]]
    with pytest.raises(TransportFault) as caught:
        engine.complete(REQUEST)
    assert caught.value.retries == 1
    assert len(endpoint.seen) == 2


def test_without_retries_there_is_one_attempt(endpoint):
    engine = opened(endpoint, retries=0)
    endpoint.answers = [status(500)]
    with pytest.raises(TransportFault):
        engine.complete(REQUEST)
    assert len(endpoint.seen) == 1


@pytest.mark.parametrize("code", [200, 500])
def test_a_body_of_200_megabytes_takes_less_than_64_of_memory(endpoint, code):
    engine = opened(endpoint, retries=0)
    endpoint.answers = [streams(200 << 20, code)]
    tracemalloc.start()
    try:
        with pytest.raises(TransportFault, match="8 MB" if code == 200 else "500"):
            engine.complete(REQUEST)
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()


def test_a_body_of_many_small_values_is_not_read_into_memory(endpoint):
    engine = opened(endpoint, retries=0)
    small = b"[" + b"[]," * (MOST_BYTES // 3 - 2) + b"[]]"
    endpoint.answers = [lambda handler, body: send(handler, small)]
    tracemalloc.start()
    try:
        with pytest.raises(TransportFault, match=r"values, where 400,000 are read"):
            engine.complete(REQUEST)
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()


def test_an_answer_as_large_as_a_long_prompts_log_probabilities_is_read(endpoint):
    engine = opened(endpoint)
    text = "word " * 1_000_000
    endpoint.answers = [lambda handler, body: send(handler, completion(text))]
    assert engine.complete(REQUEST).text == text


@pytest.mark.parametrize("code", [429, 503])
def test_the_time_that_a_server_asks_for_is_waited(endpoint, code):
    slept = []
    engine = opened(endpoint, sleep=slept.append)
    endpoint.answers = [headed(code, Retry_After="17"), headed(code, Retry_After="0"), well]
    answer = engine.complete(REQUEST)
    assert (answer.text, answer.transport_retries) == ("fine", 2)
    assert slept == [17.0, 0.0]


def test_a_server_that_asks_for_too_much_time_is_not_waited_for(endpoint):
    slept = []
    engine = opened(endpoint, sleep=slept.append)
    endpoint.answers = [headed(429, Retry_After="3600")]
    with pytest.raises(
        TransportFault, match=r"asks for 3600 s .* 60 s are waited at most \(after 0 retries\)"
    ) as caught:
        engine.complete(REQUEST)
    assert (slept, caught.value.retries, len(endpoint.seen)) == ([], 0, 1)


NOW = datetime(2026, 5, 4, 3, 2, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("30", 30.0),
        (" 0 ", 0.0),
        (format_datetime(NOW + timedelta(seconds=45), usegmt=True), 45.0),
        (format_datetime(NOW - timedelta(days=1), usegmt=True), 0.0),
        ("9" * 5000, float("9" * 12)),
        *(
            (nonsense, None)
            for nonsense in (None, "", "-5", "nan", "soon", "1.5", "Mon, 01 Jan 99999999999999999999 0:0:0")
        ),
    ],
    ids=lambda value: str(value)[:30],
)
def test_how_long_to_wait_is_said_in_seconds_or_as_a_date(header, seconds):
    assert retry_after(header, NOW) == seconds


def test_a_server_without_a_say_is_tried_again_a_little_later_each_time(endpoint):
    slept = []
    engine = opened(endpoint, retries=4, sleep=slept.append)
    endpoint.answers = [status(429)]
    with pytest.raises(TransportFault):
        engine.complete(REQUEST)
    assert len(slept) == 4
    assert slept == sorted(slept)
    assert slept[-1] < MOST_WAIT


def test_a_redirect_is_not_followed_and_says_where_it_leads(endpoint):
    engine = opened(endpoint)
    with served(Endpoint()) as other:
        endpoint.answers = [headed(307, Location=f"{other.url}/v1/chat/completions?key=secret")]
        with pytest.raises(ModelUnavailable, match=f"redirects to {other.url}/v1/chat/completions, which") as caught:
            engine.complete(REQUEST)
        assert other.seen == []
    assert "secret" not in str(caught.value)


def test_a_closed_engine_says_so_and_may_be_closed_again(endpoint):
    engine = opened(endpoint, retries=0)
    engine.close()
    engine.close()
    with pytest.raises(TransportFault, match="closed"):
        engine.complete(REQUEST)


def test_retries_and_faults_are_in_the_ledger(endpoint):
    model = LanguageModel(opened(endpoint, retries=1))
    ledger = Ledger("q")
    endpoint.answers = [status(500), well, status(500)]
    with ledger.scope("planner", Phase.AUX):
        model("Hi.")
        with pytest.raises(dspy.LMTransportError):
            model("Hi.")
    assert [(c.transport_retries, c.error is None) for c in ledger.calls] == [(1, True), (1, False)]
    assert [c.tokens for c in ledger.calls] == [14, 0]


def test_a_malformed_completion_is_no_fault_of_transport(endpoint):
    engine = opened(endpoint)
    endpoint.answers = [lambda handler, body: send(handler, completion("{not json"))]
    answer = engine.complete(ChatRequest(REQUEST.messages, 8, schema={"type": "object"}))
    assert (answer.text, answer.transport_retries) == ("{not json", 0)


@pytest.mark.parametrize("code", [400, 404, 422, 501])
def test_a_refusal_is_not_retried_and_shows_the_servers_message(endpoint, code):
    engine = opened(endpoint)
    endpoint.answers = [status(code, "the schema keyword 'foo' is unknown")]
    with pytest.raises(ModelUnavailable, match="schema keyword 'foo'"):
        engine.complete(REQUEST)
    assert len(endpoint.seen) == 1


def test_what_a_server_says_it_does_not_support_is_a_refusal_whatever_its_status(endpoint):
    engine = opened(endpoint)
    endpoint.answers = [status(500, "Only no echo is supported")]
    with pytest.raises(ModelUnavailable, match="Only no echo"):
        engine.complete(REQUEST)
    assert len(endpoint.seen) == 1


def test_a_refusal_goes_through_dspy_as_an_error_for_the_user_and_is_in_the_ledger(endpoint):
    model = LanguageModel(opened(endpoint))
    endpoint.answers = [status(400, "no such thing")]
    ledger = Ledger("q")
    with ledger.scope("planner", Phase.AUX), pytest.raises(RequestRefused, match="no such thing") as caught:
        model("Hi.")
    assert isinstance(caught.value, ModelUnavailable)
    assert ledger.calls[0].error is not None


def test_a_prompt_that_the_server_finds_too_long_is_a_context_overflow(endpoint):
    engine = opened(endpoint)
    endpoint.answers = [status(400, "This model's maximum context length is 256 tokens. However, your prompt …")]
    with pytest.raises(ContextOverflow, match="256"):
        engine.complete(REQUEST)


def test_where_the_server_counts_tokens_room_is_checked_before_the_call(endpoint):
    endpoint.tokenize = lambda handler, body: send(handler, {"count": 250})
    engine = opened(endpoint)
    assert engine.count_tokens(REQUEST.messages) == 250
    with pytest.raises(ContextOverflow, match="2 more than the context of 256"):
        engine.complete(REQUEST)
    assert endpoint.seen == []


def test_where_the_server_does_not_count_tokens_a_one_token_completion_tells(endpoint):
    engine = opened(endpoint)
    assert engine.count_tokens(REQUEST.messages) == 11
    assert endpoint.seen[0]["max_tokens"] == 1


def test_capabilities_are_what_the_server_was_found_to_do(endpoint):
    able = opened(endpoint).capabilities
    assert (able.schema, able.prompt_logprobs, able.context_length) == (True, False, 256)
    assert opened(endpoint, context=100).capabilities.context_length == 100


def test_a_server_that_ignores_schemas_is_found_out(endpoint):
    endpoint.keeps_to_schemas = False
    assert opened(endpoint).capabilities.schema is False


def likely(*tokens):
    """Write a completion of tokens as a server does, each with itself and one other that was likely."""
    content = [
        {
            "token": text,
            "logprob": -0.1,
            "top_logprobs": [{"token": text, "logprob": -0.1}, {"token": "x", "logprob": other}],
        }
        for text, other in tokens
    ]
    told = completion("".join(text for text, _ in tokens))
    told["choices"][0]["logprobs"] = {"content": content}
    return told


def test_alternatives_are_asked_for_by_the_request_and_read_token_by_token(endpoint):
    engine = opened(endpoint)
    endpoint.answers = [lambda handler, body: send(handler, likely(("fi", -2.5), ("ne", float("-inf"))))]
    made = engine.complete(replace(REQUEST, alternatives=3))
    assert (endpoint.seen[0]["logprobs"], endpoint.seen[0]["top_logprobs"]) == (True, 3)
    assert [(token.text, len(token.alternatives)) for token in made.tokens] == [("fi", 2), ("ne", 1)]
    assert made.tokens[0].alternatives[1] == GeneratedToken("x", -2.5)
    assert [token.logprob for token in made.tokens] == [-0.1, -0.1]
    plain = engine.complete(REQUEST)
    assert plain.tokens == ()
    assert "top_logprobs" not in endpoint.seen[1]


def test_a_token_that_is_half_a_character_is_text_as_its_completion_is():
    made = read_completion(likely(("in \ud800", -2.5)), alternatives=2)
    assert [made.text, made.tokens[0].text, made.tokens[0].alternatives[0].text] == ["in \ufffd"] * 3


def test_a_server_that_tells_no_alternatives_is_found_out(endpoint):
    assert opened(endpoint).capabilities.token_logprobs is False
    assert opened(endpoint).complete(replace(REQUEST, alternatives=3)).tokens == ()


def test_a_server_that_tells_alternatives_is_found_to(endpoint):
    plain = endpoint.chat
    endpoint.chat = lambda handler, body: (
        send(handler, likely(("Hello", -2.0))) if body.get("logprobs") else plain(handler, body)
    )
    assert opened(endpoint).capabilities.token_logprobs is True


def test_a_server_that_breaks_on_parts_of_a_character_is_not_asked_for_alternatives(endpoint):
    plain = endpoint.chat

    def chat(handler, body):
        if SPLIT_CHARACTER in str(body):
            status(500, "invalid UTF-8 byte at index 0")(handler, body)
        elif body.get("logprobs"):
            send(handler, likely(("Hello", -2.0)))
        else:
            plain(handler, body)

    endpoint.chat = chat
    assert opened(endpoint, retries=0).capabilities.token_logprobs is False


def test_no_server_is_an_error_that_names_the_address_and_the_remedy():
    with served(Endpoint()) as gone:
        url = gone.url
    with pytest.raises(ModelUnavailable, match="start the server") as caught:
        ServerEngine(url, "tiny", retries=0, timeout=1.0)
    assert url in str(caught.value)


def test_a_server_that_was_never_there_is_not_waited_for():
    with served(Endpoint()) as gone:
        url = gone.url
    slept = []
    with pytest.raises(ModelUnavailable, match="start the server"):
        ServerEngine(url, "tiny", retries=3, sleep=slept.append)
    assert slept == []


@pytest.mark.parametrize("length", ["long", [1], float("inf")], ids=str)
def test_a_context_that_is_no_number_is_a_fault_of_the_server(endpoint, length):
    endpoint.models = lambda handler, body: send(handler, {"data": [{"id": "tiny", "max_model_len": length}]})
    with pytest.raises(ModelUnavailable, match="can't be read"):
        opened(endpoint, retries=0)


def test_passwords_in_an_address_are_not_shown():
    with served(Endpoint()) as gone:
        url = gone.url.replace("://", "://me:secret@") + "/v1?key=secret"
    with pytest.raises(ModelUnavailable) as caught:
        ServerEngine(url, "tiny", retries=0)
    assert "secret" not in str(caught.value)


def test_a_key_that_no_header_can_carry_is_the_users_to_mend(endpoint):
    with pytest.raises(InputError, match="api_key_env"):
        opened(endpoint, api_key="schlüssel")


def test_a_model_that_is_not_served_is_an_error_that_lists_those_that_are(endpoint):
    with pytest.raises(ModelUnavailable, match="does not serve 'absent'; it serves other, tiny"):
        ServerEngine(endpoint.url, "absent", retries=0)


def test_an_address_that_is_none_is_the_users_to_mend():
    with pytest.raises(InputError, match="not an address"):
        ServerEngine("http://127.0.0.1:notaport", "tiny", retries=0)


@pytest.mark.parametrize("url", ["127.0.0.1:1", "http://", "ftp://127.0.0.1", "http://[::1", "http://127.0.0.1:99999"])
def test_an_address_without_a_scheme_or_host_is_the_users_to_mend(url):
    with pytest.raises(InputError, match="not an address"):
        ServerEngine(url, "tiny", retries=0)


def test_the_address_may_end_in_v1_or_not(endpoint):
    endpoint.url += "/v1/"
    assert opened(endpoint).complete(REQUEST).text == "fine"


def test_the_key_is_sent_and_never_shown(endpoint):
    key = "sk-very-secret"
    endpoint.models = status(401, f"bad key {key}")
    with pytest.raises(ModelUnavailable, match="api_key_env") as caught:
        opened(endpoint, api_key=key)
    assert endpoint.keys == [f"Bearer {key}"]
    assert key not in str(caught.value)


def test_half_a_character_in_a_completion_is_replaced_before_anyone_sees_it(endpoint):
    endpoint.answers = [lambda handler, body: send(handler, completion("in \ud800 Vienna \ude00"))]
    assert opened(endpoint).complete(REQUEST).text == "in \ufffd Vienna \ufffd"


def test_half_a_character_in_a_refusal_can_be_written_down(endpoint):
    endpoint.answers = [status(400, "no \ud800")]
    ledger = Ledger("q")
    with ledger.scope("planner", Phase.AUX), pytest.raises(RequestRefused) as caught:
        LanguageModel(opened(endpoint))("Hi.")
    assert "no \ufffd" in str(caught.value).encode().decode()
    assert ledger.calls[0].error.encode()


def test_a_whole_character_in_two_escapes_stays_one(endpoint):
    raw = json.dumps(completion("\U0001f600")).encode()
    assert b"\\ud83d\\ude00" in raw
    endpoint.answers = [lambda handler, body: send(handler, raw)]
    assert opened(endpoint).complete(REQUEST).text == "\U0001f600"


def test_I13_no_control_token_of_a_text_reaches_a_server_and_what_is_counted_is_what_is_sent(endpoint):
    counted = []

    def count(handler, body):
        counted.append(body.get("messages"))
        send(handler, {"count": 7})

    endpoint.tokenize = count
    text = "".join(CONTROL_TOKENS) + "".join(f"\n{fence} obey" for fence in FENCES)
    endpoint.answers = [lambda handler, body: send(handler, completion(body["messages"][0]["content"]))]
    completed = LanguageModel(opened(endpoint)).metered.run(replace(REQUEST, messages=(ChatMessage("user", text),)))
    (sent,) = endpoint.seen
    assert counted[-1] == sent["messages"]
    assert not [token for token in CONTROL_TOKENS if token in sent["messages"][0]["content"]]
    assert not [fence for fence in FENCES if f"\n{fence}" in sent["messages"][0]["content"]]
    assert completed.text == text  # a quotation is of the document's characters


def test_a_completion_without_content_is_empty_text():
    assert read_completion(completion(None, tokens=1)).text == ""


def echoed(tokens: list[str]) -> dict[str, Any]:
    scores = [None, *(-float(i) for i in range(1, len(tokens)))]
    return {
        "choices": [{"logprobs": {"tokens": tokens, "token_logprobs": scores}}],
        "usage": {"prompt_tokens": len(tokens), "completion_tokens": 0},
    }


def test_likelihood_averages_the_tokens_that_start_in_the_continuation():
    assert read_echo(echoed(["The", " sky", " is", " blue", "."]), " blue.").mean_logprob == -3.5


def test_likelihood_is_not_shifted_by_a_token_before_the_text():
    assert read_echo(echoed(["<s>", "The", " sky", " is", " blue"]), " blue").mean_logprob == -4.0


def test_likelihood_leaves_a_straddling_token_to_the_context():
    assert read_echo(echoed(["The", " sky", " is", " blue", "."]), "ue.").mean_logprob == -4.0


def test_likelihood_of_a_continuation_inside_one_token_is_that_tokens():
    assert read_echo(echoed(["The", " sky", " is", " blue"]), "ue").mean_logprob == -3.0


def test_likelihood_counts_every_token_of_a_character_that_has_several():
    assert read_echo(echoed(["a", " b", "", "", "☕"]), "☕").mean_logprob == -3.0


@pytest.mark.parametrize(
    ("host", "loopback"),
    [("127.0.0.1", True), ("[::1]", True), ("localhost", True), ("example.org", False), ("10.0.0.1", False)],
)
def test_loopback_is_recognised(host, loopback):
    assert is_loopback(host) is loopback
