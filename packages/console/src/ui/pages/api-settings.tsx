import { useState } from "preact/hooks";
import { call } from "../lib/api.js";
import { limitsOf, limitsText, spanOf, spanText } from "../lib/limit-text.js";
import { forgetLists } from "../lib/list.js";
import { mergedRules } from "../lib/rule-changes.js";
import type { Api, ApiCeilings, ApiDefaults, Limit } from "../lib/types.js";
import { noteApiName } from "../parts/api-name.js";
import { Confirm } from "../parts/dialog.js";
import { AreaField, namesOf, numberOf, SwitchField, TextField, textOf } from "../parts/fields.js";
import { LIMITS_HINT } from "../parts/key-form.js";

/** Changes an API: the defaults of new keys, and the ceilings of all keys. */
export function ApiSettings({
  api: current,
  onClose,
  onSaved,
}: {
  readonly api: Api;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}) {
  // The page reloads the API after a new sign-in, but the typed text refers to the API as it was when the form was opened.
  const [api] = useState(current);
  return (
    <Confirm
      title={`Settings of ${api.name}`}
      submit="Save"
      isDangerous={false}
      onClose={onClose}
      action={async (form) => {
        const name = textOf(form, "name") ?? "";
        const typed = {
          name,
          deleteProtection: form.has("deleteProtection"),
          ipWhitelist: namesOf(form, "ipWhitelist") ?? [],
          defaults: { ...api.defaults, ...defaultsOf(form) },
          ceilings: { ...api.ceilings, ...ceilingsOf(form) },
        };
        const changed = await changesOf(typed, api);
        if (Object.keys(changed).length > 0)
          await call("apis.updateApi", { apiId: api.id, ...changed });
        noteApiName(api.id, name);
        forgetLists();
        onSaved();
      }}
    >
      <TextField label="Name" name="name" required defaultValue={api.name} isWide />
      <AreaField
        label="Allowed IP addresses"
        name="ipWhitelist"
        value={(api.ipWhitelist ?? []).join("\n")}
        hint="IP addresses and ranges such as 192.0.2.0/24, one per line. Empty means any address."
      />
      <SwitchField
        label="Deletion protection"
        name="deleteProtection"
        isOn={api.deleteProtection === true}
      />
      <Defaults {...(api.defaults ?? {})} />
      <Ceilings {...(api.ceilings ?? {})} />
    </Confirm>
  );
}

/** The fields that differ from the API when the form was opened. All others may have been changed elsewhere since. */
async function changesOf(typed: Typed, api: Api): Promise<object> {
  const { name, deleteProtection = false, ipWhitelist = [], defaults, ceilings = {} } = api;
  const before: Typed = {
    name: name.trim(),
    deleteProtection,
    ipWhitelist,
    // As the form returns them, so that what it cannot express is no change.
    defaults: { ...defaults, ...limitsOf(limitsText(limitsIn(defaults))) },
    ceilings: { ...ceilings },
  };
  const fields = Object.keys(typed) as (keyof Typed)[];
  const changed = fields.filter((field) => inOrder(typed[field]) !== inOrder(before[field]));
  const rules = changed.filter((field) => field === "defaults" || field === "ceilings");
  const isWhole = rules.length > 0 || changed.includes("ipWhitelist");
  const now = isWhole ? await call<Api>("apis.getApi", { apiId: api.id }) : api;
  // Not merged: if two operators each remove one of two addresses, none is left, which lets keys in from anywhere.
  if (changed.includes("ipWhitelist"))
    mergedRules(
      { ipWhitelist },
      { ipWhitelist: typed.ipWhitelist },
      { ipWhitelist },
      { ipWhitelist: now.ipWhitelist ?? [] },
    );
  return {
    ...Object.fromEntries(changed.map((field) => [field, typed[field]])),
    ...Object.fromEntries(
      rules.map((field) => [
        field,
        given(mergedRules(before[field], typed[field], { ...api[field] }, { ...now[field] })),
      ]),
    ),
  };
}

/** The contents of the form. */
interface Typed {
  readonly name: string;
  readonly deleteProtection: boolean;
  readonly ipWhitelist: readonly string[];
  readonly defaults: Readonly<Record<string, unknown>>;
  readonly ceilings: Readonly<Record<string, unknown>>;
}

