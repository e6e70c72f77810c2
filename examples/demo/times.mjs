// Windows and refills follow the calendar, but the demo may run at any time. These functions keep their edges away from it.

const minute = 60_000;
export const hour = 60 * minute;

/**
 * A window of about an hour that does not end within the next three minutes.
 *
 * Windows are aligned to the epoch: one of an hour ends at every full hour. The lengths have no common factor, so that
 * they do not all end together.
 *
 * @param {number} now
 */
export function quietWindow(now) {
  const lengths = [60, 61, 67, 71, 73].map((minutes) => minutes * minute);
  return lengths.find((length) => length - (now % length) > 3 * minute) ?? hour;
}

/**
 * A day of the month such that no refill is due today or tomorrow.
 *
 * @param {number} now
 */
export function quietRefillDay(now) {
  return [14, 15].includes(new Date(now).getUTCDate()) ? 5 : 15;
}
