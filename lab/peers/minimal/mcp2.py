"""The smallest server on the Python SDK 2, after its documentation: over stdio, or over HTTP on a port."""
import sys

import uvicorn
from mcp.server import MCPServer
from mcp.types import ToolAnnotations

server = MCPServer("mcp2", version="1.0.0")


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def add(a: int, b: int) -> int:
    """Adds."""
    return a + b


@server.resource("test://one")
def one() -> str:
    return "1"


if sys.argv[1:]:
    uvicorn.run(server.streamable_http_app(), port=int(sys.argv[1]), log_level="error")
else:
    server.run("stdio")
