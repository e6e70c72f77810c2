import { describe, expect, test } from "vitest";
import { openService, read, type TestService } from "../testing/open-service.js";

const JSON_TYPE = { "content-type": "application/json" };

async function open(options: { maxBodyBytes?: number } = {}) {
  const service = await openService(options);
  const { apiId } = await service.latchkey.createApi({ name: "payments" });
  return { service, apiId };
}

/** Posts any body to createKey. */
async function post(
  service: TestService,
  body: NonNullable<RequestInit["body"]>,
  headers: Readonly<Record<string, string>> = JSON_TYPE,
) {
  const init: RequestInit & { duplex: "half" } = {
    method: "POST",
    headers: { authorization: `Bearer ${service.root}`, ...headers },
    body,
    duplex: "half",
  };
  return read(await service.send(new Request("http://keys.test/v1/keys.createKey", init)));
}

const padded = (apiId: string, bytes: number) => {
  const bare = JSON.stringify({ apiId, name: "" });
  return bare.replace('""', `"${"n".repeat(bytes - bare.length)}"`);
};

describe("size", () => {
  test("64 KiB are read, one byte more is 413, announced or not", async () => {
    const { service, apiId } = await open();
    const fitting = `${JSON.stringify({ apiId })}${" ".repeat(65_536)}`.slice(0, 65_536);
    const announced = (text: string) => ({ ...JSON_TYPE, "content-length": String(text.length) });
    for (const [text, status] of [
      [fitting, 200],
      [`${fitting} `, 413],
    ] as const) {
      expect((await post(service, text)).status).toBe(status);
      expect((await post(service, text, announced(text))).status).toBe(status);
      expect((await post(service, new Blob([text]).stream())).status).toBe(status);
    }
    expect((await post(service, `${fitting} `)).body.error.code).toBe("PAYLOAD_TOO_LARGE");
  });

  test("the limit can be set", async () => {
    const { service, apiId } = await open({ maxBodyBytes: 100 });
    expect((await post(service, padded(apiId, 100))).status).toBe(200);
    expect((await post(service, padded(apiId, 101))).status).toBe(413);
  });

  test("an endless body is refused at the limit, and its source is cancelled", async () => {
    const { service } = await open();
    let sent = 0;
    let isCancelled = false;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 1_024;
        controller.enqueue(new Uint8Array(1_024));
      },
      cancel() {
        isCancelled = true;
      },
    });
    expect((await post(service, endless)).status).toBe(413);
    expect(isCancelled).toBe(true);
    expect(sent).toBeLessThan(100 * 1_024);
  });

  test("a Content-Length below the real size does not bypass the limit", async () => {
    const { service } = await open();
    const body = new Blob(["x".repeat(70_000)]).stream();
    expect((await post(service, body, { ...JSON_TYPE, "content-length": "10" })).status).toBe(413);
  });

  test("size is checked before type, type before JSON", async () => {
    const { service } = await open();
    const large = "{".repeat(70_000);
    expect((await post(service, large, { "content-type": "text/plain" })).status).toBe(413);
    expect((await post(service, "{", { "content-type": "text/plain" })).status).toBe(415);
    expect((await post(service, "{")).status).toBe(400);
  });

  test("a body that ends early is 400, one that something else has already read is the host's mistake", async () => {
    const { service } = await open();
    // The body of a fetch that ends early throws a TypeError.
    for (const error of [new Error("connection reset"), new TypeError("terminated")]) {
      const broken = new ReadableStream({ pull: (controller) => controller.error(error) });
      const reply = await post(service, broken);
      expect([reply.status, reply.body.error.message]).toEqual([400, "the body was cut off"]);
    }

    const errors: unknown[] = [];
    const watched = await openService({ onError: (error) => errors.push(error) });
    const used = new Request("http://keys.test/v1/keys.createKey", {
      method: "POST",
      headers: { authorization: `Bearer ${watched.root}`, ...JSON_TYPE },
      body: "{}",
    });
    await used.text();
    expect((await watched.send(used)).status).toBe(500);
    const held = new Request(used.url, { method: "POST", headers: used.headers, body: "{}" });
    held.body?.getReader();
    expect((await watched.send(held)).status).toBe(500);
    expect(errors.map(String)).toEqual(
      Array(2).fill(expect.stringContaining("mount latchkey before body parsers")),
    );
  });
});

describe("type", () => {
  test("only application/json in UTF-8 is read", async () => {
    const { service, apiId } = await open();
    const text = JSON.stringify({ apiId });
    const good = ["application/json", "Application/JSON", "application/json; charset=utf-8"];
    good.push('application/json;charset="UTF-8"', "application/json ; charset=utf-8");
    for (const type of good)
      expect([type, (await post(service, text, { "content-type": type })).status]).toEqual([
        type,
        200,
      ]);
    const bad = [
      "text/plain",
      "application/json; charset=utf-16",
      "application/json5",
      "text/json",
    ];
    bad.push(
      "application/jsonp",
      "application/json, application/json",
      "multipart/form-data; boundary=x",
    );
    bad.push(
      "application/x-www-form-urlencoded",
      "application/vnd.api+json",
      "application/json; a=b",
      "",
    );
    for (const type of bad)
      expect([type, (await post(service, text, { "content-type": type })).status]).toEqual([
        type,
        415,
      ]);
    expect((await post(service, new TextEncoder().encode(text), {})).status).toBe(415);
  });

  test("a compressed body is not read", async () => {
    const { service, apiId } = await open();
    const text = JSON.stringify({ apiId });
    for (const encoding of ["gzip", "br", "deflate", "x-gzip", "identity, gzip", "*"])
      expect(
        (await post(service, text, { ...JSON_TYPE, "content-encoding": encoding })).status,
      ).toBe(415);
    for (const encoding of ["identity", "Identity"])
      expect(
        (await post(service, text, { ...JSON_TYPE, "content-encoding": encoding })).status,
      ).toBe(200);
  });
});

