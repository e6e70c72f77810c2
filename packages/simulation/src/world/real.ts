/** What the simulation still needs of the host, kept before the simulated host takes its place. */
export const realImmediate = setImmediate;
