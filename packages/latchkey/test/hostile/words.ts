import fc from "fast-check";

/** Words that occur in answers to a charge, counters, windows and sums. */
const WORDS =
  "charged,rate-limited,usage-exceeded,stale,conflict,corrupt,repeat,busy,moved,ERROR,WRONGTYPE,OK,STALE,TAKEN,REFUSED,unlimited,overflow,0,1,2,-,-1,1.5,NaN,9007199254740992,1:2,1:2!,1:2:3,1:-1,1:2:3:4,1=2,VALID,493:VALID=1,own=1:2,default:60000=1=2,default:60000=1=2:3,@1,[],{},null,[null],[[]]".split(
    ",",
  );
const BETWEEN = [" ", " ", " ", "\n", "\0", "\x01", ",", "="];

/** Texts that stores might keep or receive. */
export const storedTexts: fc.Arbitrary<string> = fc
  .array(fc.tuple(fc.constantFrom(...WORDS), fc.constantFrom(...BETWEEN)), { maxLength: 8 })
  .map((parts) => parts.flat().slice(0, -1).join(""));
