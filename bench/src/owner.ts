import pg from 'pg';

/** A connection to the embedded server as its owner, for filling it past the product. */
export async function connectOwner(socketDir: string): Promise<pg.Client> {
  const client = new pg.Client({ host: socketDir, user: 'strongroom_owner', database: 'strongroom' });
  // An error on the connection is the error of the statement under way, which is awaited.
  client.on('error', () => {});
  await client.connect();
  return client;
}
