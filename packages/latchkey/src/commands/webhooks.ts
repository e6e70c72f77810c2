import { type Deliveries, deliveriesOf, type Latchkey, LatchkeyError } from "@latchkey/core";
import { UsageError } from "../command-line/failures.js";
import type { Field } from "../command-line/fields.js";
import { type AddCommand, groupCommand } from "../command-line/help.js";
import {
  addCommonOptions,
  addInput,
  addYesOption,
  type CommonOptions,
  confirm,
  inputOf,
  listCommand,
} from "../command-line/operations.js";
import { instant, minute, printLine } from "../command-line/output.js";
import { withLatchkey } from "../command-line/store-options.js";
import { isoDateOrAge } from "../command-line/values.js";
import { plural } from "../command-line/words.js";

const ENDPOINTS: AddCommand = listCommand({
  name: "endpoints",
  text: "list the endpoints of the workspace, and the progress of each",
  page: async (latchkey) => ({ items: await deliveriesOf(latchkey).listEndpoints() }),
  columns: () => [
    { title: "ID", of: ({ endpointId }) => endpointId },
    { title: "RECEIVER", of: ({ origin }) => origin ?? undefined },
    { title: "UNREAD", of: ({ unread }) => unread },
    { title: "WAITING", of: ({ waiting }) => waiting },
  ],
});

const DEAD_LETTERS: AddCommand = listCommand({
  name: "dead-letters",
  text: "list the events that were given up, in the order they happened",
  page: (latchkey, input) => deadLetters(deliveriesOf(latchkey), input),
  columns: () => [
    { title: "ID", of: ({ deadLetterId }) => deadLetterId },
    { title: "RECEIVER", of: ({ origin, endpointId }) => origin ?? endpointId },
    { title: "EVENT", of: ({ event }) => event?.type },
    { title: "OF", of: ({ event }) => event?.resourceId },
    {
      title: "GIVEN UP",
      of: ({ givenUpAt }) => instant(givenUpAt),
      inTable: ({ givenUpAt }) => minute(givenUpAt),
    },
    { title: "TRIES", of: ({ tries }) => tries },
    { title: "FAILURE", of: ({ failure }) => failure ?? undefined },
  ],
});

/** A page of dead letters to print, with the stored origin of their endpoint, null if unknown. This process knows no more of endpoints. */
async function deadLetters(deliveries: Deliveries, input: { readonly cursor?: string }) {
  const [{ dead, ...page }, { endpoints }] = await Promise.all([
    deliveries.listDead(input),
    deliveries.readSender(),
  ]);
  const items = dead.map(({ delivery, event }) => ({
    deadLetterId: delivery.id,
    endpointId: delivery.endpointId,
    origin: endpoints.find(({ id }) => id === delivery.endpointId)?.origin ?? null,
    eventId: delivery.eventId,
    event,
    tries: delivery.tries,
    givenUpAt: delivery.at,
    failure: delivery.failure,
  }));
  return { items, ...page };
}

/** Marks a dead letter to be sent again by the sending process. @throws LatchkeyError if its endpoint is unknown. */
async function redeliver(deliveries: Deliveries, deadLetterId: string): Promise<void> {
  const { endpoints } = await deliveries.readSender();
  await deliveries.redeliver({ deadLetterId }, ({ endpointId }) => {
    if (endpoints.some(({ id }) => id === endpointId)) return;
    throw new LatchkeyError(
      "PRECONDITION_FAILED",
      "the endpoint of this dead letter is no longer known: add it to createWebhooks, start it, and try again",
    );
  });
}

/** Marks all dead letters to be sent again, except those that are damaged or whose endpoint is unknown. */
async function redeliverAll(
  deliveries: Deliveries,
): Promise<{ readonly redelivered: number; readonly left: number; readonly damaged: number }> {
  const count = { redelivered: 0, left: 0, gone: 0, damaged: 0 };
  let cursor: string | undefined;
  do {
    const page: Awaited<ReturnType<typeof deadLetters>> = await deadLetters(
      deliveries,
      cursor === undefined ? {} : { cursor },
    );
    for (const { deadLetterId } of page.items)
      count[await tryToRedeliver(deliveries, deadLetterId)] += 1;
    count.damaged += page.damaged ?? 0;
    cursor = page.cursor;
  } while (cursor !== undefined);
  return count;
}

/** `gone`: another process has redelivered or deleted it meanwhile. `left`: its endpoint is unknown. */
async function tryToRedeliver(
  deliveries: Deliveries,
  deadLetterId: string,
): Promise<"redelivered" | "left" | "gone"> {
  try {
    await redeliver(deliveries, deadLetterId);
    return "redelivered";
  } catch (error) {
    if (error instanceof LatchkeyError && error.code === "NOT_FOUND") return "gone";
    if (error instanceof LatchkeyError && error.code === "PRECONDITION_FAILED") return "left";
    throw error;
  }
}

const addRedeliver: AddCommand = (group, host) => {
  const command = group
    .command("redeliver")
    .description("queue a dead letter, to be sent again by the process that runs createWebhooks")
    .argument("[deadLetterId]")
    .option("--all", "all dead letters of the workspace");
  addCommonOptions(command).action(async (deadLetterId: string | undefined) => {
    const options = command.opts<CommonOptions & { all?: true }>();
    if ((deadLetterId === undefined) !== (options.all === true))
      throw new UsageError("give the id of a dead letter, or --all");
    await withLatchkey(options, host, async (latchkey: Latchkey) => {
      const deliveries = deliveriesOf(latchkey);
      let [redelivered, left, damaged] = [1, 0, 0];
      if (deadLetterId !== undefined) await redeliver(deliveries, deadLetterId);
      else ({ redelivered, left, damaged } = await redeliverAll(deliveries));
      const text = `${plural(redelivered, "dead letter")} will be sent again by the process that runs createWebhooks`;
      printLine(host, options, { redelivered }, text);
      if (left > 0)
        host.warn(
          `${plural(left, "dead letter")} ${left === 1 ? "stays: its endpoint is" : "stay: their endpoints are"} no longer known`,
        );
      if (damaged > 0) host.warn(`${damaged} more cannot be read`);
    });
  });
};

const BEFORE: readonly Field[] = [
  {
    flags: "--before <date|span>",
    text: "those given up before a date, or longer ago than this: 30d",
    read: isoDateOrAge("--before"),
  },
];

const addPrune: AddCommand = (group, host) => {
  const command = group
    .command("prune")
    .description("delete dead letters that were given up before a date");
  addCommonOptions(addYesOption(addInput(command, [], BEFORE))).action(async () => {
    confirm(command, host);
    const input = inputOf(command, BEFORE, host);
    if (input.before === undefined) throw new UsageError("--before is required");
    const options = command.opts<CommonOptions>();
    await withLatchkey(options, host, async (latchkey: Latchkey) => {
      const answer = await deliveriesOf(latchkey).pruneDeadBefore(input);
      const text = `${plural(answer.deleted, "dead letter")} ${answer.deleted === 1 ? "is" : "are"} deleted`;
      printLine(host, options, answer, text);
    });
  });
};

/** Adds `latchkey webhooks`: the progress of endpoints, and dead letters. */
export const addWebhooks: AddCommand = groupCommand(
  "webhooks",
  "show the progress of endpoints, and list, resend or delete dead letters",
  ["latchkey webhooks dead-letters", "latchkey webhooks redeliver --all"],
  [ENDPOINTS, DEAD_LETTERS, addRedeliver, addPrune],
);
