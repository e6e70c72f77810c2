import { once } from "node:events";
import { connect, createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { toNode } from "./node-bridge.js";

test.each(["TRACE", "TRACK", "get", "Head"])(
  "%s, of which no request can be made, is a method that is not allowed",
  async (method) => {
    const listen = toNode(async () => new Response());
    const server = createServer(
      (incoming, outgoing) => void listen(incoming as never, outgoing as never),
    );
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    onTestFinished(() => {
      client.destroy();
      server.close();
    });
    const stream = client.request({ ":method": method, ":path": "/" }, { endStream: true });
    const [{ ":status": status, allow }] = await once(stream.resume(), "response");
    expect([status, allow]).toEqual([405, "GET, HEAD, POST, DELETE"]);
  },
);
