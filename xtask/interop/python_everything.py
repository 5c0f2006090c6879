"""The fixture mcp-proto/examples/everything.rs: what it offers, then what it asks, then what it tells."""

import asyncio
import base64
import json

from mcp.types import PromptReference, ResourceTemplateReference

from python_asking import asking
from python_harness import open_peer
from python_telling import telling

INVALID_PARAMS = -32602
NOT_FOUND = {"legacy": -32002, "modern": INVALID_PARAMS}


async def everything(server, era, _suffix, check):
    async with open_peer(server, era, check) as peer:
        introduction(peer)
        await resources(peer)
        await prompts(peer)
        await completions(peer)
        await contents(peer)
        await refusals(peer)
        await crowd(peer)
    await asking(server, era, check)
    await telling(server, era, check)
    return {}


def introduction(peer):
    client, check = peer.client, peer.check
    check.equal(client.server_info.name, "everything", "name of the server")
    check.equal(client.instructions, "Call test_simple_text to see that it works.", "instructions")
    offered = client.server_capabilities
    check.ok(offered.tools.list_changed and offered.prompts.list_changed, "tools and prompts capabilities")
    check.ok(offered.resources.list_changed and offered.resources.subscribe, "resources capability")
    check.ok(offered.completions is not None and offered.logging is not None, "completions and logging capabilities")


async def resources(peer):
    client, check = peer.client, peer.check
    listed = {resource.uri: resource for resource in (await client.list_resources()).resources}
    text = listed["test://static-text"]
    check.equal((text.name, text.mime_type), ("static-text", "text/plain"), "the text resource in the list")
    templates = (await client.list_resource_templates()).resource_templates
    told = [(template.uri_template, template.mime_type) for template in templates]
    check.equal(told, [("test://template/{id}/data", "application/json")], "resource templates")

    async def read(uri, mime_type):
        (only,) = (await client.read_resource(uri)).contents
        check.equal((only.uri, only.mime_type), (uri, mime_type), "what was read")
        return only

    text = await read("test://static-text", "text/plain")
    check.equal(text.text, "This is the content of the static text resource.", "text resource")
    blob = await read("test://static-binary", "image/png")
    check_picture(check, blob.blob, "binary resource")
    item = json.loads((await read("test://template/12/data", "application/json")).text)
    check.equal(item, {"id": "12", "templateTest": True, "data": "Data for ID: 12"}, "resource of a template")


async def prompts(peer):
    client, check = peer.client, peer.check
    listed = {prompt.name: prompt for prompt in (await client.list_prompts()).prompts}
    declared = [(one.name, one.required) for one in listed["test_prompt_with_arguments"].arguments]
    check.equal(declared, [("arg1", True), ("arg2", True)], "arguments of a prompt")

    async def get(name, arguments=None):
        messages = (await client.get_prompt(name, arguments)).messages
        check.equal({message.role for message in messages}, {"user"}, f"roles in {name}")
        return [message.content for message in messages]

    (simple,) = await get("test_simple_prompt")
    check.equal(simple.text, "This is a simple prompt for testing.", "prompt")
    (filled,) = await get("test_prompt_with_arguments", {"arg1": "eins", "arg2": "zwei ☀"})
    check.equal(filled.text, "Prompt with arguments: arg1='eins', arg2='zwei ☀'", "prompt with arguments")
    embedded, after = await get("test_prompt_with_embedded_resource", {"resourceUri": "test://somewhere"})
    check.equal((embedded.type, after.type), ("resource", "text"), "prompt with a resource")
    resource = (embedded.resource.uri, embedded.resource.text)
    check.equal(resource, ("test://somewhere", "Embedded resource content for testing."), "the resource in it")
    picture, _ = await get("test_prompt_with_image")
    check.equal((picture.type, picture.mime_type), ("image", "image/png"), "picture of a prompt")
    check_picture(check, picture.data, "picture of a prompt")


async def completions(peer):
    client, check = peer.client, peer.check

    async def complete(ref, name, value):
        return (await client.complete(ref, {"name": name, "value": value})).completion.values

    prompt = PromptReference(name="test_prompt_with_arguments")
    check.equal(await complete(prompt, "arg1", "te"), ["test1", "test2"], "completion of a prompt's argument")
    check.equal(await complete(prompt, "arg2", "te"), [], "completion of an argument that has none")
    template = ResourceTemplateReference(uri="test://template/{id}/data")
    check.equal(await complete(template, "id", "12"), ["12", "123"], "completion of a template's variable")
    nobody = complete(PromptReference(name="no_such_prompt"), "arg1", "")
    await check.refused(nobody, INVALID_PARAMS, "completion for an unknown prompt")


