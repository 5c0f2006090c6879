"""PyPI mcp 2, driven by `cargo xtask outlive`: the newer era, which it finds by itself, or the older one."""

import warnings

import anyio
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPDeprecationWarning
from steps import Seen, drive, options, result

# The older era is deprecated as a whole.
warnings.simplefilter("ignore", MCPDeprecationWarning)
given = options()


async def main():
    seen = Seen()
    is_modern = given.era == "modern"
    server = given.url
    if not server:
        command, *arguments = given.command
        server = StdioServerParameters(command=command, args=arguments)
    # A modern client iterates over the events of a subscription.
    handler = None if is_modern else seen.on_message
    async with Client(server, mode="auto" if is_modern else "legacy", message_handler=handler) as client:

        async def call(name, arguments):
            answer = await client.call_tool(name, arguments)
            return result(answer.content, answer.is_error)

        def listen(uri):
            return client.listen(resource_subscriptions=[uri])

        await drive(seen, client.protocol_version, call, client.subscribe_resource, listen if is_modern else None)


anyio.run(main)
