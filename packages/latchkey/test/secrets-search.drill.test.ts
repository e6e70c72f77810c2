import { join } from "node:path";
import {
  createLatchkey,
  type KeyStore,
  type Latchkey,
  type LatchkeyOptions,
  OPERATIONS,
} from "@latchkey/core";
import { createHandler } from "@latchkey/http";
import { memoryStore } from "@latchkey/memory";
import { postgresStore } from "@latchkey/postgres";
import {
  describeWithServers,
  PATIENT,
  startServer as startPostgres,
} from "@latchkey/postgres/testing";
import { redisStore } from "@latchkey/redis";
import { PATIENT as PATIENT_REDIS, startServer as startRedis } from "@latchkey/redis/testing";
import { sqliteStore } from "@latchkey/sqlite";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { everythingAbout, filesBelow, secretFinder } from "../src/testing/find-secrets.js";
import { tempFolder } from "../src/testing/temp-folder.js";
import { VAULT_KEYS } from "./test-context.js";

const CREATED = 200;
const IMPORTED = 200;
const ROTATED = 60;
const ROOT_KEYS = 40;

const pepperOf = (seed: number) => Uint8Array.from({ length: 32 }, (_, at) => 7 * at + seed);
const PEPPERS = { current: "p", keys: { p: pepperOf(3) } };
const VAULT = { current: "a", keys: { a: VAULT_KEYS[0] } };
const NEXT_VAULT = { current: "b", keys: { a: VAULT_KEYS[0], b: VAULT_KEYS[1] } };

/** A store with the places where it keeps data. */
interface Site {
  readonly store: KeyStore;
  /** Everything that the store leaves behind, by place. Called once, after all writes. */
  readonly remains: () => Promise<readonly (readonly [where: string, bytes: Buffer])[]>;
  /** Makes the store unavailable. */
  readonly fail: () => Promise<void>;
}

/** A secret without the leading characters, which lists show. */
const hiddenPart = (secret: string) => secret.slice(secret.indexOf("_") + 6);

/** Everything that could leak a secret during the run: answers, errors, events, arguments of the store, output. */
class Heard {
  readonly #parts: (readonly [where: string, text: string])[] = [];

  note(where: string, value: unknown): void {
    this.#parts.push([where, everythingAbout(value)]);
  }

  /** Records the answer or the error of a call. */
  async call(where: string, call: Promise<unknown>): Promise<void> {
    this.note(where, await call.catch((error: unknown) => error));
  }

  /** A store that records its arguments and errors. */
  through(store: KeyStore): KeyStore {
    return new Proxy(store, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== "function") return member;
        return (...args: unknown[]) => {
          if (name !== "close") this.note(`arguments of ${String(name)}`, args);
          return Reflect.apply(member, target, args) as unknown;
        };
      },
    });
  }

  print(): void {
    for (const stream of [process.stdout, process.stderr]) {
      const spy = vi.spyOn(stream, "write").mockImplementation((chunk) => {
        this.#parts.push(["what is printed", String(chunk)]);
        return true;
      });
      onTestFinished(() => spy.mockRestore());
    }
  }

  get parts(): readonly (readonly [where: string, bytes: Buffer])[] {
    return this.#parts.map(([where, text]) => [where, Buffer.from(text)]);
  }
}

/** Uses secrets in every operation, correctly and incorrectly, and returns them. */
async function sendThrough(site: Site, heard: Heard): Promise<string[]> {
  const secrets: string[] = [];
  const store = heard.through(site.store);
  const open = (options: Partial<LatchkeyOptions> = {}) =>
    createLatchkey({
      store,
      vault: VAULT,
      pepper: PEPPERS,
      onEvent: (event) => heard.note(`event ${event.type}`, event),
      onError: (error) => heard.note("onError", error),
      ...options,
    });
  const latchkey = open();
  const { apiId } = await latchkey.createApi({ name: "maps" });
  const keyIds: string[] = [];
  for (let at = 0; at < CREATED; at += 1) {
    const settings = { prefix: "pay", recoverable: at % 2 === 0, remaining: 9 };
    const { key, keyId } = await latchkey.createKey({ apiId, externalId: "pier-7", ...settings });
    secrets.push(key);
    keyIds.push(keyId);
  }
  for (let first = 0; first < IMPORTED; first += 100) {
    const rows = Array.from({ length: 100 }, (_, at) => {
      const plaintext = `sk_imported_${first + at}_${crypto.randomUUID()}`;
      secrets.push(plaintext);
      return { apiId, plaintext, recoverable: at % 2 === 0 };
    });
    await heard.call("createKeys", latchkey.createKeys(rows));
    await heard.call("createKeys again", latchkey.createKeys(rows));
  }
  for (const keyId of keyIds.slice(0, ROTATED))
    secrets.push((await latchkey.rotateKey({ keyId, graceMs: 60_000 })).key);
  const rootKeys: string[] = [];
  for (let at = 0; at < ROOT_KEYS; at += 1)
    rootKeys.push((await latchkey.createRootKey({ permissions: ["*"] })).key);
  secrets.push(...rootKeys);

  await misuse(open, heard, secrets, apiId);
  const { cursor } = await latchkey.listKeys({ apiId });
  await heard.call("listKeys", latchkey.listKeys({ apiId, ...(cursor && { cursor }) }));
  const { plaintext } = await latchkey.getKey({ keyId: keyIds[100] ?? "", decrypt: true });
  expect(plaintext).toBe(secrets[100]);
  const withoutRing = open({ vault: { current: "z", keys: { z: pepperOf(9) } } });
  await heard.call(
    "getKey, ring gone",
    withoutRing.getKey({ keyId: keyIds[0] ?? "", decrypt: true }),
  );
  await heard.call("listKeys, ring gone", withoutRing.listKeys({ apiId, decrypt: true }));
  await heard.call("reencryptKeys", open({ vault: NEXT_VAULT }).reencryptKeys({ apiId }));
  await overHttp(latchkey, heard, secrets, rootKeys);
  await heard.call("deleteKey", latchkey.deleteKey({ keyId: keyIds[1] ?? "" }));
  await heard.call("listAuditEvents", latchkey.listAuditEvents({ limit: 100 }));
  return secrets;
}

