import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addFigures, lastingFigures, noFigures, readFigures, renderFigures } from './merge-figures.js';
import { createMetrics } from './metrics.js';

function processWith(requests: number, heard: number, memory: number): string {
  const metrics = createMetrics();
  for (let sent = 0; sent < requests; sent += 1) metrics.observeRequest('GET /a b', 200, 0.002);
  const gauge = (name: string, value: number, type: 'gauge' | 'counter' = 'gauge') =>
    metrics.addGauge({ name: `strongroom_${name}`, help: `About ${name}.`, type, read: () => value });
  gauge('http_requests_in_flight', requests);
  gauge('changes_heard', heard);
  gauge('process_resident_memory_bytes', memory);
  gauge('process_cpu_seconds_total', 1.5, 'counter');
  metrics.addGauge({
    name: 'strongroom_job_done_total',
    help: 'Done.',
    type: 'counter',
    label: 'job',
    read: () => new Map([['purge', requests]]),
  });
  return metrics.render();
}

test('the text of one process survives being read and written', () => {
  const text = processWith(3, 1, 100);
  assert.equal(renderFigures(readFigures(text)), text);
});

test('counters, histograms and gauges are summed, claims hold only for all, and processes are told apart', () => {
  const sum = noFigures();
  addFigures(sum, readFigures(processWith(3, 1, 100)), '1');
  addFigures(sum, readFigures(processWith(4, 0, 200)), '2');
  const text = renderFigures(sum);
  for (const line of [
    'strongroom_http_requests_total{route="GET /a b",status="200"} 7',
    'strongroom_http_request_duration_seconds_bucket{route="GET /a b",le="0.001"} 0',
    'strongroom_http_request_duration_seconds_bucket{route="GET /a b",le="0.0025"} 7',
    'strongroom_http_request_duration_seconds_bucket{route="GET /a b",le="+Inf"} 7',
    'strongroom_http_request_duration_seconds_count{route="GET /a b"} 7',
    'strongroom_http_requests_in_flight 7',
    'strongroom_changes_heard 0',
    'strongroom_job_done_total{job="purge"} 7',
    'strongroom_process_resident_memory_bytes{worker="1"} 100',
    'strongroom_process_resident_memory_bytes{worker="2"} 200',
    'strongroom_process_cpu_seconds_total{worker="1"} 1.5',
  ]) {
    assert.ok(text.split('\n').includes(line), `${line} in\n${text}`);
  }
  assert.equal(text.match(/# TYPE strongroom_http_requests_total counter/g)?.length, 1);
});

test('of a process that has ended counts and durations stay, its state and its memory do not', () => {
  const left = renderFigures(lastingFigures(readFigures(processWith(3, 1, 100))));
  assert.match(left, /^strongroom_http_requests_total\{route="GET \/a b",status="200"\} 3$/m);
  assert.match(left, /^strongroom_http_request_duration_seconds_count\{route="GET \/a b"\} 3$/m);
  assert.match(left, /^strongroom_job_done_total\{job="purge"\} 3$/m);
  assert.doesNotMatch(left, /in_flight|changes_heard|process_/);
});
