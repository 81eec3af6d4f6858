// What the page's modules pass to one another, for the type check alone: the browser never sees this file.

type Session = import("../../src/zerotag/serve/page/session.js").Session;
type SentenceList = import("../../src/zerotag/serve/page/sentences.js").SentenceList;
type Tip = import("../../src/zerotag/serve/page/tip.js").Tip;
type Result = import("../../src/zerotag/serve/page/result.js").Result;
type Workspace = import("../../src/zerotag/serve/page/workspace.js").Workspace;
type Problem = import("../../src/zerotag/serve/page/api.js").Problem;

// What the service answers.

interface Rule {
  word_threshold: number;
  sentence_threshold: number;
  origin: string;
  exclusive?: boolean;
}

interface Model {
  name: string;
  revision: string;
  default: boolean;
  encoder: string;
  depth: number | null;
  labels: string[];
  methods: string[];
  word_labels?: Record<string, number>;
  rules_by_method: Record<string, Record<string, Rule>>;
}

interface Limits {
  texts?: number;
  characters?: number;
  body_bytes?: number;
}

interface Offer {
  models: Model[];
  limits?: Limits;
}

/** With one label the service gives `score` alone, with several `scores` too. */
interface Scored {
  score: number;
  scores?: Record<string, number>;
}

interface WordRecord extends Scored {
  text: string;
  start: number;
  end: number;
}

interface LabelRecord extends Scored {
  text: string;
  words: WordRecord[];
}

interface Answer {
  revision: string;
  results: LabelRecord[];
}

// What the page makes of it.

/** A text to be labelled; `words` where it came split. */
interface Unit {
  text: string;
  words: string[] | null;
  start: number;
  key: string;
  /** The labels that a file gives it, to compare with, and its row there. */
  gold?: string[];
  row?: number;
  id?: string;
}

type Filter = "all" | "positive" | "negative" | "marked" | "silent" | "corrected" | "wrong";
type Order = "text" | "highest" | "lowest" | "unsure" | "marked";

interface Listing {
  search: string;
  filter: Filter;
  order: Order;
}

interface Reading {
  model: string;
  method: string;
}

interface Batch {
  reading: Reading;
  units: Unit[];
}

/** What a reading says of a unit about one label. */
interface Verdict {
  name: string;
  hue: string;
  rule: Rule;
  score: number;
  scores: Float64Array;
  positive: boolean;
  /** As the model has it, whatever a person said. */
  byModel: boolean;
  /** By the rule alone, and with corrections. */
  words: Uint8Array;
  decided: Uint8Array;
  said: Map<number, boolean>;
  strength: (word: number) => number;
}

/** A word that carries a label somewhere. */
interface Entry {
  word: string;
  marked: number;
  occurrences: number;
  sentences: number;
  mean: number;
  hits: Hit[];
}

interface Hit {
  unit: Unit;
  word: number;
  score: number;
}

/** What is counted for a word while a corpus is gone through. */
interface Found {
  forms: Map<string, number>;
  units: Set<Unit>;
  marked: number;
  total: number;
  hits: Hit[];
}

/** The words of a label, and how much there is of all. */
interface Lexicon {
  sentences: number;
  positive: number;
  words: number;
  marked: number;
  entries: Entry[];
}

interface Share {
  value: number;
  low: number;
  high: number;
}

/** What each of 101 thresholds finds in sentences that were looked at. */
interface Expected {
  sentences: number;
  precision: Share[];
  recall: Share[];
  best: { low: number; high: number };
}

/** Of a sentence: how many words reach each threshold, how many of them rightly, and how many there are to find. */
interface Counts {
  reaching: number[];
  hits: number[];
  gold: number;
}

/** A correction: the word, the label, yes or no. */
type Mark = [number, string, boolean];

interface View {
  node: HTMLElement;
  lines: HTMLElement[][];
  dress: () => void;
}

