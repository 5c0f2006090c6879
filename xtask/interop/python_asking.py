"""What the fixture asks of its client: forms, samples, roots.

In the legacy era these are requests of the server; in the modern era results that the client completes and sends again,
which this package does by itself.
"""

import asyncio
import json

from mcp.types import CreateMessageResult, ElicitResult, ListRootsResult, Root, TextContent

from python_harness import open_peer

# The legacy era has no code of its own for a capability that the client lacks.
MISSING_CAPABILITY = {"legacy": -32602, "modern": -32021}
# Answers that fit the forms of the fixture.
KNOWN = {
    "name": "Ada",
    "color": "green",
    "context": "the sky",
    "username": "ada",
    "email": "ada@example.org",
    "ok": True,
    "untitledSingle": "option2",
    "titledSingle": "value3",
    "legacyEnum": "opt1",
    "untitledMulti": ["option1", "option3"],
    "titledMulti": ["value2"],
}


class Answers:
    """Answers the questions of a server, and keeps them in the order in which they came."""

    def __init__(self):
        self.asked = []

    def of(self, kind):
        return [params for asked, params in self.asked if asked == kind]

    async def elicit(self, _context, params):
        self.asked.append(("elicit", params))
        refusal = {"No, thank you": "decline", "Go away": "cancel"}.get(params.message)
        if refusal:
            return ElicitResult(action=refusal)
        properties = params.requested_schema["properties"]
        # As a user interface does: a field that nobody touches keeps its default.
        content = {name: schema.get("default", KNOWN.get(name)) for name, schema in properties.items()}
        return ElicitResult(action="accept", content=content)

    async def sample(self, _context, params):
        self.asked.append(("sample", params))
        text = f"Said: {params.messages[0].content.text}"
        return CreateMessageResult(role="assistant", model="interop-model", content=TextContent(text=text))

    async def roots(self, _context):
        self.asked.append(("roots", None))
        return ListRootsResult(roots=[Root(uri="file:///home/ada", name="home"), Root(uri="file:///srv/data%20sets")])


async def asking(server, era, check):
    answers = Answers()
    callbacks = {"elicitation_callback": answers.elicit, "sampling_callback": answers.sample}
    async with open_peer(server, era, check, list_roots_callback=answers.roots, **callbacks) as peer:
        await forms(peer, answers)
        await others(peer, answers)
        await several(peer, answers)

    model = Answers()
    async with open_peer(server, era, check, sampling_callback=model.sample) as peer:
        text = await peer.text("test_input_required_result_capabilities")
        check.equal(text, "Asked what could be asked.", "one asked")
        check.equal([kind for kind, _ in model.asked], ["sample"], "questions to a client that can only sample")

    # A client that can be asked nothing is told what it lacks, and still served.
    async with open_peer(server, era, check) as peer:
        lacking = peer.call("test_missing_capability")
        refused = await check.refused(lacking, MISSING_CAPABILITY[era], "a tool that needs what the client lacks")
        check.ok("sampling" in refused.message, f"what it lacks: {refused.message}")
        if era == "modern":
            check.equal(refused.data, {"requiredCapabilities": {"sampling": {}}}, "what it lacks, as data")
        check.ok((await peer.text("test_simple_text")).startswith("This is"), "the next call")


async def forms(peer, answers):
    check = peer.check

    async def answered(message):
        return json.loads((await peer.text("test_elicitation", {"message": message})).removeprefix("User response: "))

    person = {"username": "ada", "email": "ada@example.org"}
    check.equal(await answered("Who are you?"), {"action": "accept", "content": person}, "a form that is filled in")
    (form,) = answers.of("elicit")
    check.equal(form.message, "Who are you?", "message of the form")
    check.equal(form.requested_schema["required"], ["username", "email"], "what the form requires")
    check.equal(form.requested_schema["properties"]["email"]["format"], "email", "format of a field")
    check.equal((await answered("No, thank you"))["action"], "decline", "a form that is declined")
    check.equal((await answered("Go away"))["action"], "cancel", "a form that is cancelled")

    async def content(name):
        return json.loads((await peer.text(name)).partition("content=")[2])

    defaults = {"name": "John Doe", "age": 30, "score": 95.5, "status": "active", "verified": True}
    check.equal(await content("test_elicitation_sep1034_defaults"), defaults, "defaults")
    chosen = await content("test_elicitation_sep1330_enums")
    check.equal((chosen["titledSingle"], chosen["untitledMulti"]), ("value3", ["option1", "option3"]), "choices")
    properties = answers.of("elicit")[-1].requested_schema["properties"]
    titled = {"const": "value3", "title": "Third Option"}
    check.equal(properties["titledSingle"]["oneOf"][2], titled, "a choice with a title")
    check.equal(len(properties["titledMulti"]["items"]["anyOf"]), 3, "choices with titles, of which several")

    check.equal(await peer.text("test_input_required_result_elicitation"), "Hello, Ada!", "one question")
    check.equal(await peer.text("test_input_required_result_request_state"), "state-ok", "state that comes back")
    rounds = await peer.text("test_input_required_result_multi_round")
    check.equal(rounds, "Ada likes green.", "two questions in turn")
    check.ok(answers.of("elicit")[-1].message.startswith("Step 2"), "the second of them")
    prompt = await peer.client.get_prompt("test_input_required_result_prompt")
    check.equal(prompt.messages[0].content.text, "Use this context: the sky", "a prompt that asks")


async def others(peer, answers):
    check = peer.check
    prompt = "What is 1 + 1?"
    check.equal(await peer.text("test_sampling", {"prompt": prompt}), f"LLM response: Said: {prompt}", "sampling")
    (sampled,) = answers.of("sample")
    check.equal((sampled.max_tokens, sampled.messages[0].role), (100, "user"), "what is sampled")
    capital = await peer.text("test_input_required_result_sampling")
    check.equal(capital, "LLM response: Said: What is the capital of France?", "sampling without arguments")
    roots = await peer.text("test_input_required_result_list_roots")
    check.equal(roots, "Roots: file:///home/ada, file:///srv/data%20sets", "roots")


async def several(peer, answers):
    check = peer.check
    before = len(answers.asked)
    text = await peer.text("test_input_required_result_multiple_inputs")
    check.equal(text, "Said: Generate a greeting Ada, you have 2 roots.", "several questions at once")
    kinds = sorted(kind for kind, _ in answers.asked[before:])
    check.equal(kinds, ["elicit", "roots", "sample"], "the questions, each once")
    # Calls that ask at the same time get their own answers.
    prompts = [f"Question {index}" for index in range(8)]
    texts = await asyncio.gather(*(peer.text("test_sampling", {"prompt": prompt}) for prompt in prompts))
    check.equal(texts, [f"LLM response: Said: {prompt}" for prompt in prompts], "samples at once")
    text = await peer.text("test_input_required_result_capabilities")
    check.equal(text, "Asked what could be asked.", "both asked")
    check.equal(sorted(kind for kind, _ in answers.asked[-2:]), ["elicit", "sample"], "what could be asked")
