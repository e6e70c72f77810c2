import { render } from "preact";
import { createPortalClient } from "../client.js";
import { App } from "./app.js";
import css from "./keys.css";

/** URL of the portal, derived from that of this script. */
const HOME = new URL(".", import.meta.url);

/**
 * `<latchkey-keys>`: the keys of a customer, in a page of the host or of the portal. Styles are constructed, not inline, so that it works
 * under a policy without `unsafe-inline`, and with trusted types.
 */
class LatchkeyKeys extends HTMLElement {
  /** The secret of a link. It is removed from the address at once. */
  #secret = this.hasAttribute("page") ? secretInAddress() : undefined;

  #follow = (): void => undefined;

  connectedCallback(): void {
    const root = this.shadowRoot ?? this.attachShadow({ mode: "open" });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(css);
    root.adoptedStyleSheets = [sheet];
    const isPage = this.hasAttribute("page");
    const client = createPortalClient(this.getAttribute("portal") ?? HOME);
    const show = (secret?: string) =>
      render(<App client={client} isPage={isPage} host={this} secret={secret} />, root);
    show(this.#secret);
    this.#secret = undefined;
    this.#follow = () => {
      // Opening a link in the page of another one changes only the fragment, and does not load the page.
      const next = isPage ? secretInAddress() : undefined;
      if (next !== undefined) show(next);
    };
    addEventListener("hashchange", this.#follow);
  }

  disconnectedCallback(): void {
    removeEventListener("hashchange", this.#follow);
    if (this.shadowRoot !== null) render(null, this.shadowRoot);
  }
}

function secretInAddress(): string | undefined {
  const secret = /^#session=(.+)$/.exec(location.hash)?.[1];
  // With the origin: a path alone that begins with two slashes would be the address of another site.
  if (secret !== undefined) history.replaceState(null, "", location.origin + location.pathname);
  return secret;
}

if (customElements.get("latchkey-keys") === undefined)
  customElements.define("latchkey-keys", LatchkeyKeys);
