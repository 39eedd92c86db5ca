-- Filters of the log by type, operation, outcome, entity and actor. Type, operation and outcome make a kind, of which a log has
-- a few dozen; each index leads to a kind and goes on in the order of the list. A filter that leaves kinds open finds out
-- which there are by leaping through the index, and merges them. Two replace indexes that had less, so a write pays for one more.
DROP INDEX logs_by_entity_type;
DROP INDEX logs_by_entity;
CREATE INDEX logs_by_kind ON logs (tenant_id, entity_type, operation, outcome, created_at, id);
CREATE INDEX logs_by_entity ON logs (tenant_id, entity_id, entity_type, operation, outcome, created_at, id);
CREATE INDEX logs_by_actor ON logs (tenant_id, actor_id, entity_type, operation, outcome, created_at, id);
