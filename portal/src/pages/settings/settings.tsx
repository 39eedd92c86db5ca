import { useQuery } from '@tanstack/react-query';
import { ReaderNote } from '../../tenant/reader-note.js';
import { useTenant } from '../../tenant/use-tenant.js';
import { Card } from '../../ui/card.js';
import { CodeLine } from '../../ui/code-line.js';
import { Loaded } from '../../ui/loaded.js';
import { PageHeader } from '../../ui/page-header.js';
import { DangerZone } from './danger-zone.js';
import { NameCard } from './name-card.js';
import { SignInRulesCard } from './sign-in-rules-card.js';
import { TOKEN_SETTINGS, TokenSettingCard } from './token-setting-card.js';
import { tenantQuery } from './use-tenant-settings.js';

/** What holds for the whole tenant. */
export function SettingsPage() {
  const { id } = useTenant();
  const tenant = useQuery(tenantQuery(id));
  return (
    <div className="max-w-3xl space-y-6">
      <PageHeader title="Settings" lead="What holds for the whole tenant. Every change is in its log." />
      <ReaderNote what="settings" />
      <Loaded query={tenant}>
        {(found) => (
          <>
            <NameCard tenant={found} />
            {TOKEN_SETTINGS.map((setting) => (
              <TokenSettingCard key={setting.name} setting={setting} tenant={found} />
            ))}
            <SignInRulesCard />
            <Card title="Id of the tenant" lead="Commands of the operator name the tenant by it.">
              <CodeLine text={found.id} />
            </Card>
            <DangerZone tenant={found} />
          </>
        )}
      </Loaded>
    </div>
  );
}
