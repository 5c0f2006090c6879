// The host's side of MCP Apps, as the official package has it, for the page that view.mjs opens.
import { AppBridge, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";

window.heard = [];

async function call(params) {
  const answer = await fetch("/rpc", { method: "POST", body: JSON.stringify({ method: "tools/call", params }) });
  const { result, error } = await answer.json();
  if (error) throw new Error(error.message);
  return result;
}

/** Shows a view in a frame that may run scripts and nothing else. */
window.open_view = async (html, theme, capabilities) => {
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts");
  frame.style.cssText = "width: 100%; height: 460px; border: 0";
  document.body.replaceChildren(frame);
  const bridge = new AppBridge(null, { name: "host", version: "1.0.0" }, capabilities, {
    hostContext: { theme, displayMode: "inline" },
  });
  window.bridge = bridge;
  bridge.oncalltool = call;
  bridge.onsizechange = size => window.heard.push(["size", size]);
  const ready = new Promise(resolve => { bridge.oninitialized = resolve; });
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
  frame.srcdoc = html;
  await ready;
};

/** Calls a tool as a model would, and tells the view of it. */
window.tell = async (name, args) => {
  await window.bridge.sendToolInput({ arguments: args });
  await window.bridge.sendToolResult(await call({ name, arguments: args }));
};

window.dress = theme => window.bridge.setHostContext({ theme, displayMode: "inline" });
