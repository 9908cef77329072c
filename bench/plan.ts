import type { Db } from '../src/db/store.js';
import type { Benchmark } from './lib/benchmark.js';
import { built } from './lib/built.js';
import { SIZES, type Size, sessionId, setOpenMessages, TENANT } from './lib/dataset.js';
import { ms, ratioAtMost } from './lib/report.js';
import { interleaved, medianTime } from './lib/statistics.js';

const ROUNDS = 7;
const PLANS = 100;
const MOST = 1.5;
const REQUEST = { percent: 50, keepRecent: 0, holdFrom: null };

/** Planning a compaction in process, in a snapshot, with a short tail open and with everything open. */
export const plan: Benchmark = {
  name: 'plan',
  async run(workspace) {
    const path = await workspace.seededDatabase();
    const { openSqliteStore } = await built<typeof import('../src/db/store.sqlite.js')>('db/store.sqlite.js');
    const { findSession } = await built<typeof import('../src/db/repositories/sessions.js')>(
      'db/repositories/sessions.js',
    );
    const { planSession } = await built<typeof import('../src/compaction/plan-session.js')>(
      'compaction/plan-session.js',
    );
    const planOf = (size: Size) => async (db: Db) => {
      const session = await findSession(db, TENANT, sessionId(size));
      if (session === null) throw new Error(`there is no session of ${size} messages`);
      const { plan } = await planSession(db, session, REQUEST);
      if (plan.kind !== 'fold') throw new Error('there should be something to fold');
    };
    const store = openSqliteStore(path);
    try {
      const cases: Record<string, () => Promise<number>> = {};
      for (const open of [50, null]) {
        for (const size of SIZES) {
          cases[`${open} ${size}`] = () => {
            setOpenMessages(path, size, open);
            return medianTime(PLANS, () => store.snapshot(planOf(size)));
          };
        }
      }
      const times = await interleaved(ROUNDS, cases);
      return [50, null].map((open) => {
        const [first = 0, , , last = 0] = SIZES.map((size) => times[`${open} ${size}`] ?? 0);
        const measured = SIZES.map((size) => `${size}: ${ms(times[`${open} ${size}`] ?? 0)}`).join(', ');
        return ratioAtMost(`plan, ${open ?? 'all'} open`, measured, last / first, MOST);
      });
    } finally {
      await store.close();
    }
  },
};
