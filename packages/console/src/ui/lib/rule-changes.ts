type Rules = Readonly<Record<string, unknown>>;

/**
 * The rules of an API to write: the current ones, with the changes of a form. They are written as a whole, so without this an operator
 * would undo what another has saved since the form was opened.
 *
 * @param opened - The rules in the form when it was opened. @param typed - When it was sent.
 * @param before - The rules of the API when the form was opened. @param now - The current ones.
 * @throws Error in words, if somebody else has changed the same rule.
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
      `Someone else has changed "${taken}" since you opened this form. Close it and open it again.`,
    );
  return { ...now, ...Object.fromEntries(mine.map((field) => [field, typed[field]])) };
}

/**
 * A list of names to write: the current one, with the additions and removals of a form. Without this, an operator would restore what
 * another has removed since the page was opened.
 *
 * @param opened - The list when the form was opened. @param typed - When it was sent. @param now - The current one.
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
