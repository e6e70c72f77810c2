import { createServer, request } from "node:http";
import { createLatchkey, type KeyStore, type Latchkey, unavailable } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import express from "express";
import { onTestFinished } from "vitest";
import { createConsole } from "../express.js";
import type { ConsoleOptions } from "../options.js";
import { listen } from "./fixture.js";

/** A console on a path of an Express app, as operators use it. */
export interface Mounted {
  readonly latchkey: Latchkey;
  readonly origin: string;
  /** The URL of the console, with a slash at the end. */
  readonly url: string;
  /** Takes the store down or up. While it is down, all calls fail. */
  setDown(isDown: boolean): void;
}

const PATH = "/internal/ops/console/";

/** Mounts a console on a store. */
export async function mount(
  options: ConsoleOptions = {},
  store: KeyStore = memoryStore(),
): Promise<Mounted> {
  const { store: failing, setDown } = failingStore(store);
  const latchkey = createLatchkey({ store: failing, usage: { flushMs: 20 } });
  onTestFinished(async () => {
    setDown(false);
    await latchkey.close();
  });
  const app = express();
  app.use(PATH, createConsole(latchkey, options));
  const origin = await listen(app);
  return {
    latchkey,
    origin,
    url: `${origin}${PATH}`,
    setDown,
  };
}

/** A store whose calls fail while it is down. */
export function failingStore(store: KeyStore): {
  readonly store: KeyStore;
  setDown(isDown: boolean): void;
} {
  let isDown = false;
  const failing = new Proxy(store, {
    get: (target, name) => {
      const own: unknown = Reflect.get(target, name);
      if (typeof own !== "function") return own;
      return (...args: readonly unknown[]) => {
        if (isDown && name !== "close") throw unavailable("the test says so", "not-applied");
        return Reflect.apply(own, target, args);
      };
    },
  });
  return {
    store: failing,
    setDown: (value) => {
      isDown = value;
    },
  };
}

/** A proxy that serves a console on a path unknown to the server behind it. */
export async function proxyTo(url: string): Promise<string> {
  const behind = new URL(url);
  const proxy = createServer((incoming, outgoing) => {
    const path = (incoming.url ?? "").replace(/^\/edge/, behind.pathname.slice(0, -1));
    const headers = { ...incoming.headers, host: "behind.internal" };
    const { method } = incoming;
    const forwarded = request(
      { host: behind.hostname, port: behind.port, path, method, headers },
      (response) => {
        outgoing.writeHead(response.statusCode ?? 502, response.headers);
        response.pipe(outgoing);
      },
    );
    incoming.pipe(forwarded);
  });
  return `${await listen(proxy)}/edge`;
}
