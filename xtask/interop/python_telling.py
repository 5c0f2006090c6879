"""What the fixture tells while a call runs and in between; and that a call ends when its client wants it to."""

import asyncio

from python_harness import open_peer, within

WATCHED = "test://watched-resource"
LOGGED = [("info", text) for text in ("Tool execution started", "Tool processing data", "Tool execution completed")]
LOG_LEVEL = "io.modelcontextprotocol/logLevel"


async def telling(server, era, check):
    async with open_peer(server, era, check) as peer:
        await progress(peer)
        await (legacy_logging if era == "legacy" else modern_logging)(peer)
        await cancellation(peer)
        await reconnection(peer)
        await (legacy_subscriptions if era == "legacy" else modern_subscriptions)(peer)
        if era == "legacy":
            await peer.client.send_ping()
            check.ok(True, "ping")
        else:
            check.skip("ping", "the modern era has none")
    if era == "legacy" and peer.http:
        # It ends its session when it closes, and has no way to come back to one.
        check.skip("a session after its end", "this client cannot be given a session")
    else:
        check.skip("a session after its end", "there is a session in the legacy era over HTTP only")
    if era == "modern":
        async with open_peer(server, era, check, log_level="info") as peer:
            await peer.text("test_logging_tool")
            check.equal(peer.logged, LOGGED, "log messages of a client with a level")


async def progress(peer):
    check = peer.check
    steps = [(0, 100), (50, 100), (100, 100)]

    async def follow():
        told = []

        async def on_progress(progress, total, _message):
            told.append((progress, total))

        text = await peer.text("test_tool_with_progress", progress_callback=on_progress)
        return told, text

    check.equal(await follow(), (steps, "Done."), "progress")
    both = await asyncio.gather(follow(), follow())
    check.equal(both, [(steps, "Done."), (steps, "Done.")], "progress of two calls")
    check.equal(await peer.text("test_tool_with_progress"), "Done.", "nobody asked for progress")


async def legacy_logging(peer):
    check = peer.check
    await peer.client.set_logging_level("info")
    await peer.text("test_tool_with_logging")
    check.equal(peer.logged, LOGGED, "log messages")
    await peer.client.set_logging_level("error")
    await peer.text("test_tool_with_logging")
    check.equal(peer.logged, LOGGED, "log messages below the level")


async def modern_logging(peer):
    check = peer.check
    check.skip("logging/setLevel", "the modern era has none; the client sends a level with each call")
    await peer.text("test_logging_tool")
    check.equal(peer.logged, [], "log messages that nobody asked for")
    await peer.text("test_logging_tool", meta={LOG_LEVEL: "info"})
    check.equal(peer.logged, LOGGED, "log messages")
    await peer.text("test_logging_tool", meta={LOG_LEVEL: "error"})
    check.equal(peer.logged, LOGGED, "log messages below the level")


async def cancellation(peer):
    """The tool runs until it is dropped; a resource counts how often that was."""
    check = peer.check
    before = int(await peer.read("test://cancelled"))
    running = asyncio.Event()

    async def on_progress(*_):
        running.set()

    call = asyncio.create_task(peer.client.call_tool("test_cancellation", {}, progress_callback=on_progress))
    async with within("test_cancellation running"):
        await running.wait()
    call.cancel()
    async with within("the end of the handler"):
        (ended,) = await asyncio.gather(call, return_exceptions=True)
        check.ok(isinstance(ended, asyncio.CancelledError), f"how the call ended: {ended!r}")
        while int(await peer.read("test://cancelled")) == before:
            await asyncio.sleep(0.02)
    check.equal(int(await peer.read("test://cancelled")), before + 1, "handlers that were dropped")
    check.ok((await peer.text("test_simple_text")).startswith("This is"), "the next call")


async def reconnection(peer):
    """In the legacy era over HTTP the server lets go of the connection, and the client comes back for the answer."""
    fetched = peer.http and peer.era == "legacy"
    streams = [("GET", 200)]
    if fetched:
        await peer.until("the stream for notifications", lambda: streams[0] in peer.wire)
    before = peer.wire.count(streams[0])
    check = peer.check
    check.equal(await peer.text("test_reconnection"), "Reconnected.", "an answer that may be fetched later")
    check.equal(peer.wire.count(streams[0]) - before, int(fetched), "how often the client came back for it")


async def legacy_subscriptions(peer):
    check, client = peer.check, peer.client
    for kind in ("tool", "prompt"):
        name = f"{kind.title()}ListChangedNotification"
        await peer.text(f"test_trigger_{kind}_change")
        await peer.until(name, lambda name=name: peer.of(name))
        check.equal(len(peer.of(name)), 1, name)

    async def change():
        # Changes are told in order: with one that is always told, all before it has been told as well.
        before = len(peer.of("PromptListChangedNotification"))
        await peer.text("test_trigger_resource_change")
        await peer.text("test_trigger_prompt_change")
        await peer.until("the last change", lambda: len(peer.of("PromptListChangedNotification")) > before)
        return [update.params.uri for update in peer.of("ResourceUpdatedNotification")]

    check.equal(await change(), [], "updates before subscribing")
    await client.subscribe_resource(WATCHED)
    check.equal(await change(), [WATCHED], "updates while subscribed")
    await client.unsubscribe_resource(WATCHED)
    check.equal(await change(), [WATCHED], "updates after unsubscribing")


async def modern_subscriptions(peer):
    check, client = peer.check, peer.client
    check.skip("resources/subscribe", "the modern era has none; the client listens instead")
    lists = {"tools_list_changed": True, "prompts_list_changed": True, "resources_list_changed": True}
    async with client.listen(**lists, resource_subscriptions=[WATCHED]) as events:
        honored = events.honored.model_dump(exclude_none=True)
        check.equal(honored, {**lists, "resource_subscriptions": [WATCHED]}, "what the server agreed to")
        for tool, name in (
            ("test_trigger_tool_change", "ToolsListChanged"),
            ("test_trigger_prompt_change", "PromptsListChanged"),
            ("test_trigger_resource_change", "ResourceUpdated"),
        ):
            await peer.text(tool)
            async with within(name):
                event = await anext(events)
            check.equal(type(event).__name__, name, f"what {tool} changed")
        check.equal(event.uri, WATCHED, "the resource that was updated")
    async with client.listen(tools_list_changed=True) as events:
        await peer.text("test_trigger_resource_change")
        await peer.text("test_trigger_prompt_change")
        await peer.text("test_trigger_tool_change")
        async with within("a change of the tools"):
            event = await anext(events)
        check.equal(type(event).__name__, "ToolsListChanged", "the one change that was asked for")
