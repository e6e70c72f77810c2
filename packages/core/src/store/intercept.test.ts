import { describe, expect, test } from "vitest";
import { interceptStore, runBeside, type StoreCall, type StoreMethod } from "./intercept.js";
import type { KeyStore } from "./key-store.js";

const PLAN = { workspaceId: "ws_tides" } as Parameters<KeyStore["charge"]>[0];
const MOMENT = { now: 1, refill: null };

/** A store that returns its name and the arguments of each call. */
class EchoStore {
  readonly #name = "echo";
  read = (...args: unknown[]) => this.#echo("read", args);
  page = (...args: unknown[]) => this.#echo("page", args);
  commit = (...args: unknown[]) => this.#echo("commit", args);
  charge(...args: unknown[]) {
    return { by: this.#name, method: "charge", args };
  }
  addStatistics = (...args: unknown[]) => this.#echo("addStatistics", args);
  readStatistics = (...args: unknown[]) => this.#echo("readStatistics", args);
  deleteStatistics = (...args: unknown[]) => this.#echo("deleteStatistics", args);
  async close() {
    return this.#echo("close", []);
  }

  async #echo(method: string, args: unknown[]) {
    return { by: this.#name, method, args };
  }
}

function intercepted(more: object = {}) {
  const calls: StoreCall[] = [];
  const echo = Object.assign(new EchoStore(), more) as unknown as KeyStore;
  const store = interceptStore(echo, (call, run) => {
    calls.push(call);
    return run();
  });
  return { store, calls };
}

describe("a store that is intercepted", () => {
  test("is called with the same arguments, and its answer is returned", async () => {
    const { store, calls } = intercepted();
    expect(await store.read("ws_tides", [])).toEqual({
      by: "echo",
      method: "read",
      args: ["ws_tides", []],
    });
    expect(calls).toEqual([{ method: "read", workspaceId: "ws_tides", isRead: true }]);
  });

  test("still answers a charge synchronously, in the workspace of the plan", () => {
    const { store, calls } = intercepted();
    const answer: unknown = store.charge(PLAN, MOMENT);
    expect(answer).toEqual({ by: "echo", method: "charge", args: [PLAN, MOMENT] });
    expect(calls).toEqual([{ method: "charge", workspaceId: "ws_tides", isRead: false }]);
  });

  test("is closed in no workspace", async () => {
    const { store, calls } = intercepted();
    await store.close();
    expect(calls).toEqual([{ method: "close", workspaceId: null, isRead: false }]);
  });

  test("has a clock of its own exactly if it had one before", async () => {
    expect(intercepted().store).not.toHaveProperty("readClock");
    const { store, calls } = intercepted({ readClock: async () => 7 });
    expect(await store.readClock?.()).toBe(7);
    expect(calls).toEqual([{ method: "readClock", workspaceId: null, isRead: true }]);
  });

  test("marks calls that no operation waits for, also through another interceptor, and only those", async () => {
    const { store, calls } = intercepted();
    const outer = interceptStore(store, (call, run) => {
      calls.push(call);
      return run();
    });
    const pending = runBeside(() => outer.read("ws_tides", []));
    await outer.read("ws_harbour", []);
    await pending;
    const beside = { method: "read", workspaceId: "ws_tides", isRead: true, isBeside: true };
    const awaited = { method: "read", workspaceId: "ws_harbour", isRead: true };
    expect(calls).toEqual([beside, beside, awaited, awaited]);
    expect(() => runBeside(() => JSON.parse("{"))).toThrow(SyntaxError);
    await store.close();
    expect(calls.at(-1)).toEqual({ method: "close", workspaceId: null, isRead: false });
  });

  test("says of each call whether it changes nothing", async () => {
    const isRead = {
      read: true,
      page: true,
      commit: false,
      charge: false,
      settle: false,
      holds: true,
      addStatistics: false,
      readStatistics: true,
      pageStatistics: true,
      nextStatisticsDay: true,
      deleteStatistics: false,
      scan: true,
      scanWindows: true,
      forget: false,
      readClock: true,
      close: false,
    } satisfies Record<StoreMethod, boolean>;
    const methods = Object.keys(isRead) as (keyof typeof isRead)[];
    const { store, calls } = intercepted(
      Object.fromEntries(methods.map((method) => [method, async () => null])),
    );
    for (const method of methods) await Reflect.apply(Object(store)[method], store, [PLAN]);
    expect(Object.fromEntries(calls.map((call) => [call.method, call.isRead]))).toEqual(isRead);
    await store.charge({ ...PLAN, mode: "peek" }, MOMENT);
    expect(calls.at(-1)).toMatchObject({ method: "charge", isRead: true });
  });

  test("need not be called at all", async () => {
    const refused = new Error("not today");
    const store = interceptStore(new EchoStore() as unknown as KeyStore, () =>
      Promise.reject(refused),
    );
    await expect(store.page("ws_tides", {} as never)).rejects.toBe(refused);
  });
});
