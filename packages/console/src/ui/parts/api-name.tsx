import { useEffect } from "preact/hooks";
import { call, whenOperatorChanges } from "../lib/api.js";
import { useAllowed } from "../lib/permissions.js";
import { linkTo } from "../lib/router.js";
import { createStore, useStore } from "../lib/store.js";
import type { Api } from "../lib/types.js";

/** Names of APIs, each read once. */
const names = createStore<Readonly<Record<string, string>>>({});
const asked = new Set<string>();
whenOperatorChanges(() => {
  asked.clear();
  names.set({});
});

/** Remembers the new name of an API. */
export const noteApiName = (apiId: string, name: string): void =>
  names.set({ ...names.get(), [apiId]: name });

/** The name of an API, with a link to it; only its id if the operator may not read it. */
export function ApiName({ apiId }: { readonly apiId: string }) {
  const allowed = useAllowed();
  const name = useStore(names)[apiId];
  const mayRead = allowed.can("api", "read_api", apiId);
  useEffect(() => {
    if (asked.has(apiId) || !mayRead) return;
    asked.add(apiId);
    call<Api>("apis.getApi", { apiId }).then(
      (api) => noteApiName(apiId, api.name),
      () => {
        // It may be deleted. Its id is shown until it is requested again.
        asked.delete(apiId);
        noteApiName(apiId, apiId);
      },
    );
  }, [apiId, mayRead]);
  if (!mayRead)
    return (
      <span class="cut" title={apiId}>
        {apiId}
      </span>
    );
  return (
    <a class="cut above" href={linkTo(["apis", apiId])} title={apiId}>
      {name ?? "…"}
    </a>
  );
}
