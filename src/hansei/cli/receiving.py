"""`hansei ingest --otlp PORT`: exporters on this machine send, the watcher takes in."""

from __future__ import annotations

import os
import threading
import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from hansei.cli import app, watching
from hansei.cli.diagnostics import note, warn
from hansei.cli.output import plural
from hansei.config import home_folder
from hansei.errors import StoreLocked, UsageError
from hansei.integrations import LIVE
from hansei.integrations.journal import opened
from hansei.integrations.otlp import ADDRESS, FORMAT, Receiver, Shelf
from hansei.store.lock import exclusive

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.config import Config

LOCK = "receiver.lock"
LOOK_SECONDS = 0.5
"""How often traces are looked at that may be whole by now."""


def receive(settings: Config, port: int, *, as_json: bool) -> None:
    """Receive and watch until a signal ends it; what has come by then is taken in."""
    with watching.stoppable() as stop:
        with _alone(settings), _receiving(settings, port):
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
def _alone(settings: Config) -> Iterator[None]:
    """No two receivers gather in one folder: each would hand over what the other waits for."""
    path = home_folder(settings.environment) / LIVE / FORMAT / LOCK
    os.close(opened(path))  # makes the folders
    with ExitStack() as held:
        try:
            held.enter_context(exclusive(path, wait_seconds=0))
        except StoreLocked:
            raise UsageError(
                "another hansei receives OTLP for this home already",
                hint="Have exporters send to that one, or give this one another HANSEI_HOME.",
            ) from None
        yield


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
            warn(f"Dropped {plural(shelf.dropped, 'piece')} of very long traces.")


def _hand_over(shelf: Shelf, done: threading.Event) -> None:
    while not done.wait(LOOK_SECONDS):
        try:
            shelf.hand_over()
        except OSError as problem:  # a full or read-only disk; it may be better next time
            warn(f"{shelf.folder} cannot be changed: {problem.strerror}")
