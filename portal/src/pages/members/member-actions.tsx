import { Ellipsis, Trash2, UserCog } from 'lucide-react';
import type { PortalMember } from '../../api/generated.js';
import { nameOf } from '../../tenant/name-of.js';
import type { GivenRole } from '../../tenant/roles.js';
import { GIVEN_ROLES, ROLES } from '../../tenant/roles.js';
import { Menu } from '../../ui/menu.js';

export interface MemberActionsProps {
  readonly member: PortalMember;
  readonly onRole: (role: GivenRole) => void;
  readonly onRemove: () => void;
}

/** What can be done with a member. */
export function MemberActions({ member, onRole, onRemove }: MemberActionsProps) {
  const others = GIVEN_ROLES.filter((role) => role !== member.role);
  return (
    <Menu
      label={`Change ${nameOf(member.user)}`}
      trigger={<Ellipsis aria-hidden className="size-4" />}
      items={[
        ...others.map((role) => ({
          text: `Make ${ROLES[role]}`,
          icon: <UserCog aria-hidden className="size-4 text-muted" />,
          onSelect: () => onRole(role),
        })),
        { text: 'Remove', icon: <Trash2 aria-hidden className="size-4" />, isDanger: true, onSelect: onRemove },
      ]}
    />
  );
}
