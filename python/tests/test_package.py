"""What the package has in common: findings, data, errors, threads and Ctrl-C."""

import io
import os
import pathlib
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import metier
from metier import data
from metier.geometry import SlepianEncoder


def test_a_finding_is_typed_and_judged():
    # The quickest of the methods: a few seconds.
    finding = metier.evidence("agentscore", scale="quick", seed=0)
    assert finding.method == "agentscore" and finding.scale == "quick" and finding.seed == 0
    assert finding.claims and all(isinstance(claim, metier.Claim) for claim in finding.claims)
    assert finding.seconds > 0 and all(isinstance(note, str) for note in finding.notes)
    for claim in finding.claims:
        assert claim.id and claim.statement and claim.metric and claim.bar
        assert claim.ours and all(isinstance(value, float) for value in claim.ours)
    assert finding.holds == all(claim.holds for claim in finding.claims if claim.gate)
    assert finding.holds, str(finding)
    assert "holds: " in str(finding)
    assert finding.tables and all(len(row) == len(t.columns) for t in finding.tables for row in t.rows)
    assert isinstance(finding.tables[0].to_pandas().iloc[0, -1], (float, str))
    assert finding.figures and finding.figures[0].svg.startswith("<svg")
    # The index of Nottingham has one right value, whatever the machine.
    (index,) = [claim for claim in finding.claims if claim.id == "npi-reproduced"]
    assert index.holds and abs(index.ours[0] - index.baseline[0]) < 5e-5


def test_every_method_has_a_card():
    assert {card.id for card in metier.methods()} == {"slepian", "hippo", "gicdm", "agentscore", "olion"}


def test_an_unknown_method_is_answered_with_the_nearest():
    with pytest.raises(ValueError, match="did you mean `slepian`"):
        metier.evidence("slepan")
    with pytest.raises(ValueError, match="neither quick nor full"):
        metier.evidence("slepian", scale="huge")


def test_data_of_ones_own_is_checked_before_anything_runs(tmp_path):
    with pytest.raises(ValueError, match="did you mean `sotu`"):
        metier.evidence("olion", data={"sotus": tmp_path})
    with pytest.raises(FileNotFoundError, match="nowhere"):
        metier.evidence("olion", data={"sotu": tmp_path / "nowhere"})


def test_data_sets_are_known_by_name():
    names = [entry.name for entry in data.catalogue()]
    assert {"digits", "survset", "sotu"} <= set(names)
    with pytest.raises(ValueError, match="no data set `survsets`"):
        data.path("survsets")
    places = data.table("places")
    assert places["lat"].dtype == np.float64 and places["name"][0] == "Shanghai"
    with pytest.raises(ValueError, match="no table `nowhere`"):
        data.table("nowhere")


def test_a_set_that_is_not_here_says_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setenv("METIER_HOME", str(tmp_path))
    monkeypatch.delenv("METIER_SHARED", raising=False)
    with pytest.raises(FileNotFoundError, match="metier data pull survset"):
        data.table("survset/rott2")


def test_tables_come_from_files(tmp_path):
    path = tmp_path / "houses.csv"
    path.write_text("city,price\nKyoto,1.5\n,NA\n")
    table = data.read(path)
    assert table["city"].tolist() == ["Kyoto", None]
    assert table["price"][0] == 1.5 and np.isnan(table["price"][1])
    path.write_text("city,price\nKyoto,1.5,7\n")
    with pytest.raises(ValueError, match="houses.csv: row 2"):
        data.read(path)
    with pytest.raises(FileNotFoundError):
        data.read(tmp_path / "none.csv")


def test_long_calls_let_other_threads_run():
    rng = np.random.default_rng(0)
    places = np.column_stack([rng.uniform(-124, -115, 150_000), rng.uniform(33, 41, 150_000)])
    encoder = SlepianEncoder(region=(-119.5, 37, 7.5), L=80, global_l=0, scale=False).fit(places)
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.perf_counter()
    encoder.transform(places)
    end = time.perf_counter()
    done.set()
    thread.join()
    assert any(start < moment < end for moment in ticks)


def test_progress_is_shown_when_asked(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    rng = np.random.default_rng(0)
    places = np.column_stack([rng.uniform(-124, -115, 70_000), rng.uniform(33, 41, 70_000)])
    encoder = SlepianEncoder((-119.5, 37, 7.5), L=40, global_l=0, scale=False, verbose=True)
    encoder.fit_transform(places)
    assert "encoding: " in stream.getvalue() and "/70000" in stream.getvalue()


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_stops_a_long_call():
    program = textwrap.dedent(
        """
        import numpy as np
        from metier.geometry import SlepianEncoder
        encoder = SlepianEncoder((0, 0, 10), L=60, global_l=0, scale=False)
        rng = np.random.default_rng(0)
        places = np.column_stack([rng.uniform(-7, 7, 3_000), rng.uniform(-7, 7, 3_000)])
        encoder.fit(places)
        print("ready", flush=True)
        try:
            while True:
                encoder.transform(np.tile(places, (50, 1)))
        except KeyboardInterrupt:
            print("stopped", flush=True)
        """
    )
    child = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.3)
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=300)
    assert out == "stopped\n" and child.returncode == 0


def test_the_package_is_typed():
    folder = pathlib.Path(metier.__file__).parent
    assert (folder / "py.typed").exists() and (folder / "_metier.pyi").exists()
    stub = (folder / "_metier.pyi").read_text()
    missing = [name for name in dir(metier._metier) if not name.startswith("__") and name not in stub]
    assert not missing
