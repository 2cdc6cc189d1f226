"""PoissonFedAvg with a real SuperLink and real SuperNodes on loopback, without Ray: nodes that come late, and are lost.

The ServerApp writes what it logs into a pipe, on which the test waits; nothing here looks at a clock.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("flwr", reason="make nightly-hosts")

PROJECT = """
[project]
name = "poisson-cohorts"
version = "1.0.0"
dependencies = []
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[tool.flwr.app]
publisher = "dpcert"
[tool.flwr.app.components]
serverapp = "cohorts.app:server"
clientapp = "cohorts.app:client"
[tool.flwr.app.config]
told = ""
rounds = 5
timeout = 60
"""
APP = """
import logging
import warnings
import numpy as np
from flwr.app import ArrayRecord, Message, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import ServerApp

client = ClientApp()
server = ServerApp()

@client.train()
def train(message, context):
    [w] = message.content["arrays"].to_numpy_ndarrays()
    return Message(RecordDict({"arrays": ArrayRecord([w + 3.0])}), reply_to=message)

@server.main()
def main(grid, context):
    from dpcert.adapters.flower import CertifiedAccountant, PoissonFedAvg
    config = context.run_config
    with open(config["told"], "w", buffering=1) as told:
        logging.getLogger("flwr").addHandler(logging.StreamHandler(told))
        warnings.showwarning = lambda message, *rest, **more: print("warning:", message, file=told)
        spent = CertifiedAccountant.poisson(1e-5, population=3)
        strategy = PoissonFedAvg(spent, 1e-6, 2.0, 3)
        try:
            settings = {"num_rounds": config["rounds"], "timeout": config["timeout"]}
            found = strategy.start(grid, ArrayRecord([np.zeros(4)]), **settings)
            [model] = found.arrays.to_numpy_ndarrays()
            print("model", *model, file=told)
        except Exception as problem:
            print("stopped", type(problem).__name__, problem, file=told)
        print("counted", spent.num_releases, spent.get_epsilon(1e-5), file=told)
"""
PATIENCE = 400
"""Seconds of silence after which a test gives up."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Federation:
    """A SuperLink, its SuperNodes and the lines that the ServerApp writes; ends all that it has started."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.processes, self._rest = folder, [], b""
        (folder / "app" / "cohorts").mkdir(parents=True)
        (folder / "app" / "pyproject.toml").write_text(PROJECT)
        (folder / "app" / "cohorts" / "__init__.py").touch()
        (folder / "app" / "cohorts" / "app.py").write_text(APP)
        self.address = f"127.0.0.1:{free_port()}"
        (folder / "config.toml").write_text(
            f'[superlink]\ndefault = "here"\n[superlink.here]\naddress = "{self.address}"\ninsecure = true\n'
        )
        os.mkfifo(folder / "told")
        self.pipe = os.open(folder / "told", os.O_RDWR)
        programs = str(Path(sys.executable).parent)
        self.environment = os.environ | {
            "FLWR_HOME": str(folder),
            "FLWR_TELEMETRY_ENABLED": "0",
            "PATH": programs + os.pathsep + os.environ["PATH"],
        }

    def start(self) -> None:
        port = self.address.split(":")[1]
        link = self.run("flower-superlink", "--insecure", "--port", port, "--disable-runtime-dependency-installation")
        for line in link.stdout:
            if b"running on" in line:
                break
        with (self.folder / "link.log").open("wb") as log:
            self.processes.append(subprocess.Popen(["cat"], stdin=link.stdout, stdout=log, start_new_session=True))
        link.stdout.close()

    def run(self, program: str, *options: str) -> subprocess.Popen:
        found = subprocess.Popen(
            [Path(sys.executable).parent / program, *options],
            stdout=subprocess.PIPE if program == "flower-superlink" else subprocess.DEVNULL,
            stderr=subprocess.STDOUT,
            env=self.environment,
            cwd=self.folder,
            start_new_session=True,
        )
        self.processes.append(found)
        return found

    def node(self) -> subprocess.Popen:
        return self.run("flower-supernode", "--insecure", "--superlink", self.address, "--port", str(free_port()))

    def submit(self, **config: object) -> None:
        told = " ".join(f"{key}={json.dumps(value)}" for key, value in config.items())
        told += f" told={json.dumps(str(self.folder / 'told'))}"
        command = [Path(sys.executable).parent / "flwr", "run", "app", "here", "--run-config", told]
        subprocess.run(command, env=self.environment, cwd=self.folder, check=True, capture_output=True)

    def until(self, words: str) -> list[str]:
        """The lines up to the first with these words."""
        lines = []
        with selectors.DefaultSelector() as selector:
            selector.register(self.pipe, selectors.EVENT_READ)
            while not lines or words not in lines[-1]:
                while b"\n" not in self._rest:
                    assert selector.select(PATIENCE), (lines, (self.folder / "link.log").read_text()[-3000:])
                    self._rest += os.read(self.pipe, 4096)
                line, _, self._rest = self._rest.partition(b"\n")
                lines.append(line.decode())
        return lines

    def end(self) -> None:
        for process in self.processes:
            end(process)
        os.close(self.pipe)


def end(process: subprocess.Popen) -> None:
    """The process and what it has started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@pytest.fixture
def federation(tmp_path):
    found = Federation(tmp_path)
    try:
        found.start()
        yield found
    finally:
        found.end()


@pytest.mark.nightly
def test_a_late_node_is_waited_for_and_a_lost_one_does_not_take_part(federation):
    """Every coin falls on heads, every update is clipped to 1 in each coordinate, and the sum is divided by 3."""
    first, _ = federation.node(), federation.node()
    federation.submit()
    waiting = federation.until("2 of 3 are there")
    assert not any("[ROUND 2/5]" in line for line in waiting)
    federation.node()
    federation.until("[ROUND 3/5]")
    end(first)
    rest = federation.until("counted ")
    model = next(line.split()[1:] for line in rest if line.startswith("model"))
    thirds = {round(3 * float(value), 3) for value in model}
    assert thirds <= {12.0, 13.0}, rest  # two rounds or three with all three nodes, then two of them
    _, releases, epsilon = rest[-1].split()
    assert releases == "5"
    assert float(epsilon) > 1e6  # for this little noise


@pytest.mark.nightly
def test_when_all_nodes_are_lost_the_third_silent_round_stops_the_run(federation):
    nodes = [federation.node() for _ in range(3)]
    federation.submit(timeout=20, rounds=9)
    before = federation.until("[ROUND 2/9]")
    for node in nodes:
        end(node)
    rest = before + federation.until("counted ")
    assert sum("noise alone, and is paid for" in line for line in rest) == 2, rest
    assert any(line.startswith("stopped NobodyAnswers") for line in rest), rest
    assert int(rest[-1].split()[1]) < 9
