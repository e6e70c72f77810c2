import { generateKeyPairSync, sign } from "node:crypto";
import { createLatchkey, type Latchkey, type LeakPolicy } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createLeakHandler, type LeakHandlerOptions } from "../index.js";
import {
  FOUND_AT,
  found,
  HOST,
  leakHandler,
  pemOf,
  post,
  reply,
  STRANGER,
  signed,
} from "../testing/leak-reports.js";

const MB = 1_048_576;

let latchkey: Latchkey;
let apiId: string;
let errors: unknown[];

beforeEach(async () => {
  latchkey = createLatchkey({ store: memoryStore() });
  ({ apiId } = await latchkey.createApi({ name: "tides" }));
  errors = [];
});

afterEach(() => {
  vi.useRealTimers();
});

const handlerWith = (options: Partial<LeakHandlerOptions> = {}, on = latchkey) =>
  leakHandler(on, errors, options);

describe("a report", () => {
  test("revokes the keys in it, and says for each token whether it was a key", async () => {
    const { keyId, key } = await latchkey.createKey({ apiId, prefix: "tides_live" });
    const other = await latchkey.createKey({ apiId });
    const tokens = [found("ghp_none"), found(key), found(key, { url: "", source: undefined })];
    const { status, body } = await reply(handlerWith()(post(JSON.stringify(tokens))));
    expect(status).toBe(200);
    expect(body).toEqual([
      { token_raw: "ghp_none", token_type: "tides_key", label: "false_positive" },
      { token_raw: key, token_type: "tides_key", label: "true_positive" },
      { token_raw: key, token_type: "tides_key", label: "true_positive" },
    ]);
    expect(await latchkey.verifyKey({ key })).toMatchObject({ code: "DISABLED" });
    expect(await latchkey.verifyKey({ key: other.key })).toMatchObject({ valid: true });
    const { events } = await latchkey.listAuditEvents({ keyId });
    expect(events.find(({ type }) => type === "key.leaked")?.changes).toContainEqual({
      field: "action",
      after: "disabled",
    });
    expect(JSON.stringify(events)).toContain(FOUND_AT);
    expect(JSON.stringify(events)).not.toContain(key);
  });

  test("X1: that is repeated gets the same labels, byte for byte, and changes nothing", async () => {
    for (const policy of ["disable", "report", "delete", "rotate"] as const) {
      const { key } = await latchkey.createKey({ apiId });
      const text = JSON.stringify([found(key), found("x"), found(key)]);
      const handler = handlerWith({ policy });
      const first = await (await handler(post(text))).text();
      expect(first.match(/true_positive/g)).toHaveLength(2);
      const state = async () => [
        await latchkey.listKeys({ apiId }),
        await latchkey.listAuditEvents(),
      ];
      const after = await state();
      expect(await (await handler(post(text))).text()).toBe(first);
      expect(await state()).toEqual(after);
    }
  });

  test("may have further members, no place, or any text as place", async () => {
    const { key } = await latchkey.createKey({ apiId });
    const tokens = [
      { token: key, type: "t", extra: [1] },
      found(key, { url: null, source: null }),
      found(key, { url: `${"a\u0000".repeat(5_000)}`, source: "\ud800".repeat(1_000) }),
      found("", { type: "" }),
      found("\ud800é\u0000"),
      found("x".repeat(2 * MB)),
    ];
    const { status, body } = await reply(handlerWith()(post(JSON.stringify(tokens))));
    expect([status, body.map(({ label }: { label: string }) => label.slice(0, 4))]).toEqual([
      200,
      ["true", "true", "true", "fals", "fals", "fals"],
    ]);
  });

  test("that is empty gets an empty response", async () => {
    expect(await reply(handlerWith()(post("[]")))).toMatchObject({ status: 200, body: [] });
  });
});