interface Item {
  unit: Unit;
  /** Only while it is near the window. */
  li: HTMLLIElement | null;
  view: View | null;
  stale: boolean;
  /** Its place in the text, from 0. */
  number: number;
  /** In pixels; 0 while it is not known. */
  height: number;
}

interface HTMLLIElement {
  item?: Item;
}

interface Place {
  x: number;
  y: number;
  width: number;
  tag?: string;
}

interface Progress {
  done: number;
  total: number;
}

interface Actions {
  retry: () => void;
  stop: () => void;
}

interface CsvRow {
  line: number;
  cells: string[];
}

type Row = Record<string, unknown>;

/** A file that was read: a text, or units, or a table of which a column must be chosen. */
type FileContent = { name: string } & (
  | { text: string; units?: undefined; columns?: undefined }
  | { text?: undefined; units: Unit[]; columns?: undefined }
  | ({ text?: undefined; units?: undefined } & Table)
);

interface Table {
  columns: string[];
  column: string;
  rows: Row[];
}

/** A table that was uploaded, as the workspace describes it. */
interface TableSummary {
  id: string;
  name: string;
  rows: number;
  bad: number;
  problems: { line: number; reason: string; excerpt: string }[];
  preview: Row[];
  columns: Record<string, { characters: number; values: Record<string, number> | null }>;
  guess: { text: string; label: string | null; id: string | null };
}

/** Where units come from: a file, with its rows if it is a table of the workspace. */
interface Source {
  name: string;
  table?: TableSummary;
  choice?: TableChoice;
  rows?: Row[];
}

interface TableChoice {
  text: string;
  label: string | null;
  id: string | null;
  negative: string | null;
}

interface Choice {
  text: string;
  labels: string[];
  negative: string[] | null;
}

interface Check {
  sentences: number;
  labels: Record<string, number>;
  warnings: string[];
  problem: string | null;
}

interface JobProgress {
  /** Of a training alone. */
  epoch?: number;
  epochs?: number;
  steps_done: number;
  steps: number;
  seconds_left?: number;
}

/** Of a training: its scores. Of an improvement: words before and after. */
interface JobResult {
  seconds: number;
  scores: Record<string, number>;
  sentences: { train: number; dev: number } & number;
  seen_before?: boolean;
  before?: { f1: number };
  /** By what learnt, of which the best was taken; none where none was better. */
  after?: Record<string, { f1: number }>;
  way?: string | null;
  thresholds?: Record<string, [number, number]>;
  changed?: { word: string; label: string; marked: boolean; count: number }[];
}

interface Job {
  id: string;
  kind: string;
  name: string;
  state: string;
  settings: { upload: string; of?: string; text: string; labels: string[]; negative: string[] | null };
  progress: JobProgress | null;
  result: JobResult | null;
  message: string | null;
}

/** A sentence that was corrected: what a person said, and the sentence as the library reads it. */
interface CorrectionRecord {
  marks: Mark[];
  /** By label the words that had it when somebody first looked at the sentence. */
  shown?: Record<string, number[]>;
  example: { words: string[] };
}

/** What a link holds. */
interface PageState {
  text: string | null;
  units: (string | string[])[] | null;
  readings: Reading[];
  label: string | null;
  thresholds: [string, number][];
  corrections: [number, ...Mark][];
}

/** What a tab holds, as its browser keeps it: what a link holds, unchecked, and the table its texts are from. */
interface Draft {
  tab: string;
  saved: number;
  name?: string;
  table?: string;
  choice?: TableChoice;
}

