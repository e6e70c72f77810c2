import { useState } from "preact/hooks";
import { call } from "../lib/api.js";
import { useLoad } from "../lib/load.js";
import { useAllowed } from "../lib/permissions.js";
import { linkTo } from "../lib/router.js";
import type { Reservation } from "../lib/types.js";
import { figure } from "../lib/words.js";
import { Empty, Failure, Instant, Waiting } from "../parts/basics.js";
import { Confirm } from "../parts/dialog.js";

const EVERY_MS = 3_000;

/** What is held of uses and limits until its price is known, and slots of concurrent limits. */
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
      <Empty title="Nothing is held">
        <p>Reservations and slots of concurrent limits are shown here while work is going on.</p>
      </Empty>
    );
  return (
    <>
      <div class="table-box plain">
        <table>
          <thead>
            <tr>
              <th scope="col" class="optional">
                Reservation
              </th>
              {of.keyId === undefined && <th scope="col">Key</th>}
              <th scope="col">Holds</th>
              <th scope="col" class="optional">
                Made
              </th>
              <th scope="col">Ends</th>
              <th scope="col">
                <span class="hidden">Action</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {reservations.map((held) => (
              <tr key={held.reservationId}>
                <td class="optional">
                  <code>{held.reservationId}</code>
                </td>
                {of.keyId === undefined && (
                  <td>
                    <a href={linkTo(["keys", held.keyId])}>
                      <code>{held.keyId}</code>
                    </a>
                  </td>
                )}
                <td>{heldText(held)}</td>
                <td class="optional">
                  <Instant at={held.createdAt} />
                </td>
                <td>
                  <Instant at={held.expiresAt} />
                </td>
                <td>
                  {allowed.can("api", "settle_reservation", apiId) && (
                    <button type="button" onClick={() => setChosen(held)}>
                      Release
                    </button>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {cursor !== undefined && <p class="list-end">The first {reservations.length} are shown.</p>}
      {chosen !== null && (
        <Confirm
          title="Release what is held?"
          submit="Release"
          onClose={() => setChosen(null)}
          action={async () => {
            await call("keys.releaseReservation", { reservationId: chosen.reservationId });
            reload();
          }}
        >
          <p>
            {heldText(chosen)} is given back. The work that it was held for can then no longer be
            settled.
          </p>
        </Confirm>
      )}
    </>
  );
}

function heldText({ uses, ratelimits }: Reservation): string {
  const units = ratelimits.map(({ name, cost }) => `${figure(cost)} of ${name}`);
  return [...(uses > 0 ? [`${figure(uses)} uses`] : []), ...units].join(", ") || "nothing";
}
