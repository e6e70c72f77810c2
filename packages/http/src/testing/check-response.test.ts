import { expect, test } from "vitest";
import { openApiDocument } from "../openapi/document.js";
import { createResponseChecker, type Exchange } from "./check-response.js";

const check = createResponseChecker(openApiDocument());

const CREATED: Exchange = {
  method: "POST",
  path: "/v1/keys.createKey",
  status: 200,
  headers: new Headers({ "x-request-id": "req_1" }),
  body: { keyId: "key_1", key: "acme_1" },
  sent: { apiId: "api_1", remaining: 1 },
};

const refusal = (code: string, further = {}) => ({
  error: { code, message: "m", docs: "https://docs.test/x", requestId: "req_1", ...further },
});

test("a response that matches the document passes", () => {
  expect(check(CREATED)).toEqual([]);
  expect(check({ ...CREATED, status: 404, body: refusal("NOT_FOUND") })).toEqual([]);
});

test("an extra field, a missing one and one of another type are noticed", () => {
  for (const body of [
    { keyId: "key_1", key: "acme_1", hash: "x" },
    { keyId: "key_1" },
    { keyId: "key_1", key: null },
    [],
    null,
  ])
    expect(check({ ...CREATED, body })).not.toEqual([]);
});

test("an extra field deep inside a shared schema is noticed", () => {
  const listed = { id: "a", start: "s", apiId: "a", workspaceId: "w", createdAt: 1 };
  const key = { ...listed, roles: [], permissions: [], enabled: true };
  const page = (item: object) => ({
    ...CREATED,
    method: "GET",
    path: "/v1/apis.listKeys",
    body: { keys: [item], total: 1 },
    sent: undefined,
  });
  expect(check(page(key))).toEqual([]);
  expect(check(page({ ...key, name: null }))).not.toEqual([]);
  expect(check(page({ ...key, hash: "x" }))).not.toEqual([]);
});

test("a verdict must have the fields of its code", () => {
  const verdict = { ...CREATED, path: "/v1/keys.verifyKey", sent: { key: "k" } };
  const nothing = { valid: false, code: "NOT_FOUND", requestId: "req_1" };
  expect(check({ ...verdict, body: nothing })).toEqual([]);
  expect(check({ ...verdict, body: { ...nothing, keyId: "key_1" } })).not.toEqual([]);
  expect(check({ ...verdict, body: { ...nothing, code: "VALID" } })).not.toEqual([]);
});

test("a status that the operation does not list is noticed", () => {
  expect(check({ ...CREATED, status: 201 })).not.toEqual([]);
  expect(check({ ...CREATED, status: 412, body: refusal("DELETE_PROTECTED") })).not.toEqual([]);
});

test("a code of another status, issues with another code, and docs that are not a URL are noticed", () => {
  for (const body of [
    refusal("CONFLICT"),
    refusal("NOT_FOUND", { issues: [] }),
    refusal("NOT_FOUND", { docs: "nowhere" }),
  ])
    expect(check({ ...CREATED, status: 404, body })).not.toEqual([]);
});

test("an accepted input is checked against the document as well", () => {
  expect(check({ ...CREATED, sent: { apiId: "api_1", expire: 1 } })).not.toEqual([]);
  expect(check({ ...CREATED, sent: { apiId: "api_1", remaining: 0 } })).not.toEqual([]);
});

test("a missing request id is noticed", () => {
  expect(check({ ...CREATED, headers: new Headers() })).toEqual(["no X-Request-Id"]);
});

test("without an operation only 404 and 405 pass", () => {
  const nowhere = { ...CREATED, path: "/v1/nowhere" };
  expect(check({ ...nowhere, status: 404, body: refusal("NOT_FOUND") })).toEqual([]);
  expect(check({ ...nowhere, status: 400, body: refusal("BAD_REQUEST") })).not.toEqual([]);
  const wrongVerb = { ...CREATED, method: "GET" };
  expect(check({ ...wrongVerb, status: 405, body: refusal("METHOD_NOT_ALLOWED") })).toEqual([]);
  expect(check(wrongVerb)).not.toEqual([]);
});
