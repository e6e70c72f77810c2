/**
 * Moves the focus to the heading of the page, or to its main field: screen readers start there, and Tab continues from there. While the
 * page is loading, all of it has the focus, until the heading takes it ({@link takeFocus}).
 */
export function focusPage(options?: FocusOptions): void {
  const page = document.querySelector("main");
  const first = page?.querySelector<HTMLElement>("input[autofocus]") ?? page?.querySelector("h1");
  (first ?? page)?.focus(options);
}

/** Moves the focus to a heading that has just appeared, if the page was waiting for it. */
export function takeFocus(head: HTMLElement | null): void {
  if (head !== null && document.activeElement === head.closest("main")) head.focus();
}

/** From now on, if the focused element is removed or disabled, the heading of the page gets the focus, so that it is never lost. */
export function keepFocus(): void {
  let focused: EventTarget | null = null;
  addEventListener("focusin", ({ target }) => {
    focused = target;
  });
  new MutationObserver(() => {
    const isLost =
      focused instanceof Element && (!focused.isConnected || focused.matches(":disabled"));
    // A browser removes the focus from a disabled element with a short delay.
    const isOnNothing = [document.body, focused].includes(document.activeElement);
    // Keeps the scroll position.
    if (isLost && isOnNothing) focusPage({ preventScroll: true });
  }).observe(document.body, { childList: true, subtree: true, attributeFilter: ["disabled"] });
}
