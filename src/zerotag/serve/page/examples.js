// Texts to try the page with, written for it, of the kind that a model's labels speak of.

const HEDGES = [
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

const REMARKS = [
  `Thanks for the quick answer, that solved it.
What a stupid question, did you even read the manual?
The second half of the talk was better than the first.
Nobody cares about your idiotic opinion.
Could somebody look at the build on Windows?
You are all a pathetic bunch of liars.`,
];

const REVIEWS = [
  `The acting is superb and the score is a delight.
Two hours of my life that I will never get back.
It starts well, but the ending is clumsy and dull.
The kettle arrived on Tuesday.
A warm, funny and quietly moving film.
The room was filthy and the staff were rude.`,
];

const LEARNERS = [
  `She go to the market every mornings.
The committee has published its report.
I am looking forward to see you in next week.
We spent the afternoon by the lake.
He explained me the rules of game.
Their results were better than expected.`,
];

const ANYTHING = [
  `The bridge may have to close, the engineers fear.
The service was friendly, but the soup was cold and dull.
Water boils at one hundred degrees at sea level.
What an idiotic idea, said nobody in the room.
She have two brother which lives abroad.
Call 555 0134 before noon and ask for Ms. Alvarez.`,
];

/** @type {[RegExp, string[]][]} */
const KINDS = [
  [/hedg|uncertain|specul|doubt|tentativ/i, HEDGES],
  [/toxi|insult|abus|offens|hate|obscen/i, REMARKS],
  [/sentiment|positiv|negativ|polarity|review/i, REVIEWS],
  [/error|gramma|fault|incorrect|mistake/i, LEARNERS],
];

/**
 * Texts that suit a model by the names of its labels; where they say nothing, texts with something of everything.
 * @param {string[]} labels
 */
export function examplesFor(labels) {
  const found = KINDS.find(([pattern]) => labels.some((label) => pattern.test(label)));
  return found ? found[1] : ANYTHING;
}
