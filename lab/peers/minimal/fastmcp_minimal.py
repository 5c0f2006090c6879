"""The smallest server on FastMCP for Python, after its documentation: over stdio, or over HTTP on a port."""
import sys

from fastmcp import FastMCP

server = FastMCP("fastmcp", version="1.0.0")


@server.tool(annotations={"readOnlyHint": True})
def add(a: int, b: int) -> int:
    """Adds."""
    return a + b


@server.resource("test://one")
def one() -> str:
    return "1"


if sys.argv[1:]:
    server.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False)
else:
    server.run(show_banner=False)
