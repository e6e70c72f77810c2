import { expectTypeOf, test } from "vitest";
import type { z } from "zod";
import type { Latchkey } from "../bound-latchkey.js";
import { createLatchkey } from "../latchkey.js";
import type { TypesOf } from "../rules/latchkey-types.js";
import type { KeyStore } from "../store/key-store.js";
import type { libraryInput } from "./keys/create-key.js";
import type { CreateKeyInput, NewKeyInput } from "./keys/settings.js";
import type { InputOf, OperationName, Table } from "./operations.js";
import type { VerifierInput, verifierInput } from "./verify-key/verifier.js";
import type { SetWorkspaceEnabledInput } from "./workspaces.js";

/** With every optional field required, so that a field that only one side has shows. */
type Whole<Value> = Value extends (...args: never) => unknown
  ? Value
  : Value extends readonly (infer Item)[]
    ? readonly Whole<Item>[]
    : Value extends object
      ? { readonly [Field in keyof Value]-?: Whole<Value[Field]> }
      : Value;

/** Whether each is assignable to the other, and neither has a field that the other lacks. */
type IsSame<One, Other> = [One, Other] extends [Other, One]
  ? [Whole<One>, Whole<Other>] extends [Whole<Other>, Whole<One>]
    ? true
    : false
  : false;

type SchemaInput<Name extends OperationName> = Table[Name]["input"] extends infer Schema extends
  z.ZodType
  ? z.input<Schema>
  : undefined;

type WrittenInput<Name extends OperationName> = Name extends "setWorkspaceEnabled"
  ? SetWorkspaceEnabledInput
  : Name extends "createKey"
    ? NewKeyInput
    : InputOf<Name> extends infer Input
      ? [Input] extends [never] | [string]
        ? undefined
        : Input extends readonly unknown[]
          ? Input
          : // Added to every write in one place, and checked there.
            Omit<Input, "idempotencyKey">
      : never;

/** The operations whose interface and schema differ. */
type Differing = {
  [Name in OperationName]: IsSame<SchemaInput<Name>, WrittenInput<Name>> extends true
    ? never
    : Name;
}[OperationName];

test("the interface of every input is that of its schema, field by field", () => {
  expectTypeOf<Differing>().toEqualTypeOf<never>();
  expectTypeOf<IsSame<z.input<typeof verifierInput>, VerifierInput>>().toEqualTypeOf<true>();
  expectTypeOf<IsSame<z.input<typeof libraryInput>, CreateKeyInput>>().toEqualTypeOf<true>();
});

test("an optional field that one side lacks, at any depth, is a difference", () => {
  interface Written {
    readonly name: string;
    readonly limits?: readonly { readonly limit: number; readonly type?: string | undefined }[];
  }
  interface Without {
    readonly name: string;
    readonly limits?: readonly { readonly limit: number }[];
  }
  expectTypeOf<IsSame<Written, Written>>().toEqualTypeOf<true>();
  expectTypeOf<IsSame<Written, Without>>().toEqualTypeOf<false>();
  expectTypeOf<IsSame<Written, { readonly name: string }>>().toEqualTypeOf<false>();
});

test("the input of an operation has the names that a latchkey declares", () => {
  const declare = () => createLatchkey({ store: {} as KeyStore, ratelimits: ["calls"] });
  type Input = InputOf<"createIdentity", ReturnType<typeof declare>>;
  type Name = NonNullable<Input["ratelimits"]>[number]["name"];
  expectTypeOf<Name>().toEqualTypeOf<"calls" | "default">();
  expectTypeOf<Input>().toEqualTypeOf<
    InputOf<"createIdentity", TypesOf<string, "calls", undefined, undefined>>
  >();
  expectTypeOf<InputOf<"createKey", Latchkey>>().toEqualTypeOf<InputOf<"createKey">>();
});
