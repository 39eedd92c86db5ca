import { isOpened } from '../crypto/integrity-error.js';
import { definePeopleTable } from '../tables/people-table.js';
import { createMailSeal, openSealedMail } from './content.js';
import { listSealedMails } from './queries.js';

/** The queue. What a mail says is opened and dropped. */
export const MAIL_TABLES = [
  definePeopleTable({
    name: 'mails',
    list: listSealedMails,
    placeOf: ({ id }) => id,
    check: (key) => {
      const seal = createMailSeal(key);
      return ({ id, sealed }) => isOpened(() => openSealedMail(seal, id, sealed));
    },
  }),
];