/** The elements of index.html by id. */
interface PageElements {
  "theme-toggle": HTMLButtonElement;
  "help-open": HTMLButtonElement;
  lead: HTMLElement;
  text: HTMLTextAreaElement;
  "file-card": HTMLElement;
  "file-name": HTMLElement;
  "file-note": HTMLElement;
  "column-field": HTMLElement;
  column: HTMLSelectElement;
  "file-close": HTMLButtonElement;
  example: HTMLButtonElement;
  open: HTMLButtonElement;
  clear: HTMLButtonElement;
  "last-text": HTMLButtonElement;
  file: HTMLInputElement;
  count: HTMLElement;
  controls: HTMLElement;
  "model-field": HTMLElement;
  model: HTMLSelectElement;
  "method-field": HTMLElement;
  method: HTMLSelectElement;
  "label-field": HTMLElement;
  labels: HTMLElement;
  "compare-open": HTMLButtonElement;
  compare: HTMLElement;
  thresholds: HTMLElement;
  notice: HTMLElement;
  empty: HTMLElement;
  results: HTMLElement;
  "results-title": HTMLElement;
  summary: HTMLElement;
  gold: HTMLElement;
  export: HTMLElement;
  copy: HTMLButtonElement;
  download: HTMLButtonElement;
  link: HTMLButtonElement;
  progress: HTMLElement;
  "progress-bar": HTMLProgressElement;
  "progress-text": HTMLElement;
  "progress-button": HTMLButtonElement;
  start: HTMLElement;
  "start-open": HTMLButtonElement;
  "start-demo": HTMLButtonElement;
  jobs: HTMLElement;
  "job-list": HTMLElement;
  "table-again": HTMLButtonElement;
  table: HTMLDialogElement;
  "table-title": HTMLElement;
  "table-text": HTMLSelectElement;
  "table-label": HTMLSelectElement;
  "table-negative": HTMLSelectElement;
  "table-negative-field": HTMLElement;
  "table-id": HTMLSelectElement;
  "table-preview": HTMLElement;
  "table-problems": HTMLDetailsElement;
  "table-found": HTMLElement;
  "table-refusal": HTMLElement;
  "table-cancel": HTMLButtonElement;
  "table-use": HTMLButtonElement;
  "table-form": HTMLFormElement;
  "table-name": HTMLInputElement;
  "table-train": HTMLButtonElement;
  log: HTMLDialogElement;
  "log-title": HTMLElement;
  "log-text": HTMLElement;
  sentences: HTMLElement;
  side: HTMLElement;
  pane: HTMLElement;
  minimap: HTMLCanvasElement;
  format: HTMLSelectElement;
  search: HTMLInputElement;
  filter: HTMLSelectElement;
  sort: HTMLSelectElement;
  listed: HTMLElement;
  "none-listed": HTMLElement;
  "list-all": HTMLButtonElement;
  legend: HTMLElement;
  views: HTMLElement;
  "view-sentences": HTMLInputElement;
  "view-words": HTMLInputElement;
  corpus: HTMLElement;
  hint: HTMLElement;
  "hint-close": HTMLButtonElement;
  "left-out": HTMLElement;
  "word-menu": HTMLElement;
  "model-note": HTMLElement;
  corrections: HTMLElement;
  review: HTMLElement;
  "review-state": HTMLElement;
  "review-progress": HTMLProgressElement;
  "review-keys": HTMLElement;
  "review-start": HTMLButtonElement;
  "review-end": HTMLButtonElement;
  improve: HTMLButtonElement;
  "corrections-count": HTMLElement;
  "corrections-use": HTMLElement;
  "corrections-tsv": HTMLButtonElement;
  "corrections-jsonl": HTMLButtonElement;
  "corrections-labelstudio": HTMLButtonElement;
  undo: HTMLButtonElement;
  discard: HTMLButtonElement;
  drop: HTMLElement;
  "drop-kinds": HTMLElement;
  tip: HTMLElement;
  toast: HTMLElement;
  live: HTMLElement;
  help: HTMLDialogElement;
  "help-title": HTMLElement;
  "shortcuts-on": HTMLInputElement;
  "help-close": HTMLButtonElement;
  "key-dialog": HTMLDialogElement;
  "key-title": HTMLElement;
  "key-form": HTMLFormElement;
  key: HTMLInputElement;
  "key-wrong": HTMLElement;
}
