import { expect, test } from "vitest";
import {
  type HeldLimit,
  isLease,
  isReturnable,
  isSlotsOfAnother,
  LAST_LEASE_ID,
  NO_HOLDS,
  slotsIdOf,
  type WindowDrop,
} from "./hold.js";

test("leases sort before reservations, and slots right after their reservation", () => {
  const [lease, reservation] = ["lse_zzzz", "rsv_1"];
  expect([lease, LAST_LEASE_ID, reservation].sort()).toEqual([lease, LAST_LEASE_ID, reservation]);
  expect([lease, reservation].map((id) => isLease({ id }))).toEqual([true, false]);
  const ids = [reservation, slotsIdOf(reservation), "rsv_10", slotsIdOf("rsv_10"), "rsv_2"];
  expect(ids.toSorted()).toEqual(ids);
  const areSlots = ids.map((id) => isSlotsOfAnother({ id }));
  expect(areSlots).toEqual([false, true, false, true, false]);
});

const reset: WindowDrop = { before: 5, windows: ["w", "other"], isKept: false };
const keptOnly: WindowDrop = { before: 5, windows: ["kept"], isKept: true };

test.each([
  ["to nothing that was dropped", [], "w", 0, 4, true],
  ["to a window that was reset: not those of before", [reset], "w", 0, 4, false],
  ["to a window that was reset: those taken since", [reset], "w", 0, 5, true],
  ["to a window beside it", [reset], "z", 0, 4, true],
  ["to a limit that was removed: not those of before", [keptOnly], "w", 0, 4, false],
  ["to a limit that was removed: those taken since", [keptOnly], "w", 0, 5, true],
  ["to a limit that was kept", [keptOnly], "kept", 0, 4, true],
  [
    "to a kept limit that was reset",
    [keptOnly, { ...reset, windows: ["kept"] }],
    "kept",
    0,
    4,
    false,
  ],
  ["to a window of the workspace, which no record keeps", [keptOnly], "w", null, 4, true],
  [
    "to a window of the workspace that was reset: not those of before",
    [reset],
    "w",
    null,
    4,
    false,
  ],
] as const)("units come back %s", (_, drops, window, owner, number, comeBack) => {
  const held: HeldLimit = { window, owner, units: 1, at: 0, rate: 0 };
  expect(isReturnable({ ...NO_HOLDS, drops }, held, number)).toBe(comeBack);
});
