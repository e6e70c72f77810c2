import { OPERATIONS as CORE_OPERATIONS } from "@latchkey/core";
import { z } from "zod";
import { API_ID, KEY_ID, NEXT_KEY_ID, SECRET, START } from "../operations/examples.js";
import { VERIFY_KEY } from "../operations/keys.js";
import type { Operation } from "../operations/operation.js";
import { createdOrRepeatedKey } from "../response-schemas/repeats.js";
import { dataBody } from "./bodies.js";
import {
  changedKey,
  fieldsOf,
  newCredits,
  newKey,
  pathInCredits,
  pick,
  question,
  ratelimits,
  usesOf,
} from "./fields.js";
import { permissionItems } from "./key-permissions.js";
import { defineV2 } from "./operation.js";
import { asked, namesOf, questionOf } from "./question.js";
import { toVerdict, verdict } from "./verdict.js";
import { credits, empty, key, toKey } from "./views.js";

const { keyId } = changedKey;
const newCount = fieldsOf(CORE_OPERATIONS.updateRemaining.input);
const rotation = fieldsOf(CORE_OPERATIONS.rotateKey.input);

const KEY = {
  keyId: KEY_ID,
  start: "acme_EXAM",
  enabled: true,
  createdAt: START,
  permissions: ["docs.read"],
  roles: ["reader"],
  credits: { remaining: 998 },
};

/** Operations on a single key. */
export const KEYS: readonly Operation[] = [
  defineV2("keys.createKey", {
    description:
      "Only this response contains the secret: pass it on and keep no copy. The identity of `externalId` is created in " +
      "the same write if it does not exist; roles and permissions must exist. `recoverable` stores the secret " +
      "encrypted, and needs `encrypt_key`, too.",
    input: z.strictObject({
      ...pick(newKey, "apiId", "prefix", "name", "byteLength", "externalId", "meta"),
      ...pick(newKey, "roles", "permissions", "expires"),
      credits: newCredits,
      ratelimits,
      ...pick(newKey, "enabled", "recoverable"),
    }),
    response: dataBody(createdOrRepeatedKey),
    example: {
      input: {
        apiId: API_ID,
        prefix: "acme",
        externalId: "user_1",
        credits: { remaining: 1_000, refill: { interval: "monthly", amount: 1_000 } },
        ratelimits: [{ name: "requests", limit: 10, duration: 1_000, autoApply: true }],
      },
      response: { data: { keyId: KEY_ID, key: SECRET } },
    },
    pathHere: pathInCredits,
    run: async ({ carryOut }, { credits: uses, ...settings }) => ({
      data: await carryOut({ ...settings, ...usesOf(uses) }),
    }),
  }),
  defineV2(VERIFY_KEY, {
    description:
      "Decides whether a key is valid for this use, and charges it, in one atomic step. Every verdict is a 200: read " +
      "`valid` and `code`. A refusal charges nothing.",
    input: z.strictObject(asked),
    response: dataBody(verdict),
    example: {
      input: { key: SECRET, permissions: "docs.read AND (docs.write OR team.admin)" },
      response: {
        data: {
          valid: true,
          code: "VALID",
          keyId: KEY_ID,
          enabled: true,
          credits: 998,
          permissions: ["docs.read", "docs.write"],
          roles: ["editor"],
        },
      },
    },
    run: async ({ carryOut }, input) => ({
      data: toVerdict(await carryOut(questionOf(input)), namesOf(input)),
    }),
  }),
  defineV2("keys.getKey", {
    description: "`decrypt` shows the secret of a recoverable key, and needs `decrypt_key`, too.",
    input: z.strictObject({ keyId, decrypt: changedKey.enabled }),
    response: dataBody(key),
    example: { input: { keyId: KEY_ID }, response: { data: KEY } },
    run: async ({ carryOut }, input) => ({ data: toKey(await carryOut(input)) }),
  }),
  defineV2("keys.whoami", {
    description:
      "Charges nothing and gives no verdict: a key that is not `enabled` is returned, too.",
    input: z.strictObject({ key: question.key }),
    response: dataBody(key),
    example: { input: { key: SECRET }, response: { data: KEY } },
    run: async ({ carryOut, latchkey }, input) => {
      const { id } = await carryOut(input);
      return { data: toKey(await latchkey.getKey({ keyId: id })) };
    },
  }),
  defineV2("keys.updateKey", {
    description:
      "Omitted fields stay unchanged, `null` clears. `roles` and `permissions` replace the whole set, and need the " +
      "permissions of `keys.setRoles` and `keys.setPermissions`, too.",
    input: z.strictObject({
      ...pick(changedKey, "keyId", "name", "externalId", "meta", "expires"),
      credits: z
        .strictObject(pick(changedKey, "remaining", "refill"))
        .describe("`null`, or `remaining: null`, makes the key unlimited.")
        .nullish(),
      ratelimits: ratelimits.nullable(),
      enabled: changedKey.enabled,
      ...pick(newKey, "roles", "permissions"),
    }),
    response: dataBody(empty),
    example: {
      input: { keyId: KEY_ID, name: "build server", expires: null },
      response: { data: {} },
    },
    pathHere: pathInCredits,
    run: async ({ carryOut, permissions: held }, { credits: uses, permissions, ...changes }) => {
      const find =
        permissions && (async () => ({ permissions: permissionItems(permissions, held) }));
      const wanted = { ...changes, ...(uses === null ? { remaining: null } : uses), permissions };
      await carryOut(wanted, find);
      return { data: {} };
    },
  }),
  defineV2("keys.updateCredits", {
    operation: "updateRemaining",
    description:
      "`set` with `null` makes the key unlimited. `increment` and `decrement` of an unlimited key are a 400; a " +
      "decrement below 0 is a 412 and changes nothing.",
    input: z.strictObject({
      keyId,
      operation: newCount.op,
      value: newCount.value,
    }),
    response: dataBody(credits),
    example: {
      input: { keyId: KEY_ID, operation: "increment", value: 500 },
      response: { data: { remaining: 1_498 } },
    },
    run: async ({ carryOut }, { keyId: id, operation, value }) => {
      const { remaining = null } = await carryOut({ keyId: id, op: operation, value });
      return { data: { remaining } };
    },
  }),
  defineV2("keys.deleteKey", {
    description: "No verification that starts after the response succeeds.",
    input: z.strictObject({
      keyId,
      permanent: changedKey.enabled.describe("Accepted, without effect: a deletion keeps nothing."),
    }),
    response: dataBody(empty),
    example: { input: { keyId: KEY_ID }, response: { data: {} } },
  }),
  defineV2("keys.rerollKey", {
    operation: "rotateKey",
    description:
      "Creates a key with the same settings, which shares uses and limits with the old one. The old key stays valid " +
      "for `expiration` ms, but not beyond its own expiry. A key can be replaced only once; a second time is a 409. Only this " +
      "response contains the new secret. A recoverable key needs `encrypt_key`, too.",
    input: z.strictObject({
      keyId,
      expiration: rotation.graceMs.unwrap(),
    }),
    response: dataBody(createdOrRepeatedKey),
    example: {
      input: { keyId: KEY_ID, expiration: 3_600_000 },
      response: { data: { keyId: NEXT_KEY_ID, key: SECRET } },
    },
    run: async ({ carryOut }, { keyId: id, expiration }) => ({
      data: await carryOut({ keyId: id, graceMs: expiration }),
    }),
  }),
];
