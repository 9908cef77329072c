/** The part of pino that services use. Fields never hold message texts, summaries or keys. */
export interface Logger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
