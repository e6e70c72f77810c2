import { useState } from "preact/hooks";
import { call } from "../lib/api.js";
import { forgetLists, wholeList } from "../lib/list.js";
import { type Loaded, useLoad } from "../lib/load.js";
import { keysOfOwner, type OwnedKeys } from "../lib/owned-keys.js";
import { useAllowed } from "../lib/permissions.js";
import { linkTo, useRoute } from "../lib/router.js";
import type { Identity, Key, Verdict } from "../lib/types.js";
import { figure, plural, refillText } from "../lib/words.js";
import { AuditOf } from "../parts/audit-of.js";
import {
  Empty,
  Fact,
  Facts,
  FailedPage,
  Failure,
  Id,
  Names,
  PageHead,
  Waiting,
} from "../parts/basics.js";
import { keyColumns } from "../parts/key-list.js";
import { LimitBars } from "../parts/limit-bars.js";
import { ListTable } from "../parts/table.js";
import { Tabs } from "../parts/tabs.js";
import { UsageChart } from "../parts/usage-chart.js";
import {
  ActOnAllKeys,
  type ActOnKeys,
  DeleteIdentity,
  EditIdentity,
  EraseIdentity,
} from "./identity-actions.js";
import { Reservations } from "./reservations.js";

type Open = "edit" | "delete" | "erase" | ActOnKeys | null;

/** One owner: all of its keys, and their shared settings. */
export function IdentityPage({ identityId }: { readonly identityId: string }) {
  const allowed = useAllowed();
  const { query } = useRoute();
  const [open, setOpen] = useState<Open>(null);
  const [acted, setActed] = useState("");
  const owner = useLoad(identityId, () => call<Identity>("identities.getIdentity", { identityId }));
  const { value: identity, error } = owner;
  const externalId = identity?.externalId ?? "";
  const owned = useLoad(identityId, () => keysOfOwner(identityId, allowed));
  if (error !== null && identity === null)
    return <FailedPage title="Owner" error={error} retry={owner.reload} />;
  if (identity === null) return <Waiting lines={8} />;
  const { keys = [], hasMore = false } = owned.value ?? {};
  const changed = () => {
    forgetLists();
    owner.reload();
    owned.reload();
  };
  const close = () => setOpen(null);
  const canSeeAll = allowed.can("api", "read_api") && allowed.can("api", "read_key");
  const isWhole = canSeeAll && owned.value !== null && owned.error === null && !hasMore;
  const dialog = { identity, keys, hasMore, isWhole, onClose: close, onDone: changed };
  // Of keys that cannot be seen, or were not loaded, it is unknown.
  const hasNone = keys.length === 0 && (canSeeAll || owned.value === null);
  const isAnyOff = hasMore || keys.some(({ enabled }) => !enabled);
  const canDelete = allowed.can("identity", "delete_identity", identityId);
  const canErase = allowed.can("identity", "erase_identity", identityId);
  const canReserve = allowed.can("identity", "read_reservation", identityId);
  const canAudit = allowed.can("audit", "read_audit");
  return (
    <>
      <PageHead
        title={externalId}
        trail={[{ href: linkTo(["identities"]), text: "Owners" }]}
        note={
          <>
            <Id id={identityId} />{" "}
            <span role="status" class={acted && "badge good"}>
              {acted}
            </span>
          </>
        }
      >
        {allowed.can("identity", "update_identity", identityId) && (
          <button type="button" onClick={() => setOpen("edit")}>
            Edit
          </button>
        )}
        {allowed.canSome("api", "update_key") && (
          <>
            {isAnyOff && (
              <button type="button" onClick={() => setOpen("on")}>
                Enable all keys
              </button>
            )}
            <button type="button" disabled={hasNone} onClick={() => setOpen("off")}>
              Disable all keys
            </button>
          </>
        )}
        {allowed.canSome("api", "delete_key") && (
          <button type="button" class="danger" disabled={hasNone} onClick={() => setOpen("revoke")}>
            Revoke all keys
          </button>
        )}
        {canDelete && (
          <button type="button" class="danger" onClick={() => setOpen("delete")}>
            Delete owner
          </button>
        )}
        {canErase && !canDelete && (
          <button type="button" class="danger" onClick={() => setOpen("erase")}>
            Erase
          </button>
        )}
      </PageHead>
      <Tabs
        tabs={[
          ["keys", "Keys"],
          ["limits", "Limits"],
          ["usage", "Usage"],
          ...(canReserve ? [["reservations", "Reservations"] as const] : []),
          ...(canAudit ? [["audit", "Audit"] as const] : []),
        ]}
      />
      {(query.tab ?? "keys") === "keys" && <KeysOfOwner {...{ owned, externalId, canSeeAll }} />}
      {query.tab === "limits" && owned.value !== null && <Limits identity={identity} keys={keys} />}
      {query.tab === "usage" && <UsageChart of={{ identityId }} />}
      {query.tab === "reservations" && canReserve && <Reservations of={{ identityId }} />}
      {query.tab === "audit" && canAudit && <AuditOf input={{ identityId }} />}
      {open === "edit" && <EditIdentity {...dialog} />}
      {open === "delete" && (
        <DeleteIdentity {...dialog} onErase={canErase ? () => setOpen("erase") : undefined} />
      )}
      {open === "erase" && <EraseIdentity {...dialog} />}
      {(open === "off" || open === "on" || open === "revoke") && (
        <ActOnAllKeys {...dialog} act={open} onActed={setActed} />
      )}
    </>
  );
}