const inOrder = (value: unknown) =>
  JSON.stringify(
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.entries({ ...given({ ...value }) }).sort()
      : value,
  );

function limitsIn({ ratelimit, ratelimits = [] }: ApiDefaults = {}): readonly Limit[] {
  return [...(ratelimit === undefined ? [] : [{ ...ratelimit, name: "default" }]), ...ratelimits];
}

function Defaults(defaults: ApiDefaults) {
  const { prefix, environment, expiresIn, remaining } = defaults;
  return (
    <fieldset>
      <legend>Defaults for new keys</legend>
      <TextField label="Prefix" name="prefix" defaultValue={prefix ?? ""} />
      <TextField label="Environment" name="environment" defaultValue={environment ?? ""} />
      <TextField
        label="Expire after"
        name="expiresIn"
        defaultValue={expiresIn === undefined ? "" : spanText(expiresIn)}
        hint="Such as 90d. Empty means never."
      />
      <TextField
        label="Uses"
        name="remaining"
        type="number"
        min={1}
        defaultValue={remaining ?? ""}
        hint="Empty means unlimited."
      />
      <AreaField
        label="Rate limits"
        name="limits"
        value={limitsText(limitsIn(defaults))}
        hint={LIMITS_HINT}
      />
      <TextField
        label="Permissions"
        name="permissions"
        isWide
        defaultValue={defaults.permissions?.join(", ") ?? ""}
        hint="Separate names with commas."
      />
    </fieldset>
  );
}

function Ceilings(ceilings: ApiCeilings) {
  const { maxExpiresIn, maxRemaining, maxRatelimit, maxKeysPerIdentity } = ceilings;
  return (
    <fieldset>
      <legend>Ceilings for all keys</legend>
      <TextField
        label="Maximum lifetime"
        name="maxExpiresIn"
        defaultValue={maxExpiresIn === undefined ? "" : spanText(maxExpiresIn)}
        hint="Such as 365d. Every key must then have an expiry."
      />
      <TextField
        label="Maximum uses"
        name="maxRemaining"
        type="number"
        min={1}
        defaultValue={maxRemaining ?? ""}
      />
      <TextField
        label="Maximum rate limit"
        name="maxRatelimit"
        defaultValue={
          maxRatelimit === undefined
            ? ""
            : `${maxRatelimit.limit}/${spanText(maxRatelimit.duration)}`
        }
        hint="For the limit named default, such as 1000/1m. Every key must then have one."
      />
      <TextField
        label="Maximum keys per owner"
        name="maxKeysPerIdentity"
        type="number"
        min={1}
        defaultValue={maxKeysPerIdentity ?? ""}
      />
      <TextField
        label="Allowed permissions"
        name="mayGive"
        isWide
        defaultValue={ceilings.permissions?.join(", ") ?? ""}
        hint="Names and wildcards such as docs.*, separated by commas. Empty means all."
      />
    </fieldset>
  );
}

function defaultsOf(form: FormData): Readonly<Record<string, unknown>> {
  return {
    prefix: textOf(form, "prefix"),
    environment: textOf(form, "environment"),
    expiresIn: spanIn(form, "expiresIn"),
    remaining: numberOf(form, "remaining"),
    ratelimit: undefined,
    ratelimits: undefined,
    ...limitsOf(textOf(form, "limits")),
    permissions: namesOf(form, "permissions"),
  };
}

function ceilingsOf(form: FormData): Readonly<Record<string, unknown>> {
  const most = textOf(form, "maxRatelimit");
  const { ratelimit } = limitsOf(most === undefined ? undefined : `default ${most}`);
  return {
    maxExpiresIn: spanIn(form, "maxExpiresIn"),
    maxRemaining: numberOf(form, "maxRemaining"),
    maxRatelimit: ratelimit,
    maxKeysPerIdentity: numberOf(form, "maxKeysPerIdentity"),
    permissions: namesOf(form, "mayGive"),
  };
}

function spanIn(form: FormData, name: string): number | undefined {
  const text = textOf(form, name);
  return text === undefined ? undefined : spanOf(text);
}

/** Null if nothing is given, which removes the existing rules. */
function given(rules: Readonly<Record<string, unknown>>): object | null {
  const fields = Object.entries(rules).filter(([, value]) => value !== undefined);
  return fields.length === 0 ? null : Object.fromEntries(fields);
}
