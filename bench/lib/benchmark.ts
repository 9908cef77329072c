import type { ReportRow } from './report.js';
import type { Workspace } from './workspace.js';

/** One subject: measures at least two things in turn, and reports how they compare. */
export interface Benchmark {
  readonly name: string;
  run(workspace: Workspace): Promise<ReportRow[]>;
}
