"""What the drivers of `cargo xtask outlive` share: each line of JSON on stdin is an order, and one line answers it."""

import argparse
import json
import sys

import anyio
import anyio.to_thread

# How long a client waits until it listens again.
PAUSE_S = 0.2
# The most characters of an answer that are passed on; its length is always reported.
MAX_TEXT = 4_000_000


def options():
    """Reads `--era legacy|modern` and `--url URL`, or else the command of a server."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--era")
    parser.add_argument("--url")
    parser.add_argument("command", nargs="*")
    return parser.parse_args()


class Seen:
    """What arrived besides answers."""

    def __init__(self):
        self.updates = 0
        self.listening = None
        self.trouble = ""

    async def on_message(self, message):
        if "ResourceUpdatedNotification" in (type(message).__name__, type(getattr(message, "root", None)).__name__):
            self.updates += 1
        elif isinstance(message, Exception):
            self.trouble = told(message)

    async def keep_listening(self, listen, uri):
        """Listens, and does so again whenever that ends."""
        while True:
            try:
                async with listen(uri) as events:
                    self.listening = True
                    async for _ in events:
                        self.updates += 1
            except Exception as error:
                self.trouble = told(error)
            self.listening = False
            await anyio.sleep(PAUSE_S)


async def drive(seen, version, call, subscribe, listen=None):
    """Carries out orders until stdin ends. `listen(uri)` is how a modern client subscribes."""
    say({"ok": True, "version": version})
    async with anyio.create_task_group() as tasks:
        while line := await anyio.to_thread.run_sync(sys.stdin.readline, abandon_on_cancel=True):
            order = json.loads(line)
            answer = {"ok": True}
            try:
                if order["do"] == "call":
                    answer |= await call(order["name"], order["arguments"])
                elif order["do"] == "look":
                    answer |= vars(seen)
                elif listen:
                    tasks.start_soon(seen.keep_listening, listen, order["uri"])
                else:
                    await subscribe(order["uri"])
            except Exception as error:
                answer = {"ok": False, "error": told(error)}
            say(answer)
        tasks.cancel_scope.cancel()


def result(content, is_error):
    """The answer to a call."""
    text = content[0].text
    return {"isError": bool(is_error), "length": len(text), "text": text[:MAX_TEXT]}


def told(error):
    """An error in one line."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}".splitlines()[0]


def say(answer):
    print(json.dumps(answer), flush=True)
