import { runInNewContext } from "node:vm";
import { LatchkeyError, unavailable } from "@latchkey/core";
import { describe, expect, test } from "vitest";
import { isWithoutEffect, notConnected, translateError } from "./errors.js";

const answered = (code: string, severity = "ERROR") =>
  Object.assign(new Error("a value that was sent"), { code, severity });

describe("an error that the server answers", () => {
  test.each([
    ["40P01", "ERROR", "not-applied"],
    ["57014", "ERROR", "not-applied"],
    ["25006", "ERROR", "not-applied"],
    ["53300", "ERROR", "not-applied"],
    ["40003", "ERROR", "unknown"],
    ["57P01", "FATAL", "unknown"],
    ["57P05", "FATAL", "not-applied"],
    ["57P02", "PANIC", "unknown"],
    ["XX000", "FATAL", "unknown"],
    ["XX001", "PANIC", "unknown"],
  ])("%s as %s: a write is %s, a read not applied", (code, severity, outcome) => {
    for (const isWrite of [true, false]) {
      const error = translateError(answered(code, severity), isWrite);
      expect(error).toMatchObject({
        code: "STORE_UNAVAILABLE",
        outcome: isWrite ? outcome : "not-applied",
      });
      expect(String(error)).not.toContain("sent");
    }
  });

  test.each(["22P02", "23514", "XX001"])("%s is damage", (code) => {
    expect(translateError(answered(code), true)).toMatchObject({ code: "STORE_CORRUPT" });
  });

  test.each(["42501", "42P01", "42883", "3F000", "26000", "42P05", "LK001"])(
    "%s needs a person to fix it",
    (code) => {
      expect(translateError(answered(code), true)).toMatchObject({ code: "PRECONDITION_FAILED" });
    },
  );

  test("says how to go on if tables are missing, perhaps for lack of a right", () => {
    for (const code of ["42501", "42P01", "42883", "3F000"])
      expect(String(translateError(answered(code), true))).toContain("call migrate");
  });

  test("is worth another attempt only if the server has rolled back because of others, or had ended an idle connection", () => {
    expect(
      ["40001", "40P01", "57P05", "57014", "57P01", "40003"].map((code) =>
        isWithoutEffect(answered(code)),
      ),
    ).toEqual([true, true, true, false, false, false]);
    expect(isWithoutEffect(new Error("40001"))).toBe(false);
  });
});

test("an error of the connection leaves a write unknown", () => {
  const lost = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
  expect(translateError(lost, true)).toMatchObject({ outcome: "unknown" });
  expect(translateError(lost, false)).toMatchObject({ outcome: "not-applied" });
});

test("an answer that the pool did not wait for leaves a write unknown, and names the option of the pool", () => {
  const error = translateError(new Error("Query read timeout"), true);
  expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", outcome: "unknown" });
  expect(String(error)).toContain("query_timeout");
});

test("an error of another realm, such as that of a test environment, tells as much", () => {
  const late = runInNewContext(`new Error("Query read timeout")`);
  expect(late).not.toBeInstanceOf(Error);
  expect(String(translateError(late, true))).toContain("query_timeout");
});

test.each([
  ["ECONNREFUSED", "nothing listens at its address: check host and port, and that it runs (EC"],
  ["ENOTFOUND", "its host was not found: check the name"],
  ["ETIMEDOUT", "its address did not answer in time"],
  ["SELF_SIGNED_CERT_IN_CHAIN", "its certificate is not trusted"],
  // From a server that sends only its own certificate, and not its authority's, as most do.
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "its certificate is not trusted"],
  ["INVALID_PURPOSE", "its certificate is not trusted"],
  ["CERT_HAS_EXPIRED", "its certificate has expired"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "its certificate is for another host name"],
  ["ERR_SSL_WRONG_VERSION_NUMBER", "the TLS handshake failed"],
  ["ERR_OSSL_PEM_NO_START_LINE", "the TLS handshake failed"],
  ["EISDIR", "no such socket, or no such certificate file"],
  [undefined, "the connection was lost, or TLS was requested from a server without it"],
])("a failed connection says why, and nothing was sent: %s", (code, message) => {
  const error = notConnected(Object.assign(new Error("connect to hunter2"), { code }));
  expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", outcome: "not-applied" });
  expect(String(error)).toContain(`PostgreSQL is not connected: ${message}`);
  expect(String(error)).not.toContain("hunter2");
});

test.each([
  ["SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string", "asks for a password"],
  [
    "SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a non-empty string",
    "for a password",
  ],
  ["The server does not support SSL connections", "the server has no TLS"],
  ["timeout exceeded when trying to connect", "no connection of the pool was free"],
  ["Connection terminated due to connection timeout", "within connectionTimeoutMillis of the pool"],
  ["Cannot use a pool after calling end on the pool", "its owner has ended the pool"],
])("errors that node-postgres reports without a code are explained too: %s", (text, message) => {
  const error = notConnected(new Error(text));
  expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", outcome: "not-applied" });
  expect(String(error)).toContain(message);
});

test.each([
  ["57014", "statement_timeout"],
  ["55P03", "lock_timeout"],
  ["25006", "default_transaction_read_only"],
  ["53300", "max_connections"],
  ["53100", "no space left on its disk"],
  ["53200", "no memory left"],
  // PgBouncer's answer to an unknown database or an unknown parameter in the URL.
  ["08P01", "pooler"],
])("a refusal names the setting, or what the server has run out of: %s %s", (code, setting) => {
  expect(String(translateError(answered(code), true))).toContain(setting);
});

test("a connection that the server refuses says so", () => {
  expect(String(notConnected(answered("28P01", "FATAL")))).toContain("the user name, the password");
});

test("an error of latchkey's own is passed on unchanged", () => {
  const own = unavailable("closed");
  expect(translateError(own, true)).toBe(own);
  expect(own).toBeInstanceOf(LatchkeyError);
});
