-- Access rules as JSON text: kept exactly as written, because the keyed hash over the row's rights covers these bytes.
ALTER TABLE applications ADD COLUMN rules text NOT NULL DEFAULT '[]';

CREATE INDEX applications_by_time ON applications (tenant_id, created_at, id);
-- Across tenants, for the sweeper.
CREATE INDEX applications_due ON applications (expires_at, tenant_id) WHERE expires_at IS NOT NULL;