describe("the content of the body", () => {
  test("every hostile structure is 400, and nothing is written", async () => {
    const { service, apiId } = await open();
    const api = JSON.stringify(apiId);
    const hostile: string[] = [
      "",
      "null",
      "[]",
      `{"apiId":${api},"apiId":${api}}`,
      `\ufeff{"apiId":${api}}`,
    ];
    hostile.push(
      `{"apiId":${api},"ap\\u0069Id":"b"}`,
      `{"apiId":${api},"__proto__":{"enabled":false}}`,
    );
    hostile.push(
      `{"apiId":${api},"constructor":{"prototype":{}}}`,
      `{"apiId":${api}}{}`,
      `{"apiId":${api},}`,
    );
    hostile.push(
      `{"apiId":${api},"Enabled":true}`,
      `{"apiId":${api},"remaining ":1}`,
      `{"apiId":${api},"expire":1}`,
    );
    hostile.push(
      `{"apiId":${api},"then":1}`,
      `{"apiId":${api},"toJSON":1}`,
      `{"apiId":${api},"0":1}`,
    );
    hostile.push(
      `{"apiId":${api},"remaining":1e400}`,
      `{"apiId":${api},"remaining":9007199254740993}`,
    );
    hostile.push(
      `{"apiId":${api},"meta":{"a":1e400}}`,
      `{"apiId":${api},"name":"\\ud800"}`,
      `{"apiId":${api},"name":"\\u0000"}`,
    );
    hostile.push(
      `{"apiId":${api},"meta":${"[".repeat(30_000)}${"]".repeat(30_000)}}`,
      `{"apiId":${api},"meta":${'{"a":'.repeat(17)}1${"}".repeat(17)}}`,
    );
    hostile.push(
      `{"apiId":${api},${Array.from({ length: 5_000 }, (_, at) => `"f${at}":1`).join(",")}}`,
    );
    hostile.push(`{"apiId":${api},"${"n".repeat(60_000)}":1}`);
    for (const body of hostile) {
      const reply = await post(service, body);
      expect([body.slice(0, 90), reply.status]).toEqual([body.slice(0, 90), 400]);
      expect(reply.body.error.issues.length).toBeGreaterThan(0);
    }
    expect((await service.latchkey.listKeys({ apiId })).total).toBe(0);
    expect("polluted" in {} || "enabled" in {}).toBe(false);
  });

  test("query parameters of a POST are refused, together with the issues of its body", async () => {
    const { service, apiId } = await open();
    const request = new Request(`http://keys.test/v1/keys.createKey?apiId=${apiId}&x=1`, {
      method: "POST",
      headers: { authorization: `Bearer ${service.root}`, ...JSON_TYPE },
      body: "{}",
    });
    const { status, body } = await read(await service.send(request));
    expect(status).toBe(400);
    expect(body.error.issues).toEqual([
      { path: "apiId", message: "is required" },
      { path: "apiId", message: "is not a known query parameter" },
      { path: "x", message: "is not a known query parameter" },
    ]);
  });

  test("a secret in the place of a name is not repeated", async () => {
    const { service, apiId } = await open();
    const { key } = await service.latchkey.createKey({ apiId });
    const authorization = `Bearer ${service.root}`;
    const send = async (path: string, init?: RequestInit) => {
      const headers = { authorization, ...JSON_TYPE };
      return read(
        await service.send(new Request(`http://keys.test/v1/${path}`, { headers, ...init })),
      );
    };
    const body = JSON.stringify({ apiId, [key]: 1 });
    const replies = [
      await send(`apis.getApi?apiId=${apiId}&${key}=1`),
      await send(`apis.getApi?apiId=${apiId}&${key}=1&${key}=1`),
      await send(`apis.getApi?apiId=${apiId}&${key}=%`),
      await send(`keys.createKey?${key}`, { method: "POST", body: "{}" }),
      await send("keys.createKey", { method: "POST", body }),
    ];
    for (const reply of replies) {
      expect([reply.status, reply.body.error.code]).toEqual([400, "BAD_REQUEST"]);
      expect(JSON.stringify(reply.body)).not.toContain(key);
      expect(JSON.stringify(reply.body)).toContain(`${key.slice(0, 8)}…`);
    }
  });

  test("metadata and names come back to the letter", async () => {
    const { service, apiId } = await open();
    const name = "e\u0301\u00e9\u2028\u2029\u202e👨‍👩‍👧";
    const meta = JSON.parse(
      '{"toString":1,"hasOwnProperty":2,"then":3,"length":4,"0":5,"4294967294":6,"a\\u0000b":"\\u0000"}',
    );
    const { body } = await post(service, JSON.stringify({ apiId, name, meta }));
    const shown = await service.ok("keys.getKey", { keyId: body.keyId });
    expect([shown.name, shown.meta]).toEqual([name, meta]);
  });

  test("ten thousand parameters are refused as quickly as one", async () => {
    const { service, apiId } = await open();
    const many = Array.from({ length: 10_000 }, (_, at) => `p${at}=1`).join("&");
    const request = new Request(`http://keys.test/v1/apis.listKeys?apiId=${apiId}&${many}`, {
      headers: { authorization: `Bearer ${service.root}` },
    });
    const { status, body } = await read(await service.send(request));
    // A response must not be many times as long as its request, so further issues are only counted.
    expect([status, body.error.issues.length]).toEqual([400, 1_001]);
    expect(body.error.issues.at(-1)).toEqual({ path: "", message: "and 9000 more issues" });
  });
});
