"""A small server on the official Python SDK 2, to be called by `mcp-client/examples/peers.rs`.

Over stdio, or over HTTP with `--http`.
"""

import socket
import sys
from typing import Annotated

import anyio
import uvicorn
from mcp.server.mcpserver import Context, Elicit, MCPServer, Resolve, Sample
from mcp_types import CreateMessageResult, EmptyResult, SamplingMessage, SubscribeRequestParams, TextContent
from mcp_types import UnsubscribeRequestParams
from pydantic import BaseModel

COUNTER = "peer://counter"
server = MCPServer("python-peer", version="2.3.0")
state = {"counter": 0, "cancelled": 0, "extra": 0}
subscribed = []


class Who(BaseModel):
    name: str


async def who() -> Elicit[Who]:
    return Elicit("What is your name?", Who)


async def said() -> Sample:
    asked = TextContent(type="text", text="Say something.")
    return Sample([SamplingMessage(role="user", content=asked)], max_tokens=100)


async def subscribe(context, params):
    subscribed.append(context.session)
    return EmptyResult()


async def unsubscribe(context, params):
    return EmptyResult()


low = server._lowlevel_server
low.add_request_handler("resources/subscribe", SubscribeRequestParams, subscribe)
low.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, unsubscribe)


@server.resource(COUNTER)
def counter() -> str:
    return str(state["counter"])


@server.tool()
async def echo(message: str) -> str:
    return message


@server.tool()
async def count(context: Context) -> str:
    for step in range(1, 4):
        await context.report_progress(step, 3)
    return "counted to 3"


@server.tool()
async def log(context: Context) -> str:
    await context.warning("logged by the small server")
    return "logged"


@server.tool()
async def touch(context: Context) -> str:
    for _ in range(5):
        state["counter"] += 1
        await context.notify_resource_updated(COUNTER)
        for session in subscribed:
            await session.send_resource_updated(COUNTER)
    return str(state["counter"])


@server.tool()
async def grow(context: Context) -> str:
    state["extra"] += 1
    server.add_tool(lambda: "extra", name=f"extra_{state['extra']}")
    await context.notify_tools_changed()
    if context.protocol_version < "2026-07-28":
        await context.session.send_tool_list_changed()
    return "grown"


@server.tool()
async def slow(context: Context) -> str:
    await context.report_progress(1, 3)
    try:
        await anyio.sleep(60)
    except anyio.get_cancelled_exc_class():
        state["cancelled"] += 1
        raise
    return "done"


@server.tool()
async def cancelled() -> str:
    return str(state["cancelled"])


@server.tool()
async def ask(answer: Annotated[Who, Resolve(who)]) -> str:
    return f"Hello, {answer.name}!"


@server.tool()
async def sample(answer: Annotated[CreateMessageResult, Resolve(said)]) -> str:
    return f"The model said: {answer.content.text}"


if sys.argv[1:] == ["--http"]:
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"listening on http://127.0.0.1:{listener.getsockname()[1]}/mcp", file=sys.stderr, flush=True)
    config = uvicorn.Config(server.streamable_http_app(), log_level="error")
    uvicorn.Server(config).run(sockets=[listener])
else:
    server.run("stdio")
