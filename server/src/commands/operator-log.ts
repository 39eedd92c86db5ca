import type { ProcessLog } from '../telemetry/process-log.js';
import { createProcessLog } from '../telemetry/process-log.js';
import type { Output } from './command.js';

/** Lines of the security log, on standard error because this is no service: collect them with the service's own. */
export function operatorLog(output: Output): ProcessLog {
  return createProcessLog({ level: 'info', destination: { write: (line) => output.say(line.trimEnd()) } });
}
