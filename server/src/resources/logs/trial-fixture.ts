import type { SliceTrial } from '../../testing/slice-trial.js';

export const trial: SliceTrial = {
  routes: [
    { method: 'GET', path: '/logs', needs: 'log:read', status: 200 },
    { method: 'GET', path: '/logs/entity-types', needs: 'log:read', status: 200 },
  ],
  successes: {},
  reads: (of) =>
    [
      '/logs?size=1000',
      '/logs?include=details&size=1000',
      '/logs?page=1&size=1000',
      '/logs?page=2&size=10',
      '/logs?entity_type=card&size=1000',
      `/logs?entity_type=tenant&entity_id=${of.tenantId}&page=1`,
      `/logs?entity_id=${of.tenantId}`,
      `/logs?entity_id=${of.tokenId}&include=details`,
      `/logs?entity_id=${of.applicationId}&include=details`,
      `/logs?entity_id=${of.sessionId}`,
      `/logs?entity_id=${of.logEntity}&include=details`,
      `/logs?tenant_id=${of.tenantId}`,
      `/logs?actor_id=${of.applicationId}&page=1`,
      `/logs?actor_id=${of.applicationId}&entity_id=${of.tokenId}&include=details`,
      '/logs?operation=create&outcome=success&page=2&size=5',
      '/logs?outcome=denied',
      '/logs?start_date=2000-01-01&end_date=9999-01-01&size=1000',
      `/logs?start=${of.logsCursor}&size=5`,
      `/logs?start=${of.tokensCursor}`,
      '/logs/entity-types',
    ].map((path) => ({ as: 'management', method: 'GET', path })),
  widened: [
    ...['list_logs_by_kind_tenant', 'list_logs_by_kind_tenant_skipping', 'list_logs_by_kind_entity'],
    ...['list_logs_by_kind_actor', 'list_logs_by_kind_entity_actor', 'lengths_of_histories'],
    ...['count_logs_by_kind_tenant', 'count_logs_by_kind_entity', 'count_logs_by_kind_actor'],
    ...['list_logs_', 'count_logs_'],
  ],
  tellsNothing: ['GET /logs/entity-types'],
};
