import { useState } from "preact/hooks";
import type { Key } from "../lib/types.js";
import { localInstant } from "../lib/words.js";
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

const WINDOWS = [
  ["1000", "second"],
  ["60000", "minute"],
  ["3600000", "hour"],
  ["86400000", "day"],
] as const;

/** The fields of a key that are set when it is created and changed later. */
export function KeyFields({
  item,
  roles,
}: {
  readonly item?: Key;
  readonly roles: readonly string[];
}) {
  const { interval } = item?.refill ?? {};
  const [refills, setRefills] = useState(typeof interval === "string" ? interval : "");
  const standard = item?.ratelimits?.find(({ name }) => name === "default");
  const windows =
    standard === undefined || WINDOWS.some(([ms]) => ms === String(standard.duration))
      ? WINDOWS
      : [...WINDOWS, [String(standard.duration), `${standard.duration} ms`] as const];
  return (
    <>
      <TextField label="Name" name="name" defaultValue={item?.name ?? ""} hint="For people." />
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
        hint="Empty: at once."
      />
      <TextField
        label="Expires"
        name="expires"
        type="datetime-local"
        defaultValue={localInstant(item?.expires) ?? ""}
        hint="Empty: never."
      />
      <TextField
        label="Expires if unused for"
        name="unusedDays"
        type="number"
        min={1}
        defaultValue={item?.expiresWhenUnused === undefined ? "" : item.expiresWhenUnused / DAY_MS}
        hint="Days. Empty: never for that reason."
      />
      <TextField
        label="Uses left"
        isFirst
        name="remaining"
        type="number"
        min={item === undefined ? 1 : 0}
        defaultValue={item?.remaining ?? ""}
        hint="Empty: unlimited."
      />
      <ChoiceField
        label="Restore uses"
        name="interval"
        choices={INTERVALS}
        value={refills}
        onChange={setRefills}
      />
      {refills !== "" && (
        <TextField
          label="Restore to"
          name="amount"
          type="number"
          min={1}
          required
          defaultValue={item?.refill?.amount ?? ""}
        />
      )}
      <TextField
        label="Rate limit"
        name="limit"
        isFirst
        type="number"
        min={1}
        defaultValue={standard?.limit ?? ""}
        hint="Requests; empty: none."
      />
      <ChoiceField
        label="Per"
        name="duration"
        choices={windows}
        value={String(standard?.duration ?? 60_000)}
      />
      <TextField
        label="Roles"
        name="roles"
        isWide
        defaultValue={item?.roles.join(", ") ?? ""}
        hint={
          roles.length === 0
            ? "Names with commas between them."
            : `There are: ${roles.slice(0, 20).join(", ")}.`
        }
      />
      {item === undefined && (
        <TextField
          label="Permissions"
          name="permissions"
          isWide
          hint="Names with commas between them, such as docs.read. They must exist."
        />
      )}
      <TextField
        label="Tags"
        name="tags"
        isWide
        defaultValue={item?.tags?.join(", ") ?? ""}
        hint="Labels to find it by, such as team:maps."
      />
      <TextField
        label="Allowed addresses"
        name="ipWhitelist"
        isWide
        defaultValue={item?.ipWhitelist?.join(", ") ?? ""}
        hint="Addresses and ranges such as 192.0.2.0/24. Empty: anywhere."
      />
      <AreaField
        label="Metadata"
        name="meta"
        value={item?.meta === undefined ? "" : JSON.stringify(item.meta, null, 2)}
        hint='A JSON object, such as {"plan":"pro"}. Verdicts show it to your program.'
      />
    </>
  );
}

/** What was typed, as createKey takes it. @throws Error in words. */
export function keyInputOf(form: FormData): Record<string, unknown> {
  const limit = numberOf(form, "limit");
  const unusedDays = numberOf(form, "unusedDays");
  const interval = textOf(form, "interval");
  return {
    name: textOf(form, "name"),
    externalId: textOf(form, "externalId"),
    environment: textOf(form, "environment"),
    expires: instantOf(form, "expires"),
    remaining: numberOf(form, "remaining"),
    refill: interval === undefined ? undefined : { interval, amount: numberOf(form, "amount") },
    ratelimit: limit === undefined ? undefined : { limit, duration: numberOf(form, "duration") },
    roles: namesOf(form, "roles"),
    permissions: namesOf(form, "permissions"),
    tags: namesOf(form, "tags"),
    ipWhitelist: namesOf(form, "ipWhitelist"),
    startsAt: instantOf(form, "startsAt"),
    expiresWhenUnused: unusedDays === undefined ? undefined : Math.round(unusedDays * DAY_MS),
    meta: objectOf(form, "meta", "Metadata"),
  };
}
