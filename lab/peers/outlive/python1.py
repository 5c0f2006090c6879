"""PyPI mcp 1, driven by `cargo xtask outlive`: the older era only."""

from contextlib import asynccontextmanager

import anyio
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from steps import Seen, drive, options, result

given = options()


@asynccontextmanager
async def streams():
    if given.url:
        async with streamable_http_client(given.url) as (reader, writer, _session):
            yield reader, writer
    else:
        command, *arguments = given.command
        async with stdio_client(StdioServerParameters(command=command, args=arguments)) as both:
            yield both


async def main():
    seen = Seen()
    async with streams() as (reader, writer), ClientSession(reader, writer, message_handler=seen.on_message) as session:
        agreed = await session.initialize()

        async def call(name, arguments):
            answer = await session.call_tool(name, arguments)
            return result(answer.content, answer.isError)

        await drive(seen, agreed.protocolVersion, call, session.subscribe_resource)


anyio.run(main)
