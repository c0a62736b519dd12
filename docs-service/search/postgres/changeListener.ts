import pg from 'pg';
import { connectionOptions } from '../../base/postgresConnection.ts';
import { changeChannel } from './postgresWriter.ts';

/**
 * Calls `onChange` whenever another connection has changed the index, and whenever such a change may have been missed.
 * A broken connection is replaced, at most once a second.
 */
export function listenForChanges(url: string, onChange: () => void): { close(): Promise<void> } {
  let isClosed = false;
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;

  const again = (broken: pg.Client) => {
    if (isClosed || client !== broken) return;
    client = undefined;
    end(broken);
    timer = setTimeout(connect, betweenAttempts);
    timer.unref();
  };
  const connect = async () => {
    const made = new pg.Client(connectionOptions(url));
    client = made;
    made.on('error', () => again(made));
    made.on('end', () => again(made));
    made.on('notification', onChange);
    try {
      await made.connect();
      await made.query(`LISTEN ${changeChannel}`);
      onChange();
    } catch {
      again(made);
    }
  };
  void connect();
  return {
    close: async () => {
      isClosed = true;
      clearTimeout(timer);
      await client?.end().catch(() => undefined);
    },
  };
}

/** In ms. */
const betweenAttempts = 1_000;

function end(client: pg.Client): void {
  client.end().catch(() => undefined);
}
