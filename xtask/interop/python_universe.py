"""The universe server: adding a small system, reading it back, missing one universe."""

import json

from python_harness import open_peer

TOOLS = {"get_universe_state", "list_universe_commands", "send_universe_command"}


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


def read(check, result):
    """The JSON of a tool result, which has to be the same as text and as structured content."""
    check.ok(not result.is_error, f"unexpected isError: {result.content}")
    check.ok(len(result.content) == 1 and result.content[0].type == "text", "one text block")
    value = json.loads(result.content[0].text)
    check.ok(result.structured_content == value, "structuredContent equals the text")
    return value


async def universe(server, era, suffix, check):
    async with open_peer(server, era, check) as peer:
        names = {tool.name for tool in (await peer.client.list_tools()).tools}
        check.ok(TOOLS <= names, f"tools/list lacks some of {sorted(TOOLS)}: {sorted(names)}")

        async def call(name, arguments):
            return read(check, await peer.call(name, arguments))

        categories = await call("list_universe_commands", {"universeId": "sol"})
        check.ok(len(categories["categories"]) == 10, "ten categories")
        types = {command["type"] for category in categories["categories"] for command in category["commands"]}
        check.ok(len(types) == 25, "25 commands")

        system = small_system(suffix)
        for command in system:
            answer = await call("send_universe_command", {"universeId": "sol", "command": command})
            check.equal(answer["events"], [{"type": "starAdded", "id": command["id"]}], "events")
            check.equal(answer["changes"]["stars"][command["id"]], {}, "what was not sent of the star")

        state = await call("get_universe_state", {"universeId": "sol"})
        star, planet, moon = (state["stars"][command["id"]] for command in system)
        check.ok({"sun", star["id"]} <= set(state["rootIds"]), "both roots are there")
        check.ok(state["stars"]["earth"]["parentId"] == "sun", "Earth circles the Sun")
        check.ok(star["children"] == [planet["id"]] and planet["children"] == [moon["id"]], "the system hangs together")

        missing = await peer.call("get_universe_state", {"universeId": "u-missing"})
        check.ok(missing.is_error is True, "a missing universe is a tool error")
        error = json.loads(missing.content[0].text)["error"]
        check.ok(error["code"] == error["code"].upper(), f"error code {error['code']}")
        check.ok("u-missing" in error["message"], f"the message names the universe: {error['message']}")
        if missing.structured_content is not None:
            check.ok(missing.structured_content == {"error": error}, "structuredContent equals the text")
    return {"tools": len(names)}
