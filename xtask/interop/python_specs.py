"""The spec server on the project services/spec-server/tests/fixtures/library: its eight tools, resources, prompts."""

import json

from mcp.types import PromptReference
from python_harness import open_peer
from python_universe import read

TOOLS = {
    "get_change",
    "get_scenario",
    "get_spec_requirements",
    "list_changes",
    "list_specs",
    "search_specs",
    "validate_change",
    "validate_spec",
}


async def specs(server, era, suffix, check):
    async with open_peer(server, era, check) as peer:
        tools = {tool.name: tool for tool in (await peer.client.list_tools()).tools}
        check.ok(TOOLS <= set(tools), f"tools/list lacks some of {sorted(TOOLS)}: {sorted(tools)}")
        for name in sorted(TOOLS):
            check.ok(tools[name].annotations.read_only_hint is True, f"{name} only reads")
            check.ok(tools[name].output_schema["type"] == "object", f"output schema of {name}")

        # The client checks the structured results against the output schemas that it has listed.
        async def call(name, **arguments):
            return read(check, await peer.call(name, arguments))

        async def refused(code, name, **arguments):
            result = await peer.call(name, arguments)
            check.ok(result.is_error is True, f"{name} {arguments} is a tool error")
            error = json.loads(result.content[0].text)["error"]
            check.equal(error["code"], code, f"code of {name} {arguments}")
            return error

        await reading(check, call, refused)
        await changes(check, call, refused)
        await besides(check, peer.client)
    return {"tools": len(tools)}


async def reading(check, call, refused):
    specs = (await call("list_specs"))["specs"]
    check.equal([spec["id"] for spec in specs], ["lending", "members", "notices"], "ids of the specs")

    requirements = (await call("get_spec_requirements", spec_id="lending"))["requirements"]
    counts = [(requirement["name"], requirement["scenario_count"]) for requirement in requirements]
    check.equal(counts, [("Loan", 2), ("Renewal", 2), ("Return", 1)], "requirements with their scenarios")

    first = await call("get_scenario", spec_id="lending", requirement="Loan")
    check.equal((first["name"], first["given"]), ("Copy is free", ["a member without a fine"]), "first scenario")
    second = await call("get_scenario", spec_id="lending", requirement="Loan", scenario="Copy is lent already")
    check.equal(second["when"], "the member asks for a copy\nAND somebody else has it", "when")

    found = await call("search_specs", query="erase what is known of a person", top_k=3)
    best = found["results"][0]
    check.equal((best["spec_id"], best["requirement"]), ("members", "Deletion"), "best result")
    scores = [result["score"] for result in found["results"]]
    check.equal(scores, sorted(scores, reverse=True), "descending scores")
    check.equal((await call("search_specs", query="quaternion"))["results"], [], "results for what is nowhere")

    validated = await call("validate_spec", strict=True)
    check.equal((validated["valid"], validated["errors"]), (True, []), "verdict on all specs")

    missing = await refused("SPEC_NOT_FOUND", "get_spec_requirements", spec_id="lendings")
    check.equal(missing["data"]["nearest"][0], "lending", "the nearest id")
    await refused("INVALID_ID", "get_spec_requirements", spec_id="../../etc")
    await refused("SCENARIO_NOT_FOUND", "get_scenario", spec_id="lending", requirement="Loan", scenario="None")


async def changes(check, call, refused):
    listed = (await call("list_changes"))["changes"]
    check.equal([change["id"] for change in listed], ["add-reservations", "shorten-notice"], "ids of the changes")
    check.equal(listed[0]["task_progress"], {"completed": 2, "total": 4}, "progress")

    change = await call("get_change", change_id="add-reservations")
    check.ok(change["proposal"]["why"].startswith("Members ask"), "why")
    check.equal(list(change["deltas"]), ["lending", "reservations"], "capabilities")
    tasks = await call("get_change", change_id="add-reservations", section="tasks")
    check.equal(set(tasks), {"change_id", "tasks"}, "members of one section")
    await refused("CHANGE_NOT_FOUND", "get_change", change_id="add-reservation")

    validated = await call("validate_change")
    check.equal((validated["valid"], validated["errors"]), (True, []), "verdict on all changes")
    preview = await call("preview_change", change_id="add-reservations")
    check.ok(preview["applicable"] and "+### Requirement: Hold" in preview["specs"][0]["diff"], "preview")


async def besides(check, client):
    uris = {str(resource.uri) for resource in (await client.list_resources()).resources}
    check.ok({"spec://lending", "change://add-reservations"} <= uris, f"resources: {sorted(uris)}")
    contents = (await client.read_resource("spec://lending")).contents
    check.ok(contents[0].text.startswith("# Lending\n"), "text of a spec")
    completion = (
        await client.complete(
            PromptReference(type="ref/prompt", name="implement_change"), {"name": "change_id", "value": "add"}
        )
    ).completion
    check.equal(completion.values, ["add-reservations"], "completed id")
    prompt = await client.get_prompt("implement_change", {"change_id": "add-reservations"})
    check.ok("2.1" in prompt.messages[0].content.text, "open tasks in the prompt")
    check.equal(str(prompt.messages[1].content.resource.uri), "change://add-reservations", "resource in the prompt")
