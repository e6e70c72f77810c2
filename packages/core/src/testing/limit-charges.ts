import type { LimitCharge } from "../store/charge.js";

/** Takes five of nine units a minute of a key. */
export const UNITS: LimitCharge = {
  ...{ name: "files", window: "60000:files", owner: 0, cost: 5, shadow: false },
  ...{ algorithm: "fixed", limit: 9, duration: 60_000, burst: 9 },
};

/** Takes one of nine slots of a key. */
export const SLOTS: LimitCharge = {
  ...{ ...UNITS, name: "parallel", window: "c60000:parallel", cost: 1 },
  ...{ algorithm: "concurrent" },
};
