import type { IncomingMessage, ServerResponse } from "node:http";

/** How long the rest of an unwanted body may keep a connection open. */
const LINGER_MS = 500;

/**
 * How much of an unwanted body is read and dropped. What is read is garbage until it is collected: without this bound an
 * endless upload makes the process grow by as much as arrives in {@link LINGER_MS}.
 */
const MAX_DRAINED_BYTES = 1_048_576;

/**
 * Once the response is sent, gives a client that is still sending time to read it, then disconnects. Disconnecting at once
 * would make the client's system discard the response; never disconnecting would let it send forever.
 *
 * @see packages/http/decisions/0004-the-rest-of-an-unwanted-body.md
 */
export function drainAfter(outgoing: ServerResponse, incoming: IncomingMessage): void {
  outgoing.once("finish", () => {
    if (!incoming.complete) drain(incoming);
  });
}

function drain(incoming: IncomingMessage): void {
  const disconnect = setTimeout(() => incoming.destroy(), LINGER_MS);
  let drained = 0;
  incoming.on("data", (chunk: Uint8Array) => {
    drained += chunk.byteLength;
    if (drained > MAX_DRAINED_BYTES) incoming.pause();
  });
  incoming.once("close", () => clearTimeout(disconnect)).resume();
}
