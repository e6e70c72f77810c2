import { useState } from "preact/hooks";
import { call, serverNow } from "../lib/api.js";
import { checkedState, listedState, ROTATED } from "../lib/key-state.js";
import { forgetLists } from "../lib/list.js";
import { useLoad } from "../lib/load.js";
import { useAllowed } from "../lib/permissions.js";
import { linkTo, useRoute } from "../lib/router.js";
import type { Api, Check, Key } from "../lib/types.js";
import { figure, perSpan, refillText } from "../lib/words.js";
import { AuditOf } from "../parts/audit-of.js";
import {
  Badge,
  Fact,
  Facts,
  FailedPage,
  FullInstant,
  Id,
  Instant,
  Names,
  PageHead,
  Waiting,
} from "../parts/basics.js";
import { OwnerName } from "../parts/owner-name.js";
import { Tabs } from "../parts/tabs.js";
import { UsageChart } from "../parts/usage-chart.js";
import { EditKey } from "./edit-key.js";
import { EVERY_MS, Explain, useLastDay, useVerdict } from "./explain.js";
import { GoneKey } from "./gone-key.js";
import { DeleteKey, RotateKey, SwitchKey } from "./key-actions.js";
import { Reservations } from "./reservations.js";

type Open = "edit" | "switch" | "rotate" | "delete" | null;

/** One key: why it is refused, the state of its limits, and all of its data. */
export function KeyPage({ keyId }: { readonly keyId: string }) {
  const allowed = useAllowed();
  const { query } = useRoute();
  const [open, setOpen] = useState<Open>(null);
  const isNow = (query.tab ?? "now") === "now";
  const {
    value: key,
    error,
    reload,
  } = useLoad(keyId, () => call<Key>("keys.getKey", { keyId }), isNow ? EVERY_MS : undefined);
  const asked = useVerdict(key);
  const lastDay = useLastDay(keyId);
  // The page does not wait for it.
  const { value: api } = useLoad(`API ${key?.apiId}`, async () =>
    key !== null && allowed.can("api", "read_api", key.apiId)
      ? call<Api>("apis.getApi", { apiId: key.apiId })
      : null,
  );
  // Also if it is deleted while the page is open, but not below a dialog, which may show the secret of its successor.
  const isGone = error?.code === "NOT_FOUND" && (key === null || open === null);
  if (isGone && allowed.can("audit", "read_audit"))
    return <GoneKey keyId={keyId} error={error} retry={reload} />;
  if (error !== null && (key === null || isGone))
    return <FailedPage title="Key" error={error} retry={reload} />;
  if (key === null || [asked, lastDay].some((one) => (one.value ?? one.error) === null))
    return <Waiting lines={8} />;
  const { apiId } = key;
  const { checks = [] } = asked.value ?? {};
  // `enabled` of a key is also false if it has expired or is used up.
  const isOn = checks.find(({ check }) => check === "enabled")?.passed ?? key.enabled;
  const canUpdate = allowed.can("api", "update_key", apiId);
  const changed = () => {
    forgetLists();
    reload();
    asked.reload();
  };
  const close = () => setOpen(null);
  const dialog = { item: key, onClose: close, onDone: changed };
  const canReserve = allowed.can("api", "read_reservation", apiId);
  const canAudit = allowed.can("audit", "read_audit");
  return (
    <>
      <PageHead
        title={key.name ?? <code>{key.start}…</code>}
        trail={
          allowed.can("api", "read_api", apiId)
            ? [
                { href: linkTo(["apis"]), text: "APIs" },
                { href: linkTo(["apis", apiId]), text: api?.name ?? "Keys of its API" },
              ]
            : []
        }
        note={
          <>
            <State item={key} checks={asked.value?.checks} />{" "}
            {key.identity && (
              <span>
                of <OwnerName {...key.identity} />
              </span>
            )}{" "}
            <Id id={key.id} />
          </>
        }
      >
        {allowed.can("api", "delete_key", apiId) && (
          <button type="button" class="danger" onClick={() => setOpen("delete")}>
            Delete
          </button>
        )}
        {canUpdate && allowed.can("api", "create_key", apiId) && key.rotatedTo === undefined && (
          <button type="button" onClick={() => setOpen("rotate")}>
            Rotate
          </button>
        )}
        {canUpdate && (
          <>
            <button type="button" onClick={() => setOpen("switch")}>
              {isOn ? "Disable" : "Enable"}
            </button>
            <button type="button" class="primary" onClick={() => setOpen("edit")}>
              Edit
            </button>
          </>
        )}
      </PageHead>
      <Tabs
        tabs={[
          ["now", "Now"],
          ["usage", "Usage"],
          ...(canReserve ? [["reservations", "Reservations"] as const] : []),
          ...(canAudit ? [["audit", "Audit"] as const] : []),
        ]}
      />
      {isNow && (
        <div class="columns wide-first">
          <Explain
            item={key}
            asked={asked}
            lastDay={lastDay.value ?? {}}
            onStep={canUpdate ? setOpen : undefined}
          />
          <Settings item={key} />
        </div>
      )}
      {query.tab === "usage" && <UsageChart of={{ keyId }} />}
      {query.tab === "reservations" && canReserve && <Reservations of={{ keyId }} apiId={apiId} />}
      {query.tab === "audit" && canAudit && <AuditOf input={{ keyId }} />}
      {open === "edit" && <EditKey {...dialog} />}
      {open === "switch" && <SwitchKey {...dialog} isOn={isOn} />}
      {open === "rotate" && <RotateKey {...dialog} />}
      {open === "delete" && <DeleteKey {...dialog} />}
    </>
  );
}

