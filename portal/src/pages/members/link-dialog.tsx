import { SecretDialog } from '../../ui/secret-dialog.js';

/** The link of an invitation, where the server sends no mail. */
export function LinkDialog({ link, onClose }: { readonly link: string | undefined; readonly onClose: () => void }) {
  return (
    <SecretDialog
      secret={link}
      title="Pass this link on"
      lead="It is shown this one time. Whoever opens it first can join with the invited address, so send it in a way that only that person reads."
      onClose={onClose}
    />
  );
}
