/** Failed or gainless automatic compactions in a row after which a session is left alone until one by hand. */
export const MAX_AUTO_FAILURES = 3;
