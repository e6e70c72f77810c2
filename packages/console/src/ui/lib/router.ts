import { createStore, useStore } from "./store.js";

/**
 * A place in the console: `#/keys/key_1?tab=usage`. All of it is in the fragment, which no browser sends, so that the page can be served on
 * any path.
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

/** The decoded part; unchanged if it is invalid, because an address may be cut off within a character. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The fragment of a route, without empty parts of the query. */
export function linkTo(path: readonly string[], query: QueryPatch = {}): string {
  const given = Object.entries(query).filter((pair): pair is [string, string] => !!pair[1]);
  const search = given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
  return `#/${path.map(encodeURIComponent).join("/")}${search}`;
}

const routeStore = createStore<Route>(parseRoute(location.hash));

/** Each returns whether leaving the page would lose something. */
const keepers = new Set<() => boolean>();

/** Undoes steps back and forward while `isKept` returns true. @returns A function that ends this. */
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

/** The current route, updated after each step. */
export function useRoute(): Route {
  return useStore(routeStore);
}

/** Goes to a fragment, as a new step of the history or instead of the current one. */
export function go(fragment: string, how: "push" | "replace" = "push"): void {
  if (fragment === location.hash) return;
  if (how === "push") history.pushState(null, "", fragment);
  else history.replaceState(history.state, "", fragment);
  routeStore.set(parseRoute(fragment));
}

/** The fragment of the current place with another query. */
export function withQuery(patch: QueryPatch): string {
  const { path, query } = parseRoute(location.hash);
  return linkTo(path, { ...query, ...patch });
}