describe("X1: a report not signed by a known key is a 401, and changes nothing", () => {
  test("in the same words, whatever is wrong", async () => {
    const { key } = await latchkey.createKey({ apiId });
    const body = JSON.stringify([found(key)]);
    const good = signed(body);
    const bad: Readonly<Record<string, string | null>>[] = [
      { "github-public-key-signature": null },
      { "github-public-key-identifier": null },
      { "github-public-key-identifier": "other" },
      { "github-public-key-identifier": "__proto__" },
      { "github-public-key-identifier": "c".repeat(10_000) },
      { "github-public-key-identifier": "current, current" },
    ];
    const der = Buffer.from(good, "base64");
    const raw = sign("sha256", Buffer.from(body), {
      key: HOST.privateKey,
      dsaEncoding: "ieee-p1363",
    });
    const forged = [
      signed(body, STRANGER),
      signed(`${body} `),
      raw.toString("base64"),
      der.toString("hex"),
      good.slice(0, -4),
      `${good}, ${good}`,
      "AAAA",
      "MAYCAQACAQA=",
      "",
      "é",
      "A".repeat(20_000),
      Buffer.concat([
        der.subarray(0, 10),
        Buffer.from([der[10] === 1 ? 2 : 1]),
        der.subarray(11),
      ]).toString("base64"),
    ];
    for (const signature of forged) bad.push({ "github-public-key-signature": signature });
    const log = await latchkey.listAuditEvents();
    const words = new Set<string>();
    for (const headers of bad) {
      const answer = await reply(handlerWith()(post(body, headers)));
      expect([headers, answer.status]).toEqual([headers, 401]);
      expect(answer.headers.get("www-authenticate")).toBe("Signature");
      words.add(answer.body.error.message);
    }
    expect([...words]).toEqual(["the request carries no valid signature"]);
    expect(await latchkey.listAuditEvents()).toEqual(log);
    expect(await latchkey.verifyKey({ key })).toMatchObject({ valid: true });
    expect(errors).toEqual([]);
  });

  test("the body is not read if the headers are enough to refuse", async () => {
    const body = new ReadableStream(
      {
        pull: () => {
          throw new Error("read");
        },
      },
      { highWaterMark: 0 },
    );
    const headers = {
      "github-public-key-identifier": "other",
      "github-public-key-signature": "AAAA",
    };
    const request = new Request("http://keys.test/", {
      method: "POST",
      headers,
      body,
      duplex: "half",
    } as RequestInit);
    expect((await handlerWith()(request)).status).toBe(401);
  });

  test("a body that was changed in one bit is refused", async () => {
    const { key } = await latchkey.createKey({ apiId });
    const body = JSON.stringify([found(key)]);
    const headers = { "github-public-key-signature": signed(body) };
    for (const at of [0, 1, body.length >> 1, body.length - 1]) {
      const changed =
        body.slice(0, at) + String.fromCharCode(body.charCodeAt(at) ^ 1) + body.slice(at + 1);
      expect((await handlerWith()(post(changed, headers))).status).toBe(401);
    }
  });
});

describe("the public keys", () => {
  test("can come from a function", async () => {
    const asked: string[] = [];
    const handler = handlerWith({
      publicKeys: async (id) => {
        asked.push(id);
        return id === "current" ? pemOf(HOST) : null;
      },
    });
    expect((await handler(post("[]"))).status).toBe(200);
    const unknown = post("[]", { "github-public-key-identifier": "other" });
    expect((await handler(unknown)).status).toBe(401);
    expect(asked).toEqual(["current", "other"]);
  });

  test("that the function fails to find are a 500, and only the host gets the error", async () => {
    const bad: LeakHandlerOptions["publicKeys"][] = [
      () => {
        throw new Error("no network");
      },
      () => Promise.reject(new Error("no network")),
      () => "nonsense",
      () => undefined as never,
      () => pemOf(generateKeyPairSync("ec", { namedCurve: "P-384" }) as typeof HOST),
    ];
    for (const publicKeys of bad) {
      const { status, body } = await reply(handlerWith({ publicKeys })(post("[]")));
      expect([status, body.error.code]).toEqual([500, "INTERNAL_SERVER_ERROR"]);
      expect(JSON.stringify(body)).not.toContain("network");
    }
    expect(errors).toHaveLength(bad.length);
  });

  test("that do not arrive within five seconds are a 503", async () => {
    vi.useFakeTimers();
    const answer = reply(handlerWith({ publicKeys: () => new Promise(() => {}) })(post("[]")));
    await vi.advanceTimersByTimeAsync(5_001);
    const { status, headers } = await answer;
    expect([status, headers.get("retry-after")]).toEqual([503, "1"]);
    expect(errors).toHaveLength(1);
  });

  test("of another kind, and wrong options, are refused when the handler is created", () => {
    const rsa = generateKeyPairSync("rsa", { modulusLength: 2_048 }).publicKey;
    const pem = rsa.export({ type: "spki", format: "pem" }) as string;
    const secret = HOST.privateKey.export({ type: "pkcs8", format: "pem" }) as string;
    for (const each of [pem, secret, "", "x", undefined, 1])
      expect(() => handlerWith({ publicKeys: { bad: each as string } })).toThrow(
        '"publicKeys.bad" must be a public key in PEM, for ECDSA on P-256',
      );
    expect(() => handlerWith({ publicKeys: null as never })).toThrow('"publicKeys" must be');
    expect(() => handlerWith({ policy: "revoke" as LeakPolicy })).toThrow('"policy" must be');
    expect(() => handlerWith({ onError: 1 as never })).toThrow('"onError" must be');
    expect(() => handlerWith({ polices: "report" } as never)).toThrow('"polices" is not an option');
    expect(() => createLeakHandler({} as never, { publicKeys: {} })).toThrow('"latchkey" must be');
    expect(() => createLeakHandler(latchkey, undefined as never)).toThrow('"options" must be');
  });
});

