// An open client, with what it is told, what it is asked and what its transport does put where a test can see it.
import { check, Inbox, within } from "./harness.mjs";

export class Peer {
  /** The negotiated revision. */
  version;
  /** Notifications that belong to no call. */
  told = new Inbox();
  /** What the server asked: `method` is `elicit`, `sample` or `roots`. */
  questions = new Inbox();
  /** HTTP requests that were answered: `method`, and the status in `params`. */
  wire = new Inbox();
  /** The session that was given back. */
  ended;
  /** The code of an unknown resource, as the client tells it. */
  notFound = -32602;
  /** What the client complained of. */
  complaints = [];

  constructor({ era, url }) {
    this.era = era;
    this.http = Boolean(url);
    this.fetch = async (input, init) => {
      const response = await fetch(input, init);
      this.wire.push({ method: init?.method ?? "GET", params: response.status });
      return response;
    };
  }

  /** Connects the parts; `call` calls a tool with the client's own request options. */
  attach(client, transport, call) {
    Object.assign(this, { client, transport, call });
    client.fallbackNotificationHandler = async (message) => this.told.push(message);
    client.onerror = (error) => this.complaints.push(String(error));
  }

  /** A handler of the client that keeps each question and lets `answers` answer it. */
  asked(kind, answers) {
    return async ({ params }) => {
      this.questions.push({ method: kind, params });
      return answers[kind](params);
    };
  }

  /** The text of a tool's answer, which is not an error. */
  async text(name, args = {}, options = undefined) {
    const result = await within(name, this.call({ name, arguments: args }, options));
    check.ok(!result.isError, `${name} fails: ${JSON.stringify(result.content)}`);
    check.equal(result.content.map((block) => block.type), ["text"], `content of ${name}`);
    return result.content[0].text;
  }

  /** The text of a resource as it is now, whatever the client has cached. */
  async read(uri) {
    const { contents } = await this.client.readResource({ uri }, { cacheMode: "refresh" });
    return contents[0].text;
  }

  /** Disconnects: a session is given back, a process ends by itself when its input does. */
  async end() {
    check.equal(this.complaints, [], "complaints of the client");
    const legacy = this.era === "legacy";
    if (this.http) {
      this.ended = this.transport.sessionId;
      check.equal(Boolean(this.ended), legacy, "a session in the legacy era only");
      await this.transport.terminateSession();
      const gone = this.wire.of("DELETE").map((status) => status >= 200 && status < 300);
      check.equal(gone, legacy ? [true] : [], "sessions that were given back");
      if (!legacy) check.equal(this.wire.of("GET"), [], "streams outside of a call");
    }
    // The one way to see how the server process ends; the package is pinned.
    const server = this.transport._process;
    await this.client.close();
    if (!this.http) check.equal([server.exitCode, server.signalCode], [0, null], "exit code and signal of the server");
  }
}
