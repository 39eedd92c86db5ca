import { UserPlus } from 'lucide-react';
import { useState } from 'react';
import { ReaderNote } from '../../tenant/reader-note.js';
import { useTenant } from '../../tenant/use-tenant.js';
import { Button } from '../../ui/button.js';
import { PageHeader } from '../../ui/page-header.js';
import { InvitationsTable } from './invitations-table.js';
import { InviteDialog } from './invite-dialog.js';
import { MembersTable } from './members-table.js';

/** Who works in the tenant, and who is asked to. */
export function MembersPage() {
  const { mayChange } = useTenant();
  const [isInviting, invite] = useState(false);
  return (
    <div className="space-y-8">
      <PageHeader
        title="Members"
        lead="People with access to this tenant. Keys of Applications are apart from them."
        actions={
          mayChange && (
            <Button look="primary" onClick={() => invite(true)}>
              <UserPlus aria-hidden className="size-4" />
              Invite somebody
            </Button>
          )
        }
      />
      <ReaderNote what="members" />
      <MembersTable />
      <InvitationsTable />
      <InviteDialog isOpen={isInviting} onClose={() => invite(false)} />
    </div>
  );
}
