import { expect, test } from "vitest";
import { postgresStore } from "./index.js";
import { parseOptions } from "./options.js";

test("every option has a default", () => {
  expect(parseOptions({})).toEqual({
    schema: "latchkey",
    migrate: true,
    chargeTimeoutMs: 2_000,
    timeoutMs: 10_000,
    maxConnections: 10,
    ssl: false,
    preparedStatements: true,
  });
});

test.each([
  [{ schema: "Keys" }, '"schema"'],
  [{ schema: 'a"; drop schema b; --' }, '"schema"'],
  [{ schema: "pg_keys" }, '"schema"'],
  [{ schema: "" }, '"schema"'],
  [{ migrate: "yes" }, '"migrate"'],
  [{ preparedStatements: 1 }, '"preparedStatements"'],
  [{ ssl: "on" }, '"ssl"'],
  [{ timeoutMs: 0 }, '"timeoutMs"'],
  [{ chargeTimeoutMs: 600_001 }, '"chargeTimeoutMs"'],
  [{ maxConnections: 1.5 }, '"maxConnections"'],
  [{ tls: true }, '"tls" is not an option'],
])("%j is refused by name", (options, message) => {
  expect(() => parseOptions(options as never)).toThrow(message);
});

test.each([
  "mysql://app:hunter2@localhost/keys",
  "postgres:keys",
  "postgres://app:hunter2@local host/keys",
  {},
  null,
])("%j is refused as a source, and is not repeated", (source) => {
  expect(() => postgresStore(source as never)).toThrow(TypeError);
  expect(() => postgresStore(source as never)).not.toThrow("hunter2");
});

test.each([
  "postgres://app:hunter2@localhost:5432/keys",
  "postgresql://localhost/keys?sslmode=require",
  "postgres://app@/keys?host=%2Frun%2Fpostgresql",
  "postgres:///keys",
])("%s is accepted, and no connection is made before the first call", async (url) => {
  await postgresStore(url).close();
  expect(() => postgresStore(url)).not.toThrow();
});
