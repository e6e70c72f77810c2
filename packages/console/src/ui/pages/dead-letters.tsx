import { useState } from "preact/hooks";
import { runTask } from "../lib/api.js";
import { useLoad } from "../lib/load.js";
import type { DeadLetter } from "../lib/types.js";
import { figure } from "../lib/words.js";
import { Resource } from "../parts/audit-list.js";
import { Empty, Failure, Instant, PageHead, Waiting } from "../parts/basics.js";
import { Confirm } from "../parts/dialog.js";
import { PlainTable } from "../parts/plain-table.js";
import type { Column } from "../parts/table.js";

interface Page {
  readonly deadLetters: readonly DeadLetter[];
  readonly cursor?: string;
  readonly damaged?: number;
}

const COLUMNS: readonly Column<DeadLetter>[] = [
  {
    title: "Event",
    cell: ({ event, eventId }) => <code title={eventId}>{event?.type ?? "pruned"}</code>,
  },
  {
    title: "Resource",
    cell: ({ event }) =>
      event === undefined ? <span class="faint">–</span> : <Resource {...event} />,
    isOptional: true,
  },
  { title: "Receiver", cell: ({ url }) => url ?? <span class="faint">no longer configured</span> },
  {
    title: "Last response",
    cell: ({ failure, tries }) =>
      `${failure}, after ${figure(tries)} ${tries === 1 ? "attempt" : "attempts"}`,
  },
  { title: "Given up", cell: ({ givenUpAt }) => <Instant at={givenUpAt} />, isOptional: true },
];

/** Events that receivers of webhooks did not accept. */
export function DeadLettersPage() {
  // The cursors of the requested pages. All of them are reloaded together.
  const [cursors, setCursors] = useState<readonly (string | undefined)[]>([undefined]);
  const [chosen, setChosen] = useState<DeadLetter | null>(null);
  const { value, error, reload } = useLoad("dead letters", () =>
    Promise.all(cursors.map((cursor) => runTask<Page>("webhooks.listDeadLetters", { cursor }))),
  );
  const letters = value?.flatMap(({ deadLetters }) => deadLetters) ?? [];
  const damaged = value?.reduce((sum, page) => sum + (page.damaged ?? 0), 0) ?? 0;
  const next = value?.at(-1)?.cursor;
  return (
    <>
      <PageHead
        title="Dead letters"
        note="Webhook events that could not be delivered and are no longer retried."
      />
      {error !== null && <Failure error={error} retry={reload} />}
      {value === null && error === null && <Waiting lines={6} />}
      {value !== null && letters.length === 0 && (
        <Empty title="No dead letters">
          <p>Every event was delivered, or is still being sent.</p>
        </Empty>
      )}
      {letters.length > 0 && (
        <PlainTable
          columns={COLUMNS}
          items={letters}
          idOf={({ deadLetterId }) => deadLetterId}
          actions={(letter) =>
            letter.event !== undefined &&
            letter.url !== undefined && (
              <button
                type="button"
                onClick={() => setChosen(letter)}
                aria-label={`Send again: ${letter.event.type}`}
              >
                Send again
              </button>
            )
          }
        />
      )}
      {damaged > 0 && <p class="list-note">{figure(damaged)} could not be read.</p>}
      {next !== undefined && (
        <button
          type="button"
          onClick={() => {
            setCursors([...cursors, next]);
            reload();
          }}
        >
          Show more
        </button>
      )}
      {chosen !== null && (
        <Confirm
          title="Send this event again?"
          submit="Send again"
          isDangerous={false}
          onClose={() => setChosen(null)}
          action={async () => {
            await runTask("webhooks.redeliver", { deadLetterId: chosen.deadLetterId });
            reload();
          }}
        >
          <p>
            {chosen.event?.type} is sent to {chosen.url} as if it had just happened. If delivery
            fails again, it returns to this list.
          </p>
        </Confirm>
      )}
    </>
  );
}
