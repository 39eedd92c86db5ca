import type pg from 'pg';

/**
 * Stands in for the functions of Citus, which is not installed where these tests run. They move nothing: they note the
 * calls and refuse what its documentation says is refused.
 */
const STAND_IN = `
CREATE SCHEMA stand_in;
CREATE TABLE stand_in.pg_dist_partition (
  logicalrelid regclass PRIMARY KEY, partmethod char NOT NULL, partkey text, colocationid text, place serial);
GRANT USAGE ON SCHEMA stand_in TO PUBLIC;
GRANT SELECT ON stand_in.pg_dist_partition TO PUBLIC;
-- Of no server that could be asked.
CREATE TABLE stand_in.pg_dist_placement (shardid bigint, groupid integer);
GRANT SELECT ON stand_in.pg_dist_placement TO PUBLIC;
CREATE FUNCTION stand_in.get_shard_id_for_distribution_column(table_name regclass, value anyelement) RETURNS bigint
  LANGUAGE sql AS 'SELECT 1::bigint';

CREATE FUNCTION stand_in.truncate_local_data_after_distributing_table(table_name regclass) RETURNS void
  LANGUAGE sql AS '';

CREATE FUNCTION stand_in.citus_add_local_table_to_metadata(table_name regclass) RETURNS void
  LANGUAGE sql AS $$ INSERT INTO stand_in.pg_dist_partition VALUES (table_name, 'n') $$;

CREATE FUNCTION stand_in.create_distributed_function(
  called regprocedure, distribution_arg_name text DEFAULT NULL, colocate_with text DEFAULT 'default',
  force_delegation boolean DEFAULT NULL) RETURNS void LANGUAGE sql AS '';

CREATE FUNCTION stand_in.create_distributed_table(
  table_name regclass, distribution_column text, distribution_type text DEFAULT 'hash',
  colocate_with text DEFAULT 'default', shard_count integer DEFAULT NULL) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  key_at smallint := (SELECT attnum FROM pg_attribute WHERE attrelid = table_name AND attname = distribution_column);
  group_of text := table_name::text;
  bad record;
BEGIN
  IF key_at IS NULL THEN
    RAISE EXCEPTION 'column % does not exist', distribution_column;
  END IF;
  IF EXISTS (SELECT FROM pg_policy WHERE polrelid = table_name AND concat(polqual, polwithcheck) LIKE '%{SUBLINK%') THEN
    RAISE EXCEPTION 'cannot create policy: subqueries are not supported in policies on distributed tables';
  END IF;
  IF (SELECT relispartition FROM pg_class WHERE oid = table_name) THEN
    RAISE EXCEPTION 'a partition is distributed with its table';
  END IF;
  IF colocate_with NOT IN ('none', 'default') THEN
    SELECT colocationid INTO group_of FROM stand_in.pg_dist_partition
      WHERE logicalrelid = colocate_with::regclass AND partmethod = 'h';
    IF NOT FOUND THEN
      RAISE EXCEPTION 'relation % is not distributed', colocate_with;
    END IF;
  END IF;
  SELECT indexrelid::regclass AS name INTO bad FROM pg_index
    WHERE indrelid = table_name AND indisunique AND NOT key_at = ANY (indkey::smallint[]);
  IF FOUND THEN
    RAISE EXCEPTION 'the unique index % does not contain the distribution column', bad.name;
  END IF;
  FOR bad IN
    SELECT k.conname AS name, d.partmethod AS method, d.colocationid AS place,
           array_position(k.conkey, key_at) AS own_at,
           array_position(k.confkey, (SELECT attnum FROM pg_attribute WHERE attrelid = k.confrelid AND attname = d.partkey)) AS their_at
    FROM pg_constraint k LEFT JOIN stand_in.pg_dist_partition d ON d.logicalrelid = k.confrelid
    WHERE k.conrelid = table_name AND k.contype = 'f'
  LOOP
    IF bad.method IS NULL THEN
      RAISE EXCEPTION 'foreign key %: the referenced table must be distributed', bad.name;
    ELSIF bad.method = 'h' AND (bad.place <> group_of OR bad.own_at IS NULL OR bad.own_at IS DISTINCT FROM bad.their_at) THEN
      RAISE EXCEPTION 'foreign key % does not pair the distribution columns', bad.name;
    END IF;
  END LOOP;
  INSERT INTO stand_in.pg_dist_partition VALUES (table_name, 'h', distribution_column, group_of);
END
$$`;

export async function installCitusStandIn(owner: pg.Client): Promise<void> {
  await owner.query(STAND_IN);
  const { rows } = await owner.query<{ name: string }>('SELECT current_database() AS name');
  await owner.query(`ALTER DATABASE ${rows[0]?.name} SET search_path = public, stand_in`);
}

export interface Distributed {
  readonly name: string;
  readonly partmethod: string;
  readonly partkey: string | null;
  readonly colocationid: string | null;
}

/** What was called, in the order of the calls. */
export async function distributed(owner: pg.Client): Promise<Distributed[]> {
  const { rows } = await owner.query<Distributed>(
    `SELECT c.relname AS name, d.partmethod, d.partkey, d.colocationid
     FROM stand_in.pg_dist_partition d JOIN pg_class c ON c.oid = d.logicalrelid WHERE d.partmethod = 'h' ORDER BY d.place`,
  );
  return rows;
}
