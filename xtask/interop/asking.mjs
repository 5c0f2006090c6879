// What the fixture asks of its client: forms, samples, roots. In the legacy era these are requests of the server; in
// the modern era results that the client completes and sends again, which these packages do by themselves.
import { check } from "./harness.mjs";

/** Answers that fit the forms of the fixture. An empty answer is filled up with the defaults by the client. */
export const ANSWERS = {
  elicit({ message, requestedSchema: { properties } }) {
    if (message === "No, thank you") return { action: "decline" };
    if (message === "Go away") return { action: "cancel" };
    const known = {
      name: "Ada",
      color: "green",
      context: "the sky",
      username: "ada",
      email: "ada@example.org",
      ok: true,
      untitledSingle: "option2",
      titledSingle: "value3",
      legacyEnum: "opt1",
      untitledMulti: ["option1", "option3"],
      titledMulti: ["value2"],
    };
    const asked = Object.entries(properties).filter(([name, schema]) => name in known && !("default" in schema));
    return { action: "accept", content: Object.fromEntries(asked.map(([name]) => [name, known[name]])) };
  },
  sample: ({ messages: [message] }) => {
    const { text } = [message.content].flat()[0];
    return { role: "assistant", model: "interop-model", stopReason: "endTurn", content: { type: "text", text: `Said: ${text}` } };
  },
  roots: () => ({ roots: [{ uri: "file:///home/ada", name: "home" }, { uri: "file:///srv/data%20sets" }] }),
};
export const CAPABILITIES = { elicitation: { form: { applyDefaults: true } }, sampling: {}, roots: {} };
/** The legacy era has no code of its own for it. */
const MISSING_CAPABILITY = { legacy: -32602, modern: -32021 };

export async function asking(open, options) {
  const peer = await open({ capabilities: CAPABILITIES, answers: ANSWERS });
  await forms(peer);
  await others(peer);
  await severalAnswers(peer);
  check.equal(await peer.text("test_input_required_result_capabilities"), "Asked what could be asked.", "both asked");
  check.equal(kinds(peer).slice(-2).sort(), ["elicit", "sample"], "questions to a client that can do both");
  await peer.end();

  const model = await open({ capabilities: { sampling: {} }, answers: ANSWERS });
  check.equal(await model.text("test_input_required_result_capabilities"), "Asked what could be asked.", "one asked");
  check.equal(kinds(model), ["sample"], "questions to a client that can only sample");
  await model.end();
  await nothingToAsk(open, options);
}

const kinds = (peer) => peer.questions.messages.map(({ method }) => method);

async function forms(peer) {
  const asked = async (message) => {
    const text = await peer.text("test_elicitation", { message });
    return JSON.parse(text.replace(/^User response: /, ""));
  };
  const person = { username: "ada", email: "ada@example.org" };
  check.equal(await asked("Who are you?"), { action: "accept", content: person }, "a form that is filled in");
  const [{ message, requestedSchema }] = peer.questions.of("elicit");
  check.equal(message, "Who are you?", "message of the form");
  check.equal(requestedSchema.required, ["username", "email"], "what the form requires");
  check.equal(requestedSchema.properties.email.format, "email", "format of a field");
  check.equal((await asked("No, thank you")).action, "decline", "a form that is declined");
  check.equal((await asked("Go away")).action, "cancel", "a form that is cancelled");

  const said = await peer.text("test_elicitation_sep1034_defaults");
  const content = JSON.parse(said.replace(/^.*content=/, ""));
  const defaults = { name: "John Doe", age: 30, score: 95.5, status: "active", verified: true };
  check.equal(content, defaults, "defaults that the client filled in");
  const chosen = JSON.parse((await peer.text("test_elicitation_sep1330_enums")).replace(/^.*content=/, ""));
  check.equal([chosen.titledSingle, chosen.untitledMulti], ["value3", ["option1", "option3"]], "choices");
  const { properties } = peer.questions.of("elicit").at(-1).requestedSchema;
  check.equal(properties.titledSingle.oneOf?.[2], { const: "value3", title: "Third Option" }, "a choice with a title");
  check.equal(properties.titledMulti.items?.anyOf?.length, 3, "choices with titles, of which several");

  check.equal(await peer.text("test_input_required_result_elicitation"), "Hello, Ada!", "one question");
  check.equal(await peer.text("test_input_required_result_request_state"), "state-ok", "state that comes back");
  check.equal(await peer.text("test_input_required_result_multi_round"), "Ada likes green.", "two questions in turn");
  check.match(peer.questions.of("elicit").at(-1).message, /^Step 2/, "the second of them");
  const { messages } = await peer.client.getPrompt({ name: "test_input_required_result_prompt" });
  check.equal(messages[0].content.text, "Use this context: the sky", "a prompt that asks");
}

async function others(peer) {
  const prompt = "What is 1 + 1?";
  check.equal(await peer.text("test_sampling", { prompt }), `LLM response: Said: ${prompt}`, "sampling");
  const [{ maxTokens, messages }] = peer.questions.of("sample");
  check.equal([maxTokens, messages.length, messages[0].role], [100, 1, "user"], "what is sampled");
  const capital = await peer.text("test_input_required_result_sampling");
  check.equal(capital, "LLM response: Said: What is the capital of France?", "sampling without arguments");
  const roots = await peer.text("test_input_required_result_list_roots");
  check.equal(roots, "Roots: file:///home/ada, file:///srv/data%20sets", "roots");
}

async function severalAnswers(peer) {
  const before = kinds(peer).length;
  const text = await peer.text("test_input_required_result_multiple_inputs");
  check.equal(text, "Said: Generate a greeting Ada, you have 2 roots.", "several questions at once");
  check.equal(kinds(peer).slice(before).sort(), ["elicit", "roots", "sample"], "the questions, each once");
  // Calls that ask at the same time get their own answers.
  const prompts = Array.from({ length: 8 }, (_, index) => `Question ${index}`);
  const answers = await Promise.all(prompts.map((prompt) => peer.text("test_sampling", { prompt })));
  check.equal(answers, prompts.map((prompt) => `LLM response: Said: ${prompt}`), "samples at once");
}

/** A client that can be asked nothing is told what it lacks, and still served. */
async function nothingToAsk(open, { era }) {
  const peer = await open({ capabilities: {} });
  const asked = () => peer.call({ name: "test_missing_capability", arguments: {} });
  const refused = await check.refused(asked, [MISSING_CAPABILITY[era]], "a tool that needs what the client lacks");
  check.match(refused.message, /sampling/, "what it lacks");
  if (era === "modern") check.equal(refused.data?.requiredCapabilities, { sampling: {} }, "what it lacks, as data");
  check.match(await peer.text("test_simple_text"), /^This is/, "the next call");
  await peer.end();
}
