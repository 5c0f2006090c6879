"""The smallest server on the Python SDK 1, after its documentation: over stdio, or over HTTP on a port."""
import sys

from mcp.server.fastmcp import FastMCP
from mcp.types import ToolAnnotations

port = int(sys.argv[1]) if sys.argv[1:] else 8000
server = FastMCP("mcp1", port=port)


@server.tool(annotations=ToolAnnotations(readOnlyHint=True))
def add(a: int, b: int) -> int:
    """Adds."""
    return a + b


@server.resource("test://one")
def one() -> str:
    return "1"


server.run("streamable-http" if sys.argv[1:] else "stdio")
