"""What the Python client's scenarios need: an open client that can be watched, counted checks, waiting that ends."""

import asyncio
from contextlib import asynccontextmanager

import httpx2
from mcp import Client, MCPError
from mcp.client import stdio
from mcp.client.streamable_http import streamable_http_client

REVISIONS = {"legacy": "2025-11-25", "modern": "2026-07-28"}
# How long anything that must happen may take. Nothing waits that long when all is well.
PATIENCE_S = 10


class Checks:
    """Checks that are counted, and what the client cannot be put through, with the reason."""

    def __init__(self):
        self.count = 0
        self.cannot = []

    def ok(self, condition, what):
        """Fails with `what`; unlike assert it cannot be switched off."""
        if not condition:
            raise AssertionError(what)
        self.count += 1

    def equal(self, actual, expected, what):
        self.ok(actual == expected, f"{what}: {actual!r}, expected {expected!r}")

    async def refused(self, work, code, what):
        """The protocol error of that code that `work` must end in."""
        try:
            answer = await work
        except MCPError as error:
            self.ok(error.code == code, f"{what}: {error.code} {error.message}, expected {code}")
            return error
        raise AssertionError(f"{what}: answered {answer!r}")

    def skip(self, what, reason):
        self.cannot.append(f"{what}: {reason}")


@asynccontextmanager
async def within(what):
    """Waits for what is done inside, but not forever."""
    try:
        async with asyncio.timeout(PATIENCE_S):
            yield
    except TimeoutError:
        raise AssertionError(f"{what}: not after {PATIENCE_S} s") from None


class Peer:
    """An open client, with what it is told and what its transport does put where a test can see it."""

    def __init__(self, era, http, check):
        self.era = era
        self.http = http
        self.check = check
        self.client = None
        # Notifications by the name of their type, log messages, HTTP answers as (method, status).
        self.told = []
        self.logged = []
        self.wire = []
        # Set anew whenever one of these grows.
        self._news = asyncio.Event()

    async def on_message(self, message):
        self.told.append(message)
        self._news.set()

    async def on_log(self, params):
        self.logged.append((params.level, params.data))
        self._news.set()

    async def on_response(self, response):
        self.wire.append((response.request.method, response.status_code))
        self._news.set()

    def of(self, kind):
        return [message for message in self.told if type(message).__name__ == kind]

    async def until(self, what, ready):
        """Waits until `ready()`, looking again whenever something has arrived."""
        async with within(what):
            while not ready():
                self._news.clear()
                await self._news.wait()

    async def call(self, name, arguments=None, **options):
        async with within(name):
            return await self.client.call_tool(name, arguments or {}, **options)

    async def text(self, name, arguments=None, **options):
        """The text of a tool's answer, which is not an error."""
        result = await self.call(name, arguments, **options)
        self.check.ok(not result.is_error, f"{name} fails: {result.content}")
        self.check.equal([block.type for block in result.content], ["text"], f"content of {name}")
        return result.content[0].text

    async def read(self, uri):
        """The text of a resource as it is now, whatever the client has cached."""
        return (await self.client.read_resource(uri, cache_mode="refresh")).contents[0].text


@asynccontextmanager
async def open_peer(server, era, check, **callbacks):
    """Opens a client with those callbacks. It declares the capabilities that it has callbacks for."""
    http = isinstance(server, str)
    peer = Peer(era, http, check)
    async with watched(server, peer) as transport:
        mode = "legacy" if era == "legacy" else "auto"
        settings = {"message_handler": peer.on_message, "logging_callback": peer.on_log, **callbacks}
        async with Client(transport, mode=mode, **settings) as client:
            peer.client = client
            check.equal(client.protocol_version, REVISIONS[era], "negotiated version")
            yield peer
    if http:
        # The client ends its session when it closes.
        deleted = [status for method, status in peer.wire if method == "DELETE"]
        check.equal([200 <= status < 300 for status in deleted], [True] if era == "legacy" else [], "ended sessions")
    errors = [message for message in peer.told if isinstance(message, Exception)]
    check.equal(errors, [], "complaints of the client")


@asynccontextmanager
async def watched(server, peer):
    """The transport to a server: an address, or how to start its process."""
    if peer.http:
        hooks = {"response": [peer.on_response]}
        async with httpx2.AsyncClient(timeout=httpx2.Timeout(30, read=300), event_hooks=hooks) as http_client:
            yield streamable_http_client(server, http_client=http_client)
        return
    # The one way to see how the server's process ends; the package is pinned.
    start, processes = stdio._create_platform_compatible_process, []

    async def start_and_keep(*args, **kwargs):
        processes.append(await start(*args, **kwargs))
        return processes[-1]

    stdio._create_platform_compatible_process = start_and_keep
    try:
        yield stdio.stdio_client(server)
    finally:
        stdio._create_platform_compatible_process = start
    peer.check.equal([process.returncode for process in processes], [0], "exit codes of the server")
