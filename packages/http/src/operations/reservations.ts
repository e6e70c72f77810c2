import { LatchkeyError } from "@latchkey/core";
import { insufficient } from "../auth/authorize.js";
import type { Caller } from "../auth/callers.js";
import { onApi, onApiOfKey, onIdentity } from "../auth/required-permissions.js";
import { renewed, reservationList, settled } from "../response-schemas/reservations.js";
import { verdict } from "../response-schemas/verdict.js";
import { API_ID, KEY_ID, REQUEST_ID, RESERVATION_ID, SECRET, START } from "./examples.js";
import { defineOperation, type Operation } from "./operation.js";
import { defineVerification } from "./verification.js";

/** The permission depends on the API of the reservation's key, which only the operation itself learns. */
const settling = () => onApi(["settle_reservation"], { kind: "any-api" });

const ENDED =
  "For an hour, a repeat with the same figures returns the same response; with others it is a 409.";

const OVER =
  "If the reservation is over, or holds less than the stated cost, the response is a 412 and nothing is changed.";

/** Operations on reservations. */
export const RESERVATIONS: readonly Operation[] = [
  defineVerification("keys.reserve", {
    summary: "Verify a key and reserve what it takes",
    description:
      "Like `keys.verifyKey`, for work whose price is known only afterwards: uses and units are held for `ttl`, and " +
      "`keys.settleReservation` states what the work cost. Whatever is not settled by `expiresAt` is returned. Every verdict is a 200; " +
      "with an `Idempotency-Key` a retry within 10 minutes gets the same reservation. A key can have 1,000 open reservations, and an " +
      "identity 10,000; one more is a 412.",
    action: "reserve_key",
    response: verdict,
    errors: ["CONFLICT", "PRECONDITION_FAILED"],
    example: {
      input: { key: SECRET, remaining: { cost: 4_000 }, ttl: "5m" },
      response: {
        valid: true,
        code: "VALID",
        requestId: REQUEST_ID,
        keyId: KEY_ID,
        apiId: API_ID,
        enabled: true,
        permissions: [],
        roles: [],
        remaining: 6_000,
        reservationId: RESERVATION_ID,
        expiresAt: START + 300_000,
      },
    },
    run: ({ latchkey, reserveScope }, input) => latchkey.reserve(input, reserveScope),
  }),
  defineOperation("keys.settleReservation", {
    operation: "settle",
    summary: "Settle a reservation",
    description:
      "Takes the final cost and returns the rest to where it came from. Whatever is omitted is charged in full, as reserved; " +
      `slots of concurrent limits are freed in any case. ${ENDED} ${OVER}`,
    response: settled,
    errors: ["NOT_FOUND", "CONFLICT", "PRECONDITION_FAILED"],
    example: {
      input: { reservationId: RESERVATION_ID, remaining: { cost: 812 } },
      response: { remaining: 9_188, taken: { uses: 812, ratelimits: [] } },
    },
    requiredPermissions: settling,
    run: (caller, input) => withinScope(caller, (scope) => caller.latchkey.settle(input, scope)),
  }),
  defineOperation("keys.releaseReservation", {
    operation: "release",
    summary: "Release a reservation",
    description: `The same as settling with a cost of 0 for everything. ${ENDED} A reservation that is over is a 412.`,
    response: settled,
    errors: ["NOT_FOUND", "CONFLICT", "PRECONDITION_FAILED"],
    example: {
      input: { reservationId: RESERVATION_ID },
      response: { remaining: 10_000, taken: { uses: 0, ratelimits: [] } },
    },
    requiredPermissions: settling,
    run: (caller, input) => withinScope(caller, (scope) => caller.latchkey.release(input, scope)),
  }),
  defineOperation("keys.renewReservation", {
    operation: "renew",
    summary: "Renew a reservation",
    description:
      "Holds it for `ttl` from now on; if omitted, for as long as at first. A slot of a concurrent limit is held for its `duration` " +
      "at most. A reservation that is over is a 412, and one that was settled a 409.",
    response: renewed,
    errors: ["NOT_FOUND", "CONFLICT", "PRECONDITION_FAILED"],
    example: {
      input: { reservationId: RESERVATION_ID, ttl: "5m" },
      response: { expiresAt: START + 300_000 },
    },
    requiredPermissions: settling,
    run: (caller, input) => withinScope(caller, (scope) => caller.latchkey.renew(input, scope)),
  }),
  defineOperation("keys.listReservations", {
    method: "GET",
    summary: "List open reservations",
    description:
      "The open reservations of one key, or of all keys of one identity, in the order of creation: exactly one of `keyId` and " +
      "`identityId`. For an identity it needs `identity.*.read_reservation`.",
    queryTypes: { limit: "integer" },
    response: reservationList,
    errors: ["NOT_FOUND"],
    example: {
      input: { keyId: KEY_ID, limit: 10 },
      response: {
        reservations: [
          {
            reservationId: RESERVATION_ID,
            keyId: KEY_ID,
            createdAt: START,
            expiresAt: START + 300_000,
            uses: 4_000,
            ratelimits: [{ name: "parallel", cost: 1 }],
          },
        ],
      },
    },
    requiredPermissions: ({ keyId, identityId }) =>
      keyId === undefined
        ? onIdentity("read_reservation", { identityId })
        : onApiOfKey(keyId, "read_reservation"),
  }),
];

/**
 * Settles for a caller. A caller that may settle only for some APIs gets the same refusal for a reservation of another API and for one that
 * does not exist.
 */
async function withinScope<Answer>(
  { settleScope }: Caller,
  run: (scope: Caller["settleScope"]) => Promise<Answer>,
): Promise<Answer> {
  try {
    return await run(settleScope);
  } catch (error) {
    const isUnknown = error instanceof LatchkeyError && error.code === "NOT_FOUND";
    throw isUnknown && settleScope.apiIds !== undefined ? insufficient(settling()) : error;
  }
}
