import { expectTypeOf, test } from "vitest";
import type { KeyLabel } from "../../records/key.js";
import type { AuditedKey, keyFields } from "./audit-fields.js";

test("the fields that reach the audit log say nothing about a secret", () => {
  expectTypeOf<keyof AuditedKey>().toEqualTypeOf<
    | KeyLabel
    | "apiId"
    | "meta"
    | "tags"
    | "ipWhitelist"
    | "expires"
    | "startsAt"
    | "expiresWhenUnused"
    | "idleFrom"
    | "enabled"
    | "usesFrom"
    | "refill"
    | "ratelimits"
    | "rotatedFrom"
    | "rotatedTo"
  >();
  expectTypeOf<AuditedKey>().not.toHaveProperty("sealedSecret");
  expectTypeOf<AuditedKey>().not.toHaveProperty("hash");
  expectTypeOf<AuditedKey>().not.toHaveProperty("importMarks");
  expectTypeOf<AuditedKey>().not.toHaveProperty("start");
  expectTypeOf<Parameters<typeof keyFields>[0]>().toEqualTypeOf<AuditedKey>();
});
