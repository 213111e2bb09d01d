"""No secret reaches the store, in any tier, on any way."""

from __future__ import annotations

import json
import random
import uuid

from claude_home import Session, session
from fake_secrets import everything, fakes
from hansei.config import Config
from hansei.ops.ingest import ingest
from hansei.store.database import Store
from pieces import told

DAY = 86_400_000


def plant(one: Session, text: str) -> None:
    """Put a text wherever a transcript holds text."""
    one.prompt(f"use this: {text}")
    one.say(f"I see `{text}` in there.")
    one.run(f"deploy --with '{text}'", f"deployed\n{text}\ndone")
    one.answer({"type": "thinking", "thinking": f"so it is {text}"}, tokens=(1, 1, 1, 1))
    call = f"toolu_{one.id}{one.count:04}edit"
    one.answer(
        {
            "type": "tool_use",
            "id": call,
            "name": "Write",
            "input": {"file_path": "/work/app/x.py", "content": f"KEY = {text!r}"},
        },
        tokens=(1, 1, 1, 1),
    )
    one.line(
        "user",
        message={
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": call, "content": "ok"}],
        },
        toolUseResult={"type": "create", "filePath": "/work/app/x.py", "content": f"K = {text!r}"},
    )
    one.line("summary", summary=f"about {text}", leafUuid="x")


def test_no_planted_secret_is_in_the_store(store: Store, config: Config, now: int) -> None:
    planted = [fake for made in fakes(2026).values() for fake in made]
    home = config.environment.home
    for age, name in ((0, "hot"), (60, "cold")):
        one = session(home, f"{name}-session", now - age * DAY)
        for fake in planted:
            plant(one, fake.text)
    ingest(store, config, now=now)
    assert store.db.execute("SELECT count(*) FROM sealed").fetchone()[0] > 0
    assert store.db.execute("SELECT count(*) FROM events").fetchone()[0] > 0
    stored = everything(store.folder)
    leaked = [
        fake.secret[:4]
        for fake in planted
        if fake.secret.encode() in stored or json.dumps(fake.secret).strip('"').encode() in stored
    ]
    assert leaked == []


def test_values_of_an_env_file_are_not_in_the_store(store: Store, config: Config, now: int) -> None:
    dice = random.Random(7)
    value = "".join(dice.choices("abcdefghijkmnpqrstuvwxyz23456789", k=24))
    one = session(config.environment.home, "env-session", now)
    one.run("cat .env", f"PLAIN_LOOKING_NAME={value}\nDEBUG=true\n")
    ingest(store, config, now=now)
    stored = everything(store.folder)
    assert value.encode() not in stored
    assert b"PLAIN_LOOKING_NAME" in stored


def test_an_env_file_is_known_even_if_its_output_comes_in_a_later_reading(
    store: Store, config: Config, now: int
) -> None:
    dice = random.Random(8)
    value = "".join(dice.choices("abcdefghijkmnpqrstuvwxyz23456789", k=24))
    one = session(config.environment.home, "env-session", now)
    one.run("cat .env", f"PLAIN_LOOKING_NAME={value}\n")
    whole = one.path.read_text(encoding="utf-8").splitlines(keepends=True)
    one.path.write_text(whole[0], encoding="utf-8")
    ingest(store, config, now=now)
    with one.path.open("a", encoding="utf-8") as file:
        file.write(whole[1])
    ingest(store, config, now=now)
    assert len(told(store)["claude_code env-session"]) == 3
    assert value.encode() not in everything(store.folder)


def test_an_env_file_is_known_on_every_way_it_comes_into_a_transcript(
    store: Store, config: Config, now: int
) -> None:
    dice = random.Random(10)
    value = "".join(dice.choices("abcdefghijkmnpqrstuvwxyz23456789", k=24))
    line = f"PLAIN_LOOKING_NAME={value}"
    one = session(config.environment.home, "env-session", now)
    read = {"filePath": "/work/app/.env", "content": line, "numLines": 1}
    for attached in (
        {"type": "file", "filename": "/work/app/.env", "content": {"type": "text", "file": read}},
        {"type": "edited_text_file", "filename": "/work/app/.env", "snippet": f"1→{line}"},
    ):
        one.line("attachment", attachment=attached)
    one.prompt("<bash-input>cat .env</bash-input>")
    one.prompt(f"<bash-stdout>{line}</bash-stdout><bash-stderr></bash-stderr>")
    one.run("grep -rn PLAIN .", f"./.env:1:{line}\n./a.py:1:x = 1")
    one.run("sleep 1; tail .env", "Command running in background with ID: b1a2b3c")
    one.run("cat /tmp/tasks/b1a2b3c.output", line)
    ingest(store, config, now=now)
    stored = everything(store.folder)
    assert value.encode() not in stored
    assert b"PLAIN_LOOKING_NAME" in stored
    assert len(told(store)["claude_code env-session"]) >= 10


def test_hashes_and_ids_are_left_alone(store: Store, config: Config, now: int) -> None:
    dice = random.Random(9)
    hashes = ["".join(dice.choices("0123456789abcdef", k=length)) for length in (40, 64) * 20]
    ids = [str(uuid.UUID(int=dice.getrandbits(128), version=4)) for _ in range(40)]
    one = session(config.environment.home, "hash-session", now)
    for name in (*hashes, *ids):
        one.run(f"git show {name}", f"commit {name}\nAuthor: x\n\n    {name}\n")
    ingest(store, config, now=now)
    stored = everything(store.folder)
    assert [name for name in (*hashes, *ids) if name.encode() not in stored] == []
    assert b"[secret:" not in stored