describe("a policy that is a function", () => {
  test("decides about each key", async () => {
    const [one, other] = [
      await latchkey.createKey({ apiId, name: "build" }),
      await latchkey.createKey({ apiId }),
    ];
    const handler = handlerWith({
      policy: async ({ name }) => (name === "build" ? "report" : "delete"),
    });
    await handler(post(JSON.stringify([found(one.key), found(other.key)])));
    expect(await latchkey.verifyKey({ key: one.key })).toMatchObject({ valid: true });
    expect(await latchkey.verifyKey({ key: other.key })).toMatchObject({ code: "NOT_FOUND" });
  });

  test("that throws, rejects or returns anything else disables the key, and is reported", async () => {
    const bad: NonNullable<LeakHandlerOptions["policy"]>[] = [
      () => {
        throw new Error("no");
      },
      () => Promise.reject(new Error("no")),
      () => "revoke" as LeakPolicy,
      () => undefined as never,
      () => ({ toString: () => "report" }) as never,
    ];
    for (const policy of bad) {
      const { key } = await latchkey.createKey({ apiId });
      const { status } = await reply(handlerWith({ policy })(post(JSON.stringify([found(key)]))));
      expect(status).toBe(200);
      expect(await latchkey.verifyKey({ key })).toMatchObject({ code: "DISABLED" });
    }
    expect(errors).toHaveLength(bad.length);
  });

  test("that does not answer within five seconds disables the key", async () => {
    const { key } = await latchkey.createKey({ apiId });
    vi.useFakeTimers();
    const policy = () => new Promise<LeakPolicy>(() => {});
    const answer = reply(handlerWith({ policy })(post(JSON.stringify([found(key)]))));
    await vi.advanceTimersByTimeAsync(5_001);
    expect((await answer).status).toBe(200);
    expect(await latchkey.verifyKey({ key })).toMatchObject({ code: "DISABLED" });
  });
});

describe("a body that is not a report", () => {
  test.each([
    ["nothing", ""],
    ["no JSON", "{"],
    ["an object", "{}"],
    ["a text", '"x"'],
    ["a list of texts", '["x"]'],
    ["a list of lists", "[[]]"],
    ["null", "[null]"],
    ["no token", '[{"type":"t"}]'],
    ["a token that is no text", '[{"token":1,"type":"t"}]'],
    ["no type", '[{"token":"x"}]'],
    ["a url that is no text", '[{"token":"x","type":"t","url":{}}]'],
    ["a member twice", '[{"token":"x","token":"y","type":"t"}]'],
    ["nested too deep", "[".repeat(40) + "]".repeat(40)],
  ])("is a 400, and changes nothing: %s", async (_name, body) => {
    const { status, body: answer } = await reply(handlerWith()(post(body)));
    expect([status, answer.error.code]).toEqual([400, "BAD_REQUEST"]);
  });

  test("with one good token and one bad one changes nothing, and says which", async () => {
    const { key } = await latchkey.createKey({ apiId });
    const body = JSON.stringify([found(key), { token: key }]);
    const answer = await reply(handlerWith()(post(body)));
    expect(answer).toMatchObject({
      status: 400,
      body: { error: { issues: [{ path: "1.type", message: "must be a string" }] } },
    });
    expect(JSON.stringify(answer.body)).not.toContain(key);
    expect(await latchkey.verifyKey({ key })).toMatchObject({ valid: true });
  });

  test("sent by another verb is a 405", async () => {
    const answer = await handlerWith()(new Request("http://keys.test/leaks"));
    expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST"]);
  });
});
