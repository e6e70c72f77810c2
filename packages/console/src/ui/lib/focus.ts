/**
 * The head of the page has the focus, or the field that the page is about: a reader of screens begins there, and Tab goes on from there. While the page is still read, all of
 * it has the focus, and the head takes it when it comes ({@link takeFocus}).
 */
export function focusPage(options?: FocusOptions): void {
  const page = document.querySelector("main");
  const first = page?.querySelector<HTMLElement>("input[autofocus]") ?? page?.querySelector("h1");
  (first ?? page)?.focus(options);
}

/** A head that has come takes the focus from a page that waited for it. */
export function takeFocus(head: HTMLElement | null): void {
  if (head !== null && document.activeElement === head.closest("main")) head.focus();
}

/** From now on, if what has the focus leaves the page or is disabled, the head of the page has it: never nothing. */
export function keepFocus(): void {
  let focused: EventTarget | null = null;
  addEventListener("focusin", ({ target }) => {
    focused = target;
  });
  new MutationObserver(() => {
    const isLost =
      focused instanceof Element && (!focused.isConnected || focused.matches(":disabled"));
    // A browser takes the focus from what is disabled a moment later.
    const isOnNothing = [document.body, focused].includes(document.activeElement);
    // Where it was, and not where the page begins.
    if (isLost && isOnNothing) focusPage({ preventScroll: true });
  }).observe(document.body, { childList: true, subtree: true, attributeFilter: ["disabled"] });
}
