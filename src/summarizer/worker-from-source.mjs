// Starts worker.ts in a thread of a process that runs from source (tests, development); the build leaves this
// file out. `--import tsx` does not do it: on Node 20 tsx registers nothing when it is preloaded in a thread.
import { register } from 'tsx/esm/api';

register();
await import('./worker.ts');
