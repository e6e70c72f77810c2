import { useState } from "preact/hooks";
import { AS_IT_IS } from "../lib/key-changes.js";
import { limitsOf, limitsText } from "../lib/limit-text.js";
import type { Key } from "../lib/types.js";
import { localInstant, span } from "../lib/words.js";
import {
  AreaField,
  ChoiceField,
  instantOf,
  namesOf,
  numberOf,
  objectOf,
  TextField,
  textOf,
} from "./fields.js";

const DAY_MS = 86_400_000;

const INTERVALS = [
  ["", "never"],
  ["hourly", "every hour"],
  ["daily", "every day"],
  ["weekly", "every week"],
  ["monthly", "every month"],
] as const;

/** The syntax of limits, one per line. */
export const LIMITS_HINT = (
  <>
    One per line: <code>default 100/1m</code> applies to every request. A limit with any other name
    applies to requests that ask for it, or with <code>:auto</code> to all. Put names with spaces in
    quotation marks. <code>:sliding</code>, <code>:burst=20</code>, <code>:concurrent</code> and{" "}
    <code>:shadow</code> set how it counts.
  </>
);

/** The fields of a key that are set when it is created and changed later. */
export function KeyFields({
  item,
  roles,
}: {
  readonly item?: Key;
  readonly roles: readonly string[];
}) {
  const { interval } = item?.refill ?? {};
  const isOwn = typeof interval === "object";
  // Until another is chosen, it follows the key, like the other fields.
  const [chosen, setChosen] = useState<string | null>(null);
  const refills = chosen ?? (isOwn ? AS_IT_IS : (interval ?? ""));
  return (
    <>
      <TextField
        label="Name"
        name="name"
        defaultValue={item?.name ?? ""}
        hint="To recognise it by."
      />
      <TextField
        label="Owner"
        name="externalId"
        defaultValue={item?.identity?.externalId ?? ""}
        hint="Your own id, such as user_1."
      />
      <TextField
        label="Environment"
        name="environment"
        defaultValue={item?.environment ?? ""}
        placeholder="live"
      />
      <TextField
        label="Valid from"
        isFirst
        name="startsAt"
        type="datetime-local"
        defaultValue={localInstant(item?.startsAt) ?? ""}
        hint="Empty means immediately."
      />
      <TextField
        label="Expires"
        name="expires"
        type="datetime-local"
        defaultValue={localInstant(item?.expires) ?? ""}
        hint="Empty means never."
      />
      <TextField
        label="Expires if unused for"
        name="unusedDays"
        type="number"
        min={0}
        step="any"
        defaultValue={item?.expiresWhenUnused === undefined ? "" : item.expiresWhenUnused / DAY_MS}
        hint="In days. Empty means never."
      />
      <TextField
        label="Uses left"
        isFirst
        name="remaining"
        type="number"
        min={item === undefined ? 1 : 0}
        defaultValue={item?.remaining ?? ""}
        hint="Empty means unlimited."
      />
      <ChoiceField
        label="Refill uses"
        name="interval"
        choices={
          isOwn
            ? [[AS_IT_IS, `every ${span(interval.every)} (unchanged)`], ...INTERVALS]
            : INTERVALS
        }
        value={refills}
        onChange={setChosen}
      />
      {refills !== "" && refills !== AS_IT_IS && (
        <TextField
          label="Refill to"
          name="amount"
          type="number"
          min={1}
          required
          defaultValue={item?.refill?.amount ?? ""}
        />
      )}
      <AreaField
        label="Rate limits"
        name="limits"
        value={limitsText(item?.ratelimits ?? [])}
        hint={LIMITS_HINT}
      />
      <TextField
        label="Roles"
        name="roles"
        isWide
        defaultValue={item?.roles.join(", ") ?? ""}
        hint={
          roles.length === 0
            ? "Separate names with commas."
            : `Available: ${roles.slice(0, 20).join(", ")}.`
        }
      />
      {item === undefined && (
        <TextField
          label="Permissions"
          name="permissions"
          isWide
          hint="Separate names with commas, such as docs.read. They must already exist."
        />
      )}
      <TextField
        label="Tags"
        name="tags"
        isWide
        defaultValue={item?.tags?.join(", ") ?? ""}
        hint="Labels to filter by, such as team:maps."
      />
      <TextField
        label="Allowed IP addresses"
        name="ipWhitelist"
        isWide
        defaultValue={item?.ipWhitelist?.join(", ") ?? ""}
        hint="IP addresses and ranges such as 192.0.2.0/24. Empty means any address."
      />
      <AreaField
        label="Metadata"
        name="meta"
        value={item?.meta === undefined ? "" : JSON.stringify(item.meta, null, 2)}
        hint='A JSON object, such as {"plan":"pro"}. Your program receives it with each verdict.'
      />
    </>
  );
}

/** The contents of the form as input of createKey. @throws Error in words. */
export function keyInputOf(form: FormData): Record<string, unknown> {
  const unusedDays = numberOf(form, "unusedDays");
  const interval = textOf(form, "interval");
  return {
    name: textOf(form, "name"),
    externalId: textOf(form, "externalId"),
    environment: textOf(form, "environment"),
    expires: instantOf(form, "expires"),
    remaining: numberOf(form, "remaining"),
    refill:
      interval === undefined || interval === AS_IT_IS
        ? interval
        : { interval, amount: numberOf(form, "amount") },
    ...limitsOf(textOf(form, "limits")),
    roles: namesOf(form, "roles"),
    permissions: namesOf(form, "permissions"),
    tags: namesOf(form, "tags"),
    ipWhitelist: namesOf(form, "ipWhitelist"),
    startsAt: instantOf(form, "startsAt"),
    expiresWhenUnused: unusedDays === undefined ? undefined : Math.round(unusedDays * DAY_MS),
    meta: objectOf(form, "meta", "Metadata"),
  };
}
