import type { KeyStore, Latchkey, LatchkeyEvent } from "@latchkey/core";
import { describe, expect, test } from "vitest";
import { makeChangeFixture, WITH_VAULT } from "./change-cases/fixture.js";
import { CHANGE_CASES } from "./changes.js";
import { describeOnMemory } from "./test-context.js";

const HIDDEN_FIELDS = new Set(["key", "plaintext", "hash", "sealedSecret"]);

/** Every text anywhere in a value in a field with a secret name. */
function secretsIn(value: unknown, name = ""): string[] {
  if (typeof value === "string") return HIDDEN_FIELDS.has(name) ? [value] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([field, content]) =>
    secretsIn(content, Array.isArray(value) ? name : field),
  );
}

/** Collects every secret in the arguments and results of methods. */
function collectingSecrets<Target extends object>(target: Target, secrets: Set<string>): Target {
  const collect = (value: unknown) => {
    for (const secret of secretsIn(value)) secrets.add(secret);
  };
  return new Proxy(target, {
    get(of, name) {
      const member: unknown = Reflect.get(of, name);
      if (typeof member !== "function") return member;
      return async (...args: unknown[]) => {
        collect(args);
        const answer: unknown = await Reflect.apply(member, of, args);
        collect(answer);
        return answer;
      };
    },
  });
}

/** Forms in which a text could occur: plain, in base64, in hexadecimal. */
function traces(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [secret, bytes.toString("base64"), bytes.toString("base64url"), bytes.toString("hex")];
}

describeOnMemory("events and audit entries of a change", (open) => {
  describe.each(CHANGE_CASES)("by $title", ({ run }) => {
    test("contain no secret, no hash and no encrypted secret", async () => {
      const context = open(WITH_VAULT);
      const secrets = new Set<string>();
      const events: LatchkeyEvent[] = [];
      const latchkey = collectingSecrets<Latchkey>(
        context.another({
          store: collectingSecrets<KeyStore>(context.store, secrets),
          onEvent: (event) => events.push(event),
        }),
        secrets,
      );
      const fixture = await makeChangeFixture({ ...context, latchkey });
      await latchkey.verifyKey({ key: fixture.key, tags: ["gate=north"] });
      const { checks } = await context.latchkey.verifyKey({
        key: fixture.key,
        authorization: { permissions: "gates.open" },
        dryRun: true,
      });
      await run(latchkey, fixture);
      await context.latchkey.setWorkspaceEnabled(true);
      await latchkey.verifyKey({ key: fixture.key });

      const log = await context.latchkey.listAuditEvents();
      const output = JSON.stringify({ events, log, checks });
      expect(events.length).toBeGreaterThan(0);
      expect([...secrets].filter((secret) => secret.length > 16).length).toBeGreaterThan(2);
      for (const secret of secrets)
        for (const trace of traces(secret)) expect(output).not.toContain(trace);
    });
  });
});
