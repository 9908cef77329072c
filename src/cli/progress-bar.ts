import { counted, megabytes } from './number-text.js';

const BAR_WIDTH = 24;
const REDRAW_MS = 100;
/** Between lines where there is no terminal to draw on, in ms. */
const REPORT_MS = 5_000;

export interface ProgressState {
  readonly bytes: number;
  /** Null when the end is not known. */
  readonly totalBytes: number | null;
  readonly sessions: number;
  readonly messages: number;
}

export interface ProgressStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

export interface Progress {
  /** Writes a line that stays, above the bar. */
  line(text: string): void;
  /** Takes the bar away. */
  end(): void;
}

/** Shows how far the work is: a bar that redraws itself on a terminal, otherwise a line every five seconds. */
export function showProgress(stream: ProgressStream, state: () => ProgressState): Progress {
  const terminal = stream.isTTY === true;
  const clear = () => {
    if (terminal) stream.write('\r\u001b[K');
  };
  const draw = () => {
    if (terminal)
      stream.write(`\r\u001b[K${progressText(state(), true).slice(0, (stream.columns ?? 80) - 1)}`);
    else stream.write(`${progressText(state(), false)}\n`);
  };
  const timer = setInterval(draw, terminal ? REDRAW_MS : REPORT_MS);
  timer.unref();
  return {
    line(text) {
      clear();
      stream.write(`${text}\n`);
    },
    end() {
      clearInterval(timer);
      clear();
    },
  };
}

export function progressText({ bytes, totalBytes, sessions, messages }: ProgressState, bar: boolean): string {
  const counts = `${counted(sessions, 'session')}  ${counted(messages, 'message')}`;
  if (totalBytes === null || totalBytes === 0) return `${megabytes(bytes)}  ${counts}`;
  // A file that grows while it is read has more than all of its bytes.
  const share = Math.min(1, bytes / totalBytes);
  const done = Math.round(share * BAR_WIDTH);
  const drawn = bar ? `[${'#'.repeat(done)}${'-'.repeat(BAR_WIDTH - done)}] ` : '';
  const percent = `${Math.floor(share * 100)}%`.padStart(4);
  return `${drawn}${percent}  ${megabytes(bytes)} of ${megabytes(totalBytes)}  ${counts}`;
}
