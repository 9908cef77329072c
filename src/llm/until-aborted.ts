import type { Dispatcher } from 'undici';

/**
 * The response, or a rejection as soon as the signal fires: undici only notices a signal once it is connected, and
 * neither a caller nor a clock must wait for that. A response that comes after all is let go.
 */
export async function untilAborted(
  sent: Promise<Dispatcher.ResponseData>,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  let giveUp: () => void = () => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    giveUp = () => reject(new Error('stopped'));
    signal.addEventListener('abort', giveUp, { once: true });
    if (signal.aborted) giveUp();
  });
  try {
    return await Promise.race([sent, aborted]);
  } catch (error) {
    sent.then(
      // Destroying an unread body reports an error on it, which is no news to anyone.
      ({ body }) => body.on('error', () => {}).destroy(),
      () => {},
    );
    throw error;
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}