/** Presents each secret, correctly and incorrectly, and puts some into every field of every operation. */
async function misuse(
  open: (options?: Partial<LatchkeyOptions>) => Latchkey,
  heard: Heard,
  secrets: readonly string[],
  apiId: string,
): Promise<void> {
  const latchkey = open();
  const otherPepper = open({ pepper: { current: "q", keys: { q: pepperOf(11) } } });
  const elsewhere = createLatchkey({ store: memoryStore() });
  const calls = latchkey as unknown as Record<string, (input: unknown) => Promise<unknown>>;
  // Twenty at a time: recording two thousand concurrent calls would make a slow machine miss deadlines.
  for (let first = 0; first < secrets.length; first += 20)
    await Promise.all(
      secrets
        .slice(first, first + 20)
        .flatMap((key) => [
          heard.call("verifyKey", latchkey.verifyKey({ key })),
          heard.call("verifyKey, damaged", latchkey.verifyKey({ key: `${key}x` })),
          heard.call("verifyKey, pepper", otherPepper.verifyKey({ key })),
          heard.call("authenticateRootKey", latchkey.authenticateRootKey(key)),
        ]),
    );
  const some = secrets.filter((_, at) => at % 5 === 0);
  for (let first = 0; first < some.length; first += 20)
    await Promise.all(
      some.slice(first, first + 20).flatMap((key) => [
        heard.call("verifyKey, refused", latchkey.verifyKey({ key, remaining: { cost: 99 } })),
        heard.call("verifyKey, limit", latchkey.verifyKey({ key, ratelimits: [{ name: key }] })),
        heard.call("whoami", latchkey.whoami({ key })),
        // Uses another store: an id is looked up as given, so a secret in its place reaches the store by the caller's mistake.
        heard.call("getKey", elsewhere.getKey({ keyId: key })),
        heard.call("createKey", latchkey.createKey({ apiId, name: key, prefix: key } as never)),
      ]),
    );
  const [secret = ""] = secrets;
  for (const [name, { input }] of Object.entries(OPERATIONS)) {
    const fields = Object.keys((input as { shape?: object } | null)?.shape ?? {});
    // An unknown field makes each input invalid, because a secret that a caller stores on purpose is no leak.
    for (const field of fields)
      await heard.call(
        `${name}: ${field}`,
        calls[name]?.({ [field]: secret, unknown: secret }) ?? Promise.resolve(),
      );
    if (input !== null) await heard.call(name, calls[name]?.(secret) ?? Promise.resolve());
  }
}

async function overHttp(
  latchkey: Latchkey,
  heard: Heard,
  secrets: readonly string[],
  rootKeys: readonly string[],
): Promise<void> {
  const handler = createHandler({ latchkey, onError: (error) => heard.note("onError", error) });
  const [root = ""] = rootKeys;
  const send = async (token: string, path: string, body: string) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const request = new Request(`http://keys.test${path}`, { method: "POST", headers, body });
    const response = await handler(request);
    heard.note(`HTTP ${path.slice(0, 20)}`, [[...response.headers], await response.text()]);
  };
  for (const key of secrets.filter((_, at) => at % 10 === 0)) {
    await send(root, "/v1/keys.verifyKey", JSON.stringify({ key }));
    await send(root, "/v2/keys.verifyKey", JSON.stringify({ key: `${key}x` }));
    await send(key, "/v1/keys.createKey", "{}");
    await send(root, "/v1/keys.createKey", `{"${key}": "${key}`);
    await send(root, `/v1/${key}?key=${key}`, JSON.stringify({ [key]: key }));
  }
}

