"""Hold a real vLLM server to the language-model suite and the paper's preset: make its environment and model once, serve, test, stop.

    .venv/bin/python tests/vllm/serve.py [pytest arguments]

The environment is the folder .venv-vllm beside the project's own; it is made again when requirements.txt changes.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from programs.models.weights.fetch import fetch
from programs.models.weights.verified import cache_folder

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
ENVIRONMENT = ROOT / ".venv-vllm"
PYTHON = ENVIRONMENT / "bin" / "python"
MODEL = "smollm2-135m"
PATIENCE = 900.0
# These come with vLLM as builds for accelerators, and where there is none they break the import of transformers.
UNWANTED = ("torchvision", "torchaudio", "torchcodec")
# A small model left free to write white space between JSON tokens may write nothing else until its tokens are spent.
COMPACT_JSON = {"backend": "guidance", "disable_any_whitespace": True}


def main() -> int:
    """Do each step that is not already done, and give the tests' exit code."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with timed("environment"):
        make_environment()
    with timed("model folder"):
        folder = make_model_folder()
    with serving(folder) as url, timed("tests"):
        return run_tests(url, sys.argv[1:])


def make_environment() -> None:
    """Install vLLM, unless this very list of requirements is installed already."""
    requirements = HERE / "requirements.txt"
    stamp = ENVIRONMENT / "stamp"
    digest = hashlib.sha256(requirements.read_bytes()).hexdigest()
    if stamp.is_file() and stamp.read_text() == digest:
        return
    subprocess.run([sys.executable, "-m", "venv", str(ENVIRONMENT)], check=True)
    pip = [str(PYTHON), "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run([*pip, "install", "-r", str(requirements)], check=True)
    subprocess.run([*pip, "uninstall", "--yes", *UNWANTED], check=True)
    stamp.write_text(digest)


def make_model_folder() -> Path:
    """Turn the GGUF weights into a folder in the cache, once."""
    folder = cache_folder() / "vllm" / MODEL
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        make = [str(PYTHON), str(HERE / "make_model.py"), str(fetch(MODEL)), str(folder)]
        subprocess.run(make, check=True, env={**os.environ, "TQDM_DISABLE": "1"})
    return folder


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Run the server on a free loopback port, in a process group of its own that ends with the block."""
    port = free_port()
    log = cache_folder() / "vllm" / f"serve-{port}.log"
    with log.open("wb") as output:
        server = subprocess.Popen(
            command(folder, port), stdout=output, stderr=subprocess.STDOUT, env=environment(), start_new_session=True
        )
    url = f"http://127.0.0.1:{port}"
    try:
        with timed("server start"):
            wait_until_healthy(url, server, log)
        yield url
        log.unlink()
    finally:
        stop(server)


def command(folder: Path, port: int) -> list[str]:
    """Give the server's command line; eager, because compiling takes longer than every test together."""
    options = {
        "--model": str(folder),
        "--served-model-name": MODEL,
        "--host": "127.0.0.1",
        "--port": str(port),
        "--dtype": "bfloat16",
        "--max-model-len": "8192",
        "--generation-config": "vllm",
        "--structured-outputs-config": json.dumps(COMPACT_JSON),
    }
    flat = [part for option in options.items() for part in option]
    return [str(PYTHON), "-m", "vllm.entrypoints.openai.api_server", *flat, "--enforce-eager"]


def environment() -> dict[str, str]:
    """Keep the server small and to itself."""
    own = {
        "VLLM_CPU_KVCACHE_SPACE": "1",
        "HF_HUB_OFFLINE": "1",
        "VLLM_NO_USAGE_STATS": "1",
        "OMP_WAIT_POLICY": "PASSIVE",
    }
    return {**os.environ, **own}


def wait_until_healthy(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    """Wait for the first sign of health; a server that ends or dawdles shows the end of its log."""
    deadline = time.monotonic() + PATIENCE
    with httpx.Client(base_url=url, trust_env=False, timeout=5.0) as client:
        while time.monotonic() < deadline and server.poll() is None:
            try:
                if client.get("/health").is_success:
                    return
            except httpx.TransportError:
                pass
            time.sleep(0.5)
    tail = "\n".join(log.read_text(errors="replace").splitlines()[-40:])
    raise SystemExit(f"the vLLM server did not become healthy; the end of {log}:\n{tail}")


def run_tests(url: str, arguments: list[str]) -> int:
    """Run the suite with the server as one of its engines."""
    suite = ["-m", "pytest", "-m", "server", "tests/conformance/language_models", "tests/vllm", *arguments]
    return subprocess.run([sys.executable, *suite], cwd=ROOT, env={**os.environ, "STATERAG_VLLM_URL": url}).returncode


def stop(server: subprocess.Popen[bytes]) -> None:
    """End the server and its workers: asked first, then made to."""
    for sign, patience in ((signal.SIGTERM, 15.0), (signal.SIGKILL, 15.0)):
        try:
            os.killpg(server.pid, sign)
            server.wait(patience)
        except subprocess.TimeoutExpired:
            continue
        except ProcessLookupError:
            return


def free_port() -> int:
    """Ask the system for a port that nobody has."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def timed(step: str) -> Iterator[None]:
    """Say how long a step took."""
    started = time.monotonic()
    yield
    print(f"[vllm] {step}: {time.monotonic() - started:.1f} s", flush=True)


if __name__ == "__main__":
    sys.exit(main())
