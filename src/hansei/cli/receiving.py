"""`hansei ingest --otlp PORT`: exporters on this machine send, the watcher takes in."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hansei.cli import app, watching
from hansei.cli.diagnostics import note, warn
from hansei.config import home_folder
from hansei.errors import StoreLocked
from hansei.integrations.otlp import ADDRESS, Receiver, Shelf

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.config import Config

LOOK_SECONDS = 0.5
"""How often traces are looked at that may be whole by now."""


def receive(settings: Config, port: int, *, as_json: bool) -> None:
    """Receive and watch until a signal ends it; what has come by then is taken in."""
    with watching.stoppable() as stop:
        with _receiving(settings, port):
            try:
                watching.follow(settings, stop, as_json=as_json)
            except StoreLocked as second:
                note(f"{second.message}: that one takes in what comes.")
                while not stop.is_set():
                    time.sleep(LOOK_SECONDS)
        with app.opened(settings) as store:
            app.run_ingest(store, settings, wait_seconds=30)
        watching.end(stop)


@contextmanager
def _receiving(settings: Config, port: int) -> Iterator[None]:
    shelf = Shelf.at(home_folder(settings.environment))
    server = Receiver(shelf, port)
    done = threading.Event()
    threads = [
        threading.Thread(target=server.serve_forever, args=(LOOK_SECONDS,), daemon=True),
        threading.Thread(target=_hand_over, args=(shelf, done), daemon=True),
    ]
    for thread in threads:
        thread.start()
    note(f"Receiving OTLP at http://{ADDRESS}:{server.server_port}; Ctrl-C ends it.")
    try:
        yield
    finally:
        done.set()
        server.shutdown()
        server.server_close()
        for thread in threads:
            thread.join()
        shelf.hand_over(everything=True)
        if shelf.dropped:
            warn(f"{shelf.dropped:,} pieces of very long traces were dropped.")


def _hand_over(shelf: Shelf, done: threading.Event) -> None:
    while not done.wait(LOOK_SECONDS):
        try:
            shelf.hand_over()
        except OSError as problem:  # a full or read-only disk; it may be better next time
            warn(f"{shelf.folder} cannot be changed: {problem.strerror}")
