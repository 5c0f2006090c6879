"""The chat server on the exports services/chat-server/tests/fixtures: its tools, resources, prompts."""

import asyncio
import json
import os
from contextlib import asynccontextmanager

from mcp.types import PromptReference
from python_harness import open_peer, within
from python_universe import read

TOOLS = {
    "get_message_context",
    "get_messages",
    "get_statistics",
    "list_chats",
    "list_people",
    "list_sources",
    "search_messages",
    "wait_for_message",
}


async def chat(server, era, suffix, check):
    async with open_peer(server, era, check) as peer:
        tools = {tool.name: tool for tool in (await peer.client.list_tools()).tools}
        check.equal(set(tools), TOOLS, "tools")
        for name in sorted(TOOLS):
            check.ok(tools[name].annotations.read_only_hint is True, f"{name} only reads")

        async def call(name, **arguments):
            return read(check, await peer.call(name, arguments))

        async def refused(code, message, name, **arguments):
            result = await peer.call(name, arguments)
            check.ok(result.is_error is True, f"{name} {arguments} is a tool error")
            error = json.loads(result.content[0].text)["error"]
            check.equal(error["code"], code, f"code of {name} {arguments}")
            check.ok(message in error["message"], f"message of {name} {arguments}: {error['message']}")

        await asking(check, call)
        await refused("SOURCE_NOT_FOUND", "Source 'icq' not found", "list_chats", source="icq")
        await refused("SOURCE_NOT_CONNECTED", "signal-cli daemon", "list_chats", source="signal")
        missing = "Chat 'Invalid' not found in source 'telegram'"
        await refused("CHAT_NOT_FOUND", missing, "get_messages", source="telegram", chat="Invalid")
        await refused("INVALID_PARAMETER", "RFC 3339", "get_messages", since="invalid-date")
        await besides(check, peer.client)
        await live(check, peer, call, era)
    return {"tools": len(tools)}


async def asking(check, call):
    sources = (await call("list_sources"))["sources"]
    connected = {source["id"]: source["is_connected"] for source in sources}
    check.equal(connected, {"live": True, "signal": False, "telegram": True, "whatsapp": True}, "sources")
    chats = (await call("list_chats", source="telegram", filter={"chat_type": "group"}))["chats"]
    check.equal({chat["name"] for chat in chats}, {"Family", "Friends", "Work", "a: b/c"}, "groups")

    antti = {"source": "telegram", "chat": "Antti"}
    page = await call("get_messages", **antti, limit=10)
    check.equal([message["id"] for message in page["messages"]], [str(1000 - n) for n in range(10)], "newest first")
    behind = await call("get_messages", **antti, limit=1, cursor=page["next_cursor"])
    check.equal(behind["messages"][0]["id"], "990", "behind the cursor")
    since = await call("get_messages", **antti, since="2025-01-13T00:00:00Z", limit=1000)
    check.equal(len(since["messages"]), 425, "since")
    family = await call("get_messages", source="telegram", chat="Family")
    check.equal(family["messages"][1]["content"], "[Image] Our garden", "a picture")
    found = await call("search_messages", query="bridge open")
    check.equal(len(found["hits"]), 1, "hits")
    check.equal([chat["name"] for chat in found["chats"]], ["Harbour News"], "the chat of what was found")
    counted = await call("get_statistics", source="telegram", chat="Family")
    check.equal(counted["messages"], 4, "statistics")


async def besides(check, client):
    uris = {str(resource.uri) for resource in (await client.list_resources()).resources}
    check.ok("messages://telegram/101" in uris, f"resources: {sorted(uris)}")
    contents = (await client.read_resource("messages://telegram/Friends?limit=1")).contents
    check.ok(contents[0].text.startswith("[2025-01-01T02:01:30+02:00] Alice: "), "messages as text")
    completion = (
        await client.complete(
            PromptReference(type="ref/prompt", name="analyze_conversation"), {"name": "chat", "value": "fam"}
        )
    ).completion
    check.equal(completion.values, ["Family"], "completed chat")
    prompt = await client.get_prompt("analyze_conversation", {"source": "telegram", "chat": "Antti"})
    check.ok("the last 100 of 1000" in prompt.messages[0].content.text, "what the prompt says of the chat")


@asynccontextmanager
async def writing(word):
    """Writes a message again and again: what a client waits for begins when the server hears of it."""

    async def write():
        count = 0
        while True:
            count += 1
            with open(os.environ["INTEROP_LIVE"], "a", encoding="utf-8") as export:
                export.write(f"13/01/2025, 09:30 - Nell: {word} {count}\n")
            await asyncio.sleep(0.2)

    pen = asyncio.create_task(write())
    try:
        yield
    finally:
        pen.cancel()


async def live(check, peer, call, era):
    """Messages that come in: by a call that waits, and by a subscription."""
    word = f"gong{os.getpid()}"
    async with writing(word):
        waited = await call("wait_for_message", source="live", search=word, seconds=30)
    check.ok(waited["messages"][0]["content"].startswith(word), "the message that was waited for")
    nothing = await call("wait_for_message", source="telegram", seconds=1)
    check.equal(nothing["messages"], [], "nothing has come in")
    check.ok("call again" in nothing["note"], "what to do then")

    uri = "messages://live/*?sender=Nell"
    if era == "legacy":
        await peer.client.subscribe_resource(uri)
        async with writing(word):
            await peer.until("the notification", lambda: peer.of("ResourceUpdatedNotification"))
        params = peer.of("ResourceUpdatedNotification")[0].params
        check.equal(str(params.uri), uri, "the subscription that was told")
        meta = params.model_dump(by_alias=True)["_meta"]
        check.ok(meta["chat-server/message"]["content"].startswith("gong"), "the message in the notification")
        await peer.client.unsubscribe_resource(uri)
        return
    async with peer.client.listen(resource_subscriptions=[uri]) as events:
        async with writing(word), within("the notification"):
            event = await anext(events)
        check.equal((type(event).__name__, event.uri), ("ResourceUpdated", uri), "the subscription that was told")