function KeysOfOwner({
  owned,
  externalId,
  canSeeAll,
}: {
  readonly owned: Loaded<OwnedKeys>;
  readonly externalId: string;
  /** Whether the operator may see the keys of all APIs. */
  readonly canSeeAll: boolean;
}) {
  const { value, error, reload } = owned;
  if (error !== null) return <Failure error={error} retry={reload} />;
  if (value === null) return <Waiting lines={6} />;
  if (!canSeeAll && value.keys.length === 0)
    return (
      <Empty title="No keys that you can see">
        <p>You do not have permission to see the keys of all APIs.</p>
      </Empty>
    );
  return (
    <>
      {!canSeeAll && <p>Keys of APIs that you cannot see are left out.</p>}
      {value.hasMore && (
        <p>
          These are the first {figure(value.keys.length)} keys.{" "}
          <a href={linkTo(["keys"], { externalId })}>Find keys</a> lists all of them.
        </p>
      )}
      <ListTable
        label="Keys of this owner"
        list={wholeList(value.keys)}
        columns={COLUMNS}
        empty={
          <Empty title="This owner has no keys">
            <p>To create one, open an API and enter this owner in the form.</p>
          </Empty>
        }
      />
    </>
  );
}

const COLUMNS = keyColumns("API");

const EVERY_MS = 2_000;

/** The shared limits of an owner. They are read from one of its keys that has no own limit of these names, and so uses the shared ones. */
function Limits({
  identity,
  keys,
}: {
  readonly identity: Identity;
  readonly keys: readonly Key[];
}) {
  const names = identity.ratelimits.map(({ name }) => name);
  const probe = keys.find(
    ({ ratelimits = [] }) => !ratelimits.some(({ name }) => names.includes(name)),
  );
  const named = identity.ratelimits.filter(({ autoApply }) => autoApply !== true);
  const { value } = useLoad(
    `${identity.id} ${probe?.id}`,
    async () =>
      probe === undefined
        ? null
        : call<Verdict>("keys.explainKey", {
            keyId: probe.id,
            ...(named.length > 0 && { ratelimits: named.map(({ name }) => ({ name, cost: 0 })) }),
          }),
    EVERY_MS,
  );
  if (probe !== undefined && value === null) return <Waiting lines={6} />;
  const checks = (value?.checks ?? []).filter(
    ({ name }) => name !== undefined && names.includes(name),
  );
  return (
    <section class="card">
      <h2>Shared by all keys of this owner</h2>
      {checks.length > 0 && <LimitBars checks={checks} limits={identity.ratelimits} />}
      {names.length === 0 && <p class="faint">No shared limits.</p>}
      {names.length > 0 && checks.length === 0 && <Names names={names} />}
      <Facts>
        <Fact name="Uses left">
          {identity.remaining === undefined ? "unlimited" : figure(identity.remaining)}
        </Fact>
        <Fact name="Reserved">
          {identity.reserved !== undefined && plural(identity.reserved, "use")}
        </Fact>
        <Fact name="Refill">{identity.refill && refillText(identity.refill)}</Fact>
        <Fact name="Metadata">
          {identity.meta && <pre>{JSON.stringify(identity.meta, null, 2)}</pre>}
        </Fact>
      </Facts>
    </section>
  );
}
