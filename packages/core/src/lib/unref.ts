/** Lets the process end in spite of a timer. Node would wait for it; other hosts answer a plain number. */
export function unref(timer: unknown): void {
  if (typeof timer === "object" && timer !== null && "unref" in timer)
    (timer as { unref(): void }).unref();
}
