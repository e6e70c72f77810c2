import { createStore, useStore } from "./store.js";

/**
 * Where in the console somebody is: `#/keys/key_1?tab=usage`. All of it is in the fragment, which no browser sends, so that the page
 * can be served below any path.
 */
export interface Route {
  readonly path: readonly string[];
  readonly query: Readonly<Record<string, string>>;
}

export type QueryPatch = Readonly<Record<string, string | undefined>>;

/** Reads a fragment. */
function parseRoute(fragment: string): Route {
  const [path = "", query = ""] = fragment.replace(/^#?\/?/, "").split("?");
  return {
    path: path.split("/").filter(Boolean).map(decoded),
    query: Object.fromEntries(new URLSearchParams(query)),
  };
}

/** Somebody may have cut the address in the middle of a character. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The fragment of a route; what is empty in its query is left out. */
export function linkTo(path: readonly string[], query: QueryPatch = {}): string {
  const given = Object.entries(query).filter((pair): pair is [string, string] => !!pair[1]);
  const search = given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
  return `#/${path.map(encodeURIComponent).join("/")}${search}`;
}

const routeStore = createStore<Route>(parseRoute(location.hash));

/** Each says whether something on the page would be lost if it were left. */
const keepers = new Set<() => boolean>();

/** Undoes steps back and forth while something says that it would be lost. @returns Ends it. */
export function stayWhile(isKept: () => boolean): () => void {
  keepers.add(isKept);
  return () => keepers.delete(isKept);
}

/** Follows the address from now on. */
export function startRouter(): void {
  const follow = () => {
    const [here, there] = [routeStore.get(), parseRoute(location.hash)];
    const stays = [...keepers].some((isKept) => isKept());
    if (!stays) routeStore.set(there);
    else if (fragmentOf(there) !== fragmentOf(here)) history.pushState(null, "", fragmentOf(here));
  };
  addEventListener("hashchange", follow);
  follow();
}

function fragmentOf({ path, query }: Route): string {
  return linkTo(path, query);
}

/** Where somebody is, now and after each step. */
export function useRoute(): Route {
  return useStore(routeStore);
}

/** Goes somewhere: a step that can be gone back, or in the place of the present one. */
export function go(fragment: string, how: "push" | "replace" = "push"): void {
  if (fragment === location.hash) return;
  if (how === "push") history.pushState(null, "", fragment);
  else history.replaceState(history.state, "", fragment);
  routeStore.set(parseRoute(fragment));
}

/** The same place with another query. */
export function withQuery(patch: QueryPatch): string {
  const { path, query } = parseRoute(location.hash);
  return linkTo(path, { ...query, ...patch });
}
