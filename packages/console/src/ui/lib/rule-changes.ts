type Rules = Readonly<Record<string, unknown>>;

/**
 * The rules of an API to write: as they are now, with what was changed in a form. They are written as a whole, so without this an operator
 * would take back what another has saved since the form was opened.
 *
 * @param opened - As the form wrote them when it was opened. @param typed - As it was sent.
 * @param before - As the API had them then. @param now - As it has them.
 * @throws Error in words, if somebody else has changed the same.
 */
export function mergedRules(opened: Rules, typed: Rules, before: Rules, now: Rules): Rules {
  const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
  const mine = Object.keys({ ...opened, ...typed }).filter(
    (field) => !isSame(opened[field], typed[field]),
  );
  const taken = mine.find(
    (field) => !isSame(now[field], before[field]) && !isSame(now[field], typed[field]),
  );
  if (taken !== undefined)
    throw new Error(
      `Somebody else has changed "${taken}" since this was opened. Close it and open it again.`,
    );
  return { ...now, ...Object.fromEntries(mine.map((field) => [field, typed[field]])) };
}

/**
 * A list of names to write: as it is now, with what was added and taken away in a form. Without this an operator would give back what another
 * has taken away since the page was opened.
 *
 * @param opened - As it was when the form was opened. @param typed - As it was sent. @param now - As it is.
 */
export function mergedNames(
  opened: readonly string[],
  typed: readonly string[],
  now: readonly string[],
): readonly string[] {
  const kept = now.filter((name) => typed.includes(name) || !opened.includes(name));
  const added = typed.filter((name) => !opened.includes(name));
  return [...new Set([...kept, ...added])];
}
