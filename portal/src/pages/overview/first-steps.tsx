import { Link } from '@tanstack/react-router';
import { ArrowRight, Circle, CircleCheck } from 'lucide-react';
import { useState } from 'react';
import type { PortalFirstStep } from '../../api/generated.js';
import { useTenant } from '../../tenant/use-tenant.js';
import { Button } from '../../ui/button.js';
import { classes } from '../../ui/classes.js';
import { CodeLine } from '../../ui/code-line.js';
import { Meter } from '../../ui/meter.js';
import type { Step } from './steps.js';
import { STEPS } from './steps.js';

const HIDDEN = 'strongroom.first-steps-hidden.';

/** What a new tenant does first. A step is ticked by what happened, never by hand; the list goes when all are done. */
export function FirstSteps({ steps }: { readonly steps: readonly PortalFirstStep[] }) {
  const { id, mayChange } = useTenant();
  const [isHidden, setHidden] = useState(() => localStorage.getItem(HIDDEN + id) !== null);
  const done = steps.filter((step) => step.is_done).length;
  const next = steps.find(({ step, is_done: isDone }) => !isDone && (mayChange || isOwn(STEPS[step])));
  const [opened, open] = useState<string>();
  if (isHidden || done === steps.length) return null;
  const shown = opened ?? next?.step;
  return (
    <section aria-labelledby="first-steps" className="overflow-hidden rounded-xl border border-line bg-card">
      <header className="flex items-start justify-between gap-3 py-4 pr-2 pl-5">
        <div className="min-w-0">
          <h2 id="first-steps" className="text-[15px] font-semibold">
            First steps
          </h2>
          <p className="mt-1 text-sm text-muted">
            {done} of {steps.length} done. Each is ticked when it has happened.
            {!mayChange && ' Your role can only look here, so an owner or an admin does most of them.'}
          </p>
        </div>
        <Button
          look="quiet"
          onClick={() => {
            localStorage.setItem(HIDDEN + id, 'yes');
            setHidden(true);
          }}
        >
          Hide
        </Button>
      </header>
      <div className="px-5 pb-4">
        <Meter label="First steps done" value={done} most={steps.length} />
      </div>
      <ol className="divide-y divide-line border-t border-line">
        {steps.map(({ step, is_done: isDone }) => (
          <StepLine
            key={step}
            name={step}
            isDone={isDone}
            isOpen={shown === step}
            onToggle={() => open(shown === step ? '' : step)}
          />
        ))}
      </ol>
    </section>
  );
}

interface StepLineProps {
  readonly name: PortalFirstStep['step'];
  readonly isDone: boolean;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

function StepLine({ name, isDone, isOpen, onToggle }: StepLineProps) {
  const { mayChange } = useTenant();
  const step = STEPS[name];
  const Icon = isDone ? CircleCheck : Circle;
  return (
    <li>
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={onToggle}
        className="flex w-full items-center gap-3 px-5 py-3 text-left text-sm -outline-offset-2 hover:bg-sunken"
      >
        <Icon aria-hidden className={classes('size-5 shrink-0', isDone ? 'text-ok' : 'text-muted')} />
        <span className={classes('min-w-0 flex-1', isDone ? 'text-muted' : 'font-medium')}>{step.title}</span>
        <span className={classes('shrink-0 text-[13px]', isDone ? 'text-ok' : 'text-muted')}>
          {isDone ? 'Done' : 'To do'}
        </span>
      </button>
      {isOpen && (
        <div className="space-y-3 px-5 pb-4 sm:pl-13">
          <p className="max-w-prose text-sm text-muted">{step.why}</p>
          {mayChange && step.curl && <CodeLine text={step.curl(location.origin)} />}
          {(mayChange || isOwn(step)) && <PageLink page={step.page} />}
        </div>
      )}
    </li>
  );
}

/** Whether it is about the account of who looks, not about the tenant. */
function isOwn({ page }: Step): boolean {
  return page.path === 'account';
}

function PageLink({ page: { text, path } }: { readonly page: Step['page'] }) {
  const { id } = useTenant();
  const to: string = path === 'account' ? '/account' : `/tenants/${id}/${path}`;
  return (
    <Link
      to={to}
      className="inline-flex items-center gap-1.5 rounded py-1 text-sm font-medium text-accent hover:underline"
    >
      {text}
      <ArrowRight aria-hidden className="size-4" />
    </Link>
  );
}