async function openSqlite(): Promise<Site> {
  const folder = tempFolder();
  const store = sqliteStore(join(folder, "keys.db"));
  return {
    store,
    remains: async () => filesBelow(folder),
    fail: () => store.close(),
  };
}

async function openRedis(): Promise<Site> {
  const options = { "slowlog-log-slower-than": "0", "slowlog-max-len": "100000" };
  const server = await startRedis(options);
  onTestFinished(server.remove);
  const control = server.connect();
  const monitor = await server.connect().monitor();
  const commands: string[] = [];
  monitor.on("monitor", (_time: string, args: readonly string[]) => commands.push(args.join(" ")));
  const store = redisStore(server.url, PATIENT_REDIS);
  onTestFinished(() => store.close());
  return {
    store,
    remains: async () => {
      const slow = await control.call("SLOWLOG", "GET", "-1");
      await control.save();
      control.disconnect();
      monitor.disconnect();
      expect(commands.length).toBeGreaterThan(500);
      const files = filesBelow(server.directory);
      expect(files.map(([path]) => path).join()).toMatch(/\.rdb.*\.aof|\.aof.*\.rdb/);
      return [
        ...files,
        ["SLOWLOG", Buffer.from(JSON.stringify(slow))],
        ["MONITOR", Buffer.from(commands.join("\n"))],
      ];
    },
    fail: () => server.stop(),
  };
}

async function openPostgres(): Promise<Site> {
  const server = await startPostgres({
    fsync: "off",
    log_statement: "all",
    logging_collector: "on",
    log_filename: "statements.log",
    log_min_messages: "debug1",
    log_error_verbosity: "verbose",
  });
  onTestFinished(server.remove);
  const store = postgresStore(server.url, PATIENT);
  onTestFinished(() => store.close());
  return {
    store,
    remains: async () => {
      // After the restart, everything is in its files.
      await server.crash();
      await server.start();
      const files = filesBelow(join(server.folder, "data"));
      const log = files.find(([path]) => path.endsWith("statements.log"))?.[1];
      expect(log?.length).toBeGreaterThan(100_000);
      return files;
    },
    fail: server.crash,
  };
}

/** Uses secrets in a latchkey on each store, and searches for them everywhere. */
const searching = (stores: readonly (readonly [title: string, open: () => Promise<Site>])[]) =>
  test.each(stores)(
    "500 secrets are nowhere in what %s keeps and logs, nor in any answer, error or event",
    async (_, openSite) => {
      const site = await openSite();
      const heard = new Heard();
      heard.print();
      const secrets = await sendThrough(site, heard);
      const remains = await site.remains();
      await site.fail();
      const failed = createLatchkey({ store: heard.through(site.store), pepper: PEPPERS });
      for (const key of secrets.slice(0, 5)) {
        await heard.call("verifyKey, no store", failed.verifyKey({ key }));
        await heard.call(
          "createKeys, no store",
          failed.createKeys([{ apiId: "api_1", plaintext: key }]),
        );
      }
      expect(secrets.length).toBe(CREATED + IMPORTED + ROTATED + ROOT_KEYS);
      expect(heard.parts.length).toBeGreaterThan(5_000);
      const find = secretFinder([
        ...secrets.map(hiddenPart),
        ...[PEPPERS.keys.p, ...VAULT_KEYS].map((bytes) => Buffer.from(bytes).toString("base64")),
      ]);
      const found = [...heard.parts, ...remains].flatMap(([where, bytes]) => find(where, bytes));
      expect([...new Set(found)]).toEqual([]);
    },
  );

describe("a search in five encodings", () => {
  searching([
    ["SQLite", openSqlite],
    ["Redis", openRedis],
  ]);
  describeWithServers("with a server of its own", () => {
    searching([["PostgreSQL", openPostgres]]);
  });

  test.each(["utf8", "utf16le", "hex", "base64", "base64url"] as const)(
    "finds a secret in %s at any position",
    (encoding) => {
      const secret = "3vQB7B6MsGQcX9pKq2~?>";
      const find = secretFinder([secret, "another secret text"]);
      for (const before of ["", "a", "ab", "abc", "abcd"]) {
        const text = Buffer.from(`${before}${secret}zz`);
        const bytes =
          encoding === "utf16le"
            ? Buffer.from(String(text), encoding)
            : Buffer.from(text.toString(encoding));
        expect(find("there", bytes).join()).toContain(encoding.slice(0, 6));
      }
      expect(find("there", Buffer.from("nothing secret is in this text"))).toEqual([]);
    },
  );
});
