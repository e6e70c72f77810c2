import type { AuditEvent, Latchkey } from "@latchkey/core";
import type { Command } from "commander";
import type { Field } from "../command-line/fields.js";
import { example } from "../command-line/help.js";
import type { Host } from "../command-line/host.js";
import {
  addCommonOptions,
  addInput,
  type CommonOptions,
  type Input,
  inputOf,
} from "../command-line/operations.js";
import { type Column, instant, minute, printRows } from "../command-line/output.js";
import { withLatchkey } from "../command-line/store-options.js";
import { wholeNumber } from "../command-line/values.js";

const FILTERS: readonly Field[] = [
  { flags: "--key-id <id>", text: "only changes to this key" },
  { flags: "--identity-id <id>", text: "only changes to this identity" },
  {
    flags: "--actor <name>",
    text: "only changes by one actor: a root key's id, cli, or the actor that your server names",
  },
];

const COLUMNS: readonly Column<AuditEvent>[] = [
  { title: "AT", of: ({ at }) => instant(at), inTable: ({ at }) => minute(at) },
  { title: "ACTOR", of: ({ actor }) => actor },
  { title: "CHANGE", of: ({ type }) => type },
  { title: "OF", of: ({ resourceId }) => resourceId },
  { title: "FIELDS", of: ({ changes }) => changes.map(changeText).join(" ") },
];

/** Interval at which a followed log is read, in ms. */
const INTERVAL_MS = 1_000;

/** How far the clocks of writers may differ before an entry is missed, in ms. */
const OVERLAP_MS = 60_000;

/** Adds `latchkey audit`: who changed what, and when. */
export function addAudit(program: Command, host: Host): void {
  const audit = program
    .command("audit")
    .description("show who changed what, the latest last")
    .option(
      "--limit <n>",
      "how many of the latest changes (default: 50)",
      wholeNumber("--limit", 1, 10_000),
    )
    .option("--follow", "keep running and show new changes until stopped")
    .addHelpText("after", example("latchkey audit --actor cli --follow"));
  addCommonOptions(addInput(audit, [], FILTERS)).action(async () => {
    const options = audit.opts<CommonOptions & { limit?: number; follow?: true }>();
    const filter = inputOf(audit, FILTERS, host);
    const { limit = 50, follow = false } = options;
    await withLatchkey(options, host, async (latchkey) => {
      const show = (events: readonly AuditEvent[]) => printRows(host, options, events, COLUMNS);
      const recent = (at: number) => (event: AuditEvent) => event.at > at - OVERLAP_MS;
      const { events: latest, damaged } = await latestEvents(
        latchkey,
        filter,
        (event, later) => later.length < limit || (follow && recent(later[0]?.at ?? 0)(event)),
      );
      show(latest.slice(-limit));
      if (damaged > 0) host.warn(`${damaged} more cannot be read`);
      let known = latest;
      while (follow && (await host.pause(INTERVAL_MS))) {
        const { events } = await latestEvents(latchkey, filter, recent(known.at(-1)?.at ?? 0));
        const shown = new Set(known.map(({ id }) => id));
        show(events.filter(({ id }) => !shown.has(id)));
        known = events;
      }
    });
  });
}

/**
 * The latest events, oldest first, back to the first one that is not wanted; and how many entries on the pages that were read are damaged.
 *
 * @param isWanted - Gets an event and all later ones.
 */
async function latestEvents(
  latchkey: Latchkey,
  filter: Input,
  isWanted: (event: AuditEvent, later: readonly AuditEvent[]) => boolean,
): Promise<{ readonly events: readonly AuditEvent[]; readonly damaged: number }> {
  const events: AuditEvent[] = [];
  let damaged = 0;
  let cursor: string | undefined;
  do {
    const page = await latchkey.listAuditEvents(
      cursor === undefined ? filter : { ...filter, cursor },
    );
    damaged += page.damaged ?? 0;
    for (const event of page.events) {
      if (!isWanted(event, events)) return { events: events.reverse(), damaged };
      events.push(event);
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
  return { events: events.reverse(), damaged };
}

function changeText({ field, before, after }: AuditEvent["changes"][number]): string {
  const text = (value: unknown) => (value === undefined ? "none" : JSON.stringify(value));
  return `${field}: ${text(before)} -> ${text(after)}`;
}
