"""The spec server under renames and edits: a subscriber that reads what it is notified of has, after each burst, what is on
the disk. `python3 renames.py SERVER [MINUTES] [SEED]`, without any package; MINUTES is 30."""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
from pathlib import Path

AREAS, SPECS, CHANGES = 3, 4, 3
# The longest that a change may stay unknown: a look at everything comes every five seconds.
PATIENCE = 30.0
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "renames", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Subscriber:
    """Keeps a copy of every resource by what it hears alone."""

    def __init__(self, server, root, era, uris):
        self.era = era
        self.known, self.listed = {}, set()
        self.heard = self.read = 0
        self.answers, self.dirty, self.list_dirty = {}, set(uris), True
        self.ids, self.wake = 0, threading.Condition()
        self.process = subprocess.Popen(
            [server, "mcp", "--root", root], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        threading.Thread(target=self.listen, daemon=True).start()
        if era == "legacy":
            client = {"name": "renames", "version": "1"}
            self.request("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=client)
            self.send({"method": "notifications/initialized"})
            for uri in uris:
                self.request("resources/subscribe", uri=uri)
        else:
            wanted = {"resourcesListChanged": True, "resourceSubscriptions": list(uris)}
            self.send({"id": "listen", "method": "subscriptions/listen", "params": self.params({"notifications": wanted})})
            with self.wake:
                assert self.wake.wait_for(lambda: "listen" in self.answers, PATIENCE), "no acknowledgement"
        threading.Thread(target=self.follow, daemon=True).start()

    def params(self, params):
        return params | {"_meta": MODERN} if self.era == "modern" else params

    def send(self, message):
        with self.wake:
            self.process.stdin.write(json.dumps({"jsonrpc": "2.0"} | message) + "\n")
            self.process.stdin.flush()

    def request(self, method, **params):
        with self.wake:
            self.ids += 1
            number = self.ids
        self.send({"id": number, "method": method, "params": self.params(params)})
        with self.wake:
            assert self.wake.wait_for(lambda: number in self.answers, PATIENCE), f"no answer to {method}"
            return self.answers.pop(number)

    def listen(self):
        for line in self.process.stdout:
            message = json.loads(line)
            method = message.get("method", "")
            with self.wake:
                if method == "notifications/resources/updated":
                    self.heard += 1
                    self.dirty.add(message["params"]["uri"])
                elif method == "notifications/resources/list_changed":
                    self.heard += 1
                    self.list_dirty = True
                elif method == "notifications/subscriptions/acknowledged":
                    self.answers["listen"] = message
                elif "id" in message:
                    self.answers[message["id"]] = message
                self.wake.notify_all()

    def follow(self):
        while True:
            with self.wake:
                self.wake.wait_for(lambda: self.dirty or self.list_dirty)
                uris, self.dirty = self.dirty, set()
                listing, self.list_dirty = self.list_dirty, False
            for uri in uris:
                if self.process.stdin.closed:
                    return
                result = self.request("resources/read", uri=uri).get("result")
                self.known[uri] = result and result["contents"][0]["text"]
                self.read += 1
            if listing:
                result = self.request("resources/list").get("result")
                self.listed = {resource["uri"] for resource in result["resources"]} if result else set()


class Disk:
    """A project whose files and folders are renamed, replaced, written and removed at random."""

    def __init__(self, root, chance):
        self.root, self.chance = root, chance
        self.openspec, self.away = root / "openspec", root.parent / "away"
        self.paths = {}
        for area in range(AREAS):
            for spec in range(SPECS):
                self.paths[f"spec://area-{area}/spec-{spec}"] = f"specs/area-{area}/spec-{spec}/spec.md"
        for change in range(CHANGES):
            self.paths[f"change://change-{change}"] = f"changes/change-{change}/proposal.md"
        self.number = 0
        for path in self.paths.values():
            self.write(path)

    def write(self, path):
        self.number += 1
        file = self.openspec / path
        file.parent.mkdir(parents=True, exist_ok=True)
        text = f"# Text {self.number}\n\n## Purpose\nNumber {self.number}.\n\n## Why\nNumber {self.number}.\n"
        if self.chance.random() < 0.5:
            file.write_text(text)
        else:
            beside = file.with_suffix(".tmp")
            beside.write_text(text)
            beside.rename(file)

    def folder(self):
        inside = ["", "specs", "changes", *(f"specs/area-{area}" for area in range(AREAS))]
        inside += [str(Path(path).parent) for path in self.paths.values()]
        return self.openspec / self.chance.choice(inside)

    def away_and_back(self):
        folder = self.folder()
        folder.rename(self.away)
        if self.chance.random() < 0.5:
            self.pause()
        self.away.rename(folder)

    def replace(self):
        folder = self.folder()
        shutil.copytree(folder, self.away)
        for file in self.away.rglob("*.md"):
            if self.chance.random() < 0.3:
                self.number += 1
                file.write_text(f"# Replaced {self.number}\n\n## Why\nNumber {self.number}.\n")
        old = self.root.parent / "old"
        folder.rename(old)
        self.away.rename(folder)
        shutil.rmtree(old)

    def rebuild(self):
        """As a rebase does it: many files go and come within moments."""
        area = self.openspec / f"specs/area-{self.chance.randrange(AREAS)}"
        shutil.rmtree(area)
        self.pause()
        self.complete()

    def swap(self):
        one, other = (self.openspec / path for path in self.chance.sample(list(self.paths.values())[: AREAS * SPECS], 2))
        one.parent.rename(self.away)
        other.parent.rename(one.parent)
        self.away.rename(other.parent)

    def remove(self):
        (self.openspec / self.chance.choice(list(self.paths.values()))).unlink(missing_ok=True)

    def edit(self):
        self.write(self.chance.choice(list(self.paths.values())))

    def complete(self):
        for path in self.paths.values():
            if not (self.openspec / path).exists():
                self.write(path)

    def pause(self):
        time.sleep(self.chance.choice([0, 0.001, 0.01, 0.1, 0.3]))

    def burst(self):
        done = []
        for _ in range(self.chance.randint(1, 8)):
            operation = self.chance.choice([self.edit] * 4 + [self.away_and_back, self.replace, self.rebuild, self.swap, self.remove])
            self.complete()
            operation()
            done.append(operation.__name__)
            self.pause()
        return done

    def texts(self):
        files = {uri: self.openspec / path for uri, path in self.paths.items()}
        return {uri: file.read_text() if file.exists() else None for uri, file in files.items()}


def differs(disk, subscriber):
    """What the subscriber has not of the disk; of a change the text stands among others."""
    found = []
    for uri, text in disk.items():
        known = subscriber.known.get(uri)
        same = known == text if uri.startswith("spec:") or text is None or known is None else text.strip() in known
        # A change without a proposal is still there, or not: its list tells.
        if not same and not (uri.startswith("change:") and text is None):
            found.append(uri)
    listed = {uri for uri in map(urllib.parse.unquote, subscriber.listed) if uri.startswith("spec:")}
    if listed != {uri for uri, text in disk.items() if text is not None and uri.startswith("spec:")}:
        found.append("resources/list")
    return found


def main(server, minutes="30", seed="1"):
    chance = random.Random(int(seed))
    with tempfile.TemporaryDirectory() as folder:
        disk = Disk(Path(folder) / "project", chance)
        subscribers = [Subscriber(os.path.abspath(server), disk.root, era, disk.paths) for era in ("legacy", "modern")]
        end, bursts, operations, waits = time.monotonic() + 60 * float(minutes), 0, 0, []
        while time.monotonic() < end:
            done = disk.burst()
            texts, begun = disk.texts(), time.monotonic()
            while missing := {one.era: found for one in subscribers if (found := differs(texts, one))}:
                if time.monotonic() - begun > PATIENCE:
                    print(f"MISSED after {bursts} bursts, by {done}: {missing}")
                    return 1
                time.sleep(0.005)
            waits.append(time.monotonic() - begun)
            bursts, operations = bursts + 1, operations + len(done)
        waits.sort()
        heard = ", ".join(f"{one.era} {one.heard} heard, {one.read} read" for one in subscribers)
        print(f"{minutes} minutes, seed {seed}: {bursts} bursts of {operations} operations, none missed; {heard}")
        print(f"known after {waits[len(waits) // 2]:.3f} s (median), {waits[int(len(waits) * 0.99)]:.3f} s (p99), {waits[-1]:.3f} s (most)")
        for one in subscribers:
            one.process.stdin.close()
            one.process.wait(PATIENCE)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
