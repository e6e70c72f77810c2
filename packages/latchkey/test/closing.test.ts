import { expect, test } from "vitest";
import { describeOnEveryStore } from "./every-store.js";
import { rejectionOf } from "./test-context.js";

/** Far above what the closing takes, and below what calls may take. */
const SOON_MS = 10_000;

describeOnEveryStore("calls at the moment when their latchkey is closed", (open) => {
  test.each([0, 1, 3])("end at once, %i turns after they began", async (turns) => {
    const { another } = open();
    const closing = another();
    const call = closing.createApi({ name: "tide tables" }).then(
      () => "made",
      (error: { readonly code?: string }) => error.code,
    );
    for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate);
    await closing.close();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, SOON_MS, "still waiting");
    });
    expect(["made", "STORE_UNAVAILABLE"]).toContain(await Promise.race([call, late]));
    clearTimeout(timer);
    const later = await rejectionOf(closing.createApi({ name: "tide tables" }));
    expect(later.code).toBe("STORE_UNAVAILABLE");
  });
});
