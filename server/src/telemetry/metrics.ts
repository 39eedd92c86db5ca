/** Upper bounds of the duration buckets, in seconds. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const;

interface RouteFigures {
  readonly byStatus: Map<number, number>;
  readonly buckets: Uint32Array;
  sumSeconds: number;
  count: number;
}

/** A number read when it is asked for. */
export interface Gauge {
  readonly name: string;
  readonly help: string;
  readonly type: 'gauge' | 'counter';
  /** One number, or one for each value of the label. */
  readonly label?: string;
  readonly read: () => number | ReadonlyMap<string, number>;
}

export interface Metrics {
  observeRequest(route: string, status: number, seconds: number): void;
  addGauge(gauge: Gauge): void;
  /** Prometheus text exposition. */
  render(): string;
}

/** Counting a request is two additions into arrays; everything else waits until somebody scrapes. */
export function createMetrics(): Metrics {
  const routes = new Map<string, RouteFigures>();
  const gauges: Gauge[] = [];

  function figuresOf(route: string): RouteFigures {
    let figures = routes.get(route);
    if (figures === undefined) {
      figures = { byStatus: new Map(), buckets: new Uint32Array(BUCKETS.length), sumSeconds: 0, count: 0 };
      routes.set(route, figures);
    }
    return figures;
  }

  return {
    observeRequest(route, status, seconds) {
      const figures = figuresOf(route);
      figures.byStatus.set(status, (figures.byStatus.get(status) ?? 0) + 1);
      figures.sumSeconds += seconds;
      figures.count += 1;
      for (let index = 0; index < BUCKETS.length; index += 1) {
        if (seconds <= (BUCKETS[index] ?? 0)) {
          figures.buckets[index] = (figures.buckets[index] ?? 0) + 1;
          return;
        }
      }
    },
    addGauge(gauge) {
      gauges.push(gauge);
    },
    render() {
      return [...renderCounts(routes), ...renderDurations(routes), ...gauges.flatMap(renderGauge), ''].join('\n');
    },
  };
}

function renderCounts(routes: ReadonlyMap<string, RouteFigures>): string[] {
  const name = 'strongroom_http_requests_total';
  const lines = [`# HELP ${name} Requests answered, by route and status.`, `# TYPE ${name} counter`];
  for (const [route, { byStatus }] of routes) {
    for (const [status, count] of byStatus) lines.push(`${name}{route="${route}",status="${status}"} ${count}`);
  }
  return lines;
}

function renderDurations(routes: ReadonlyMap<string, RouteFigures>): string[] {
  const name = 'strongroom_http_request_duration_seconds';
  const lines = [`# HELP ${name} Time from the first byte read to the answer sent.`, `# TYPE ${name} histogram`];
  for (const [route, figures] of routes) {
    let below = 0;
    BUCKETS.forEach((bound, index) => {
      below += figures.buckets[index] ?? 0;
      lines.push(`${name}_bucket{route="${route}",le="${bound}"} ${below}`);
    });
    lines.push(`${name}_bucket{route="${route}",le="+Inf"} ${figures.count}`);
    lines.push(
      `${name}_sum{route="${route}"} ${figures.sumSeconds}`,
      `${name}_count{route="${route}"} ${figures.count}`,
    );
  }
  return lines;
}

function renderGauge(gauge: Gauge): string[] {
  const { name, help, type, label } = gauge;
  const value = gauge.read();
  const lines =
    typeof value === 'number'
      ? [`${name} ${value}`]
      : [...value].map(([each, number]) => `${name}{${label ?? 'name'}="${each}"} ${number}`);
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines];
}
