-- Filters of the log by type, operation, outcome, entity and actor. Type, operation and outcome make a kind, of which a log has
-- a few dozen, and three indexes lead to a kind and go on by time. A number stands for the kind, and ids of one millisecond are
-- sorted when a page is read: so three small indexes cost a write what two large ones did.
--
-- Whoever writes an entry gives its number (audit/kind.ts says how it is made). A column that the server generates would cost
-- every insert what an index does, so it is one only here, for the entries there are. Processes of the release before give
-- no number; their entries have 0 and are looked at one by one.
DROP INDEX logs_by_entity_type;
DROP INDEX logs_by_entity;
ALTER TABLE logs ADD COLUMN kind bigint NOT NULL GENERATED ALWAYS AS (
  ((hashtext(entity_type) & 16777215)::bigint << 39) | ((hashtext(operation) & 16777215)::bigint << 15)
  | ((hashtext(outcome) & 16383)::bigint << 1) | 1) STORED;
ALTER TABLE logs ALTER COLUMN kind DROP EXPRESSION;
ALTER TABLE logs ALTER COLUMN kind SET DEFAULT 0;
-- Nulls there are none. They make the order of the last two one that the first has not, so that no filter is read by the wrong one.
CREATE INDEX logs_by_kind ON logs (tenant_id, kind, created_at);
CREATE INDEX logs_by_entity ON logs (tenant_id, entity_id, kind NULLS FIRST, created_at);
CREATE INDEX logs_by_actor ON logs (tenant_id, actor_id, kind NULLS FIRST, created_at);
