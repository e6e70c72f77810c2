import { createLatchkey } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { expect, test } from "vitest";
import { createHandler, type HandlerOptions, toNodeListener } from "./index.js";

const latchkey = createLatchkey({ store: memoryStore() });

test.each<[keyof HandlerOptions, unknown[]]>([
  ["latchkey", [undefined, null, {}, "x"]],
  ["authenticate", ["x", {}, true]],
  ["publicVerify", ["true", 1, null]],
  ["basePath", ["/", "/keys/", "keys", "//", "/a//b", "/a b", "/a?b", "/%61", 1]],
  ["v2", ["true", 1, null]],
  ["docs", ["false", 0, null]],
  ["docsBaseUrl", ["", "/errors", "errors", 1]],
  ["maxBodyBytes", [0, -1, 1.5, "1", Number.NaN, Number.POSITIVE_INFINITY]],
  ["onError", ["x", {}]],
])("a wrong %s is a TypeError that names it", (option, values) => {
  for (const value of values)
    expect(() => createHandler({ latchkey, [option]: value } as HandlerOptions)).toThrow(
      expect.objectContaining({
        name: "TypeError",
        message: expect.stringContaining(`"${option}"`),
      }),
    );
});

test("base paths of several segments are accepted", () => {
  for (const basePath of ["", "/keys", "/internal/keys-2/~a_b.c"])
    expect(() => createHandler({ latchkey, basePath })).not.toThrow();
});

test("an option that does not exist is a TypeError that names it", () => {
  for (const option of ["publicverify", "latchKey", "toString", "__proto__x", ""])
    expect(() => createHandler({ latchkey, [option]: undefined } as HandlerOptions)).toThrow(
      new TypeError(`"${option}" is not an option of createHandler`),
    );
});

test("a latchkey in place of the options is a TypeError that says where it goes", () => {
  expect(() => createHandler(latchkey as never)).toThrow(
    new TypeError("createHandler takes an object of options: { latchkey }"),
  );
});

test.each([undefined, null, {}])("a listener cannot be created from %j", (handler) => {
  expect(() => toNodeListener(handler as never)).toThrow(
    new TypeError('"handler" must be a function, such as the one that createHandler returns'),
  );
});

test("an inherited option is a TypeError that names it", () => {
  const inherited = Object.assign(Object.create({ publicVerify: true }), { latchkey });
  expect(() => createHandler(inherited)).toThrow(
    new TypeError('"publicVerify" must be a field of the object itself, not inherited'),
  );
});

test("options that are not an object are a TypeError that says so", () => {
  for (const options of [undefined, null, "x", 1])
    expect(() => createHandler(options as unknown as HandlerOptions)).toThrow(
      new TypeError('"options" must be an object'),
    );
});
