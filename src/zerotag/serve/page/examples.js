// Sentences to try the page with, written for it: hedged and plain, from several walks of life.

export const EXAMPLES = [
  `The bridge inspection suggests that two of the bolts may have been replaced last spring.
The ferry leaves at ten and arrives before noon.
Perhaps the baker forgot the salt; the loaf tastes flat.
Nobody has opened the vault since 1987.
It is likely that the frost came early, which would explain the split pipes.
Our readings appear to rise with humidity, but the effect could be noise.`,
  `The dig found three coins and a bronze clasp. The clasp is probably Roman, although it might be a later copy. A carbon date for the wood puts the house at around 640. We assume that the family left in a hurry, since the table seems to have been laid.

Dr. Okoye signed the report on Monday. She believes the second trench will be richer. The council has paid for both.`,
  `Patients given the new dose slept an hour longer.
This could reflect the season rather than the drug.
The difference remained after the clocks changed.
One possible explanation is that the quieter ward helped.
All forty returned for the second visit.
The authors speculate that caffeine plays a part.`,
];
