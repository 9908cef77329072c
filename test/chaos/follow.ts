export interface TaskEvent {
  readonly seq: number;
  readonly type: string;
  /** JSON text. */
  readonly data: string;
}

/**
 * The events of a task after the given one, as one node tells them; ends with the stream, when the connection breaks,
 * or when the time is over.
 */
export async function* taskEvents(url: string, after: number, until: number): AsyncGenerator<TaskEvent> {
  const leaving = new AbortController();
  const timer = setTimeout(() => leaving.abort(), Math.max(0, until - performance.now()));
  try {
    const response = await fetch(url, {
      signal: leaving.signal,
      headers: after < 0 ? {} : { 'last-event-id': String(after) },
    });
    if (response.status !== 200 || response.body === null) return;
    const decoder = new TextDecoder();
    let text = '';
    for await (const bytes of response.body) {
      text += decoder.decode(bytes, { stream: true });
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const [, seq, type = '', data = ''] = /^id: (\d+)\nevent: (.+)\ndata: (.*)$/m.exec(block) ?? [];
        if (seq !== undefined) yield { seq: Number(seq), type, data };
      }
    }
  } catch {
    // The node went away.
  } finally {
    clearTimeout(timer);
    leaving.abort();
  }
}