/** Whether the key was rotated, and its state: the verdict below in one or two words. */
function State({
  item,
  checks,
}: {
  readonly item: Key;
  readonly checks: readonly Check[] | undefined;
}) {
  const state = checks === undefined ? listedState(item, serverNow()) : checkedState(checks);
  return (
    <>
      {item.rotatedTo !== undefined && state !== ROTATED && (
        <Badge tone={ROTATED.tone}>{ROTATED.text}</Badge>
      )}{" "}
      <Badge tone={state.tone}>{state.text}</Badge>
    </>
  );
}

function Settings({ item }: { readonly item: Key }) {
  const limits = item.ratelimits ?? [];
  return (
    <section class="card">
      <h2>Settings</h2>
      <Facts>
        <Fact name="Starts with">
          <code>{item.start}…</code>
        </Fact>
        <Fact name="Environment">{item.environment}</Fact>
        <Fact name="Valid from">
          {item.startsAt !== undefined && <FullInstant at={item.startsAt} />}
        </Fact>
        <Fact name="Expires">
          {item.expires === undefined ? "never" : <FullInstant at={item.expires} />}
        </Fact>
        <Fact name="Expires if unused by">
          {item.idleExpiresAt !== undefined && <FullInstant at={item.idleExpiresAt} />}
        </Fact>
        <Fact name="Uses left">
          {item.remaining === undefined ? "unlimited" : figure(item.remaining)}
        </Fact>
        <Fact name="Reserved">{item.reserved !== undefined && figure(item.reserved)}</Fact>
        <Fact name="Refill">{item.refill && refillText(item.refill)}</Fact>
        <Fact name="Rate limits">
          {limits.length > 0 && (
            <Names
              names={limits.map(
                ({ name, limit, duration }) => `${name}: ${figure(limit)} ${perSpan(duration)}`,
              )}
            />
          )}
        </Fact>
        <Fact name="Roles">
          <Names names={item.roles} />
        </Fact>
        <Fact name="Permissions">
          <Names names={item.permissions} />
        </Fact>
        <Fact name="Tags">{item.tags && <Names names={item.tags} />}</Fact>
        <Fact name="Allowed IP addresses">
          {item.ipWhitelist && <Names names={item.ipWhitelist} />}
        </Fact>
        <Fact name="Metadata">{item.meta && <pre>{JSON.stringify(item.meta, null, 2)}</pre>}</Fact>
        <Fact name="Last used">
          {item.lastUsedAt === undefined ? "never" : <Instant at={item.lastUsedAt} />}
        </Fact>
        <Fact name="Created">
          <FullInstant at={item.createdAt} />
        </Fact>
        <Fact name="Rotated from">
          {item.rotatedFrom && <a href={linkTo(["keys", item.rotatedFrom])}>{item.rotatedFrom}</a>}
        </Fact>
        <Fact name="Rotated to">
          {item.rotatedTo && <a href={linkTo(["keys", item.rotatedTo])}>{item.rotatedTo}</a>}
        </Fact>
      </Facts>
    </section>
  );
}
