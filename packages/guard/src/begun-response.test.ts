import type { RequestListener } from "node:http";
import { connect, createServer as createHttp2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import type { Latchkey } from "@latchkey/core";
import express from "express";
import { describe, expect, onTestFinished, test } from "vitest";
import { createGuard as forExpress } from "./express.js";
import { createGuard as forNode } from "./node.js";
import { listenOn } from "./testing/listen.js";
import { open } from "./testing/open.js";

const FIRST = "event: open\n\n";

type Begin = (response: Parameters<RequestListener>[1]) => void;

/** Servers whose guarded route goes on with a response. `begin` is called just before the guard. */
const SERVERS: Record<string, (latchkey: Latchkey, begin: Begin) => RequestListener> = {
  Express(latchkey, begin) {
    const app = express();
    app.use((_request, response, next) => {
      begin(response);
      next();
    });
    app.get("/", forExpress(latchkey)(), (_request, response) => {
      response.end("in");
    });
    return app;
  },
  "node:http"(latchkey, begin) {
    const guard = forNode(latchkey)({}, (_request, response) => response.end("in"));
    return (request, response) => {
      begin(response);
      void guard(request, response);
    };
  },
};

describe.each(Object.entries(SERVERS))("a response that %s has begun", (_name, serve) => {
  test("before the guard is aborted if the request is refused, because nobody else would end it", async () => {
    const { latchkey, issue } = await open();
    const port = await listenOn(serve(latchkey, (response) => response.write(FIRST)));
    const visit = async (key: string) => {
      const response = await fetch(`http://127.0.0.1:${port}`, { headers: { "x-api-key": key } });
      return response.text();
    };
    await expect(visit("wrong")).rejects.toThrow("terminated");
    expect(await visit(await issue())).toBe(`${FIRST}in`);
  });

  test("in the meantime is left alone, and goes on", async () => {
    const { latchkey } = await open();
    const serving = serve(latchkey, (response) => {
      queueMicrotask(() => response.write(FIRST));
      setTimeout(() => response.end("the host"), 50);
    });
    const port = await listenOn(serving);
    const response = await fetch(`http://127.0.0.1:${port}`, { headers: { "x-api-key": "wrong" } });
    expect([response.status, await response.text()]).toEqual([200, `${FIRST}the host`]);
  });
});

test("over HTTP/2, such a response ends with an error code", async () => {
  const { latchkey } = await open();
  const guard = forNode(latchkey)({}, () => undefined);
  const server = createHttp2Server((request, response) => {
    response.write(FIRST);
    void guard(request as never, response as never);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  onTestFinished(() => {
    session.destroy();
    server.close();
  });
  const stream = session.request({ ":path": "/" });
  stream.resume();
  const error = await new Promise<Error>((resolve) => stream.once("error", resolve));
  expect(error.message).toContain("NGHTTP2_INTERNAL_ERROR");
});
