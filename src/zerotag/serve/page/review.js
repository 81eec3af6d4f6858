// Correcting with a purpose: the sentences most worth looking at, one after the other, and a better model of what was said.

import { byId, counted } from "./dom.js";

const GOALS = [20, 50, 200]; // sentences: few settle little, many decide
const FEWEST = 5; // that a model can be improved with
const PAUSE = 100; // milliseconds
const PATIENCE = 20_000;
const POOL = 2_000; // texts that are chosen from
const CHARACTERS = 600_000; // of them together

export class Review {
  #session;
  #workspace;
  #list;
  #say;
  #onImprove;

  /**
   * @param {Session} session
   * @param {Workspace} workspace
   * @param {SentenceList} list
   * @param {(text: string) => void} say
   * @param {(name: string) => void} onImprove told of the model that will come of it
   */
  constructor(session, workspace, list, say, onImprove) {
    this.#session = session;
    this.#workspace = workspace;
    this.#list = list;
    this.#say = say;
    this.#onImprove = onImprove;
    byId("review-start").addEventListener("click", () => this.#orSay(() => this.#start()));
    byId("review-end").addEventListener("click", () => session.review(null));
    byId("improve").addEventListener("click", () => this.#orSay(() => this.#improve()));
    session.on("units readings corrections listed results", () => this.#show());
    session.on("readings", () => session.queue && session.review(null)); // it was another model's
  }

  /** Notes that the sentence that has the focus is right as it is, and goes to the next. */
  confirm() {
    const item = this.#focused();
    if (!item) return;
    if (!this.#session.corrections.has(item.unit)) this.#session.confirm(item.unit);
    this.#focus(this.#list.neighbour(item, 1));
  }

  /** Changes the verdict of the sentence that has the focus, where it is clear which. */
  changeVerdict() {
    const item = this.#focused();
    const labels = this.#session.shown(this.#session.main);
    if (item && labels.length === 1) this.#session.correctSentence(item.unit, labels[0]);
  }

  #focused() {
    const focused = document.activeElement;
    return focused?.closest("#sentences li") ? this.#list.itemOf(focused) : null;
  }

  /** @param {Item | undefined} item */
  #focus(item) {
    const word = item?.view?.lines[0][0];
    if (!word) return;
    this.#list.setTabStop(word);
    word.focus();
  }

  async #start() {
    const { main, units } = this.#session;
    this.#say("Choosing the sentences most worth looking at …");
    const numbers = await this.#workspace.suggest(main.model, pool(units));
    this.#session.review(numbers);
    this.#say(`${counted(numbers.length, "sentence")} to look at, the most useful first`);
    this.#focus(this.#list.first);
  }

  async #improve() {
    const { main, models, units } = this.#session;
    const base = main.model.replace(/-\d+$/, "");
    const taken = new Set(models.map((model) => model.name));
    let number = 2;
    while (taken.has(`${base}-${number}`)) number += 1;
    const name = `${base}-${number}`;
    await this.#allKept();
    const root = this.#workspace.rootOf(main.model);
    await this.#workspace.improve(root, name, pool(units));
    this.#onImprove(name);
    this.#say(`Making ${name} of ${root} and your corrections`);
  }

  /** Waits until the workspace has every correction: none may be left out. */
  async #allKept() {
    for (let waited = 0; !this.#session.kept; waited += PAUSE) {
      if (waited > PATIENCE) throw new Error("The corrections could not be kept yet. Is “zerotag serve” still running?");
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
  }

  #show() {
    const { main, corrections, queue } = this.#session;
    byId("review").hidden = !this.#workspace.on || !main || main.method !== "native" || !this.#session.labelled.length;
    const done = corrections.units.length;
    const goal = GOALS.find((one) => done < one) ?? done;
    byId("review-state").textContent = done ? `${done} of ${counted(goal, "sentence")} looked at` : `Look at ${GOALS[0]} sentences, and the model can be improved.`;
    Object.assign(byId("review-progress"), { max: goal, value: done });
    byId("review-start").hidden = queue !== null;
    byId("review-end").hidden = queue === null;
    byId("review-keys").hidden = queue === null;
    byId("improve").disabled = done < FEWEST;
  }

  /** @param {() => Promise<void>} action */
  async #orSay(action) {
    try {
      await action();
    } catch (problem) {
      this.#say(problem.message);
    }
  }
}

/**
 * The texts to choose from: as many of the first as the service takes at once.
 * @param {Unit[]} units
 */
function pool(units) {
  let characters = 0;
  const last = units.findIndex((unit) => (characters += unit.text.length) > CHARACTERS);
  return units.slice(0, Math.min(POOL, last < 0 ? units.length : last)).map((unit) => unit.words ?? unit.text);
}