async def contents(peer):
    client, check = peer.client, peer.check
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    person = tools["json_schema_2020_12_tool"].input_schema
    check.equal(person["$schema"], "https://json-schema.org/draft/2020-12/schema", "dialect of a schema")
    check.equal(person["$defs"]["address"]["$anchor"], "addressDef", "anchor in a schema")
    check.equal(person["then"], {"required": ["phone"]}, "condition of a schema")

    async def content(name, arguments=None):
        result = await peer.call(name, arguments)
        check.ok(not result.is_error, f"{name} fails: {result.content}")
        return result.content

    (text,) = await content("test_simple_text")
    check.equal(text.text, "This is a simple text response for testing.", "text")
    (image,) = await content("test_image_content")
    check.equal((image.type, image.mime_type), ("image", "image/png"), "picture")
    check_picture(check, image.data, "picture")
    (audio,) = await content("test_audio_content")
    check.equal((audio.type, audio.mime_type), ("audio", "audio/wav"), "sound")
    check.equal(base64.b64decode(audio.data)[:4], b"RIFF", "bytes of a sound")
    (embedded,) = await content("test_embedded_resource")
    resource = (embedded.resource.uri, embedded.resource.mime_type, embedded.resource.text)
    expected = ("test://embedded-resource", "text/plain", "This is an embedded resource content.")
    check.equal(resource, expected, "embedded resource")
    mixed = await content("test_multiple_content_types")
    check.equal([block.type for block in mixed], ["text", "image", "resource"], "several kinds of content")
    check.equal(json.loads(mixed[2].resource.text), {"test": "data", "value": 123}, "the resource among them")
    sent = {"contactMethod": "email", "email": "ada@example.org", "name": "Ada ☀"}
    (echo,) = await content("json_schema_2020_12_tool", sent)
    check.equal(json.loads(echo.text), sent, "arguments as they arrived")
    # In the modern era over HTTP the client repeats the argument as a header; not every text fits into one as it is.
    for value in ["plain", "", " padded ", "ünïcode ☀", "=?base64?eA==?="]:
        (said,) = await content("test_custom_header", {"value": value})
        check.equal(said.text, f"The value is {value}.", "argument repeated by a header")


async def refusals(peer):
    client, check = peer.client, peer.check
    failed = await peer.call("test_error_handling")
    check.ok(failed.is_error, "a tool that fails")
    check.ok("intentionally returns an error" in failed.content[0].text, f"what it says: {failed.content}")
    bad = await peer.call("json_schema_2020_12_tool", {"contactMethod": "pigeon"})
    check.ok(bad.is_error and "pigeon" in bad.content[0].text, f"arguments that do not fit: {bad.content}")

    unknown = await check.refused(peer.call("no_such_tool"), INVALID_PARAMS, "unknown tool")
    check.ok("no_such_tool" in unknown.message, f"unknown tool: {unknown.message}")
    uri = "test://no-such-resource"
    missing = await check.refused(client.read_resource(uri), NOT_FOUND[peer.era], "unknown resource")
    check.equal(missing.data, {"uri": uri}, "the URI that is unknown")
    await check.refused(client.get_prompt("no_such_prompt"), INVALID_PARAMS, "unknown prompt")
    half = client.get_prompt("test_prompt_with_arguments", {"arg1": "eins"})
    lacking = await check.refused(half, INVALID_PARAMS, "missing argument")
    check.ok("arg2" in lacking.message, f"missing argument: {lacking.message}")


async def crowd(peer):
    """Many calls at once over one connection: each gets its own answer."""
    values = [f"call {index}" for index in range(32)]
    texts = await asyncio.gather(*(peer.text("test_custom_header", {"value": value}) for value in values))
    peer.check.equal(texts, [f"The value is {value}." for value in values], "answers to calls at once")


def check_picture(check, data, what):
    check.equal(base64.b64decode(data)[1:4], b"PNG", f"bytes of the {what}")
