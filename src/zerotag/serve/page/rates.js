// Precision and recall from pairs of what is right and what was said.

/**
 * Both are null where there is nothing to divide by.
 * @param {{gold: boolean, said: boolean}[]} pairs
 */
export function precisionRecall(pairs) {
  const hits = pairs.filter(({ gold, said }) => gold && said).length;
  const said = pairs.filter((pair) => pair.said).length;
  const gold = pairs.filter((pair) => pair.gold).length;
  return { precision: said ? hits / said : null, recall: gold ? hits / gold : null };
}
