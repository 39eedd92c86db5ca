/** What is checked of rights and no schema says. The API document states each in these words. */
export const RIGHTS_IN_WORDS = {
  rights:
    '`permissions` are names from GET /permissions that this kind of credential may hold; there is at least one, unless there are rules.',
  access_rules:
    'Rules are not for management Applications. Each has a priority of its own, at least one permission, all about tokens, and a container: a path such as `/pci/high/`. The rules of a session may have conditions instead, 100 in all.',
  dates: '`expires_at` is a complete date of the calendar, in the future.',
};
