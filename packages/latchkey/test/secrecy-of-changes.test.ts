import type { KeyStore, Latchkey, LatchkeyEvent } from "@latchkey/core";
import { describe, expect, test } from "vitest";
import { makeChangeScene, WITH_VAULT } from "./change-cases/scene.js";
import { CHANGE_CASES } from "./changes.js";
import { describeOnEveryStore } from "./every-store.js";

const HIDDEN_FIELDS = new Set(["key", "plaintext", "hash", "sealedSecret"]);

/** Every text that stands anywhere in a value under the name of something secret. */
function secretsIn(value: unknown, name = ""): string[] {
  if (typeof value === "string") return HIDDEN_FIELDS.has(name) ? [value] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([field, content]) =>
    secretsIn(content, Array.isArray(value) ? name : field),
  );
}

/** Notes every secret that goes into a method or comes out of it. */
function noting<Target extends object>(target: Target, secrets: Set<string>): Target {
  const note = (value: unknown) => {
    for (const secret of secretsIn(value)) secrets.add(secret);
  };
  return new Proxy(target, {
    get(of, name) {
      const member: unknown = Reflect.get(of, name);
      if (typeof member !== "function") return member;
      return async (...args: unknown[]) => {
        note(args);
        const answer: unknown = await Reflect.apply(member, of, args);
        note(answer);
        return answer;
      };
    },
  });
}

/** Ways in which a text could stand in another: as it is, in base64, in hexadecimal. */
function traces(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [secret, bytes.toString("base64"), bytes.toString("base64url"), bytes.toString("hex")];
}

describeOnEveryStore("what is told of a change", (open) => {
  describe.each(CHANGE_CASES)("by $title", ({ run }) => {
    test("holds no secret, no hash and no encrypted secret", async () => {
      const bed = open(WITH_VAULT);
      const secrets = new Set<string>();
      const heard: LatchkeyEvent[] = [];
      const latchkey = noting<Latchkey>(
        bed.another({
          store: noting<KeyStore>(bed.store, secrets),
          onEvent: (event) => heard.push(event),
        }),
        secrets,
      );
      const scene = await makeChangeScene({ ...bed, latchkey });
      await latchkey.verifyKey({ key: scene.key, tags: ["gate=north"] });
      const { checks } = await bed.latchkey.verifyKey({
        key: scene.key,
        authorization: { permissions: "gates.open" },
        dryRun: true,
      });
      await run(latchkey, scene);
      await bed.latchkey.setWorkspaceEnabled(true);
      await latchkey.verifyKey({ key: scene.key });

      const log = await bed.latchkey.listAuditEvents();
      const told = JSON.stringify({ heard, log, checks });
      expect(heard.length).toBeGreaterThan(0);
      expect([...secrets].filter((secret) => secret.length > 16).length).toBeGreaterThan(2);
      for (const secret of secrets)
        for (const trace of traces(secret)) expect(told).not.toContain(trace);
    });
  });
});
