import { join } from "node:path";
import { createLatchkey } from "@latchkey/core";
import { describe, expect, onTestFinished, test } from "vitest";
import { openStore } from "../open-store.js";
import { runCli, startServer } from "../testing/run-cli.js";
import { tempFolder } from "../testing/temp-folder.js";

const OWN = { "x-latchkey-console": "1" };

async function start(args: readonly string[]) {
  const server = await startServer(args, {}, "console");
  onTestFinished(async () => {
    server.signal("SIGKILL");
    await server.ended;
  });
  const { origin, hash } = new URL(server.url);
  const signIn = async () => {
    const headers = { ...OWN, authorization: `Bearer ${hash.replace("#sign-in=", "")}` };
    const response = await fetch(`${origin}/session`, { method: "POST", headers });
    return { ...OWN, cookie: response.headers.get("set-cookie")?.split(";")[0] ?? "" };
  };
  return { server, origin, hash, signIn };
}

describe("latchkey console", () => {
  test("prints one link on the loopback address, serves the page, and ends cleanly on SIGTERM", async () => {
    const store = `sqlite:${join(tempFolder(), "keys.db")}`;
    const latchkey = createLatchkey({ store: openStore(store) });
    await latchkey.createApi({ name: "tide-tables" });
    await latchkey.close();
    const { server, origin, hash, signIn } = await start(["--store", store]);
    expect(origin).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(hash).toMatch(/^#sign-in=[\w-]{43}$/);
    const page = await fetch(`${origin}/`);
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(await page.text()).toContain("latchkey console");
    const headers = await signIn();
    const listed = await fetch(`${origin}/v1/apis.listApis`, { headers });
    expect(await listed.json()).toMatchObject({ apis: [{ name: "tide-tables" }] });
    const examined = await fetch(`${origin}/store.examine`, { headers });
    expect(await examined.json()).toMatchObject({
      findings: expect.arrayContaining([
        { check: "records", state: "fine", found: "looked at 1 API, 0 keys and 0 identities" },
      ]),
    });
    server.signal("SIGTERM");
    expect(await server.ended).toMatchObject({
      exitCode: 0,
      stderr: "latchkey: open this link, which works once. Ctrl+C stops the console\n",
    });
    expect(server.lines).toHaveLength(1);
  });

  test("can be tried on a store in memory, and lets nobody in without the link", async () => {
    const { origin, signIn } = await start(["--store", "memory:"]);
    const nobody = await fetch(`${origin}/session`, { headers: OWN });
    expect(await nobody.json()).toEqual({ signIn: "link" });
    expect((await fetch(`${origin}/v1/apis.listApis`, { headers: OWN })).status).toBe(401);
    const listed = await fetch(`${origin}/v1/apis.listApis`, { headers: await signIn() });
    expect(listed.status).toBe(200);
  });

  test("reports errors before it listens", async () => {
    const missing = `sqlite:${join(tempFolder(), "no", "keys.db")}`;
    const ended = await runCli(["console", "--store", missing]);
    expect(ended).toMatchObject({ stdout: "" });
    expect(ended.exitCode).toBeGreaterThan(0);
    expect(ended.stderr).toContain("--store");
  });
});
