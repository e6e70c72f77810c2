import { expect, test } from "vitest";
import { LatchkeyError } from "../errors.js";
import type { StandardResult } from "../lib/standard-schema.js";
import type { MetaSchema } from "../rules/latchkey-types.js";
import { withCheckedIdentityMeta, withCheckedMeta, withCheckedMetas } from "./checked-meta.js";

function schema(validate: (value: unknown) => StandardResult<object>): MetaSchema {
  return { "~standard": { version: 1, vendor: "test", validate } };
}

async function issuesOf(call: Promise<unknown>): Promise<readonly unknown[]> {
  const error: unknown = await call.then(
    () => null,
    (reason: unknown) => reason,
  );
  return error instanceof LatchkeyError ? error.issues : [error];
}

const meta = Object.freeze({ plan: "pro" });

test("an issue is named by its path, whichever way the schema writes it", async () => {
  const refusing = schema(() => ({
    issues: [
      { message: "one" },
      { message: "two", path: ["limits", 0] },
      { message: "three", path: [{ key: "limits" }, { key: 1 }, Symbol.for("s")] },
    ],
  }));
  const paths = [
    { path: "meta", message: "one" },
    { path: "meta.limits.0", message: "two" },
    { path: "meta.limits.1.Symbol(s)", message: "three" },
  ];
  expect(await issuesOf(withCheckedMeta(refusing, { meta }))).toEqual(paths);
  expect(await issuesOf(withCheckedMetas(refusing, [{}, { meta }]))).toEqual(
    paths.map(({ path, message }) => ({ path: `1.${path}`, message })),
  );
});

test("a schema that refuses without any issue still refuses", async () => {
  expect(
    await issuesOf(
      withCheckedMeta(
        schema(() => ({ issues: [] })),
        { meta },
      ),
    ),
  ).toEqual([{ path: "meta", message: "is refused by its schema" }]);
});

test("a schema may modify its input: the caller's object does not change, and the output is frozen", async () => {
  const writing = schema((value) => {
    Object.assign(value as object, { seats: 1 });
    return { value: value as object };
  });
  const checked = await withCheckedMeta(writing, { meta, name: "a" });
  expect(checked).toEqual({ meta: { plan: "pro", seats: 1 }, name: "a" });
  expect(Object.isFrozen(checked.meta)).toBe(true);
  expect(meta).toEqual({ plan: "pro" });
});

test("omitted metadata, null, and {} of an identity are not validated", async () => {
  const never = schema(() => {
    throw new Error("asked");
  });
  for (const input of [{}, { meta: undefined }, { meta: null }])
    expect(await withCheckedMeta(never, input)).toBe(input);
  const none = { meta: {} };
  expect(await withCheckedIdentityMeta({ identityMeta: never }, none)).toBe(none);
  expect(await issuesOf(withCheckedMeta(never, none))).toEqual([new Error("asked")]);
});
