import { Fragment } from "preact";
import { useAllowed } from "../lib/permissions.js";
import { linkTo } from "../lib/router.js";
import type { AuditEvent } from "../lib/types.js";
import { exactly, figure, withoutTurns } from "../lib/words.js";
import { Instant } from "./basics.js";
import type { Column } from "./table.js";

/** Columns of entries of the audit log. */
export const AUDIT_COLUMNS: readonly Column<AuditEvent>[] = [
  { title: "When", cell: ({ at }) => <Instant at={at} />, width: "9.5rem" },
  { title: "Event", cell: ({ type }) => <code class="cut">{type}</code>, width: "13rem" },
  { title: "Resource", cell: (event) => <Resource {...event} />, width: "15rem" },
  {
    title: "Changes",
    cell: (event) => (
      <span class="cut" title={inOrder(event.changes).map(changeText).join("\n")}>
        {event.unreadable === true
          ? "the previous values cannot be read"
          : inOrder(event.changes).map((change, at) => (
              <Fragment key={change.field}>
                {at > 0 && "; "}
                <Change {...change} />
              </Fragment>
            ))}
      </span>
    ),
    isOptional: true,
  },
  {
    title: "Actor",
    cell: ({ actor }) =>
      actor === undefined ? (
        <span class="faint">–</span>
      ) : (
        <a class="cut" href={linkTo(["audit"], { actor })} title={actor}>
          {actor}
        </a>
      ),
    width: "9rem",
    isOptional: true,
  },
];

/** The record of an event, with a link if it has a page that the operator may see. */
export function Resource({ resourceId, keyId, identityId }: AuditEvent) {
  const { canSome } = useAllowed();
  const page = { key: "keys", api: "apis", id: "identities" }[resourceId.split("_")[0] ?? ""];
  const [folder, id] =
    page !== undefined
      ? [page, resourceId]
      : keyId !== undefined
        ? ["keys", keyId]
        : identityId !== undefined
          ? ["identities", identityId]
          : [null, ""];
  const isShown =
    (folder === "keys" && canSome("api", "read_key")) ||
    (folder === "apis" && canSome("api", "read_api")) ||
    (folder === "identities" && canSome("identity", "read_identity"));
  if (folder === null || !isShown) return <code class="cut">{resourceId}</code>;
  return (
    <a class="cut" href={linkTo([folder, id])} title={resourceId}>
      <code>{resourceId}</code>
    </a>
  );
}

/** The name first and ids of records last, because the column may be too narrow for all. */
function inOrder(changes: AuditEvent["changes"]): AuditEvent["changes"] {
  const rankOf = ({ field }: AuditEvent["changes"][number]) =>
    field === "name" ? 0 : RECORD_IDS.has(field) ? 2 : 1;
  return [...changes].sort((one, other) => rankOf(one) - rankOf(other));
}

const RECORD_IDS: ReadonlySet<string> = new Set(["apiId", "identityId"]);

/** `remaining: 5 → 4`. Each value is isolated: two names in Hebrew or Arabic would otherwise be shown with the later one first. */
function Change(change: AuditEvent["changes"][number]) {
  const [before, after] = valuesOf(change);
  return (
    <>
      {change.field}: {before !== null && <bdi>{before}</bdi>}
      {before !== null && " → "}
      <bdi>{after}</bdi>
    </>
  );
}

/** The same as a text. The characters around each value isolate it. */
function changeText(change: AuditEvent["changes"][number]): string {
  const values = valuesOf(change).filter((value) => value !== null);
  return `${change.field}: ${values.map((value) => `\u2068${value}\u2069`).join(" → ")}`;
}

/** The values before and after a change; null: there was none before. */
function valuesOf({ field, before, after }: AuditEvent["changes"][number]) {
  const text = (value: unknown) => withoutTurns(valueText(value, INSTANTS.has(field)));
  if (before === undefined) return [null, text(after)];
  return [text(before), after === undefined ? "none" : text(after)];
}

/** Fields that are instants. Other numbers, such as uses, can be as high. */
const INSTANTS: ReadonlySet<string> = new Set(["expires", "startsAt", "idleFrom"]);

function valueText(value: unknown, isInstant: boolean): string {
  if (typeof value === "string") return value;
  if (typeof value !== "number") return JSON.stringify(value);
  return isInstant ? exactly(value) : figure(value);
}
