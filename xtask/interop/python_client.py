"""PyPI mcp: both eras, finding the modern one by itself."""

import argparse
import asyncio
import json
import sys
import traceback

from mcp import Client, StdioServerParameters

TOOLS = {"get_universe_state", "list_universe_commands", "send_universe_command"}
REVISIONS = {"legacy": "2025-11-25", "modern": "2026-07-28"}


def small_system(suffix):
    """A star with a planet with a moon, as three addStar commands."""

    def body(kind, parent, distance):
        payload = {
            "name": f"Interop {kind} ☀ {suffix}",
            "color": "#ffcc00",
            "mass": 0.1,
            "radius": 1.5,
            "parentId": parent,
            "orbitalDistance": distance,
            "orbitalSpeed": 1e-7,
            "orbitalPhase": 30,
            "bodyType": kind,
        }
        return {"type": "addStar", "id": f"interop-{kind}-{suffix}", "payload": payload}

    star = body("star", None, 0)
    planet = body("planet", star["id"], 10)
    return [star, planet, body("moon", planet["id"], 0.25)]


def expect(condition, what):
    """Fails with `what`; unlike assert it cannot be switched off."""
    if not condition:
        raise AssertionError(what)


def read(result):
    """The JSON of a tool result, which has to be the same as text and as structured content."""
    expect(not result.is_error, f"unexpected isError: {result.content}")
    expect(len(result.content) == 1 and result.content[0].type == "text", "one text block")
    value = json.loads(result.content[0].text)
    expect(result.structured_content == value, "structuredContent equals the text")
    return value


async def run(server, era, suffix):
    mode = "legacy" if era == "legacy" else "auto"
    async with Client(server, mode=mode) as client:
        version = client.protocol_version
        expect(version == REVISIONS[era], f"negotiated version {version}")

        tools = (await client.list_tools()).tools
        names = {tool.name for tool in tools}
        expect(TOOLS <= names, f"tools/list lacks some of {sorted(TOOLS)}: {sorted(names)}")

        async def call(name, arguments):
            return read(await client.call_tool(name, arguments))

        categories = await call("list_universe_commands", {"universeId": "sol"})
        expect(len(categories["categories"]) == 10, "ten categories")
        types = {command["type"] for category in categories["categories"] for command in category["commands"]}
        expect(len(types) == 25, "25 commands")

        system = small_system(suffix)
        for command in system:
            answer = await call("send_universe_command", {"universeId": "sol", "command": command})
            expect(answer["events"] == [{"type": "starAdded", "id": command["id"]}], f"events {answer['events']}")
            stored = answer["nextState"]["stars"][command["id"]]
            expect(stored == {"id": command["id"], "children": [], **command["payload"]}, f"stored {stored}")

        state = await call("get_universe_state", {"universeId": "sol"})
        star, planet, moon = (state["stars"][command["id"]] for command in system)
        expect({"sun", star["id"]} <= set(state["rootIds"]), "both roots are there")
        expect(state["stars"]["earth"]["parentId"] == "sun", "Earth circles the Sun")
        expect(star["children"] == [planet["id"]] and planet["children"] == [moon["id"]], "the system hangs together")

        missing = await client.call_tool("get_universe_state", {"universeId": "u-missing"})
        expect(missing.is_error is True, "a missing universe is a tool error")
        error = json.loads(missing.content[0].text)["error"]
        expect(error["code"] == error["code"].upper(), f"error code {error['code']}")
        expect("u-missing" in error["message"], f"the message names the universe: {error['message']}")
        if missing.structured_content is not None:
            expect(missing.structured_content == {"error": error}, "structuredContent equals the text")
    return {"version": version, "tools": len(tools)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    target = parser.add_mutually_exclusive_group(required=True)
    target.add_argument("--url")
    target.add_argument("--command", nargs=argparse.REMAINDER)
    parser.add_argument("--era", choices=REVISIONS, default="legacy")
    parser.add_argument("--suffix", default="x")
    options = parser.parse_args()

    if options.url:
        server = options.url
    else:
        server = StdioServerParameters(command=options.command[0], args=options.command[1:])
    head = {"client": "python", "era": options.era, "transport": "http" if options.url else "stdio"}
    try:
        facts = asyncio.run(asyncio.wait_for(run(server, options.era, options.suffix), 60))
    except BaseException as error:
        traceback.print_exc()
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        print(json.dumps({**head, "ok": False, "error": str(error) or type(error).__name__}))
        return 1
    print(json.dumps({**head, "ok": True, **facts}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
