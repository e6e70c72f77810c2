import { render } from "preact";
import { App } from "./app.js";
import { enter, enterByLink } from "./lib/api.js";
import { keepFocus } from "./lib/focus.js";
import { startRouter } from "./lib/router.js";

const token = /^#sign-in=(.+)$/.exec(location.hash)?.[1];
// At once: the token is good for one sign-in, and still nobody should find it in the address.
if (token !== undefined) history.replaceState(null, "", "#/");
startRouter();
keepFocus();
render(<App />, document.body);
void (token === undefined ? enter() : enterByLink(token));
