/** Whose data a request may see. One tenant until there are keys that tell callers apart. */
export const TENANT = 'default';
