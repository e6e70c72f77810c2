import { OPERATIONS as CORE_OPERATIONS } from "@latchkey/core";
import { z } from "zod";
import { KEY_ID, RESERVATION_ID, SECRET, START } from "../operations/examples.js";
import type { Operation } from "../operations/operation.js";
import { instant, listOf, shared, whole } from "../response-schemas/shared.js";
import { dataBody, pageBody, paginationOf } from "./bodies.js";
import { fieldsOf, page } from "./fields.js";
import { defineV2 } from "./operation.js";
import { asked, namesOf, questionOf } from "./question.js";
import { toVerdict, verdict } from "./verdict.js";

const { ttl } = fieldsOf(CORE_OPERATIONS.reserve.input);
const settling = fieldsOf(CORE_OPERATIONS.settle.input);
const { ttl: renewedFor } = fieldsOf(CORE_OPERATIONS.renew.input);
const listed = fieldsOf(CORE_OPERATIONS.listReservations.input);

const { reservationId } = settling;

const costs = listOf(z.strictObject({ name: z.string(), cost: whole() }));

const settled = shared(
  "SettledReservation",
  z.strictObject({
    remaining: whole().nullable().describe("Uses left afterwards; `null` for unlimited."),
    taken: z
      .strictObject({
        credits: whole().describe("Taken uses."),
        ratelimits: costs.describe("Taken units of each limit, except concurrent ones."),
      })
      .describe("What was taken in the end."),
  }),
);

const reservation = shared(
  "Reservation",
  z.strictObject({
    reservationId: z.string(),
    keyId: z.string(),
    createdAt: instant,
    expiresAt: instant,
    credits: whole().describe("Held uses."),
    ratelimits: costs.describe("Held units of limits, and slots."),
  }),
);

/** Result of settle, in the format of v2. */
function toSettled({
  remaining,
  taken: { uses, ratelimits },
}: {
  readonly remaining: number | null;
  readonly taken: {
    readonly uses: number;
    readonly ratelimits: z.output<typeof costs>;
  };
}): z.output<typeof settled> {
  return { remaining, taken: { credits: uses, ratelimits } };
}

/** Operations on reservations. */
export const RESERVATIONS: readonly Operation[] = [
  defineV2("keys.reserve", {
    description:
      "As `keys.verifyKey`, for work whose price is known only afterwards: uses and units are held for `ttl`, and " +
      "`keys.settleReservation` states what the work cost. Every verdict is a 200.",
    input: z.strictObject({ ...asked, ttl }),
    response: dataBody(verdict),
    example: {
      input: { key: SECRET, credits: { cost: 4_000 }, ttl: "5m" },
      response: {
        data: {
          valid: true,
          code: "VALID",
          keyId: KEY_ID,
          enabled: true,
          credits: 6_000,
          permissions: [],
          roles: [],
          reservationId: RESERVATION_ID,
          expiresAt: START + 300_000,
        },
      },
    },
    run: async ({ carryOut }, { ttl: span, ...input }) => ({
      data: toVerdict(await carryOut({ ...questionOf(input), ttl: span }), namesOf(input)),
    }),
  }),
  defineV2("keys.settleReservation", {
    operation: "settle",
    description:
      "Takes the final cost and returns the rest to where it came from. Whatever is omitted is charged in full, as reserved.",
    input: z.strictObject({
      reservationId,
      credits: settling.remaining,
      ratelimits: settling.ratelimits,
    }),
    response: dataBody(settled),
    example: {
      input: { reservationId: RESERVATION_ID, credits: { cost: 812 } },
      response: { data: { remaining: 9_188, taken: { credits: 812, ratelimits: [] } } },
    },
    pathHere: (path) => path.replace(/^remaining\b/, "credits"),
    run: async ({ carryOut }, { credits, ...input }) => ({
      data: toSettled(await carryOut({ ...input, remaining: credits })),
    }),
  }),
  defineV2("keys.releaseReservation", {
    operation: "release",
    description: "The same as settling with a cost of 0 for everything.",
    input: z.strictObject({ reservationId }),
    response: dataBody(settled),
    example: {
      input: { reservationId: RESERVATION_ID },
      response: { data: { remaining: 10_000, taken: { credits: 0, ratelimits: [] } } },
    },
    run: async ({ carryOut }, input) => ({ data: toSettled(await carryOut(input)) }),
  }),
  defineV2("keys.renewReservation", {
    operation: "renew",
    description: "Holds it for `ttl` from now on; if omitted, for as long as at first.",
    input: z.strictObject({ reservationId, ttl: renewedFor }),
    response: dataBody(z.strictObject({ expiresAt: instant })),
    example: {
      input: { reservationId: RESERVATION_ID, ttl: "5m" },
      response: { data: { expiresAt: START + 300_000 } },
    },
  }),
  defineV2("keys.listReservations", {
    description:
      "The open reservations of one key, or of all keys of one identity, in the order of creation: exactly one of `keyId` and " +
      "`identityId`. For an identity it needs `identity.*.read_reservation`.",
    input: z.strictObject({ keyId: listed.keyId, identityId: listed.identityId, ...page }),
    response: pageBody(reservation),
    example: {
      input: { keyId: KEY_ID, limit: 10 },
      response: {
        data: [
          {
            reservationId: RESERVATION_ID,
            keyId: KEY_ID,
            createdAt: START,
            expiresAt: START + 300_000,
            credits: 4_000,
            ratelimits: [{ name: "parallel", cost: 1 }],
          },
        ],
        pagination: { hasMore: false },
      },
    },
    run: async ({ carryOut }, input) => {
      const { reservations, cursor } = await carryOut(input);
      const data = reservations.map(({ uses, ...shown }) => ({ ...shown, credits: uses }));
      return { data, pagination: paginationOf({ cursor }) };
    },
  }),
];
