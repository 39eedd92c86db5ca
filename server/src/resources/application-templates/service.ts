import { permissionsOf } from '../../access/permissions.js';
import type { ApplicationTemplateBody } from './schema.js';

/** A rule that covers one container. */
function rule(container: string, transform: 'mask' | 'reveal', ...permissions: string[]) {
  return { description: `Everything in ${container}`, priority: 1, container, transform, permissions };
}

function collect(container: string) {
  return { rules: [rule(container, 'mask', 'token:create', 'token:update')], permissions: [] };
}

function use(container: string) {
  return { rules: [rule(container, 'reveal', 'token:use')], permissions: [] };
}

/** Starting points for Applications. Their ids never change, so that scripts can name them. */
export const APPLICATION_TEMPLATES: readonly ApplicationTemplateBody[] = [
  {
    id: '7d1f3d1c-57a4-4f0e-9a31-0c2a5b6e1a01',
    name: 'Full Access',
    description: 'Everything that can be done with tokens, for a trusted backend. Data is shown masked.',
    application_type: 'private',
    template_type: 'starters',
    is_starter: true,
    rules: [],
    permissions: permissionsOf('private'),
  },
  {
    id: '7d1f3d1c-57a4-4f0e-9a31-0c2a5b6e1a02',
    name: 'Full Management Access',
    description: 'Everything that manages a Tenant, and no token data.',
    application_type: 'management',
    template_type: 'management',
    is_starter: false,
    rules: [],
    permissions: permissionsOf('management'),
  },
  {
    id: '7d1f3d1c-57a4-4f0e-9a31-0c2a5b6e1a03',
    name: 'Collect PCI Data',
    description: 'Takes in cards from a browser or an app; shows them masked.',
    application_type: 'public',
    template_type: 'payments',
    is_starter: true,
    ...collect('/pci/'),
  },
  {
    id: '7d1f3d1c-57a4-4f0e-9a31-0c2a5b6e1a04',
    name: 'Collect PII Data',
    description: 'Takes in personal data from a browser or an app; shows it masked.',
    application_type: 'public',
    template_type: 'pii',
    is_starter: true,
    ...collect('/pii/'),
  },
  {
    id: '7d1f3d1c-57a4-4f0e-9a31-0c2a5b6e1a05',
    name: 'Collect Bank Data',
    description: 'Takes in bank accounts from a browser or an app; shows them masked.',
    application_type: 'public',
    template_type: 'banking',
    is_starter: true,
    ...collect('/bank/'),
  },
  {
    id: '7d1f3d1c-57a4-4f0e-9a31-0c2a5b6e1a06',
    name: 'Use PCI Tokens',
    description: 'Hands card data to proxies and reactors, for a backend that takes payments.',
    application_type: 'private',
    template_type: 'payments',
    is_starter: true,
    ...use('/pci/'),
  },
  {
    id: '7d1f3d1c-57a4-4f0e-9a31-0c2a5b6e1a07',
    name: 'Use Bank Tokens',
    description: 'Hands bank accounts to proxies and reactors, for a backend that moves money.',
    application_type: 'private',
    template_type: 'banking',
    is_starter: true,
    ...use('/bank/'),
  },
];
