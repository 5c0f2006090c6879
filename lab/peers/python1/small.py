"""A small server on FastMCP of the official Python SDK 1, to be called by `mcp-client/examples/peers.rs`.

Over stdio, or over HTTP with `--http`.
"""

import socket
import sys

import anyio
import uvicorn
from mcp import types
from mcp.server.fastmcp import Context, FastMCP
from pydantic import BaseModel

COUNTER = "peer://counter"
server = FastMCP("fastmcp-peer")
state = {"counter": 0, "cancelled": 0, "extra": 0}


class Who(BaseModel):
    name: str


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
        await context.session.send_resource_updated(COUNTER)
    return str(state["counter"])


@server.tool()
async def grow(context: Context) -> str:
    state["extra"] += 1
    server.add_tool(lambda: "extra", name=f"extra_{state['extra']}")
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
async def ask(context: Context) -> str:
    answer = await context.elicit("What is your name?", Who)
    return f"Hello, {answer.data.name}!"


@server.tool()
async def sample(context: Context) -> str:
    asked = types.TextContent(type="text", text="Say something.")
    messages = [types.SamplingMessage(role="user", content=asked)]
    answer = await context.session.create_message(messages, max_tokens=100, related_request_id=context.request_id)
    return f"The model said: {answer.content.text}"


@server.tool()
async def work() -> str:
    return "worked"


low = server._mcp_server
low.experimental.enable_tasks()
call = low.request_handlers[types.CallToolRequest]


async def call_or_task(request: types.CallToolRequest):
    """FastMCP makes no tasks by itself; the server below it does."""
    if request.params.name != "work" or request.params.task is None:
        return await call(request)

    async def working(task):
        await anyio.sleep(0.5)
        return types.CallToolResult(content=[types.TextContent(type="text", text="worked")])

    return types.ServerResult(await low.request_context.experimental.run_task(working))


@low.subscribe_resource()
async def subscribe(uri):
    pass


@low.unsubscribe_resource()
async def unsubscribe(uri):
    pass


low.request_handlers[types.CallToolRequest] = call_or_task
if sys.argv[1:] == ["--http"]:
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"listening on http://127.0.0.1:{listener.getsockname()[1]}/mcp", file=sys.stderr, flush=True)
    config = uvicorn.Config(server.streamable_http_app(), log_level="error")
    uvicorn.Server(config).run(sockets=[listener])
else:
    server.run("stdio")
