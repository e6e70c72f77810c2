import {
  type AuditEvent,
  type EventPage,
  type Latchkey,
  LatchkeyError,
  type NoticedCount,
} from "@latchkey/core";
import type { Command } from "commander";
import { type Field, span } from "../command-line/fields.js";
import { type AddCommand, groupCommand } from "../command-line/help.js";
import type { Host } from "../command-line/host.js";
import {
  addCommonOptions,
  addInput,
  type CommonOptions,
  inputOf,
} from "../command-line/operations.js";
import { type Column, instant, minute, printLine, printRows } from "../command-line/output.js";
import { withLatchkey } from "../command-line/store-options.js";
import { list, wholeNumber } from "../command-line/values.js";

const FIELDS: readonly Field[] = [
  {
    flags: "--after <cursor>",
    text: "the cursor where an earlier call ended (default: the beginning)",
  },
  { flags: "--types <list>", text: "only these: key.created,key.deleted", read: list },
];

const COLUMNS: readonly Column<AuditEvent>[] = [
  { title: "AT", of: ({ at }) => instant(at), inTable: ({ at }) => minute(at) },
  { title: "EVENT", of: ({ type }) => type },
  { title: "OF", of: ({ resourceId }) => resourceId },
  { title: "ACTOR", of: ({ actor }) => actor },
];

/** Maximum events per page. */
const MOST_AT_ONCE = 100;

/** Interval at which a followed log is read, in ms. */
const INTERVAL_MS = 1_000;

/** Adds `latchkey events`: events in the order of their commits. */
export const addEvents: AddCommand = groupCommand(
  "events",
  "read events in order, and write events for keys that expire soon",
  ["latchkey events read --types key.created --json", "latchkey events notice --expires-within 3d"],
  [addNotice, addRead],
);

function addRead(events: Command, host: Host): void {
  const read = events
    .command("read")
    .description(
      "show every event since a cursor, the earliest first; the last line is the cursor to continue from",
    )
    .option(
      "--limit <n>",
      "how many of the earliest events (default: all)",
      wholeNumber("--limit", 1, 1_000_000),
    )
    .option("--follow", "keep running and show new events until stopped");
  addCommonOptions(addInput(read, [], FIELDS)).action(async () => {
    const options = read.opts<CommonOptions & { limit?: number; follow?: true }>();
    const { limit: most = Number.POSITIVE_INFINITY, follow = false } = options;
    const input = inputOf(read, FIELDS, host);
    await withLatchkey(options, host, async (latchkey) => {
      let after = input.after as string | undefined;
      let hasRead = false;
      const readPage = reader(latchkey, host, follow);
      try {
        for (let left = most; left > 0; ) {
          const limit = Math.min(left, MOST_AT_ONCE);
          const page = await readPage({ ...input, limit, after });
          if (page === null) break;
          left -= page.events.length;
          if (page.events.length > 0) printRows(host, options, page.events, COLUMNS);
          const isAtEnd = page.cursor === after;
          [after, hasRead] = [page.cursor, true];
          if (isAtEnd && !(follow && (await host.pause(INTERVAL_MS)))) break;
        }
      } finally {
        // Also after a failure: a reader that cannot continue would have to start from where it once began.
        if (hasRead) {
          await host.printed();
          host.warn(`cursor ${after}`);
        }
      }
    });
  });
}

/**
 * Reads pages. Once there was one, a reader that follows waits for a store that does not answer, such as during a failover.
 *
 * @returns A function that returns null if the reader was stopped meanwhile.
 */
function reader({ readEvents }: Latchkey, host: Host, follow: boolean) {
  let isAnswered = false;
  let isAway = false;
  return async (input: Parameters<Latchkey["readEvents"]>[0]): Promise<EventPage | null> => {
    for (;;) {
      try {
        const page = await readEvents(input);
        [isAnswered, isAway] = [true, false];
        return page;
      } catch (error) {
        const isWaiting = follow && isAnswered && isOfMissingAnswer(error);
        if (!isWaiting) throw error;
        if (!isAway) host.warn(`${error.message}; waiting for it`);
        isAway = true;
      }
      if (!(await host.pause(INTERVAL_MS))) return null;
    }
  };
}

/** Whether a store did not answer, rather than refuse because its keys have moved. */
function isOfMissingAnswer(error: unknown): error is LatchkeyError {
  const isAway = error instanceof LatchkeyError && error.code === "STORE_UNAVAILABLE";
  return isAway && error.reason === undefined;
}

function addNotice(events: Command, host: Host): void {
  const notice = events
    .command("notice")
    .description("write an event for each key that expires soon, and for each that has expired")
    .option(
      "--expires-within <span>",
      "how far ahead an expiry counts as soon (default: 7d)",
      span("--expires-within", 1),
    );
  addCommonOptions(notice).action(async () => {
    const options = notice.opts<CommonOptions & { expiresWithin?: number }>();
    const { expiresWithin } = options;
    const settings = expiresWithin === undefined ? {} : { notice: { expiresWithin } };
    const sweep = async (latchkey: Latchkey) => {
      let noticed = 0;
      let page: NoticedCount = { noticed };
      do {
        page = await latchkey.notice(page.cursor === undefined ? {} : { cursor: page.cursor });
        noticed += page.noticed;
      } while (page.cursor !== undefined);
      printLine(host, options, { noticed }, `noticed ${noticed}`);
    };
    await withLatchkey(options, host, sweep, "existing", settings);
  });
}
