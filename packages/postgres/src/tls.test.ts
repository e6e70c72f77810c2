import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { postgresStore } from "./index.js";
import type { PostgresStoreOptions } from "./options.js";
import { errorOf } from "./testing/errors.js";
import { ownUser, startServer, type TestServer } from "./testing/postgres-server.js";
import { describeWithServers } from "./testing/where.js";

describeWithServers("a PostgreSQL with TLS and a certificate of its own making", () => {
  let folder: string;
  let server: TestServer;
  /** The certificate, and the URL of the server. */
  let [certificate, url] = ["", ""];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "latchkey-tls-"));
    certificate = join(folder, "server.crt");
    const key = join(folder, "server.key");
    selfSign(certificate, key);
    const user = ownUser();
    if (user !== undefined)
      for (const path of [folder, certificate, key]) chownSync(path, user.uid, user.gid);
    const port = await freePort();
    server = await startServer({
      fsync: "off",
      listen_addresses: "127.0.0.1",
      port: `${port}`,
      ssl: "on",
      ssl_cert_file: certificate,
      ssl_key_file: key,
    });
    url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  });
  afterAll(async () => {
    await server.remove();
    rmSync(folder, { recursive: true });
  });

  /** A call of a store on this URL, which needs no tables. */
  async function ask(query: string, options: PostgresStoreOptions = {}) {
    const store = postgresStore(`${url}${query}`, options);
    return Promise.resolve(store.readClock?.()).finally(() => store.close?.());
  }

  test("accepts a client that knows the certificate, from an option or from the URL", async () => {
    const ca = readFileSync(certificate, "utf8");
    expect(await ask("", { ssl: { ca } })).toBeGreaterThan(0);
    const file = encodeURIComponent(certificate);
    expect(await ask(`?sslmode=verify-full&sslrootcert=${file}`)).toBeGreaterThan(0);
  });

  test.each([
    ["", { ssl: true }],
    ["?sslmode=verify-full", {}],
    // The URL takes precedence.
    ["?sslmode=verify-full", { ssl: { rejectUnauthorized: false } }],
  ])(
    "is refused by a client that does not know it, and the error says why: %s %j",
    async (query, options) => {
      const error = await errorOf(ask(query, options));
      expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", outcome: "not-applied" });
      expect(error.message).toContain("its certificate is not trusted");
    },
  );

  test("a missing certificate file is named as the cause", async () => {
    const error = await errorOf(ask("?sslmode=verify-full&sslrootcert=/nowhere/ca.crt"));
    expect(error.message).toContain("no such certificate file");
  });
});

/** A self-signed certificate for 127.0.0.1. Where there is PostgreSQL, there is openssl. */
function selfSign(certificate: string, key: string): void {
  const names = ["-subj", "/CN=latchkey", "-addext", "subjectAltName=IP:127.0.0.1"];
  const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const asked = ["req", "-x509", "-days", "3650", ...kind, ...names];
  const made = spawnSync("openssl", [...asked, "-out", certificate, "-keyout", key]);
  if (made.status !== 0) throw new Error(`openssl failed: ${made.stderr}`);
}

async function freePort(): Promise<number> {
  const holder = createServer().listen(0, "127.0.0.1");
  await once(holder, "listening");
  const { port } = holder.address() as AddressInfo;
  holder.close();
  await once(holder, "close");
  return port;
}
