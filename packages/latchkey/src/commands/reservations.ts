import type { Field } from "../command-line/fields.js";
import { type AddCommand, groupCommand } from "../command-line/help.js";
import { costsText } from "../command-line/key-cells.js";
import { listCommand, operationCommand } from "../command-line/operations.js";
import { instant } from "../command-line/output.js";
import { spanText } from "../command-line/values.js";

/** Options that select the owner of reservations. */
const WHOSE: readonly Field[] = [
  { flags: "--key-id <id>", text: "of a key" },
  { flags: "--identity-id <id>", text: "of all keys of an identity" },
];

const COMMANDS = [
  listCommand({
    text: "list the open reservations of a key or an identity, and what they hold",
    fields: WHOSE,
    page: async (latchkey, input) => {
      const page = await latchkey.listReservations(input);
      return { items: page.reservations, cursor: page.cursor };
    },
    columns: (now) => [
      { title: "ID", of: ({ reservationId }) => reservationId },
      { title: "KEY", of: ({ keyId }) => keyId },
      { title: "CREATED", of: ({ createdAt }) => instant(createdAt), inTable: null },
      {
        title: "EXPIRES IN",
        of: ({ expiresAt }) => instant(expiresAt),
        inTable: ({ expiresAt }) => spanText(Math.ceil((expiresAt - now) / 1_000) * 1_000),
      },
      { title: "USES", of: ({ uses }) => uses },
      { title: "LIMITS", of: ({ ratelimits }) => costsText(ratelimits) },
    ],
  }),
  operationCommand({
    name: "release",
    text: "end a reservation, and return all that it holds",
    operation: "release",
    args: ["<reservationId>"],
    print: (_, { reservationId }) => `reservation ${reservationId} is released`,
  }),
];

/** Adds `latchkey reservations`: what is held until the final cost is known, and slots of concurrent limits. */
export const addReservations: AddCommand = groupCommand(
  "reservations",
  "list and release reservations: uses and units held until the cost is known, and slots",
  ["latchkey reservations list --key-id <keyId>", "latchkey reservations release <reservationId>"],
  COMMANDS,
);
