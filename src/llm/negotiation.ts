import type { ErrorFacts } from './error-facts.js';
import { changeAfter } from './negotiate.js';
import type { Outcome } from './outcome.js';
import type { RequestFields } from './request-body.js';
import {
  changedForm,
  describeChange,
  FIRST_FORM,
  type FormChange,
  type RequestForm,
} from './request-form.js';

/** A request that is still refused after this many changes is not about its form. */
const MOST_CHANGES = 3;
/** Models whose form is remembered; a service that is asked for ever new names must not grow with them. */
const MOST_MODELS = 1_000;

/** What the models of one endpoint have taught about the form of requests. Lives as long as the client. */
export class KnownForms {
  readonly #forms = new Map<string, RequestForm>();

  of(model: string): RequestForm {
    return this.#forms.get(model) ?? FIRST_FORM;
  }

  keep(model: string, form: RequestForm): void {
    this.#forms.delete(model);
    this.#forms.set(model, form);
    const [oldest] = this.#forms.keys();
    if (this.#forms.size > MOST_MODELS && oldest !== undefined) this.#forms.delete(oldest);
  }
}

/** The form of the requests of one call, which changes when the endpoint refuses one of its parameters. */
export class Negotiation {
  readonly #known: KnownForms;
  readonly #model: string;
  readonly #changes: FormChange[] = [];
  #form: RequestForm;
  #lasting: RequestForm;

  constructor(known: KnownForms, model: string) {
    this.#known = known;
    this.#model = model;
    this.#form = known.of(model);
    this.#lasting = this.#form;
  }

  get form(): RequestForm {
    return this.#form;
  }

  /** Changes the form if that can help, and says how; null when the refusal stands. Each kind of change once. */
  change(refusal: ErrorFacts, sent: RequestFields): string | null {
    const change = this.#next(changeAfter(refusal, sent));
    if (change === null || this.#changes.length === MOST_CHANGES || this.#isMade(change)) return null;
    this.#changes.push(change);
    this.#form = changedForm(this.#form, change);
    if (change.kind !== 'clamp_cap' || change.lasting) this.#lasting = changedForm(this.#lasting, change);
    return describeChange(change);
  }

  /** Keeps what was learned for the next call, unless the endpoint refused the last form as well. */
  conclude(outcome: Outcome): void {
    if (this.#changes.length > 0 && outcome.kind !== 'bad_request')
      this.#known.keep(this.#model, this.#lasting);
  }

  /** A cap that was refused under its other name too in this call can only be left out. */
  #next(change: FormChange | null): FormChange | null {
    return change?.kind === 'rename_cap' && this.#isMade(change)
      ? { kind: 'drop', parameter: 'cap' }
      : change;
  }

  #isMade(change: FormChange): boolean {
    return this.#changes.some(
      (made) =>
        made.kind === change.kind &&
        (made.kind !== 'drop' || change.kind !== 'drop' || made.parameter === change.parameter),
    );
  }
}
