import { render } from "preact";
import { App } from "./app.js";
import { enter, enterByLink } from "./lib/api.js";
import { keepFocus } from "./lib/focus.js";
import { startRouter } from "./lib/router.js";

const token = takeToken("#/");
// Opening a new link in the page of the old one changes only the fragment, and does not load the page.
addEventListener("hashchange", ({ oldURL }) => {
  const next = takeToken(new URL(oldURL).hash || "#/");
  if (next !== undefined) void enterByLink(next);
});
startRouter();
keepFocus();
render(<App />, document.body);
void (token === undefined ? enter() : enterByLink(token));

/** The token of a link. It is removed from the address at once: although it is valid for one sign-in only, nobody should find it there. */
function takeToken(place: string): string | undefined {
  const found = /^#sign-in=(.+)$/.exec(location.hash)?.[1];
  if (found !== undefined) history.replaceState(null, "", place);
  return found;
}
