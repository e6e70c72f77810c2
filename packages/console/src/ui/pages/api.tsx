import { useState } from "preact/hooks";
import { call } from "../lib/api.js";
import { forgetLists } from "../lib/list.js";
import { useLoad } from "../lib/load.js";
import { useAllowed } from "../lib/permissions.js";
import { go, linkTo, useRoute } from "../lib/router.js";
import type { Api } from "../lib/types.js";
import { Empty, FailedPage, Id, PageHead } from "../parts/basics.js";
import { Confirm } from "../parts/dialog.js";
import { TextField, textOf } from "../parts/fields.js";
import { Tabs } from "../parts/tabs.js";
import { UsageChart } from "../parts/usage-chart.js";
import { ApiSettings } from "./api-settings.js";
import { CreateKey } from "./create-key.js";
import { FoundKeys } from "./keys.js";

/** One API and its keys. */
export function ApiPage({ apiId }: { readonly apiId: string }) {
  const allowed = useAllowed();
  const { query } = useRoute();
  const [open, setOpen] = useState<"create" | "settings" | "delete" | null>(null);
  const { value: api, error, reload } = useLoad(apiId, () => call<Api>("apis.getApi", { apiId }));
  if (error !== null && api === null)
    return <FailedPage title="API" error={error} retry={reload} />;
  const close = () => setOpen(null);
  return (
    <>
      <PageHead
        title={api?.name ?? "\u00a0"}
        trail={[{ href: linkTo(["apis"]), text: "APIs" }]}
        note={<Id id={apiId} />}
      >
        {allowed.can("api", "delete_api", apiId) && (
          <button type="button" onClick={() => setOpen("delete")}>
            Delete
          </button>
        )}
        {allowed.can("api", "update_api", apiId) && (
          <button type="button" onClick={() => setOpen("settings")}>
            Settings
          </button>
        )}
        {allowed.can("api", "create_key", apiId) && (
          <button type="button" class="primary" onClick={() => setOpen("create")}>
            Create key
          </button>
        )}
      </PageHead>
      <Tabs
        tabs={[
          ["keys", "Keys"],
          ["usage", "Usage"],
        ]}
      />
      {query.tab === "usage" ? <UsageChart of={{ apiId }} /> : <KeysOfApi apiId={apiId} />}
      {open === "create" && <CreateKey apiId={apiId} onClose={close} />}
      {open === "settings" && api !== null && (
        <ApiSettings api={api} onClose={close} onSaved={reload} />
      )}
      {open === "delete" && api !== null && <DeleteApi api={api} onClose={close} />}
    </>
  );
}

function KeysOfApi({ apiId }: { readonly apiId: string }) {
  const allowed = useAllowed();
  if (!allowed.can("api", "read_key", apiId))
    return <p class="note">You do not have permission to list the keys of this API.</p>;
  return (
    <FoundKeys
      operation="apis.listKeys"
      input={{ apiId }}
      empty={
        <Empty title="No keys in this API">
          <p>Create the first one above. Its secret is shown only once.</p>
        </Empty>
      }
    />
  );
}

interface DialogProps {
  readonly api: Api;
  readonly onClose: () => void;
}

function DeleteApi({ api, onClose }: DialogProps) {
  return (
    <Confirm
      title={`Delete ${api.name}?`}
      submit="Delete API and its keys"
      onClose={onClose}
      action={async (form) => {
        if (textOf(form, "name") !== api.name.trim())
          throw new Error("Type the name of the API exactly as shown above.");
        await call("apis.deleteApi", { apiId: api.id });
        forgetLists();
        go(linkTo(["apis"]));
      }}
    >
      <p>
        All keys of this API stop working immediately, for everyone who uses them. This cannot be
        undone.
      </p>
      <TextField label={`Type ${api.name} to confirm`} name="name" required isWide />
    </Confirm>
  );
}
