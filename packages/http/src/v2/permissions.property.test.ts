import { LatchkeyError } from "@latchkey/core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { RequiredPermissions } from "../auth/required-permissions.js";
import { documentOf } from "../openapi/document.js";
import type { Operation } from "../operations/operation.js";
import { OPERATIONS } from "../operations/table.js";
import { inputsOf, type Schema } from "../testing/input-arbitrary.js";
import { openService } from "../testing/open-service.js";
import { V2 } from "./contract.js";

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever it expects there
const document: any = documentOf(V2, "");
const { latchkey } = await openService();

const schemaOf = ({ name }: Operation): Schema =>
  document.paths[`/v2/${name}`].post.requestBody.content["application/json"].schema;
const resolve = (reference: string): Schema =>
  document.components.schemas[reference.replace("#/components/schemas/", "")];

const ENOUGH = new Error("the operation of v1 was called");
const ADMITTED = { success: true, limit: 1, remaining: 1, reset: 0 };

/** The inputs with which an operation of v2 calls the operation of v1 that carries it out, for a caller without an actor. */
async function inputsOfV1({ operation, run }: Operation, input: unknown): Promise<unknown[]> {
  const inputs: unknown[] = [];
  const recording = new Proxy(latchkey, {
    get: (_target, method) => async (given: unknown) => {
      if (method === operation) inputs.push(given ?? {});
      // An operation on several limits calls once for each.
      if (method === "limit") return ADMITTED;
      if (method === operation) throw ENOUGH;
      return { id: "id_found" };
    },
  });
  const caller = { latchkey: recording, permissions: [], verifyScope: { all: false } };
  await run(caller as never, input, "req_1").catch((error: unknown) => {
    // If v2 itself refuses the input, nothing was carried out.
    if (error !== ENOUGH && !(error instanceof LatchkeyError)) throw error;
  });
  return inputs;
}

/** The required permissions as texts: the actions, the conditional ones, and the resource. */
function named(required: readonly RequiredPermissions[]): readonly string[] {
  const parts = required.flatMap((one) => [one, ...(one.and ?? [])]);
  const texts = parts.flatMap(({ permissions, subject, conditional }) => {
    // An identity may be named by another of its ids.
    const of = subject.kind.startsWith("identity") ? "identity" : JSON.stringify(subject);
    const actions = permissions.map(({ resource, action }) => `${resource}.${action} of ${of}`);
    const { resource, action } = conditional?.permission ?? {};
    return conditional ? [...actions, `${resource}.${action} ${conditional.when}`] : actions;
  });
  return [...new Set(texts)].sort();
}

describe("v2 requires the permissions of the operation of v1 that carries it out", () => {
  test.each(V2.operations)("$name", async (operation) => {
    const carrier = OPERATIONS.find((one) => one.operation === operation.operation) as Operation;
    const examples = [operation.example.input];
    let compared = 0;
    const inputs = fc.oneof(
      fc.constantFrom(...examples),
      inputsOf(schemaOf(operation), resolve, examples),
    );
    await fc.assert(
      fc.asyncProperty(inputs, async (given) => {
        const input: unknown = JSON.parse(JSON.stringify(given));
        const parsed = operation.input.safeParse(input);
        if (!parsed.success) return;
        const carried = await inputsOfV1(operation, input);
        const required = carried.flatMap((one) => {
          const { success, data } = carrier.input.safeParse(one);
          return success ? [carrier.requiredPermissions(data)] : [];
        });
        // Only v1 checks rules across fields. If it refuses, it requires no permissions.
        if (required.length < carried.length || carried.length === 0) return;
        compared += 1;
        expect(named([operation.requiredPermissions(parsed.data)])).toEqual(named(required));
      }),
      { numRuns: 150 },
    );
    expect(compared).toBeGreaterThan(20);
  });
});
