import { useState } from "preact/hooks";
import { call } from "../lib/api.js";
import { useLoad } from "../lib/load.js";
import { useAllowed } from "../lib/permissions.js";
import { linkTo } from "../lib/router.js";
import type { Reservation } from "../lib/types.js";
import { figure, plural } from "../lib/words.js";
import { Empty, Failure, Instant, Waiting } from "../parts/basics.js";
import { Confirm } from "../parts/dialog.js";
import { PlainTable } from "../parts/plain-table.js";
import type { Column } from "../parts/table.js";

const EVERY_MS = 3_000;

const COLUMNS: readonly Column<Reservation>[] = [
  {
    title: "Reservation",
    cell: ({ reservationId }) => <code>{reservationId}</code>,
    isOptional: true,
  },
  {
    title: "Key",
    cell: ({ keyId }) => (
      <a href={linkTo(["keys", keyId])}>
        <code>{keyId}</code>
      </a>
    ),
  },
  { title: "Holds", cell: (held) => heldText(held) },
  { title: "Created", cell: ({ createdAt }) => <Instant at={createdAt} />, isOptional: true },
  { title: "Expires", cell: ({ expiresAt }) => <Instant at={expiresAt} /> },
];

/** Uses and units that are held until the final cost is known, and slots of concurrent limits. */
export function Reservations({
  of,
  apiId,
}: {
  readonly of: Readonly<Record<string, string>>;
  readonly apiId?: string;
}) {
  const allowed = useAllowed();
  const [chosen, setChosen] = useState<Reservation | null>(null);
  const { value, error, reload } = useLoad(
    JSON.stringify(of),
    () => call<{ reservations: Reservation[]; cursor?: string }>("keys.listReservations", of),
    EVERY_MS,
  );
  if (error !== null) return <Failure error={error} retry={reload} />;
  if (value === null) return <Waiting />;
  const { reservations, cursor } = value;
  if (reservations.length === 0)
    return (
      <Empty title="No open reservations">
        <p>Reservations and slots of concurrent limits are shown here while they are held.</p>
      </Empty>
    );
  return (
    <>
      <PlainTable
        columns={of.keyId === undefined ? COLUMNS : COLUMNS.filter(({ title }) => title !== "Key")}
        items={reservations}
        idOf={({ reservationId }) => reservationId}
        actions={(held) =>
          allowed.can("api", "settle_reservation", apiId) && (
            <button type="button" onClick={() => setChosen(held)}>
              Release
            </button>
          )
        }
      />
      {cursor !== undefined && (
        <p class="list-note">Only the first {reservations.length} are shown.</p>
      )}
      {chosen !== null && (
        <Confirm
          title="Release this reservation?"
          submit="Release"
          onClose={() => setChosen(null)}
          action={async () => {
            await call("keys.releaseReservation", { reservationId: chosen.reservationId });
            reload();
          }}
        >
          <p>This gives back {heldText(chosen)}. The reservation can then no longer be settled.</p>
        </Confirm>
      )}
    </>
  );
}

function heldText({ uses, ratelimits }: Reservation): string {
  const units = ratelimits.map(({ name, cost }) => `${figure(cost)} of ${name}`);
  return [...(uses > 0 ? [plural(uses, "use")] : []), ...units].join(", ") || "nothing";
}
