import type { Reporter, TestModule } from 'vitest/node';

/** Says at the end of a run how many tests ran on each store: a suite that skips one would be green as well. */
export default class StoreCounts implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const counts = new Map<string, { passed: number; failed: number; skipped: number }>();
    for (const module of modules) {
      const { name } = module.project;
      const count = counts.get(name) ?? { passed: 0, failed: 0, skipped: 0 };
      counts.set(name, count);
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state !== 'pending') count[state] += 1;
      }
    }
    const lines = [...counts]
      .sort(([a], [b]) => NAMES.indexOf(a) - NAMES.indexOf(b))
      .map(([name, { passed, failed, skipped }]) => {
        const only = skipped > 0 ? `, ${skipped} left out for the reason in their name` : '';
        const wrong = failed > 0 ? `, ${failed} failed` : '';
        return `${(TITLES[name] ?? name).padEnd(15)} ${passed} tests passed${wrong}${only}`;
      });
    process.stdout.write(`\n${lines.join('\n')}\n\n`);
  }
}

const TITLES: Readonly<Record<string, string>> = {
  sqlite: 'on SQLite:',
  postgres: 'on PostgreSQL:',
  other: 'on either, once:',
};
const NAMES = Object.keys(TITLES);
