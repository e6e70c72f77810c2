/** The one host timer that the simulation needs, saved before `installHost` replaces it. */
export const realImmediate = setImmediate;
