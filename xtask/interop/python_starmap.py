"""The star-map server: finding a way, seeing it, missing one system."""

import json

from mcp.types import ResourceTemplateReference
from python_harness import open_peer
from python_universe import read

TOOLS = {
    "route",
    "systems",
    "borders",
    "search",
    "loop",
    "analyze",
    "nearest",
    "optimize_waypoints",
    "distances",
    "jump_range",
}


def refusal(check, result):
    """The error of a tool that refuses, as its text tells it."""
    check.ok(result.is_error is True, "it is a tool error")
    return json.loads(result.content[0].text)["error"]


async def starmap(server, era, suffix, check):
    async with open_peer(server, era, check) as peer:
        listed = {tool.name for tool in (await peer.client.list_tools()).tools}
        check.ok(TOOLS <= listed, f"tools/list lacks some of {sorted(TOOLS)}: {sorted(listed)}")

        async def call(name, arguments):
            return read(check, await peer.call(name, arguments))

        ends = {"origin": "jita", "destination": "AMARR"}
        route = await call("route", ends)
        name = route["columns"].index("name")
        names = [system[name] for system in route["systems"]]
        check.equal(names, ["Jita", "Marrow", "Tarn", "Amarr"], "the shortest way")
        safe = await call("route", {**ends, "mode": "safe", "detail": "names"})
        check.equal(safe["names"], ["Jita", "Ostra", "Velm", "Kestrel", "Pell", "Amarr"], "the safe way")
        found = await call("systems", {"systems": ["Amarr", "Nowhere"]})
        check.equal(found["not_found"], ["Nowhere"], "unknown systems")
        check.equal((await call("distances", {"systems": ["Jita", "Amarr"]}))["jumps"], [["Jita"], ["Amarr", 3]], "distances")

        unknown = refusal(check, await peer.call("route", {"origin": "Juta", "destination": "Amarr"}))
        check.equal(unknown["code"], "SYSTEM_NOT_FOUND", "code of an unknown system")
        check.equal(unknown["data"], {"suggestions": ["Jita"]}, "suggestions")
        wrong = refusal(check, await peer.call("borders", {"origin": "Jita", "limit": 51}))
        told = [wrong["code"], wrong["data"]["parameter"], wrong["data"]["value"]]
        check.equal(told, ["INVALID_PARAMETER", "limit", "51"], "a wrong limit")

        regions = [resource.name for resource in (await peer.client.list_resources()).resources]
        check.equal(regions, ["Farvoid", "Northmark", "Southreach"], "regions")
        system = json.loads(await peer.read("starmap://system/Jita"))
        check.equal(system["system_id"], 30_000_001, "a system as a resource")
        picture = await peer.read("starmap://picture/route/Jita/Amarr")
        check.ok(picture.startswith("<svg "), "a picture")
        template = ResourceTemplateReference(uri="starmap://system/{name}")
        completed = await peer.client.complete(template, {"name": "name", "value": "mar"})
        check.equal(completed.completion.values, ["Marrow", "Amarr"], "completion")
        prompt = await peer.client.get_prompt("plan_haul", {"origin": "Jita", "destination": "Amarr"})
        check.ok("shortest: 3 jumps" in prompt.messages[0].content.text, "a prompt with facts")
    return {"tools": len(listed)}
